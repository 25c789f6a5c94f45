"""What the package costs a dbt project: its landing node and its other nodes, on a first build, an unchanged one and one with a change,
beside the same command without the package."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import duckdb

from .dbt_run import ROOT, Cost, run
from .generate_project import ProjectSize, generate_project

LANDING = "model.dbt_provenance.prov_raw_resources"
OWN = ("run", "--select", "alone", "package:dbt_provenance")
NODES_HEAD = """| engine | models (resources) | landing node, first | unchanged | one changed | the package, first | unchanged | one changed |
| --- | --- | --- | --- | --- | --- | --- | --- |"""
RUNS_HEAD = """| engine | models | run | CPU | wall | peak memory | statements | rows of resources |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def capture(folder: Path, models: int, engines: list[Path | None]) -> tuple[list[str], list[str]]:
    """The rows of both tables for each engine (none is dbt Core). `alone`, one model of the project, runs without the package, too."""
    size = ProjectSize(models=models)
    nodes, runs, parse = [], [], None
    for dbt2 in engines:
        plain = generate_project(folder / "plain", size, package=None)
        parsed = run(plain, "parse", "--no-partial-parse", dbt2=dbt2)
        parse = parse or parsed
        without = run(plain, "run", "--select", "alone", dbt2=dbt2)
        costs, written = _builds(generate_project(folder / "package", size, package=ROOT), dbt2)
        name = "dbt Core" if dbt2 is None else "dbt 2"
        landing = [f"{cost.nodes[LANDING]:.2f} s ({cost.nodes[LANDING] / parse.cpu:.1%})" for cost in costs.values()]
        own = [f"{cost.cpu - without.cpu:.1f} s" for cost in costs.values()]
        nodes.append(f"| {name} | {models:,} ({written['first']:,}) | {' | '.join([*landing, *own])} |")
        for title, cost in {"full parse alone": parsed, "without the package": without, **costs}.items():
            runs.append(
                f"| {name} | {models:,} | {title} | {cost.cpu:.1f} s | {cost.wall:.1f} s | {cost.peak_megabytes:,.0f} MB | {cost.statements:,} | "
                f"{written.get(title, '')} |"
            )
    return nodes, runs


def _builds(project: Path, dbt2: Path | None) -> tuple[dict[str, Cost], dict[str, int]]:
    """Runs of the package: the first, the cheaper of two unchanged ones, one with one changed description; and the rows that each wrote."""
    run(project, "deps", dbt2=dbt2)
    run(project, "parse", dbt2=dbt2)
    first, rows = _counted(project, dbt2)
    again = [_counted(project, dbt2) for _ in range(2)]
    models_yml = project / "models/area_000/models.yml"
    models_yml.write_text(models_yml.read_text().replace("after step 7:", "after the step 7:", 1))
    changed, rows_changed = _counted(project, dbt2)
    unchanged = min((cost for cost, _ in again), key=lambda cost: cost.nodes[LANDING])
    return {"first": first, "unchanged": unchanged, "one changed": changed}, {"first": rows, "unchanged": max(one for _, one in again), "one changed": rows_changed}


def _counted(project: Path, dbt2: Path | None) -> tuple[Cost, int]:
    """A run of the package, and the rows of resources that it wrote."""
    before = _raw_rows(project)
    cost = run(project, *OWN, dbt2=dbt2)
    return cost, _raw_rows(project) - before


def _raw_rows(project: Path) -> int:
    file = project / "generated.duckdb"
    if not file.exists():
        return 0
    with duckdb.connect(str(file), read_only=True) as con:
        made = con.execute("select count(*) from information_schema.tables where table_name = 'prov_raw_resources'").fetchall()[0][0]
        return con.execute("select count(*) from main_provenance_internal.prov_raw_resources").fetchall()[0][0] if made else 0


GROWTH_HEAD = """| engine | models | unchanged builds | landing node, median of the first five | of the last five | CPU of the run, first five | last five | rows of resources written |
| --- | --- | --- | --- | --- | --- | --- | --- |"""


def growth(folder: Path, models: int, dbt2: Path | None, builds: int = 50) -> str:
    """Whether the same build costs more the longer the history is."""
    project = generate_project(folder / "growth", ProjectSize(models=models), package=ROOT)
    run(project, "deps", dbt2=dbt2)
    run(project, *OWN, dbt2=dbt2)
    before = _raw_rows(project)
    costs = [run(project, *OWN, dbt2=dbt2) for _ in range(builds)]
    early, late = costs[:5], costs[-5:]
    return (
        f"| {'dbt Core' if dbt2 is None else 'dbt 2'} | {models:,} | {builds} | {median(one.nodes[LANDING] for one in early):.2f} s | {median(one.nodes[LANDING] for one in late):.2f} s | "
        f"{median(one.cpu for one in early):.2f} s | {median(one.cpu for one in late):.2f} s | {_raw_rows(project) - before} |"
    )
