"""dbt as a program beside this one: run for the package's own models, never imported."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DbtRunError, UsageError, WarehouseLockedError
from ..warehouse.holder import held_by

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STEP = re.compile(r"\b(\d+) of (\d+) (?:OK|ERROR|PASS|FAIL|WARN|SKIP)\b")
_SAID = re.compile(r"dbt_provenance: (.*)")
_NOISE = re.compile(r"^\d\d:\d\d:\d\d\s+")

TAIL = 12
"""Lines of dbt's own words that an error repeats at most."""


@dataclass(frozen=True, kw_only=True)
class DbtRun:
    """How a command of dbt ended: what the package said in it, and dbt's last words."""

    command: str
    exit_code: int
    said: tuple[str, ...]
    last: tuple[str, ...]

    def require(self, remark: str = "") -> DbtRun:
        """Itself. Raises DbtRunError with dbt's last words when it ended with an error, WarehouseLockedError when another process
        had taken the file meanwhile."""
        if self.exit_code:
            held = held_by("\n".join(self.last))
            if held:
                raise WarehouseLockedError(f"{held}, so `{self.command}` could not open it{remark}. Try again when it has ended.")
            words = "\n".join(f"    {line}" for line in self.last)
            raise DbtRunError(f"`{self.command}` ended with exit code {self.exit_code}{remark}. dbt said:\n{words}")
        return self


@dataclass(frozen=True, kw_only=True)
class DbtProject:
    """How dbt is called for one project."""

    program: str
    project_folder: Path
    profiles_folder: Path
    target_name: str
    working_folder: Path
    environment: Mapping[str, str]

    def run(
        self, *command: str, extra: Sequence[str] = (), on_step: Callable[[int, int], None] = lambda done, total: None
    ) -> DbtRun:
        """Runs a command of dbt; `on_step` hears how many nodes are done, and of how many. Raises DbtRunError when dbt
        cannot be started."""
        arguments = [self.program, *command]
        arguments += ["--project-dir", str(self.project_folder), "--profiles-dir", str(self.profiles_folder)]
        arguments += ["--target", self.target_name, *extra]
        try:
            process = subprocess.Popen(
                arguments,
                cwd=self.working_folder,
                env={"DBT_VERSION_CHECK": "false", **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise DbtRunError(f"{self.program} cannot be run ({error.strerror}). Name dbt with --dbt.") from None
        with process:
            said, last = _heard(process, on_step)
        return DbtRun(command=f"dbt {' '.join(command[:2])}", exit_code=process.returncode, said=said, last=last)

    def operate(self, operation: str, **arguments: Any) -> tuple[str, ...]:
        """Runs a macro of the package; arguments that are None are left out. Gives what it said. Raises UsageError with its own
        words when it refuses, DbtRunError for what else stands in the way."""
        given = {name: value for name, value in arguments.items() if value is not None}
        run = self.run("run-operation", operation, "--args", json.dumps(given))
        if run.exit_code and run.said:
            raise UsageError(f"Nothing was done: {run.said[-1]}.")
        return run.require().said


def dbt_program(named: str | None = None) -> str:
    """The dbt to run: the one named, else the one beside this Python, else the first on PATH. Raises DbtRunError."""
    beside = shutil.which("dbt", path=str(Path(sys.executable).parent))
    found = shutil.which(named) if named else beside or shutil.which("dbt")
    if not found:
        raise DbtRunError(
            f"{named or 'dbt'} is not a program that can be run. Install it beside dbt-provenance "
            "(pip install 'dbt_provenance[load]'), or name yours with --dbt."
        )
    return os.path.abspath(found)


def _heard(process: subprocess.Popen[str], on_step: Callable[[int, int], None]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    said: list[str] = []
    last: deque[str] = deque(maxlen=TAIL)
    for line in process.stdout or ():
        plain = _NOISE.sub("", _COLOURS.sub("", line)).strip()
        step = _STEP.search(plain)
        if step:
            on_step(int(step.group(1)), int(step.group(2)))
        found = _SAID.search(plain)
        if found:
            said.append(found.group(1))
        if plain and not (step and " OK " in plain) and " START " not in plain:
            last.append(plain)
    return tuple(said), tuple(last)
