"""Retention: what `prune` would remove and removes, and what stays whatever the days say."""

from __future__ import annotations

import json
from itertools import product

import pytest
from click.testing import CliRunner
from dbt_provenance.cli import main
from test_runs import INTERNAL, built_pair, change, counts, raw_ids, rows  # noqa: F401

NODES = ("model.small.stg_events", "model.small.hostile", "model.small.customers.v2")
AGES = (500, 300, 100, 3)
DAYS = {"run_results": 200, "freshness": 90, "runs": 90}


@pytest.fixture
def project(built_pair, tmp_path):  # noqa: F811
    import shutil

    shutil.copytree(built_pair.installed, tmp_path / "small", symlinks=True)
    return tmp_path / "small"


def history() -> list[tuple[str, str, str, int, bool]]:
    """(invocation, node, status, age in days, --empty): some nodes succeed each time, one failed once, one ran empty last."""
    told = [(f"run_{age}", node, "success", age, False) for age, node in product(AGES, NODES[:2])]
    told += [("run_300", NODES[2], "error", 300, False), ("run_500", NODES[2], "success", 500, False), ("empty_2", NODES[1], "success", 2, True)]
    return told + [("empty_250", NODES[1], "success", 250, True)]


def write(project) -> None:
    """The history, and an observation of a source for each run; what the build itself recorded is taken away."""
    ago = "cast(now() at time zone 'UTC' as timestamp) - interval {} day"
    statements = [f"delete from {INTERNAL}.{table}" for table in ("prov_raw_run_results", "prov_raw_runs", "prov_raw_freshness")]
    for invocation, age, empty in {(told[0], told[3], told[4]) for told in history()} | {("nothing_120", 120, False)}:
        statements.append(f"insert into {INTERNAL}.prov_raw_runs by name select '{invocation}' as invocation_id, 'small' as project_name, 'dev' as target_name, 'build' as command, {empty} as is_empty, {ago.format(age)} as recorded_at_utc")
    for invocation, node, status, age, _ in history():
        statements.append(f"insert into {INTERNAL}.prov_raw_run_results by name select '{invocation}' as invocation_id, 'small' as project_name, 'dev' as target_name, '{node}' as unique_id, '{status}' as run_status, {ago.format(age)} as recorded_at_utc")
    for age in AGES:
        statements.append(f"insert into {INTERNAL}.prov_raw_freshness by name select 'run_{age}' as invocation_id, 'small' as project_name, 'dev' as target_name, 'source.small.raw.events' as unique_id, 'pass' as observed_status, {ago.format(age)} as recorded_at_utc")
    foreign = f"insert into {INTERNAL}.prov_raw_runs by name select 'foreign' as invocation_id, 'other' as project_name, 'dev' as target_name, {ago.format(900)} as recorded_at_utc"
    change(project, *statements, foreign)


def expected(held: tuple[str, ...] = ()) -> tuple[set[tuple[str, str]], set[str]]:
    """What stays, from the rule and not from the SQL: results as (invocation, node), and runs."""
    told = history()
    kept = {
        (invocation, node)
        for invocation, node, status, age, empty in told
        if age <= DAYS["run_results"] or node in held or age == min(one[3] for one in told if (one[1], one[2], one[4]) == (node, status, empty))
    }
    observed = {f"run_{age}" for age in AGES if age <= DAYS["freshness"]}
    young = {invocation for invocation, _, _, age, _ in told if age <= DAYS["runs"]}
    return kept, {invocation for invocation, _ in kept} | observed | young | {"foreign"}


def left(project) -> tuple[set[tuple[str, str]], set[str]]:
    results = set(rows(project, f"select invocation_id, unique_id from {INTERNAL}.prov_raw_run_results"))
    return results, {row[0] for row in rows(project, f"select invocation_id from {INTERNAL}.prov_raw_runs where command is distinct from 'prune'")}


def configured(project, **variables) -> None:
    """Sets variables of the project, as a user does."""
    file = project / "dbt_project.yml"
    file.write_text(file.read_text() + "".join(f"  {name}: {json.dumps(value)}\n" for name, value in variables.items()))


def prune(project, *arguments: str):
    return CliRunner().invoke(main, ["prune", *arguments, "--project-dir", str(project), "--profiles-dir", str(project)])


def test_what_is_older_goes_only_when_asked_for_and_the_last_of_each_stays(project):
    write(project)
    configured(project, provenance_retention_days=DAYS)
    before, ids = counts(project), raw_ids(project)
    counted = prune(project)
    assert counted.exit_code == 0 and counts(project) == before
    removed = prune(project, "--apply")
    assert removed.exit_code == 0, removed.output
    assert left(project) == expected()
    gone = {table: before[table] - number for table, number in counts(project).items()}
    told = f"{gone['prov_raw_run_results']} of run_results older than 200 days, {gone['prov_raw_freshness']} of freshness older than 90 days, {gone['prov_raw_runs'] + 1} of runs older than 90 days"
    assert told in counted.output and counted.output.startswith("would remove ") and removed.output == f"removed {told}\n"
    assert gone["prov_raw_run_results"] > 0 and gone["prov_raw_freshness"] == 3 and gone["prov_raw_runs"] > 0
    assert raw_ids(project) == ids and gone["prov_ledger"] == 0
    total = gone["prov_raw_run_results"] + gone["prov_raw_freshness"] + gone["prov_raw_runs"] + 1
    assert rows(project, f"select results_total from {INTERNAL}.prov_raw_runs where command = 'prune'") == [(total,)]


def test_a_legal_hold_keeps_what_it_names_and_all_of_it_when_it_names_nothing_in_particular(project):
    write(project)
    configured(project, provenance_retention_days=DAYS, provenance_legal_hold=True)
    before = counts(project)
    assert prune(project, "--apply").output == "nothing removed, provenance_legal_hold is on\n" and counts(project) == before
    (project / "dbt_project.yml").write_text((project / "dbt_project.yml").read_text().replace("provenance_legal_hold: true", 'provenance_legal_hold: ["Hostile", source.small.raw.events]'))
    finished = prune(project, "--apply")
    assert finished.exit_code == 0 and "resources are held" in finished.output, finished.output
    assert left(project)[0] == expected(held=("model.small.hostile",))[0]
    assert counts(project)["prov_raw_freshness"] == len(AGES)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"provenance_retention_days": {"runs": 0}}, "0 for runs in provenance_retention_days is no whole number of days"),
        ({"provenance_retention_days": {"runs": 90, "prov_ledger": 90}}, "names prov_ledger; only runs, run_results, freshness are ever removed"),
        ({"provenance_retention_days": 90}, "provenance_retention_days is no mapping of runs, run_results, freshness to days"),
        ({"provenance_retention_days": {"runs": "1; drop table x"}}, "for runs in provenance_retention_days is no whole number of days"),
        ({"provenance_retention_days": DAYS, "provenance_legal_hold": ["hostile", "no_such_thing"]}, "provenance_legal_hold names no_such_thing, and nothing is called that"),
    ],
)
def test_what_cannot_be_read_removes_nothing_and_says_one_sentence(project, variables, words):
    write(project)
    configured(project, **variables)
    before = counts(project)
    finished = prune(project, "--apply")
    assert finished.exit_code == 2 and words in finished.stderr and finished.stderr.count("\n") == 1, finished.output
    assert counts(project) == before


def test_nothing_is_removed_by_default(project):
    write(project)
    before = counts(project)
    assert prune(project, "--apply").output == "nothing removed, provenance_retention_days is not set\n"
    assert counts(project) == before
