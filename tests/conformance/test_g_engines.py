"""What an engine does not provide is unavailable and not empty, and blank, null and none are equal."""

from __future__ import annotations

import datetime as dt
import json

import duckdb
import pytest
import yaml
from artifact_project import INTERNAL, METRICS, Built, said, semantics
from click.testing import CliRunner
from dbt_provenance.cli import main


def open_of(project: Built, resource_type: str) -> set[str]:
    return {uid for uid in project.open_documents() if uid.startswith(resource_type + ".")}


def without_metrics_and_groups(project: Built) -> None:
    """The project as an engine shows it that has neither: and what is known of them came from another engine."""
    forget_the_parse(project)
    models = project.folder / "models/models.yml"
    written = yaml.safe_load(models.read_text())
    del written["groups"]
    for model in written["models"]:
        model.get("config", {}).pop("group", None)
    models.write_text(yaml.safe_dump(written))
    (page,) = semantics(is_legacy=False)["exposures"]
    page["depends_on"] = ["ref('stg_paid_events')"]
    (project.folder / "semantic/semantic.yml").write_text(yaml.safe_dump({"models": [{"name": "time_spine"}], "exposures": [page]}))
    with duckdb.connect(str(project.folder / "small.duckdb")) as con:
        con.execute(f"update {INTERNAL}.prov_raw_resources set dbt_version = '7.0.0' where resource_type in ('metric', 'semantic_model', 'group', 'exposure', 'saved_query')")


def forget_the_parse(project: Built) -> None:
    """dbt Core (1.11) keeps a saved query that is gone from its file, and then does not find its metric."""
    (project.folder / "target/partial_parse.msgpack").unlink(missing_ok=True)


def findings(project: Built, principal: str) -> list[tuple]:
    with duckdb.connect(str(project.folder / "small.duckdb"), read_only=True) as con:
        con.execute("set variable provenance_principal = ?", [principal])
        return con.execute("select found_value from main_provenance.findings where finding_rule = 'unavailable in this engine'").fetchall()


@pytest.mark.case("G7")
def test_a_section_that_is_empty_in_another_engine_closes_nothing_and_is_said_to_be_unavailable(project: Built):
    metrics, groups = open_of(project, "metric"), open_of(project, "group")
    assert len(metrics) == METRICS and groups == {"group.small.core"}
    assert findings(project, "steward") == []
    manifest = json.loads((project.folder / "target/manifest.json").read_text())
    without_metrics_and_groups(project)
    before = project.newest()
    (line,) = [line for line in said(project.dbt("run", "--select", "stg_events")) if "recorded after the run" in line]
    assert "unavailable in this engine and kept as it was: " in line and "group, metric" in line
    assert (open_of(project, "metric"), open_of(project, "group")) == (metrics, groups)
    assert [change for change in project.changes(before) if change[1] == "close"] == []
    (found,) = findings(project, "steward")
    assert {"metric", "group"} <= set(found[0].split(", "))
    assert findings(project, "analyst") == findings(project, "nobody") == []
    the_file_is_used(project, manifest)


def the_file_is_used(project: Built, manifest: dict) -> None:
    """`refresh` takes the section from a manifest.json that has it, also what changed in it."""
    manifest["metadata"]["generated_at"] = dt.datetime.now(dt.timezone.utc).isoformat()
    manifest["metrics"]["metric.small.paid_3"]["description"] = "Said by the file."
    (project.folder / "target/manifest.json").write_text(json.dumps(manifest))
    command = ["refresh", "--project-dir", str(project.folder), "--profiles-dir", str(project.folder), "--dbt", str(project.engine.executable), "--json"]
    finished = CliRunner().invoke(main, [*command, "--", "--vars", json.dumps({"told": "x"})], env={"ARTIFACTS_TOLD": "x", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"})
    assert finished.exit_code == 0, finished.output
    assert json.loads(finished.stdout)["changes"]["opened"]["metric"] == 1
    shown = project.rows("select definition_text from main_provenance.resolve('metric.paid_3', principal => 'reader')")
    assert shown == [("Said by the file.",)]


@pytest.mark.case("G7")
def test_a_section_that_is_gone_on_the_same_engine_is_closed_and_not_unavailable(project: Built):
    forget_the_parse(project)
    (project.folder / "semantic/semantic.yml").write_text(yaml.safe_dump({"models": [{"name": "time_spine"}]}))
    (line,) = [line for line in said(project.dbt("run", "--select", "stg_events")) if "recorded after the run" in line]
    assert "unavailable" not in line and open_of(project, "metric") == set()


TRIAL = """
{% macro say_blank_and_none() %}
    {%- set node = {'unique_id': 'model.small.x', 'resource_type': 'model', 'relation_name': ''} -%}
    {%- for blank in ['', none] -%}
        {%- set result = {'node': node, 'status': 'success', 'timing': blank, 'execution_time': 1, 'message': blank, 'failures': blank, 'adapter_response': {'rows_affected': blank}} -%}
        {%- do log('said: ' ~ tojson(dbt_provenance.results_as_json([result])), info=true) -%}
    {%- endfor -%}
    {%- set documents = dbt_provenance.canonical_documents({
        'a': {'resource_type': 'model', 'name': 'x', 'description': '', 'group': none, 'config': {'group': ''}, 'meta': {}, 'tags': none, 'columns': {}, 'depends_on': {'nodes': []}},
        'b': {'resource_type': 'model', 'name': 'x', 'description': none, 'group': '', 'config': {}, 'tags': [], 'depends_on': {}},
        'c': {'resource_type': 'model', 'name': 'x'},
    }) -%}
    {%- for document in documents.values() -%}{%- do log('document: ' ~ tojson(document, sort_keys=true), info=true) -%}{%- endfor -%}
{% endmacro %}
"""


@pytest.mark.case("G7")
def test_blank_and_none_are_equal(project: Built):
    (project.folder / "macros/trial.sql").write_text(TRIAL)
    printed = project.dbt("run-operation", "say_blank_and_none").stdout.splitlines()
    results = [line.split("said: ")[1] for line in printed if "said: " in line]
    documents = [line.split("document: ")[1] for line in printed if "document: " in line]
    assert len(results) == 2 and len(set(results)) == 1
    assert json.loads(results[0])[0]["failures"] is None
    assert len(documents) == 3 and set(documents) == {'{"name": "x", "resource_type": "model"}'}


@pytest.mark.case("G7")
def test_results_that_are_undefined_end_no_run(project: Built):
    settings = project.folder / "dbt_project.yml"
    written = yaml.safe_load(settings.read_text())
    written["on-run-end"] = "{{ dbt_provenance.record_run(nothing_of_this_name) }}"
    settings.write_text(yaml.safe_dump(written))
    finished = project.dbt("run", "--select", "stg_events")
    assert any(line.startswith("0 results and") for line in said(finished))
    assert project.rows(f"select distinct full_refresh, is_empty from {INTERNAL}.prov_raw_runs") == [(False, False)]
