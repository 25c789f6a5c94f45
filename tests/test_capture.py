"""What is captured of a real project: the same from Jinja's graph and from manifest.json, byte for byte, and nothing that was not asked for."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from conftest import copy_project, dbt, shared_build
from dbt_provenance.capture.canonical import canonical_document, canonical_text

SECTIONS = ("nodes", "sources", "exposures", "groups", "metrics", "semantic_models", "saved_queries", "functions")
SENTINEL = "sentinel_9c41_of_vars"
ENV_SENTINEL = "sentinel_77e0_of_env"
HOSTILE = "O'Reilly \"x\" \\U0001 \\u0041 C:\\Users\\w5\\n 80% %s %(a)s {{ x }} {% raw %} {# y #} ; drop table a; -- /* \u202eRTL\u202c עברית 😀 \u0001\u007f\u2028 $$ ''' ]]"
PLAIN = HOSTILE.replace("{", "(")
"""The same for the places that dbt renders as Jinja before anyone else sees them."""
STATEMENT_BYTES = 40_000



def nested(levels: int) -> Any:
    """Lists and mappings in turn, `levels` deep, with a text inside."""
    value: Any = "leaf"
    for level in range(levels):
        value = [value] if level % 2 else {"inner": value}
    return value


HOSTILE_MODELS = {
    "models": [
        {
            "name": "hostile",
            "description": HOSTILE.replace("{{", "{{ '{{' }}").replace("{%", "{{ '{%' }}").replace("{#", "{{ '{#' }}"),
            "config": {"tags": ["tag: " + PLAIN], "meta": {"key " + PLAIN: "value " + PLAIN, "list": [PLAIN, {"inner": PLAIN}]}},
            "columns": [{"name": "id", "quote": True, "description": "column " + PLAIN}, {"name": PLAIN, "description": "odd"}],
        },
        {"name": "sources", "description": "x" * 70_000},
        {"name": "metrics", "description": "語" * 5_000},
        {
            "name": "stg_deep",
            "config": {"meta": {"just": nested(19), "over": nested(20), "deep": nested(180)}},
            "columns": [{"name": "id", "config": {"meta": {"own": nested(180)}}}],
        },
    ],
    "exposures": [{"name": "hostile_page", "type": "dashboard", "url": "https://e.example/?q=" + PLAIN, "owner": {"name": PLAIN}}],
}


def manifest(project: Path) -> dict[str, dict[str, Any]]:
    """Every resource of the sections that the graph has, by unique_id."""
    written = json.loads((project / "target/manifest.json").read_text())
    return {uid: resource for section in SECTIONS for uid, resource in written.get(section, {}).items()}


def open_rows(project: Path, schema: str, database: str) -> dict[str, tuple[str, str, str]]:
    """unique_id -> type, document and hash of what the target holds as open."""
    with duckdb.connect(str(project / database), read_only=True) as con:
        found = con.execute(
            f"""select unique_id, resource_type, document, document_hash from {schema}.prov_raw_resources where capture_source = 'graph'
            qualify row_number() over (partition by unique_id order by raw_id desc) = 1 and change_kind = 'open'"""
        ).fetchall()
    return {row[0]: row[1:] for row in found}


def assert_equal_to_manifest(project: Path, schema: str, database: str) -> None:
    wanted, captured = manifest(project), open_rows(project, schema, database)
    as_stored = duckdb.connect()
    texts = {uid: as_stored.execute("select json(?)::varchar", [canonical_text(canonical_document(one))]).fetchone()[0] for uid, one in wanted.items()}
    assert captured.keys() == wanted.keys()
    assert {uid: row[1] for uid, row in captured.items() if row[1] != texts[uid]} == {}
    assert Counter(row[0] for row in captured.values()) == Counter(one["resource_type"] for one in wanted.values())


@pytest.fixture(scope="module")
def captured(tmp_path_factory, worker) -> Path:
    """The small project with hostile text, values on the command line and in the environment, and a small statement bound."""

    def make(folder: Path) -> None:
        project = copy_project("small", folder)
        (project / "models/hostile.yml").write_text(yaml.safe_dump(HOSTILE_MODELS, allow_unicode=True))
        (project / "models/stg_deep.sql").write_text("select 1 as id")
        (project / "models/secretive.sql").write_text("select '{{ var('told') }}' as a, '{{ env_var('SMALL_TOLD') }}' as b")
        dbt(
            project, "--debug", "build", "--exclude", "resource_type:unit_test", "--vars", json.dumps({"told": SENTINEL, "provenance_statement_bytes": STATEMENT_BYTES}),
            SMALL_TOLD=ENV_SENTINEL,
        )

    return shared_build(tmp_path_factory, worker, "captured_build", make) / "small"


def test_the_graph_and_the_manifest_give_the_same_documents(captured):
    assert_equal_to_manifest(captured, "main_provenance_internal", "small.duckdb")


def test_so_they_do_for_the_worked_example(net_revenue):
    assert_equal_to_manifest(net_revenue, "provenance_internal", "net_revenue.duckdb")


def test_hostile_text_comes_back_byte_for_byte(captured):
    rows = open_rows(captured, "main_provenance_internal", "small.duckdb")
    model = json.loads(rows["model.small.hostile"][1])
    assert model["description"] == HOSTILE
    assert model["meta"]["key " + PLAIN] == "value " + PLAIN
    assert model["meta"]["list"] == [PLAIN, {"inner": PLAIN}]
    assert model["tags"] == ["tag: " + PLAIN]
    assert model["columns"]["id"]["description"] == "column " + PLAIN and model["columns"][PLAIN] == {"description": "odd"}
    page = json.loads(rows["exposure.small.hostile_page"][1])
    assert page["url"] == "https://e.example/?q=" + PLAIN and page["owner"]["name"] == PLAIN
    assert json.loads(rows["model.small.sources"][1])["description"] == "x" * 70_000
    assert json.loads(rows["model.small.metrics"][1])["description"] == "語" * 5_000


def test_what_is_nested_too_deep_is_left_out_and_found(captured):
    model = json.loads(open_rows(captured, "main_provenance_internal", "small.duckdb")["model.small.stg_deep"][1])
    too_deep = "[nested deeper than 20 levels: not captured]"
    assert model["meta"]["just"] == nested(19)
    assert json.dumps(model["meta"]["over"]) == json.dumps(nested(20)).replace('{"inner": "leaf"}', f'"{too_deep}"')
    assert too_deep in json.dumps(model["meta"]["deep"]) and too_deep in json.dumps(model["columns"]["id"]["meta"])
    with duckdb.connect(str(captured / "small.duckdb"), read_only=True) as con:
        found = con.execute("select unique_id from main_provenance_internal.prov_int_findings where finding_rule = 'nested too deep'").fetchall()
    assert found == [("model.small.stg_deep",)]


def test_statements_stay_under_the_bound(captured):
    """A resource that is larger by itself is sent in pieces."""
    log = (captured / "logs/dbt.log").read_text()
    statements = re.findall(r"(?:insert into|update) \"main_provenance_internal\"\.\"prov_seen_\w+\".*?(?:from staged|where unique_id = '')", log, re.DOTALL)
    assert len(statements) > 3 and max(len(one.encode()) for one in statements) <= STATEMENT_BYTES
    assert sum("x" * 15_000 in one for one in statements) >= 3


def test_values_of_variables_and_of_the_environment_are_not_stored(captured):
    with duckdb.connect(str(captured / "small.duckdb"), read_only=True) as con:
        tables = con.execute(
            "select table_schema, table_name, column_name from information_schema.columns where table_schema like 'main_provenance%' and data_type in ('VARCHAR', 'VARCHAR[]')"
        ).fetchall()
        holding = [
            table
            for table in tables
            if con.execute(f'select count(*) from "{table[0]}"."{table[1]}" where cast("{table[2]}" as varchar) similar to ?', [f".*({SENTINEL}|{ENV_SENTINEL}).*"]).fetchone()[0]
        ]
    assert len(tables) > 100
    assert holding == []


TRIAL = """
{% macro capture_without(section, as_empty=false, by_version=none) %}
    {%- set landing = dbt_provenance.own_relation('prov_raw_resources') -%}
    {%- if by_version -%}{%- do run_query("update " ~ dbt_provenance.name_of(landing) ~ " set dbt_version = '" ~ by_version ~ "' where resource_type = 'metric'") -%}{%- endif -%}
    {%- set cost = dbt_provenance.no_cost_yet() -%}
    {%- set found = dbt_provenance.compare_graph(landing, cost) -%}
    {%- set seen, sections = dbt_provenance.create_capture_table(landing, cost), found.sections -%}
    {%- do dbt_provenance.stage_graph(landing, seen, found, cost) -%}
    {%- do run_query("delete from " ~ seen ~ " where unique_id like 'metric.%'") -%}
    {%- if not as_empty -%}{%- do sections.remove(section) -%}{%- endif -%}
    {%- do run_query(dbt_provenance.append_changes(landing, seen, sections)) -%}
    {%- do run_query('drop table ' ~ seen) -%}
    {%- do adapter.commit() -%}
{% endmacro %}
{% macro say_unsupported() %}{%- do log('said: ' ~ dbt_provenance.default__preflight(), info=true) -%}{% endmacro %}
"""


def test_a_section_that_is_not_there_closes_nothing_and_an_empty_one_only_what_this_engine_wrote(captured, tmp_path):
    import shutil

    project = tmp_path / "small"
    shutil.copytree(captured, project, symlinks=True)
    (project / "macros/trial.sql").write_text(TRIAL)
    variables = ["--vars", json.dumps({"told": SENTINEL, "provenance_statement_bytes": STATEMENT_BYTES})]

    def metrics() -> set[str]:
        return {uid for uid in open_rows(project, "main_provenance_internal", "small.duckdb") if uid.startswith("metric.")}

    for arguments, kept in (
        ({"section": "metrics"}, {"metric.small.paid"}),
        ({"section": "metrics", "as_empty": True, "by_version": "2.0.0-rc.196"}, {"metric.small.paid"}),
        ({"section": "metrics", "as_empty": True, "by_version": "1.11.0"}, set()),
    ):
        dbt(project, "run-operation", "capture_without", "--args", json.dumps(arguments), *variables, SMALL_TOLD=ENV_SENTINEL)
        assert metrics() == kept, arguments
    finished = dbt(project, "run-operation", "say_unsupported", *variables, SMALL_TOLD=ENV_SENTINEL)
    assert "said: the duckdb adapter is not supported yet" in finished.stdout
