"""What recording costs, and that it harms nothing: many builds, builds at once, builds of which nothing changed, targets that are not ready."""

from __future__ import annotations

import re

import duckdb
import pytest
from conftest import shared_build
from small_on_engine import built_small, holder_of, small_in
from test_runs import INTERNAL, RAW, answer, change, counts, drop_all, raw_ids, results, rows, said

ROW = ("run", "--select", "stg_events")
KEYS = {
    "prov_raw_resources": "raw_id",
    "prov_raw_runs": "invocation_id",
    "prov_raw_run_results": "invocation_id, unique_id",
    "prov_raw_freshness": "invocation_id, unique_id",
}


@pytest.fixture(scope="session")
def built(tmp_path_factory, worker, engine):
    folder = shared_build(tmp_path_factory, worker, f"small_{engine.slug}", lambda made: built_small(made, engine))
    return small_in(folder, engine)


@pytest.fixture
def small(built, tmp_path):
    return built.copied(tmp_path)


@pytest.fixture(scope="session")
def twenty(built, tmp_path_factory):
    """Twenty invocations of a single model after a build, nothing changed: what they said, and the counts before."""
    small = built.copied(tmp_path_factory.mktemp("twenty"))
    before = counts(small.project), raw_ids(small.project)
    return small, before, small.in_a_row(20, *ROW)


def twice(project) -> dict[str, list[tuple]]:
    """Natural keys that stand twice."""
    found = {table: rows(project, f"select {key}, count(*) from {INTERNAL}.{table} group by all having count(*) > 1") for table, key in KEYS.items()}
    opened = rows(project, f"select project_name, target_name, unique_id from {INTERNAL}.prov_stg_resources where recorded_to_utc is null group by all having count(*) > 1")
    return {key: value for key, value in (found | {"open rows": opened}).items() if value}


@pytest.mark.xdist_group("twenty")
@pytest.mark.case("G3")
def test_twenty_invocations_of_one_model_in_a_row_record_each_once(twenty):
    small, (before, _), _ = twenty
    assert twice(small.project) == {}
    added = {table: number - before[table] for table, number in counts(small.project).items()}
    (each,) = rows(small.project, f"select count(*) from {INTERNAL}.prov_raw_run_results group by invocation_id order by max(recorded_at_utc) desc limit 1")
    assert added == {table: 0 for table in RAW} | {"prov_raw_runs": 20, "prov_raw_run_results": 20 * each[0]}


@pytest.mark.xdist_group("twenty")
@pytest.mark.case("G5")
def test_the_twentieth_unchanged_invocation_costs_as_many_statements_and_rows_as_the_second_and_adds_no_version(twenty):
    small, (_, ids), heard = twenty
    costs = [re.search(r"0 changed resources recorded after the run \((\d+) statements, (\d+) rows, [\d.]+ s\)", line).groups() for line in heard]
    assert len(costs) == 20 and len(set(costs)) == 1
    assert int(costs[0][0]) < 12
    assert raw_ids(small.project) == ids


@pytest.mark.case("G5")
def test_the_order_of_keys_changes_nothing_and_a_description_closes_one_row_and_opens_one(small):
    ids, hashes = raw_ids(small.project), f"select evidence_id, revision, content_hash from {INTERNAL}.prov_int_evidence order by all"
    before = rows(small.project, hashes)
    models = small.project / "models/models.yml"
    models.write_text(models.read_text().replace("{z_key: 1, a_key: {y: 2, x: [1, two, null, {}]}}", "{a_key: {x: [1, two, null, {}], y: 2}, z_key: 1}"))
    small.run("build", "--select", "package:dbt_provenance")
    assert (raw_ids(small.project), rows(small.project, hashes)) == (ids, before)
    models.write_text(models.read_text().replace("Events with typed columns.", "Events, typed."))
    small.run("build", "--select", "package:dbt_provenance")
    assert [row[1:3] for row in raw_ids(small.project)[len(ids) :]] == [("model.small.stg_events", "open")]
    states = f"select recorded_to_utc is null from {INTERNAL}.prov_stg_resources where unique_id = 'model.small.stg_events' order by raw_id"
    assert rows(small.project, states) == [(False,), (True,)]
    assert rows(small.project, f"select count(*) from {INTERNAL}.prov_stg_resources where recorded_to_utc is not null") == [(1,)]


