"""A reader, dbt and the Python hook on one DuckDB file: who waits, who is told what, and that nobody keeps it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from conftest import shared_build
from dbt_provenance.cli import main
from dbt_provenance.warehouse import duckdb_connection
from small_on_engine import Small, built_small, holder_of, small_in
from test_runs import INTERNAL, rows, said

ASKED = "select definition_text, index_state from main_provenance.resolve('stg_events', principal => 'analyst')"
OLD, NEW = "Events with typed columns.", "Events, typed."


@pytest.fixture(scope="session")
def built(tmp_path_factory, worker, engine) -> Small:
    return small_in(shared_build(tmp_path_factory, worker, f"small_{engine.slug}", lambda made: built_small(made, engine)), engine)


@pytest.fixture
def small(built, tmp_path) -> Small:
    return built.copied(tmp_path)


def hook(small: Small, *arguments: str) -> Result:
    place = ["--dbt", str(small.engine.executable), "--project-dir", str(small.project), "--profiles-dir", str(small.project)]
    return CliRunner().invoke(main, [*arguments, *place])


def open_files() -> list[str]:
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("the files that a process has open are read from /proc, which this system does not have")
    return [os.readlink(handle) for handle in folder.iterdir() if handle.is_symlink()]


@pytest.mark.case("J4")
def test_while_a_reader_holds_the_file_dbt_names_it_and_the_reader_sees_the_last_state(small):
    small.edit(OLD, NEW)
    file = small.project / "small.duckdb"
    with holder_of(file, read_only=True) as reader:
        ended = [small.run("build", check=False, plain=plain) for plain in (False, True)]
        assert ended[0].returncode != 0 and f"PID {reader.pid}" in ended[0].stdout + ended[0].stderr
        assert ended[1].returncode == 0, "without a reader on it, the other file is built"
        assert rows(small.project, ASKED) == [(OLD, "current")]
        reader.communicate()
    assert small.run("build").returncode == 0
    assert rows(small.project, ASKED) == [(NEW, "current")]


@pytest.mark.case("J4")
def test_a_reader_of_a_published_copy_stops_no_build_and_sees_whole_states(small):
    working, published = small.project / "small.duckdb", small.project / "published.duckdb"

    def publish() -> None:
        assert not working.with_name("small.duckdb.wal").exists()
        os.replace(shutil.copy(working, small.project / "publishing.duckdb"), published)

    publish()
    with duckdb.connect(str(published), read_only=True) as reader:
        small.edit(OLD, NEW)
        small.run("build")
        publish()
        assert reader.execute(ASKED).fetchall() == [(OLD, "current")]
    code = f"import duckdb; print(duckdb.connect({str(published)!r}, read_only=True).execute({ASKED!r}).fetchall())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == f"{[(NEW, 'current')]}\n"


@pytest.mark.case("J4")
def test_the_hook_tries_again_while_the_file_is_held_then_says_who_holds_it_and_leaves_no_handle(small, monkeypatch):
    file = small.project / "small.duckdb"
    tries = []
    reader = holder_of(file, read_only=True)
    monkeypatch.setattr(duckdb_connection, "sleep", tries.append)
    for command in (["refresh"], ["erase", "stg_events"], ["revoke", "stg_events"], ["prune"], ["ledger", "--start-empty"]):
        place = ["--project-dir", str(small.project), "--profiles-dir", str(small.project), "--wait", "0.5"]
        refused = CliRunner().invoke(main, [*command, *place])
        assert refused.exit_code == 5 and refused.stderr.count("\n") == 1, refused.output
        assert f"process {reader.pid}" in refused.stderr and "--wait" in refused.stderr
    assert len(tries) >= 5
    monkeypatch.setattr(duckdb_connection, "sleep", lambda seconds: reader.communicate())
    done = hook(small, "revoke", "stg_events")
    assert done.exit_code == 0, done.output
    assert [held for held in open_files() if held.startswith(str(small.project)) and ".duckdb" in held] == []
    assert rows(small.project, f"select ledger_action from {INTERNAL}.prov_ledger") == [("revoke",)]


@pytest.mark.case("J4")
def test_after_a_refresh_no_handle_is_left_and_dbt_builds_on(small):
    done = hook(small, "refresh")
    assert done.exit_code == 0, done.output
    assert [held for held in open_files() if held.startswith(str(small.project)) and ".duckdb" in held] == []
    assert "recorded after the run" in said(small.run("run", "--select", "stg_events"))[-1]
