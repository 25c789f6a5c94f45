"""dbt's own commands in a project with the package: what each records, and that its exit code and its results are as without it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import copy_project, dbt, shared_build

INTERNAL = "main_provenance_internal"
RAW = ("prov_raw_resources", "prov_raw_runs", "prov_raw_run_results", "prov_raw_freshness", "prov_ledger")


@dataclass(frozen=True)
class Pair:
    """One project twice, with the package and without it."""

    installed: Path
    plain: Path

    def run(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in both: exit code and results outside the package's own nodes are equal. Gives what it said with the package."""
        with ThreadPoolExecutor() as pool:
            installed, plain = pool.map(lambda project: dbt(project, *arguments, check=False, **env), (self.installed, self.plain))
        assert installed.returncode == plain.returncode, installed.stdout + plain.stdout
        assert results(self.installed) == results(self.plain)
        return installed


def results(project: Path) -> dict[str, str]:
    """unique_id -> status of the last command, without the package's own nodes."""
    written = json.loads((project / "target/run_results.json").read_text())["results"]
    return {one["unique_id"]: one["status"] for one in written if one["unique_id"].split(".")[1] != "dbt_provenance"}


def rows(project: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(project / "small.duckdb"), read_only=True) as con:
        return con.execute(statement, values).fetchall()


def change(project: Path, *statements: str) -> None:
    with duckdb.connect(str(project / "small.duckdb")) as con:
        for statement in statements:
            con.execute(statement)


def counts(project: Path, schema: str = INTERNAL) -> dict[str, int]:
    return {name: rows(project, f"select count(*) from {schema}.{name}")[0][0] for name in RAW}


def raw_ids(project: Path) -> list[tuple[Any, ...]]:
    return rows(project, f"select raw_id, unique_id, change_kind, document_hash from {INTERNAL}.prov_raw_resources order by raw_id")


def answer(project: Path, entity: str = "paid") -> tuple[Any, ...]:
    return rows(project, "select outcome, entity_id, formula, status, content_hash from main_provenance.resolve(?, principal => 'analyst')", entity)[0]


def said(finished: subprocess.CompletedProcess[str]) -> list[str]:
    """What the package said."""
    return [line.split("dbt_provenance: ", 1)[1] for line in finished.stdout.splitlines() if "dbt_provenance: " in line]


@pytest.fixture(scope="session")
def built_pair(tmp_path_factory, worker) -> Pair:
    """The small project, built once with the package and once without: to be copied."""

    def make(folder: Path) -> None:
        copy_project("small", folder)
        (folder / "plain").mkdir()
        shutil.copytree(folder / "small", folder / "plain/small", ignore=shutil.ignore_patterns("packages.yml", "package-lock.yml", "dbt_packages", "target"))
        Pair(folder / "small", folder / "plain/small").run("build")

    folder = shared_build(tmp_path_factory, worker, "small_pair", make)
    return Pair(folder / "small", folder / "plain/small")


@pytest.fixture
def pair(built_pair, tmp_path) -> Pair:
    for project, name in ((built_pair.installed, "installed"), (built_pair.plain, "plain")):
        shutil.copytree(project, tmp_path / name, symlinks=True)
        shutil.copytree(tmp_path / name / "target", tmp_path / name / "state")
    return Pair(tmp_path / "installed", tmp_path / "plain")


def test_a_first_build_is_green_and_answers(built_pair):
    assert set(results(built_pair.installed).values()) == {"success", "pass", "no-op"}
    assert answer(built_pair.installed)[0] == "resolved"
    assert rows(built_pair.installed, "select word from main.lineage_edges union all select word from main.metrics") == [("small",), ("small",)]
    assert rows(built_pair.installed, f"select count(*) from {INTERNAL}.prov_ledger") == [(0,)]


def test_an_unchanged_build_adds_a_run_alone_and_a_changed_description_one_row(pair):
    project = pair.installed
    before, ids = counts(project), raw_ids(project)
    models = project / "models/models.yml"
    models.write_text(models.read_text().replace("{z_key: 1, a_key: {y: 2, x: [1, two, null, {}]}}", "{a_key: {x: [1, two, null, {}], y: 2}, z_key: 1}"))
    pair.run("build")
    written = json.loads((project / "target/run_results.json").read_text())["results"]
    recorded = [one for one in written if not one["unique_id"].startswith("operation.")]
    assert raw_ids(project) == ids
    assert counts(project) == before | {"prov_raw_runs": before["prov_raw_runs"] + 1, "prov_raw_run_results": before["prov_raw_run_results"] + len(recorded)}
    models.write_text(models.read_text().replace("Events with typed columns.", "Events, typed."))
    dbt(project, "build")
    assert [row[1:3] for row in raw_ids(project)[len(ids) :]] == [("model.small.stg_events", "open")]
    states = rows(project, f"select recorded_to_utc is null, document ->> 'description' from {INTERNAL}.prov_stg_resources where unique_id = 'model.small.stg_events' order by raw_id")
    assert states == [(False, "Events with typed columns."), (True, "Events, typed.")]
    closed = rows(project, f"select count(*) from {INTERNAL}.prov_stg_resources where recorded_to_utc is not null")
    assert closed == [(1,)]


