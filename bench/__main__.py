"""Prints the figures of docs/benchmarks.md, all of one run: `python -m bench [--quick]`.

Whole-process CPU (user and system, children included) where dbt runs, the process's own where the package's functions do.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from .generate_project import ProjectSize, generate_project
from .questions import measure

ROOT = Path(__file__).resolve().parents[1]
DBT = Path(sys.executable).with_name("dbt")
NO_CAPTURE = ["--vars", "{provenance_switches: {capture: false, hook: false}}"]


def cpu_of(project: Path, *arguments: str) -> float:
    """CPU seconds of one dbt command; its failure ends the benchmark."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [str(DBT), "--quiet", "--no-version-check", *arguments, "--project-dir", str(project), "--profiles-dir", str(project)],
        check=True, cwd=project, env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def capture(folder: Path, models: int) -> list[str]:
    """Table row: full parse without the package, the landing model's first and unchanged capture, and the package's own models."""
    plain = generate_project(folder / f"plain_{models}", ProjectSize(models=models), package=None)
    parse = median(cpu_of(plain, "parse", "--no-partial-parse") for _ in range(2))
    with_package = generate_project(folder / f"package_{models}", ProjectSize(models=models), package=ROOT)
    cpu_of(with_package, "deps")
    landing = ["run", "--select", "prov_ledger", "prov_raw_resources"]
    cpu_of(with_package, *landing, *NO_CAPTURE)
    idle = median(cpu_of(with_package, *landing, *NO_CAPTURE) for _ in range(2))
    cpu_of(with_package, "parse")
    first = cpu_of(with_package, *landing) - idle
    unchanged = median(cpu_of(with_package, *landing) for _ in range(2)) - idle
    own = cpu_of(with_package, "run", "--select", "package:dbt_provenance") - idle
    return [f"| {models:,} | {parse:.1f} s | {first:.1f} s ({first / parse:.1%}) | {unchanged:.1f} s ({unchanged / parse:.1%}) | {own:.1f} s |"]


def rules_project(folder: Path) -> Path:
    """The project whose compiled SQL the questions run on."""
    project = folder / "rules"
    shutil.copytree(ROOT / "integration_tests/rules", project, ignore=shutil.ignore_patterns("target", "dbt_packages", "*.duckdb"))
    (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
    for command in (["deps"], ["seed", "--select", "package:rules"], ["run"]):
        cpu_of(project, *command)
    return project


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not what it costs")
    parser.add_argument("--models", type=int, nargs="*", default=[1_000, 5_000])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    chosen = parser.parse_args()
    models, rows = ([20], [1_000]) if chosen.quick else (chosen.models, chosen.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("\n| models | full parse, CPU | first capture | unchanged | package's own models |\n| --- | --- | --- | --- | --- |", flush=True)
        for size in models:
            print("\n".join(capture(folder, size)), flush=True)
        print("\n" + "\n".join(measure(rules_project(folder), rows, count=5 if chosen.quick else 40)), flush=True)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    print(f"\nPeak memory of the largest process: {peak:,.0f} MB.")


if __name__ == "__main__":
    main()
