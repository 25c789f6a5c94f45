"""One dbt command in a process of its own, with what each node cost: `python -m bench.dbt_run PROJECT ARGUMENTS...` prints it as JSON."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Cost:
    """CPU seconds, user and system, of the whole process and of each node by unique_id; the process's peak memory in MB."""

    total: float
    nodes: dict[str, float]
    peak_megabytes: float


def run(project: Path, *arguments: str) -> Cost:
    """Runs dbt with one thread; its failure ends the benchmark."""
    finished = subprocess.run(
        [sys.executable, "-m", "bench.dbt_run", str(project), *arguments],
        check=True, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
    )
    return Cost(**json.loads(finished.stdout.splitlines()[-1]))


def _main(project: str, *arguments: str) -> None:
    os.chdir(project)
    from dbt.cli.main import dbtRunner

    started: dict[str, float] = {}
    nodes: dict[str, float] = {}

    def on_event(event: object) -> None:
        name = event.info.name
        if name == "NodeStart":
            started[event.data.node_info.unique_id] = time.process_time()
        elif name == "NodeFinished":
            nodes[event.data.node_info.unique_id] = time.process_time() - started[event.data.node_info.unique_id]

    threads = ["--threads", "1"] if arguments[0] in ("run", "build") else []
    result = dbtRunner(callbacks=[on_event]).invoke(["--quiet", "--no-version-check", *arguments, *threads, "--project-dir", ".", "--profiles-dir", "."])
    if not result.success:
        sys.exit(f"dbt {' '.join(arguments)} failed: {result.exception or [one.message for one in result.result]}")
    spent = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"total": spent.ru_utime + spent.ru_stime, "nodes": nodes, "peak_megabytes": spent.ru_maxrss / 1024}))


if __name__ == "__main__":
    _main(*sys.argv[1:])