def test_a_selection_records_its_results_and_the_whole_graph(pair):
    before = counts(pair.installed)
    shutil.copy(pair.installed / "models/hostile.sql", pair.installed / "models/added.sql")
    shutil.copy(pair.installed / "models/hostile.sql", pair.plain / "models/added.sql")
    (pair.installed / "models/sources.sql").unlink()
    (pair.plain / "models/sources.sql").unlink()
    finished = pair.run("run", "--select", "stg_events")
    assert len(said(finished)) == 1 and "2 changed resources" in said(finished)[0]
    assert [row[1:3] for row in raw_ids(pair.installed)[before["prov_raw_resources"] :]] == [("model.small.added", "open"), ("model.small.sources", "close")]
    executed = rows(pair.installed, f"select unique_id, run_status from {INTERNAL}.prov_raw_run_results where invocation_id = (select max_by(invocation_id, recorded_at_utc) from {INTERNAL}.prov_raw_runs)")
    assert executed == [("model.small.stg_events", "success")]


def test_tests_and_freshness_are_recorded(pair):
    pair.run("test")
    assert rows(pair.installed, f"select run_status, failures from {INTERNAL}.prov_raw_run_results where starts_with(unique_id, 'test.') order by recorded_at_utc desc limit 2") == [("pass", 0), ("pass", 0)]
    before = counts(pair.installed)
    pair.run("source", "freshness")
    assert counts(pair.installed)["prov_raw_freshness"] == before["prov_raw_freshness"] + 1
    observed = rows(
        pair.installed,
        f"""select unique_id, observed_status, max_loaded_at_utc, snapshotted_at_utc > max_loaded_at_utc, age_seconds > 0, warn_after_count, warn_after_period,
        error_after_count, observation_method from {INTERNAL}.prov_raw_freshness""",
    )
    assert [(*row[:2], str(row[2]), *row[3:]) for row in observed] == [
        ("source.small.raw.events", "warn", "2025-02-20 10:00:00", True, True, 1, "day", 36500, "loaded_at_field")
    ]
    assert rows(pair.installed, f"select command from {INTERNAL}.prov_raw_runs order by recorded_at_utc desc limit 2") == [("freshness",), ("test",)]


def test_a_source_without_rows_is_observed_without_a_time(pair):
    for project in (pair.installed, pair.plain):
        change(project, "delete from main.events")
    pair.run("source", "freshness")
    assert rows(pair.installed, f"select max_loaded_at_utc, age_seconds, observed_status from {INTERNAL}.prov_raw_freshness") == [(None, None, "error")]


def test_commands_that_run_nothing_write_nothing(pair):
    before = counts(pair.installed)
    shutil.copy(pair.installed / "models/hostile.sql", pair.installed / "models/added.sql")
    shutil.copy(pair.installed / "models/hostile.sql", pair.plain / "models/added.sql")
    heard = said(pair.run("docs", "generate"))
    for command in (["compile", "--select", "stg_events"], ["parse"], ["ls", "--select", "stg_events"], ["show", "--select", "stg_events"]):
        heard += said(dbt(pair.installed, *command))
    assert heard == []
    assert counts(pair.installed) == before


def test_a_failing_model_is_recorded_as_such_and_retried(pair):
    finished = pair.run("build", SMALL_BROKEN="no_such_column")
    assert finished.returncode == 1
    latest = f"select unique_id, run_status from {INTERNAL}.prov_raw_run_results where unique_id in ('model.small.broken', 'model.small.after_broken') order by recorded_at_utc desc, 1 limit 2"
    assert rows(pair.installed, latest) == [("model.small.after_broken", "skipped"), ("model.small.broken", "error")]
    assert pair.run("retry", SMALL_BROKEN="1").returncode == 0
    assert rows(pair.installed, latest) == [("model.small.after_broken", "success"), ("model.small.broken", "success")]


def test_a_full_refresh_keeps_raw_rows_and_the_ledger(pair):
    change(pair.installed, f"insert into {INTERNAL}.prov_ledger (ledger_id, ledger_action, entity_id) values (1, 'revoke', 'model.small.hostile')")
    ids = raw_ids(pair.installed)
    pair.run("build", "--full-refresh")
    assert raw_ids(pair.installed) == ids
    assert rows(pair.installed, f"select ledger_action, entity_id from {INTERNAL}.prov_ledger") == [("revoke", "model.small.hostile")]
    assert rows(pair.installed, f"select full_refresh, is_empty from {INTERNAL}.prov_raw_runs order by recorded_at_utc desc limit 1") == [(True, False)]
    assert answer(pair.installed)[0] == "resolved"


