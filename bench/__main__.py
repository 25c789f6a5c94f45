"""Prints the figures of docs/benchmarks.md, all of one run: `python -m bench [--quick]`."""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
from pathlib import Path

from .capture import GROWTH_HEAD, NODES_HEAD, RUNS_HEAD, capture, growth
from .closures import measure_closures
from .dbt_run import ROOT, run
from .questions import measure


def rules_project(folder: Path) -> Path:
    """The project whose compiled SQL the questions run on."""
    project = folder / "rules"
    shutil.copytree(ROOT / "integration_tests/rules", project, ignore=shutil.ignore_patterns("target", "dbt_packages", "*.duckdb"))
    (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
    for command in (["deps"], ["seed", "--select", "package:rules"], ["run"]):
        run(project, *command)
    return project


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it runs, not what it costs")
    parser.add_argument("--models", type=int, nargs="*", default=[1_000, 5_000, 17_400], help="17,400 models make 30,000 resources")
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--builds", type=int, default=50, help="unchanged builds in a row")
    parser.add_argument("--dbt2", type=Path, help="the executable of dbt 2; without it dbt Core alone")
    chosen = parser.parse_args()
    models, rows, builds = ([20], [1_000], 10) if chosen.quick else (chosen.models, chosen.rows, chosen.builds)
    engines = [None, chosen.dbt2.resolve()] if chosen.dbt2 else [None]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables: tuple[list[str], list[str]] = ([NODES_HEAD], [RUNS_HEAD])
        for size in models:
            for table, rows_of_size in zip(tables, capture(folder, size, engines)):
                table += rows_of_size
                print("\n".join(rows_of_size), flush=True)
        print("\n" + "\n\n".join("\n".join(table) for table in tables if len(table) > 1), flush=True)
        if builds:
            print("\n" + GROWTH_HEAD, flush=True)
            for engine in engines:
                print(growth(folder, min(models or [200], key=lambda size: abs(size - 200)), engine, builds), flush=True)
        rules = rules_project(folder)
        print("\n" + "\n".join(measure_closures(rules)), flush=True)
        if rows:
            print("\n" + "\n".join(measure(rules, rows, count=5 if chosen.quick else 25)), flush=True)
    print(f"\nPeak memory of the questions' process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB.")


if __name__ == "__main__":
    main()
