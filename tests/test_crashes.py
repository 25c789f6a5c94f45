"""A dbt that is killed at some moment, and a disk that is full: what is read afterwards is the last complete state, which says that it is
behind when more was captured; the next build repairs, and nothing is lost."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import engines
import pytest
from conftest import shared_build
from small_on_engine import Small, built_small, small_in
from test_runs import INTERNAL

OLD, NEW = "Events with typed columns.", "Zebras with typed columns."
MOMENTS = {
    "what was seen is staged": r"create table \S*prov_seen_",
    "the changes are appended": rf"insert into \S*{INTERNAL}\S*prov_raw_resources",
    "half of the tables are built": r"(OK created|Succeeded).*model main_provenance_internal\.prov_int_evidence\b",
    "the results are recorded": rf"insert into \S*{INTERNAL}\S*prov_raw_run_results",
    "the run is recorded": rf"insert into \S*{INTERNAL}\S*prov_raw_runs",
}
"""Words in dbt's debug output after which it is killed."""

IN_CI = {("Core 1.11", "half of the tables are built"), ("dbt 2", "half of the tables are built")}
"""The others are for `make test-matrix`."""

WHOLE = {
    "evidence": "select evidence_id, revision, content_hash, definition_text from main_provenance.evidence",
    "raw": f"select unique_id, change_kind, document_hash, count(*) from {INTERNAL}.prov_raw_resources where unique_id like '%.small.%' group by all",
    "found": "select evidence_id, rank from main_provenance.search('zebras', principal => 'analyst')",
    "edges": "select upstream_id, downstream_id, kind from main_provenance.lineage_edges where kind <> 'execution'",
    "state": "select index_state from main_provenance.index_status",
}


@pytest.fixture(scope="session", params=["Core 1.11", "dbt 2"])
def built(request, tmp_path_factory, worker) -> Small:
    engine = engines.engine(request.param)
    folder = shared_build(tmp_path_factory, worker, f"small_{engine.slug}", lambda made: built_small(made, engine))
    return small_in(folder, engine)


@pytest.fixture(scope="session")
def undisturbed(built, tmp_path_factory) -> dict[str, list[tuple[Any, ...]]]:
    """What is read when the changed project was simply built."""
    small = built.copied(tmp_path_factory.mktemp("undisturbed"))
    small.edit(OLD, NEW)
    small.run("build")
    return whole(small.project / "small.duckdb")


@pytest.fixture
def changed(built, tmp_path) -> Small:
    """A built project of which one description has changed since."""
    small = built.copied(tmp_path)
    small.edit(OLD, NEW)
    return small


def read(file: Path, statement: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("set variable provenance_principal = 'analyst'")
        return con.execute(f"from ({statement}) order by all").fetchall()


def whole(file: Path) -> dict[str, list[tuple[Any, ...]]]:
    return {name: read(file, statement) for name, statement in WHOLE.items()}


def check_that_one_state_is_read(file: Path) -> str:
    """Gives what the index says of itself."""
    captured = read(file, f"select count(*) from {INTERNAL}.prov_raw_resources where document like '%{NEW}%'") == [(1,)]
    ((text,),) = read(file, "select definition_text from main_provenance.resolve('stg_events', principal => 'analyst')")
    ((state,),) = read(file, "select index_state from main_provenance.index_status")
    found = read(file, "select evidence_id from main_provenance.search('zebras', principal => 'analyst')")
    assert text in (OLD, NEW) and bool(found) == (text == NEW)
    assert state == ("current" if captured == (text == NEW) else "behind")
    halves = read(
        file,
        f"""select invocation_id from {INTERNAL}.prov_raw_runs as runs
        where results_total <> (select count(*) from {INTERNAL}.prov_raw_run_results as results where results.invocation_id = runs.invocation_id)""",
    )
    assert halves == []
    return state


def kill_when(process: subprocess.Popen[str], words: str) -> None:
    with process:
        for line in process.stdout:
            if re.search(words, line):
                process.kill()
                break
        else:
            pytest.fail(f"dbt ended with {process.wait()} and never said {words}")
    assert process.returncode == -9


@pytest.mark.parametrize("moment", MOMENTS)
def test_after_dbt_was_killed_one_state_is_read_and_the_next_build_repairs(request, built, all_engines, moment):
    if not all_engines and (built.engine.name, moment) not in IN_CI:
        pytest.skip("in make test-matrix alone")
    changed, undisturbed = request.getfixturevalue("changed"), request.getfixturevalue("undisturbed")
    file = changed.project / "small.duckdb"
    runs, last = read(file, f"select invocation_id from {INTERNAL}.prov_raw_runs"), read(file, WHOLE["evidence"])
    debug = ["--debug"] if changed.engine.is_core else ["--log-level", "debug"]
    kill_when(changed.start("build", *debug), MOMENTS[moment])
    state = check_that_one_state_is_read(file)
    assert state == "behind" or moment != "half of the tables are built"
    if state == "behind":
        assert read(file, WHOLE["evidence"]) == last
    assert set(runs) <= set(read(file, f"select invocation_id from {INTERNAL}.prov_raw_runs"))
    changed.run("build")
    assert whole(file) == undisturbed
    assert check_that_one_state_is_read(file) == "current"


def test_what_a_killed_capture_left_is_cleared_away_after_an_hour(changed):
    file = changed.project / "small.duckdb"
    young = read(file, "select 'prov_seen_' || strftime(now() at time zone 'UTC', '%Y%m%d%H%M') || '_000000000000'")[0][0]
    with duckdb.connect(str(file)) as con:
        for name in ("prov_seen", "prov_seen_202001010000_000000000000", young):
            con.execute(f"create table {INTERNAL}.{name} (unique_id varchar)")
    changed.run("run", "--select", "stg_events")
    assert read(file, "select table_name from information_schema.tables where table_name like 'prov_seen%'") == [(young,)]


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 40 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(folder)], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_on_a_full_disk_the_last_complete_state_is_read_and_a_build_with_room_repairs(request, built, all_engines, small_disk):
    if not all_engines and built.engine.is_core:
        pytest.skip("in make test-matrix alone")
    changed, undisturbed = request.getfixturevalue("changed"), request.getfixturevalue("undisturbed")
    file = Path(shutil.copy(changed.project / "small.duckdb", small_disk))
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 100_000))
    ended = changed.run("build", check=False, SMALL_DATABASE=str(file))
    assert ended.returncode != 0 and "No space left" in ended.stdout + ended.stderr
    check_that_one_state_is_read(file)
    filler.unlink()
    changed.run("build", SMALL_DATABASE=str(file))
    assert whole(file) == undisturbed


def test_a_file_that_may_not_grow_keeps_the_last_complete_state_and_a_build_with_room_repairs(request, all_engines):
    if not all_engines:
        pytest.skip("in make test-matrix alone")
    changed, undisturbed = request.getfixturevalue("changed"), request.getfixturevalue("undisturbed")
    file = changed.project / "small.duckdb"
    size = file.stat().st_size
    if not changed.engine.is_core:
        pytest.skip("dbt 2 is ended by the signal that comes with the limit; the full disk is tried with it")
    with changed.start("build", limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))) as process:
        process.communicate()
    check_that_one_state_is_read(file)
    changed.run("build")
    assert whole(file) == undisturbed