def test_an_empty_build_loses_nothing(pair):
    before, ids = answer(pair.installed), raw_ids(pair.installed)
    pair.run("build", "--empty")
    assert raw_ids(pair.installed) == ids
    assert answer(pair.installed) == before
    assert rows(pair.installed, f"select is_empty from {INTERNAL}.prov_raw_runs order by recorded_at_utc desc limit 1") == [(True,)]


def test_on_a_fresh_target_a_selection_says_one_line(pair):
    finished = pair.run("run", "--select", "after_broken", "--target", "other", "--empty", "--defer", "--favor-state", "--state", "state")
    assert finished.returncode == 0
    assert said(finished) == ["nothing recorded, prov_raw_resources is not there yet; `dbt build --select package:dbt_provenance` creates it"]
    assert rows(pair.installed, "select count(*) from information_schema.schemata where schema_name like 'other_provenance%'") == [(0,)]


def test_a_clone_is_no_landing_and_the_next_build_makes_it_one(pair):
    assert pair.run("clone", "--state", "state", "--target", "other").returncode == 0
    assert ["is a view" in line for line in said(pair.run("run", "--select", "stg_events", "--target", "other"))] == [True]
    # not `build`: dbt itself refuses to seed where a clone stands
    assert pair.run("run", "--target", "other").returncode == 0
    assert rows(pair.installed, "select table_type from information_schema.tables where table_schema = 'other_provenance_internal' and table_name in ('prov_raw_resources', 'prov_ledger')") == [("BASE TABLE",), ("BASE TABLE",)]
    assert rows(pair.installed, "select outcome from other_provenance.resolve('paid', principal => 'analyst')") == [("resolved",)]
    assert answer(pair.installed)[0] == "resolved"


def test_a_read_only_database_is_left_alone(pair):
    finished = pair.run("test", "--target", "reader")
    assert finished.returncode == 0
    assert said(finished) == ["nothing recorded, the database is open read-only"]


def test_an_attached_database_is_written_where_the_models_are(pair):
    before = counts(pair.installed)
    finished = pair.run("run", "--select", "stg_events", "--target", "attached")
    assert finished.returncode == 0
    assert "recorded after the run" in said(finished)[0]
    assert counts(pair.installed)["prov_raw_runs"] == before["prov_raw_runs"] + 1


def test_no_warning_comes_from_the_package(pair):
    assert pair.run("--warn-error", "run", "--select", "stg_events", "--no-partial-parse").returncode == 0


@pytest.mark.parametrize("lost", RAW)
def test_a_raw_table_dropped_by_hand_harms_no_run(pair, lost):
    change(pair.installed, f"drop table {INTERNAL}.{lost}")
    finished = dbt(pair.installed, "run", "--select", "stg_events")
    assert said(finished) == [f"nothing recorded, {lost} is not there yet; `dbt build --select package:dbt_provenance` creates it"]
    assert results(pair.installed)["model.small.stg_events"] == "success"


def test_raw_tables_of_an_older_release_get_the_columns_they_lack_and_lose_no_row(pair):
    project = pair.installed
    revisions = "select evidence_id, revision, content_hash from main_provenance.evidence order by all"
    before, ids, evidence, answered = counts(project), raw_ids(project), rows(project, revisions), answer(project)
    change(
        project,
        f"alter table {INTERNAL}.prov_raw_resources drop column location",
        f"alter table {INTERNAL}.prov_raw_resources add column surplus varchar default 'kept'",
        f"alter table {INTERNAL}.prov_raw_runs drop column adapter_type",
    )
    assert said(pair.run("run", "--select", "stg_events")) == ["nothing recorded, prov_raw_resources lacks location; `dbt build --select package:dbt_provenance` adds it"]
    heard = said(pair.run("build"))
    assert sorted(heard[:2]) == [f"{table} was made by an older release; added {column}, null in the rows it has" for table, column in (("prov_raw_resources", "location"), ("prov_raw_runs", "adapter_type"))]
    assert raw_ids(project)[: len(ids)] == ids
    assert rows(project, f"select count(*) from {INTERNAL}.prov_raw_resources where surplus = 'kept' and raw_id <= ?", len(ids)) == [(len(ids),)]
    assert rows(project, f"select count(*) from {INTERNAL}.prov_stg_resources where recorded_to_utc is null and original_file_path is null and resource_type = 'model'") == [(0,)]
    assert counts(project)["prov_raw_runs"] == before["prov_raw_runs"] + 1
    assert rows(project, revisions) == evidence and answer(project) == answered
    ids = raw_ids(project)
    assert len(said(pair.run("build"))) == 1 and raw_ids(project) == ids


