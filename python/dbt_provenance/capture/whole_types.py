"""Of which types of resource a manifest says all there is, so that what is not in it is gone.

A section that the manifest does not have says nothing. A type of which it has nothing is gone, unless all that was ever written
of it came from another engine (or, outside nodes, minor version): there it may be missing, not empty (legacy semantic YAML gives
no metrics on dbt 2, and its graph has no analyses). The rule is that of macros/capture/append_changes.sql.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..warehouse.duckdb_connection import DuckDBWarehouse
from .append import Scope
from .artifact_files import SECTIONS, metadata_of
from .artifacts import Artifacts
from .canonical import as_mapping

NODE_TYPES = ("model", "seed", "snapshot", "analysis", "test", "operation", "sql operation", "sql_operation", "rpc")


def whole_types(warehouse: DuckDBWarehouse, artifacts: Artifacts, scope: Scope) -> set[str]:
    """The types of which all open rows are to be compared with the manifest; those of the catalog with `catalog_ids` beside."""
    filled, empty = types_of_sections(artifacts.manifest)
    minor = minor_version(artifacts.manifest)
    known = warehouse.rows(
        f"""
        select distinct resource_type
        from {warehouse.surface.name_of("prov_raw_resources")}
        where project_name = ? and target_name = ? and (dbt_version like ? or (dbt_version like ? and resource_type in (select unnest(?))))
        """,
        [scope.project_name, scope.target_name, f"{minor}.%", f"{minor.split('.')[0]}.%", list(NODE_TYPES)],
    )
    return filled | (empty & {row["resource_type"] for row in known}) | {"catalog"}


def catalog_ids(manifest: Mapping[str, Any]) -> list[str]:
    """The ids of all that may stand in a catalog. One may have been written for a selection, or not at all: what is not in it
    is gone only when it is gone from the manifest."""
    return [f"catalog.{node}" for section in ("nodes", "sources") for node in as_mapping(manifest.get(section))]


def types_of_sections(manifest: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """The types of which the sections that are there hold something, and those of which they hold nothing."""
    filled: set[str] = set()
    empty: set[str] = set()
    for section, resource_type in SECTIONS.items():
        found = manifest.get(section)
        if not isinstance(found, Mapping):
            continue
        if section == "nodes":
            there = {str(as_mapping(node).get("resource_type")) for node in found.values()}
            filled |= there
            empty |= set(NODE_TYPES) - there
        else:
            (filled if found else empty).add(resource_type)
    return filled, empty


def open_rows(warehouse: DuckDBWarehouse, scope: Scope) -> list[dict[str, Any]]:
    """What is open, without the documents: one row per type, source of capture, and release of dbt, with the newest time."""
    return warehouse.rows(
        f"""
        select resource_type, capture_source, dbt_version, max(recorded_at_utc) as newest_utc
        from (
            select *
            from {warehouse.surface.name_of("prov_raw_resources")}
            where project_name = ? and target_name = ?
            qualify row_number() over (partition by unique_id order by raw_id desc) = 1
        )
        where change_kind = 'open'
        group by all
        """,
        [scope.project_name, scope.target_name],
    )


def minor_version(manifest: Mapping[str, Any]) -> str:
    """The engine's major and minor version, as in 1.11."""
    return ".".join(str(metadata_of(manifest).get("dbt_version")).split(".")[:2])