@pytest.mark.case("G3")
def test_of_two_builds_at_once_what_ran_is_recorded_once_and_what_found_the_file_held_says_so(small):
    before = counts(small.project)
    models = small.project / "models/models.yml"
    models.write_text(models.read_text().replace("Events with typed columns.", "Events, typed."))
    started = [small.start(*ROW), small.start("run", "--select", "hostile")]
    outputs = [process.communicate()[0] for process in started]
    assert all(process.returncode == 0 or "lock" in output for process, output in zip(started, outputs)), outputs
    passed = [process for process in started if process.returncode == 0]
    assert 1 <= len(passed) == counts(small.project)["prov_raw_runs"] - before["prov_raw_runs"]
    assert twice(small.project) == {}
    assert counts(small.project)["prov_raw_resources"] == before["prov_raw_resources"] + 1


@pytest.mark.case("G3")
def test_a_build_that_finds_the_file_held_ends_as_it_does_without_the_package(small):
    held = [holder_of(project / "small.duckdb") for project in (small.project, small.plain)]
    try:
        ended = [small.run(*ROW, check=False, plain=plain) for plain in (False, True)]
    finally:
        for holder in held:
            holder.communicate()
    assert ended[0].returncode == ended[1].returncode != 0
    assert all("lock" in one.stdout + one.stderr and str(holder.pid) in one.stdout + one.stderr for one, holder in zip(ended, held))
    assert small.run(*ROW).returncode == 0 and twice(small.project) == {}


@pytest.mark.case("G6")
def test_a_fresh_target_ends_as_without_the_package_with_one_line(small):
    for more in ([], ["--empty", "--defer", "--favor-state", "--state", "state"]):
        finished = small.both("run", "--select", "after_broken" if more else "hostile", "--target", "other", *more)
        assert finished.returncode == 0
        assert said(finished) == ["nothing recorded, prov_raw_resources is not there yet; `dbt build --select package:dbt_provenance` creates it"]
    assert rows(small.project, "select count(*) from information_schema.schemata where schema_name like 'other_provenance%'") == [(0,)]


@pytest.mark.case("G6")
def test_an_empty_build_is_recorded_as_empty_and_changes_nothing_that_is_known(small):
    ids, before, observed = raw_ids(small.project), answer(small.project), counts(small.project)["prov_raw_freshness"]
    assert small.both("run", "--select", "stg_events", "--empty").returncode == 0
    assert (raw_ids(small.project), answer(small.project), counts(small.project)["prov_raw_freshness"]) == (ids, before, observed)
    assert rows(small.project, f"select is_empty from {INTERNAL}.prov_raw_runs order by recorded_at_utc desc limit 1") == [(True,)]


@pytest.mark.case("G6")
def test_tables_dropped_by_hand_harm_no_run_and_the_next_build_repairs_all_but_the_ledger(small):
    project, before = small.project, answer(small.project)
    drop_all(project, keep=("prov_ledger",))
    finished = small.both(*ROW)
    assert (finished.returncode, said(finished)) == (0, ["nothing recorded, prov_raw_resources is not there yet; `dbt build --select package:dbt_provenance` creates it"])
    small.run("build")
    assert answer(project) == before and twice(project) == {}
    change(project, f"drop table {INTERNAL}.prov_ledger")
    assert small.both(*ROW).returncode == 0
    assert said(small.run("run", "--select", "package:dbt_provenance"))[0].startswith("the ledger was lost, nothing answers until")
    assert answer(project)[0] == "not_found_or_not_authorized"


@pytest.mark.case("G6")
def test_a_database_that_is_open_read_only_is_left_alone(small):
    if not small.engine.is_core:
        pytest.skip("dbt 2 opens a DuckDB file to write whatever access_mode says")
    with duckdb.connect(str(small.project / "small.duckdb")) as con:
        con.execute("checkpoint")
    before = counts(small.project)
    finished = small.both("test", "--target", "reader")
    assert (finished.returncode, said(finished)) == (0, ["nothing recorded, the database is open read-only"])
    assert counts(small.project) == before and set(results(small.project).values()) <= {"pass", "success"}