def drop_all(project: Path, *, keep: tuple[str, ...] = ()) -> None:
    found = rows(project, "select table_schema, table_name, table_type from information_schema.tables where table_schema like 'main_provenance%'")
    change(project, *(f"drop {'view' if kind == 'VIEW' else 'table'} {schema}.{name}" for schema, name, kind in found if name not in keep))


def test_the_next_build_repairs_what_was_dropped_and_seals_a_lost_ledger(pair):
    ids = raw_ids(pair.installed)
    drop_all(pair.installed, keep=RAW)
    assert len(said(pair.run("run", "--select", "stg_events"))) == 1
    change(pair.installed, f"drop table {INTERNAL}.prov_ledger")
    heard = said(pair.run("build"))
    assert heard[0].startswith("the ledger was lost, nothing answers until")
    assert raw_ids(pair.installed) == ids
    assert rows(pair.installed, f"select ledger_action from {INTERNAL}.prov_ledger") == [("seal",)]
    assert answer(pair.installed)[0] == "not_found_or_not_authorized"


def test_a_warehouse_without_anything_of_the_package_is_built_anew(pair):
    change(pair.installed, "drop schema main_provenance cascade", f"drop schema {INTERNAL} cascade")
    assert said(pair.run("run", "--select", "stg_events"))[0].startswith("nothing recorded")
    pair.run("build", "--target", "wide")
    assert rows(pair.installed, f"select count(*) from {INTERNAL}.prov_ledger") == [(0,)]
    assert rows(pair.installed, "select outcome from main_provenance.resolve('paid', principal => 'analyst')") == [("resolved",)]


def test_where_all_schemas_are_one_the_names_keep_apart(pair):
    project = pair.installed
    (project / "macros/generate_schema_name.sql").write_text("{% macro generate_schema_name(custom_schema_name, node) %}{{ target.schema }}{% endmacro %}\n")
    (project / "models/lineage_edges.sql").unlink()
    dbt(project, "build", "--target", "other")
    assert rows(project, "select outcome from other.resolve('paid', principal => 'analyst')") == [("resolved",)]


def test_a_project_under_an_odd_path_builds_into_a_schema_in_upper_case(tmp_path):
    project = copy_project("small", tmp_path / "with blanks/Ünïcode 語")
    profiles = project / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("schema: other", "schema: UPPER_Case"))
    sources = project / "models/models.yml"
    sources.write_text(sources.read_text().replace("schema: main", "schema: UPPER_Case"))
    for expected in (dbt(project, "build", "--target", "other", SMALL_DATABASE="ödd data.duckdb") for _ in range(2)):
        assert "results and 0 changed resources recorded after the run" in said(expected)[0]
    with duckdb.connect(str(project / "ödd data.duckdb"), read_only=True) as con:
        assert con.execute("select outcome from UPPER_Case_provenance.resolve('paid', principal => 'analyst')").fetchall() == [("resolved",)]
        assert con.execute("select count(distinct raw_id) = count(distinct unique_id) from UPPER_Case_provenance_internal.prov_raw_resources").fetchall() == [(True,)]


def test_switched_off_it_is_silent(pair):
    configured = pair.installed / "dbt_project.yml"
    configured.write_text(configured.read_text() + "  provenance_enabled: false\n")
    before = counts(pair.installed)
    assert said(dbt(pair.installed, "run", "--select", "stg_events", "prov_raw_resources")) == []
    assert counts(pair.installed) == before


@pytest.mark.parametrize(
    ("variables", "closing"),
    [
        ({"provenance_principals": ["me"]}, r"0 of \d+ resources are visible to anyone: set the variables"),
        ({"provenance_principals": {"principal": "me", "group_name": "analyst"}}, None),
        ({"provenance_policies": ["everybody"]}, r"0 of (\d+) resources are visible to anyone, \1 are closed because a policy of theirs cannot be read"),
        ({"provenance_policies": {"policy_name": "typo", "applies_to": "prject", "allow": ["analyst"]}}, r"0 of (\d+) resources are visible to anyone, \1 are closed because a policy"),
        ({"provenance_groups": 7, "provenance_authority": ["nobody"]}, None),
    ],
)
def test_a_policy_variable_of_another_shape_grants_nothing_and_breaks_nothing(pair, variables, closing):
    finished = dbt(pair.installed, "run", "--select", "package:dbt_provenance", "--vars", json.dumps(variables))
    (line,) = [line for line in said(finished) if "recorded after the run" in line]
    assert re.search(closing, line) if closing else "visible to anyone" not in line, line
