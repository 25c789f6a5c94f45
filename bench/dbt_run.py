"""One dbt command in a process of its own, with what it cost. `python -m bench.dbt_run PROJECT ARGUMENTS...` is the half that runs inside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """Seconds of CPU (user and system) and of wall time of the whole process, its peak memory in MB, and the seconds of each node by
    unique_id: CPU on dbt Core, wall time on dbt 2, which tells no other. Statements are those sent to the warehouse in all."""

    cpu: float
    wall: float
    peak_megabytes: float
    nodes: dict[str, float]
    statements: int


def run(project: Path, *arguments: str, dbt2: Path | None = None) -> Cost:
    """Runs dbt Core, or that executable of dbt 2, with one thread; its failure ends the benchmark."""
    threads = ["--threads", "1"] if arguments[0] in ("run", "build") else []
    places = ["--project-dir", ".", "--profiles-dir", "."]
    log = project / "logs/query_log.sql"
    log.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bench.dbt_run"] if dbt2 is None else [str(dbt2)]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, *arguments, *threads, *places], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    said = process.stdout.read()
    _, status, spent = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"dbt {' '.join(arguments)} failed:\n{said}")
    if dbt2 is None:
        told = json.loads(said.splitlines()[-1])
    else:
        results = json.loads((project / "target/run_results.json").read_text())["results"] if threads else []
        told = {"nodes": {one["unique_id"]: one["execution_time"] for one in results}, "statements": log.read_text().count("-- created_at") if log.exists() else 0}
    return Cost(cpu=spent.ru_utime + spent.ru_stime, wall=wall, peak_megabytes=spent.ru_maxrss / 1024, **told)


def _main(*arguments: str) -> None:
    from dbt.cli.main import dbtRunner

    started: dict[str, float] = {}
    nodes: dict[str, float] = {}
    statements = 0

    def on_event(event: object) -> None:
        nonlocal statements
        name = event.info.name
        statements += name == "SQLQuery"
        if name == "NodeStart":
            started[event.data.node_info.unique_id] = time.process_time()
        elif name == "NodeFinished":
            nodes[event.data.node_info.unique_id] = time.process_time() - started[event.data.node_info.unique_id]

    result = dbtRunner(callbacks=[on_event]).invoke(["--quiet", "--no-version-check", *arguments])
    if not result.success:
        sys.exit(f"{result.exception or [one.message for one in result.result]}")
    print(json.dumps({"nodes": nodes, "statements": statements}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
