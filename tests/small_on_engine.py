"""The small project on one engine, with the package and without it: what a command does to each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from conftest import ROOT, copy_project, dbt
from engines import Engine
from test_runs import results, said

AS_DUCKDB_1_5_READS = "config_options: {storage_compatibility_version: v1.5.0}"


@dataclass(frozen=True)
class Small:
    """`project` has the package, `plain` is the same without it; each has a built DuckDB file of its own."""

    engine: Engine
    project: Path
    plain: Path

    def run(self, *arguments: str, check: bool = True, plain: bool = False, **env: str) -> subprocess.CompletedProcess[str]:
        return dbt(self.plain if plain else self.project, *arguments, check=check, executable=self.engine.executable, **env)

    def start(self, *arguments: str, limit: Callable[[], None] | None = None, **env: str) -> subprocess.Popen[str]:
        """A command that goes on while the test does something else; its folders of logs and artifacts are its own."""
        folder = self.project.parent / f"started_{len(list(self.project.parent.glob('started_*')))}"
        own = ["--target-path", str(folder), "--log-path", str(folder / "logs"), "--project-dir", str(self.project), "--profiles-dir", str(self.project)]
        environment = os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "NO_COLOR": "1"} | env
        command = [str(self.engine.executable), "--no-version-check", *arguments, *own]
        return subprocess.Popen(command, cwd=self.project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=limit)

    def both(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs it with the package and without: exit code, and results outside the package's own nodes, are equal. Gives the first."""
        with ThreadPoolExecutor() as pool:
            with_it, without = pool.map(lambda plain: self.run(*arguments, check=False, plain=plain), (False, True))
        assert with_it.returncode == without.returncode, with_it.stdout + without.stdout
        assert results(self.project) == results(self.plain)
        return with_it

    def in_a_row(self, times: int, *arguments: str) -> list[str]:
        """What the package said in each of so many invocations: on Core one after the other in one process, on dbt 2 a process each."""
        if not self.engine.is_core:
            return [line for _ in range(times) for line in said(self.run(*arguments))]
        code = f"from dbt.cli.main import dbtRunner\nfor _ in range({times}): assert dbtRunner().invoke({list(arguments)!r}).success"
        python = self.engine.executable.with_name("python")
        python = python if python.exists() else Path(sys.executable)
        environment = os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "NO_COLOR": "1", "DBT_PROFILES_DIR": str(self.project)}
        return said(subprocess.run([str(python), "-c", code], cwd=self.project, env=environment, capture_output=True, text=True, check=True))

    def edit(self, old: str, new: str) -> None:
        models = self.project / "models/models.yml"
        assert old in models.read_text()
        models.write_text(models.read_text().replace(old, new))

    def copied(self, to: Path) -> Small:
        for folder, name in ((self.project, "installed"), (self.plain, "plain")):
            shutil.copytree(folder, to / name, symlinks=True)
            shutil.copytree(to / name / "target", to / name / "state")
        link = to / "installed/dbt_packages/dbt_provenance"
        link.unlink()
        link.symlink_to(ROOT)  # dbt 2 makes it relative
        return replace(self, project=to / "installed", plain=to / "plain")


def built_small(folder: Path, engine: Engine) -> Small:
    """Built once with the package and once without. Where they stand is known without building: see `small_in`."""
    small = small_in(folder, engine)
    project = copy_project("small", folder, engine.executable)
    profiles = project / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("threads: 2}", f"threads: 2, {AS_DUCKDB_1_5_READS}}}"))
    small.plain.parent.mkdir()
    shutil.copytree(project, small.plain, ignore=shutil.ignore_patterns("packages.yml", "package-lock.yml", "dbt_packages", "target"))
    small.both("build")
    return small


def small_in(folder: Path, engine: Engine) -> Small:
    return Small(engine, folder / "small", folder / "plain/small")


def holder_of(file: Path, *, read_only: bool = False) -> subprocess.Popen[str]:
    """Another process that holds the file until its input is closed."""
    code = f"import duckdb, sys; c = duckdb.connect({str(file)!r}, read_only={read_only}); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    return holder
