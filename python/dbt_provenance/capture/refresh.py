"""After dbt: what Jinja cannot see is added to the raw relations, and the package's own models are built once more.

Docs blocks come from manifest.json, types from catalog.json, observations of freshness from sources.json when their run did
not record them itself, pages from the files under the docs paths. A kind of resource that the engine's `graph` does not have
(unit tests, on some engines more) is taken from manifest.json.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..errors import ArtifactError
from ..warehouse.duckdb_connection import DuckDBWarehouse, open_warehouse
from ..warehouse.profiles import Target
from .append import Changes, Scope, append_freshness, append_resources, append_runs
from .artifacts import Artifacts, ResourceRow, read_artifacts
from .dbt_command import DbtProject
from .documents import read_pages
from .unparsed import unparsed_note
from .whole_types import catalog_ids, minor_version, open_rows, types_of_sections, whole_types

BUILD = ("build", "--select", "package:dbt_provenance")
KEPT = "; what was captured is kept"


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """What a refresh did. `notes` says what was passed over, and why."""

    changes: Changes
    observations: int
    rebuilt: bool
    notes: tuple[str, ...]


def refresh(
    target: Target,
    dbt: DbtProject,
    *,
    now: datetime,
    extra: tuple[str, ...] = (),
    wait_seconds: float = 0.0,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> Refreshed:
    """Captures, and runs dbt when anything changed or the package's tables lag behind. `now` is naive UTC.

    Raises ArtifactError, WarehouseError, SurfaceError, and DbtRunError (what was captured is then kept).
    """
    if not (target.artifacts_folder / "manifest.json").is_file():
        raise ArtifactError(
            f"There is no manifest.json in {target.artifacts_folder}. Run `dbt build` first; refresh comes after it."
        )
    artifacts = read_artifacts(target.artifacts_folder)
    if artifacts.project_name != target.project_name:
        raise ArtifactError(
            f"The manifest in {target.artifacts_folder} is of project {artifacts.project_name}, not of {target.project_name}. "
            "Run `dbt build` in the project, or name its target folder with DBT_TARGET_PATH."
        )
    unparsed = unparsed_note(artifacts.manifest, target.project_folder, target.model_paths)
    pages = read_pages(target.project_folder, target.docs_paths, project_name=target.project_name)
    scope = Scope(
        project_name=target.project_name,
        target_name=target.target_name,
        target_schema=target.schema,
        recorded_at=now,
    )
    with open_warehouse(target, read_only=False, wait_seconds=wait_seconds) as warehouse:
        warehouse.rows("begin")
        changes = _append(warehouse, artifacts, pages.rows, scope)
        observations, notes = _append_observations(warehouse, artifacts, scope)
        is_behind = _is_behind(warehouse)
        warehouse.rows("commit")
    if is_behind:
        dbt.run(*BUILD, extra=extra, on_step=on_step).require(KEPT)
    return Refreshed(
        changes=changes,
        observations=observations,
        rebuilt=is_behind,
        notes=(*artifacts.not_understood, *pages.notes, *notes, *([unparsed] if unparsed else [])),
    )


def _append(warehouse: DuckDBWarehouse, artifacts: Artifacts, pages: tuple[ResourceRow, ...], scope: Scope) -> Changes:
    taken = {"doc", "catalog"} | _types_beside_graph(warehouse, artifacts, scope)
    rows = [*(row for row in artifacts.resource_rows() if row.resource_type in taken), *pages]
    return append_resources(
        warehouse,
        rows,
        scope,
        whole_types={"page", "page_piece"} | (taken & whole_types(warehouse, artifacts, scope)),
        still_there=catalog_ids(artifacts.manifest),
    )


def _types_beside_graph(warehouse: DuckDBWarehouse, artifacts: Artifacts, scope: Scope) -> set[str]:
    """Types of the manifest that the engine's graph does not give: none of their open rows was captured from a graph, or all
    that were are of another engine or minor version and older than the manifest. None when no graph was captured here."""
    from_graph = [row for row in open_rows(warehouse, scope) if row["capture_source"] == "graph"]
    release, written = minor_version(artifacts.manifest), artifacts.generated_at_utc
    given = {
        row["resource_type"]
        for row in from_graph
        if str(row["dbt_version"]).startswith(f"{release}.") or written is None or row["newest_utc"] >= written
    }
    filled, empty = types_of_sections(artifacts.manifest)
    return (filled | empty) - given - {"doc"} if from_graph else set()


def _append_observations(warehouse: DuckDBWarehouse, artifacts: Artifacts, scope: Scope) -> tuple[int, tuple[str, ...]]:
    """Observations of sources.json, when it was written for this target."""
    if not artifacts.sources:
        return 0, ()
    runs = [run for run in artifacts.run_rows() if run.command == "freshness"]
    elsewhere = {run.target_name for run in runs} - {None, scope.target_name}
    if elsewhere:
        return 0, (f"sources.json was written for target {', '.join(map(str, elsewhere))}: passed over",)
    append_runs(warehouse, runs, scope)
    return append_freshness(warehouse, artifacts.freshness_rows(), scope), ()


def _is_behind(warehouse: DuckDBWarehouse) -> bool:
    """Whether the package's tables were built before the newest raw row, or their build broke off."""
    build, begun = warehouse.surface.name_of("prov_int_build"), warehouse.surface.name_of("prov_int_begun")
    return not warehouse.rows(
        f"""
        select 1 from {build}
        where built_through_raw_id >= (select coalesce(max(raw_id), 0) from {warehouse.surface.name_of("prov_raw_resources")})
          and begun_at_utc = (select max(begun_at_utc) from {begun})
        """
    )
