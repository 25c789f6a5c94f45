"""All closures of a project of 12 layers of 30 models, each of which reads the whole layer before: 30^12 paths, 59,400 pairs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from package_sql import Warehouse, read_models  # noqa: E402

LAYERS, WIDTH = 12, 30
VIEWS = ("lineage_closure", "lineage_edges", "health", "coverage", "definition_changes", "change_impacts")


def layered(project: Path) -> Warehouse:
    """Each model has a source's freshness below it, and a second revision."""
    warehouse = Warehouse(read_models(project))
    warehouse.policy("rules_principals", ("analyst", None, "analyst", None)).policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))
    warehouse.state("source.shop.raw.events", {"source_name": "raw", "name": "events", "freshness": {"warn_after": {"count": 1, "period": "day"}}})
    for day in ("2025-01-01T12:00:00", "2025-02-01T12:00:00"):
        for layer in range(LAYERS):
            for place in range(WIDTH):
                upstream = [f"model.shop.m_{layer - 1}_{one}" for one in range(WIDTH)] if layer else ["source.shop.raw.events"]
                warehouse.state(f"model.shop.m_{layer}_{place}", {"name": f"m_{layer}_{place}", "description": f"As of {day}.", "depends_on": upstream}, at=day)
    return warehouse.build()


def measure_closures(project: Path) -> list[str]:
    """A table: rows of each view, and the seconds of wall time and CPU that reading all of it takes."""
    warehouse = layered(project)
    warehouse.con.execute("set variable provenance_principal = 'analyst'")
    there = {row[0] for row in warehouse.con.execute("select view_name from duckdb_views() where schema_name = 'provenance'").fetchall()}
    lines = [f"| view, over {LAYERS} layers of {WIDTH} models | rows | wall | CPU |", "| --- | --- | --- | --- |"]
    for view in VIEWS:
        if view in there:
            wall, cpu = time.perf_counter(), time.process_time()
            rows = len(warehouse.con.execute(f"select * from provenance.{view}").fetchall())
            lines.append(f"| `{view}` | {rows:,} | {time.perf_counter() - wall:.2f} s | {time.process_time() - cpu:.2f} s |")
    return lines
