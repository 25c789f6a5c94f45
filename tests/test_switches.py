"""provenance_switches: parts, sections of the graph, commands and targets that are off, and what is not understood."""

from __future__ import annotations

import json
import shutil

import pytest
from conftest import dbt
from test_runs import INTERNAL, built_pair, counts, raw_ids, rows, said  # noqa: F401

ROW = ("run", "--select", "stg_events")


@pytest.fixture
def project(built_pair, tmp_path):  # noqa: F811
    shutil.copytree(built_pair.installed, tmp_path / "small", symlinks=True)
    return tmp_path / "small"


def switch(project, switches) -> None:
    file = project / "dbt_project.yml"
    file.write_text(file.read_text() + f"  provenance_switches: {json.dumps(switches)}\n")


def added(project, before) -> dict[str, int]:
    return {table: number - before[table] for table, number in counts(project).items() if number != before[table]}


def test_a_command_that_is_off_records_nothing_and_the_others_do(project):
    switch(project, {"commands": {"run": False, "source freshness": "False", "test": True}})
    before = counts(project)
    (project / "models/sources.sql").unlink()
    assert said(dbt(project, "run", "--select", "stg_events", "prov_raw_resources")) == [] == said(dbt(project, "source", "freshness"))
    assert added(project, before) == {}
    assert len(said(dbt(project, "test", "--select", "stg_events"))) == 1
    assert added(project, before) == {"prov_raw_runs": 1, "prov_raw_run_results": 2, "prov_raw_resources": 1}


def test_a_target_that_is_off_records_nothing(project):
    switch(project, {"targets": {"wide": False, "dev": "true"}})
    before = counts(project)
    assert said(dbt(project, *ROW, "--target", "wide")) == [] and added(project, before) == {}
    assert len(said(dbt(project, *ROW))) == 1 and added(project, before)["prov_raw_runs"] == 1


def test_of_a_section_that_is_off_nothing_is_closed_and_nothing_is_taken(project):
    switch(project, {"exposures": False, "freshness": False})
    models, before, ids = project / "models/models.yml", counts(project), raw_ids(project)
    text = models.read_text()
    models.write_text(text[: text.index("exposures:")].replace("Events with typed columns.", "Events, typed."))
    dbt(project, *ROW)
    assert [row[1:3] for row in raw_ids(project)[len(ids) :]] == [("model.small.stg_events", "open")]
    dbt(project, "source", "freshness")
    assert added(project, before)["prov_raw_runs"] == 2 and "prov_raw_freshness" not in added(project, before)
    observed = f"select run_status from {INTERNAL}.prov_raw_run_results where unique_id = 'source.small.raw.events'"
    assert rows(project, observed) == [("warn",)]


@pytest.mark.parametrize(
    ("switches", "words"),
    [
        ("off", "passed over all of it, which is no mapping"),
        (["hook"], "passed over all of it, which is no mapping"),
        ({"commands": ["run"]}, "passed over commands, which is no mapping of names to false"),
        ({"exposure": False, "commands": {"tests": False}}, "passed over tests (known: build, run, test, seed, snapshot, source freshness, retry, clone); exposure (known: hook, capture, results, freshness, nodes, sources,"),
        ({"hook": 0, "results": None}, "passed over hook, which is neither true nor false; results, which is neither true nor false"),
    ],
)
def test_what_is_not_understood_is_one_line_and_the_rest_holds(project, switches, words):
    switch(project, switches)
    before = counts(project)
    passed_over, recorded = said(dbt(project, *ROW))
    assert passed_over.startswith(f"provenance_switches: {words}") and "recorded after the run" in recorded
    assert added(project, before)["prov_raw_runs"] == 1
