"""Text that breaks inserts elsewhere comes back as it was written, and what was said on the command line or by the environment is nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest
import yaml
from artifact_project import HOSTILE, INTERNAL, Built

SENTINELS = ("told_4f1c", "told_b29e", "98765")
"""What stands in every value of --vars and of the environment, and the limit of a test."""


@pytest.mark.case("G2")
def test_hostile_text_comes_back_byte_for_byte_in_every_place(built):
    documents = built.open_documents()
    hostile = documents["model.small.hostile"]
    assert hostile["description"] == HOSTILE
    assert hostile["tags"] == [HOSTILE]
    assert (hostile["meta"]["key " + HOSTILE], hostile["meta"]["list"]) == (HOSTILE, [HOSTILE])
    assert hostile["columns"]["id"]["description"] == HOSTILE
    assert documents["model.small.in_odd_folder"]["description"] == HOSTILE
    (path,) = built.rows(f"select distinct location ->> 'original_file_path' from {INTERNAL}.prov_raw_resources where unique_id = 'model.small.in_odd_folder'")
    assert path == (f"models/{HOSTILE}/in_odd_folder.sql",)


@pytest.mark.case("G2")
def test_it_is_shown_as_it_was_written_and_never_rendered(built):
    with duckdb.connect(str(built.folder / "small.duckdb"), read_only=True) as con:
        con.execute("set variable provenance_principal = 'steward'")
        shown = con.execute("select definition_text from main_provenance.evidence where entity_id = 'model.small.hostile' and evidence_type = 'definition'").fetchall()
        assert shown == []
        con.execute("set variable provenance_principal = 'reader'")
        shown = con.execute("select definition_text from main_provenance.evidence where entity_id = 'model.small.hostile' and evidence_type = 'definition'").fetchall()
        assert shown == [(HOSTILE,)]
        (found,) = con.execute("select entity_id from main_provenance.search(?, principal => 'reader') where entity_id = 'model.small.hostile'", [HOSTILE]).fetchall()
        assert found == ("model.small.hostile",)


def text_columns(database: Path) -> list[tuple[str, str, str]]:
    with duckdb.connect(str(database), read_only=True) as con:
        return con.execute(
            """select table_schema, table_name, column_name from information_schema.columns
            where table_schema like 'main_provenance%' and (data_type like '%VARCHAR%' or data_type like '%JSON%')"""
        ).fetchall()


def columns_that_hold(database: Path, words: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """The columns of the package's relations in which one of the words stands, of all tables and of all views."""
    with duckdb.connect(str(database), read_only=True) as con:
        return [
            (schema, table, column)
            for schema, table, column in text_columns(database)
            if con.execute(f'select count(*) from "{schema}"."{table}" where regexp_matches(cast("{column}" as varchar), ?)', ["|".join(words)]).fetchone()[0]
        ]


@pytest.mark.case("G2")
def test_values_of_variables_and_of_the_environment_are_in_no_table(built):
    (made,) = built.rows("select a, b from main.secretive")
    assert all(sentinel in value for sentinel, value in zip(SENTINELS, made)), "the values did reach dbt"
    assert len(text_columns(built.folder / "small.duckdb")) > 100
    assert columns_that_hold(built.folder / "small.duckdb", SENTINELS) == []


LEAKS = {
    "leak_binder": """select "{{ var('told') | replace('"', '""') }}" as a, "{{ env_var('ARTIFACTS_TOLD') | replace('"', '""') }}" as b""",
    "leak_missing": "{% if execute %}select '{{ var('missing') }}' as a{% else %}select 1 as a{% endif %}",
    "leak_raised": "{% if execute %}{{ exceptions.raise_compiler_error(var('told')) }}{% endif %} select 1 as a",
    "leak_skipped": "select 1 as a from {{ ref('leak_binder') }}",
    "leak_unit": """select '{{ var("told") | replace("'", "''") }}' as a""",
    "leak_tested": "select 1 as a",
}
"""Models whose errors repeat what was said: the warehouse's, dbt's (which lists all variables where one is missing), the project's own."""
LIMIT = {"name": "five", "arguments": {"values": [5]}, "config": {"error_if": "{{ '> ' ~ var('limit', 98765) }}", "warn_if": "{{ '< ' ~ var('limit', 98765) }}"}}
LEAKY = {
    "models": [{"name": "leak_tested", "columns": [{"name": "a", "data_tests": [{"accepted_values": LIMIT}]}]}],
    "unit_tests": [{"name": "leak_seen", "model": "leak_unit", "given": [], "expect": {"rows": [{"a": "x"}]}}],
}


@pytest.mark.case("G2")
def test_dbts_messages_are_kept_without_what_was_said(project: Built):
    for name, sql in LEAKS.items():
        (project.folder / f"models/{name}.sql").write_text(sql)
    (project.folder / "models/leaky.yml").write_text(yaml.safe_dump(LEAKY))
    finished = project.dbt("build", "--select", "path:models/leak_*", "leak_seen", check=False)
    written = json.loads((project.folder / "target/run_results.json").read_text())
    assert finished.returncode == 1 and any(SENTINELS[0] in (one["message"] or "") for one in written["results"]), "dbt did repeat them"
    told = dict(project.rows(f"select split_part(unique_id, '.', 3), run_status || ': ' || coalesce(message_text, '') from {INTERNAL}.prov_raw_run_results where unique_id like '%leak%'"))
    assert told["leak_binder"] in ("error: Runtime Error: Binder Error", "error: Database Error: Binder Error")
    assert {told["leak_missing"], told["leak_raised"]} == {"error: Compilation Error"}
    assert told["leak_skipped"].startswith("skipped")
    assert columns_that_hold(project.folder / "small.duckdb", SENTINELS) == []
