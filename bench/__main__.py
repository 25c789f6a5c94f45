"""Prints the figures of docs/benchmarks.md, all of one run: `python -m bench [--quick]`."""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
from pathlib import Path
from statistics import median

from .dbt_run import ROOT, run
from .generate_project import ProjectSize, generate_project
from .questions import measure

LANDING = "model.dbt_provenance.prov_raw_resources"


def capture(folder: Path, models: int) -> str:
    """Table row: the full parse without the package; the landing node, first and unchanged; the package's other nodes; peak memory."""
    plain = generate_project(folder / f"plain_{models}", ProjectSize(models=models), package=None)
    parses = [run(plain, "parse", "--no-partial-parse") for _ in range(2)]
    parse, alone = median(one.total for one in parses), max(one.peak_megabytes for one in parses)
    with_package = generate_project(folder / f"package_{models}", ProjectSize(models=models), package=ROOT)
    run(with_package, "deps")
    run(with_package, "parse")
    first, *again = (run(with_package, "run", "--select", "package:dbt_provenance") for _ in range(3))
    landing, unchanged = first.nodes[LANDING], median(one.nodes[LANDING] for one in again)
    others = sum(first.nodes.values()) - landing
    return (
        f"| {models:,} | {parse:.1f} s | {landing:.2f} s ({landing / parse:.1%}) | {unchanged:.2f} s ({unchanged / parse:.1%}) | "
        f"{others:.1f} s | {alone:,.0f} MB | {first.peak_megabytes:,.0f} MB |"
    )


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
    parser.add_argument("--models", type=int, nargs="*", default=[1_000, 5_000])
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    chosen = parser.parse_args()
    models, rows = ([20], [1_000]) if chosen.quick else (chosen.models, chosen.rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("| models | full parse | landing node, first | unchanged | the package's other nodes | peak memory, full parse | run with the package |")
        print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
        for size in models:
            print(capture(folder, size), flush=True)
        print("\n" + "\n".join(measure(rules_project(folder), rows, count=5 if chosen.quick else 25)), flush=True)
    print(f"\nPeak memory of the questions' process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB.")


if __name__ == "__main__":
    main()
