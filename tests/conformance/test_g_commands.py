"""What each command of dbt records: the whole graph, the results of what ran, and nothing where nothing ran."""

from __future__ import annotations

import pytest
from artifact_project import INTERNAL, Built, said

RAW = ("prov_raw_resources", "prov_raw_runs", "prov_raw_run_results", "prov_raw_freshness", "prov_ledger")


def counts(project: Built) -> dict[str, int]:
    return {name: project.rows(f"select count(*) from {INTERNAL}.{name}")[0][0] for name in RAW}


def last_runs(project: Built) -> dict[str, tuple[str, str]]:
    """unique_id -> invocation and status of its last execution."""
    found = project.rows(f"select unique_id, max_by(invocation_id, recorded_at_utc), max_by(run_status, recorded_at_utc) from {INTERNAL}.prov_raw_run_results group by 1")
    return {uid: (invocation, status) for uid, invocation, status in found}


def edges(project: Built) -> list[tuple]:
    return project.rows(f"select distinct upstream_id, downstream_id from {INTERNAL}.prov_int_edges order by all")




def index_state(project: Built) -> str:
    return project.rows("select index_state from main_provenance.resolve('metric.paid_0', principal => 'reader')")[0][0]


def describe(project: Built, model: str, text: str) -> None:
    """Gives a model a new description, in a file of its own."""
    (project.folder / f"models/{model}_described.yml").write_text(f"models: [{{name: {model}, description: {text}}}]")


@pytest.mark.case("G4")
def test_a_selection_records_what_ran_and_the_graph_follows(project: Built):
    before, known, runs = project.newest(), edges(project), last_runs(project)
    describe(project, "lineage_edges", "Another text.")
    project.dbt("build", "--select", "stg_events")
    assert project.changes(before) == [("model.small.lineage_edges", "open")]
    assert index_state(project) == "behind"
    ran = {uid for uid, run in last_runs(project).items() if run != runs.get(uid)}
    assert ran == {"model.small.stg_events", "test.small.not_null_stg_events_event_id.715b3f7012", "test.small.unique_stg_events_event_id.66ebb17438"}
    before, runs = project.newest(), last_runs(project)
    describe(project, "lineage_edges", "A third text.")
    project.dbt("test", "--select", "stg_events")
    assert project.changes(before) == [("model.small.lineage_edges", "open")]
    ran = {uid for uid, run in last_runs(project).items() if run != runs.get(uid)}
    assert ran == {"test.small.not_null_stg_events_event_id.715b3f7012", "test.small.unique_stg_events_event_id.66ebb17438"}
    assert edges(project) == known
    project.dbt("build", "--select", "package:dbt_provenance")
    assert index_state(project) == "current" and edges(project) == known
    assert [row[1] for row in project.rows(f"select raw_id, document ->> 'description' from {INTERNAL}.prov_stg_resources where unique_id = 'model.small.lineage_edges' order by raw_id")][1:] == ["Another text.", "A third text."]


@pytest.mark.case("G4")
def test_commands_that_build_nothing_write_nothing(project: Built):
    describe(project, "lineage_edges", "Another text.")
    before = counts(project)
    heard = []
    for command in (["compile", "--select", "stg_events"], ["docs", "generate"], ["parse"], ["ls", "--select", "stg_events"], ["show", "--select", "stg_events"]):
        heard += said(project.dbt(*command, check=command != ["docs", "generate"]))
    assert heard == [] and counts(project) == before


@pytest.mark.case("G4")
def test_source_freshness_records_observations_and_the_graph(project: Built):
    before, counted, runs = project.newest(), counts(project), last_runs(project)
    describe(project, "lineage_edges", "Another text.")
    finished = project.dbt("source", "freshness", check=False)
    heard = said(finished)
    if not heard:
        assert counts(project) == counted and not project.engine.is_core
        pytest.skip("this engine runs no hooks after source freshness: its observations come by `dbt-provenance refresh`")
    assert project.changes(before) == [("model.small.lineage_edges", "open")]
    assert counts(project)["prov_raw_freshness"] == counted["prov_raw_freshness"] + 1
    assert {uid for uid, run in last_runs(project).items() if run != runs.get(uid)} == {"source.small.raw.events"}


@pytest.mark.case("G4")
def test_an_error_and_what_it_skipped_are_stored_as_such(project: Built):
    runs, before = last_runs(project), project.newest()
    finished = project.dbt("build", "--select", "broken+", "lineage_edges", check=False, SMALL_BROKEN="no_such_column")
    assert finished.returncode == 1
    ran = {uid: run[1] for uid, run in last_runs(project).items() if run != runs.get(uid)}
    assert ran == {"model.small.broken": "error", "model.small.after_broken": "skipped", "model.small.lineage_edges": "success"}
    assert project.changes(before) == []
    with_status = project.rows("select unique_id, run_status from main_provenance.run_results where unique_id like 'model.small.%broken' order by all")
    assert with_status == [], "nobody is asking"
