"""Projects that are not at hand: from the files that dbt wrote for them into a DuckDB file, through the same models.

What is loaded is compared with what was loaded before, project by project, as every capture is. An older manifest changes no
definition, unless history is asked for: then what it says is recorded as of when dbt wrote it, oldest first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..errors import ArtifactError, DbtRunError, UsageError
from ..warehouse.duckdb_connection import DuckDBWarehouse, connected, duckdb_errors
from ..warehouse.relations import Surface, quoted
from .append import Changes, Scope, append_freshness, append_resources, append_run_results, append_runs
from .artifact_files import as_text, metadata_of
from .artifacts import Artifacts, RunRow, read_artifacts
from .carrier import INTERNAL_SCHEMA, POLICY_TABLE, SCHEMA, TARGET, carrier_project, raw_relations
from .load_policy import Policy, policy_variables
from .whole_types import catalog_ids, whole_types


@dataclass(frozen=True, kw_only=True)
class LoadedProject:
    """What came of one project's files. `is_older`: its manifest was older than one loaded before, and changed nothing."""

    project_name: str
    changes: Changes
    run_results: int
    observations: int
    is_older: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What a load did. `is_closed`: the file knows no principal, so nobody sees anything of it."""

    projects: tuple[LoadedProject, ...]
    is_closed: bool


def load(
    paths: Sequence[Path],
    file: Path,
    *,
    policy: Policy | None,
    history: bool,
    program: str,
    now: datetime,
    wait_seconds: float = 0.0,
    on_step: Callable[[int, int], None] = lambda done, total: None,
) -> Loaded:
    """Loads the artifacts at the paths, and builds the package's models. `policy` None keeps the one in the file; `now` is naive
    UTC. Raises ArtifactError, UsageError, WarehouseError, and DbtRunError (what was loaded is then kept)."""
    sets = artifact_sets(paths)
    with connected(file, read_only=False, wait_seconds=wait_seconds) as connection, duckdb_errors():
        connection.execute("begin")
        warehouse = raw_relations(connection)
        _refuse_foreign(warehouse, file)
        projects = tuple(_append(warehouse, artifacts, history=history, now=now) for artifacts in sets)
        kept_policy = keep_policy(warehouse, policy)
        connection.execute("commit")
    with carrier_project(file, policy_variables(kept_policy), program=program) as dbt:
        dbt.run("build", on_step=on_step).require("; what was loaded is kept")
    return Loaded(projects=projects, is_closed=not kept_policy.get("principals"))


def artifact_sets(paths: Sequence[Path]) -> list[Artifacts]:
    """The artifacts at the paths, one set a project, oldest manifest first. Files of one folder that are named each are one set.

    Raises ArtifactError for a set without a manifest, which alone says of which project it is.
    """
    found: dict[Path, list[Artifacts]] = {}
    for path in paths:
        folder = path.resolve().parent if path.is_file() else path
        found.setdefault(folder, []).append(read_artifacts(path))
    sets = [artifacts for folder, files in found.items() for artifacts in _sets(folder, files)]
    return sorted(sets, key=lambda artifacts: artifacts.generated_at_utc or datetime.min)


def _sets(folder: Path, files: Sequence[Artifacts]) -> Sequence[Artifacts]:
    manifests = [artifacts for artifacts in files if artifacts.manifest]
    if not any(artifacts.project_name for artifacts in manifests):
        raise ArtifactError(
            f"No manifest.json of a project was named at {folder}: it alone says which project it is. Name it too."
        )
    if len(manifests) > 1 and len(files) > len(manifests):
        raise ArtifactError(f"Several manifests of {folder} were named, with other files. Load them one after the other.")
    return manifests if len(manifests) > 1 else [_joined(files)]


def keep_policy(warehouse: DuckDBWarehouse, policy: Policy | None) -> Policy:
    """Keeps the policy in the file, for later loads that give none; gives the one that holds now."""
    table = f"{quoted(INTERNAL_SCHEMA)}.{quoted(POLICY_TABLE)}"
    warehouse.rows(f"create table if not exists {table} (policy_json varchar)")
    if policy is not None:
        warehouse.rows(f"delete from {table}")
        warehouse.rows(f"insert into {table} values (?)", [json.dumps(policy)])
    return _kept(warehouse.rows(f"select policy_json from {table}"))


def loaded_policy(file: Path) -> Policy | None:
    """The policy of a file that `load` made, None of any other file."""
    with connected(file, read_only=True) as connection:
        warehouse = DuckDBWarehouse(connection=connection, surface=Surface(names={}))
        named = [INTERNAL_SCHEMA, POLICY_TABLE]
        if not warehouse.rows("select 1 from information_schema.tables where table_schema = ? and table_name = ?", named):
            return None
        return _kept(warehouse.rows(f"select policy_json from {quoted(INTERNAL_SCHEMA)}.{quoted(POLICY_TABLE)}"))


def require_dbt_duckdb() -> None:
    """Raises DbtRunError when dbt-duckdb is not installed beside this Python."""
    try:
        version("dbt-duckdb")
    except PackageNotFoundError:
        raise DbtRunError(
            "load runs dbt with its DuckDB adapter, which is not installed here. "
            "Install it: pip install 'dbt_provenance[load]', or name your dbt with --dbt."
        ) from None


def _kept(rows: Sequence[Mapping[str, Any]]) -> Policy:
    kept: Policy = json.loads(rows[0]["policy_json"]) if rows else {}
    return kept


def _joined(files: Iterable[Artifacts]) -> Artifacts:
    """Artifacts that each hold one file, as one set."""
    first, *others = files
    for other in others:
        parts = {name: getattr(other, name) for name in ("manifest", "run_results", "catalog", "sources")}
        first = replace(
            first,
            **{name: part for name, part in parts.items() if part},
            not_understood=(*first.not_understood, *other.not_understood),
            left_out=(*first.left_out, *other.left_out),
        )
    return first


def _refuse_foreign(warehouse: DuckDBWarehouse, file: Path) -> None:
    raw = warehouse.surface.name_of("prov_raw_resources")
    foreign = warehouse.rows(f"select distinct target_name from {raw} where target_name <> ?", [TARGET])
    if foreign:
        raise UsageError(
            f"{file} is the warehouse of a dbt project (target {foreign[0]['target_name']}): loading into it would mix the two. "
            "Name another file with --into."
        )


def _append(warehouse: DuckDBWarehouse, artifacts: Artifacts, *, history: bool, now: datetime) -> LoadedProject:
    project_name, written = str(artifacts.project_name), artifacts.generated_at_utc
    newest = _newest(warehouse, "prov_raw_runs", "started_at_utc", project_name, "capture_source = 'load'")
    is_older = not history and written is not None and newest is not None and written < newest
    if history:
        _refuse_disorder(warehouse, project_name, written)
    scope = Scope(
        project_name=project_name,
        target_name=TARGET,
        target_schema=SCHEMA,
        recorded_at=written if history and written else now,
    )
    changes = Changes(opened={}, closed={})
    if not is_older:
        whole = whole_types(warehouse, artifacts, scope)
        there = catalog_ids(artifacts.manifest)
        changes = append_resources(warehouse, artifacts.resource_rows(), scope, whole_types=whole, still_there=there)
        append_runs(warehouse, [_load_as_run(artifacts, now)], scope)
    append_runs(warehouse, artifacts.run_rows(), scope)
    return LoadedProject(
        project_name=project_name,
        changes=changes,
        run_results=append_run_results(warehouse, artifacts.run_result_rows(), scope),
        observations=append_freshness(warehouse, artifacts.freshness_rows(), scope),
        is_older=is_older,
        notes=(*artifacts.not_understood, *artifacts.left_out),
    )


def _refuse_disorder(warehouse: DuckDBWarehouse, project_name: str, written: datetime | None) -> None:
    last = _newest(warehouse, "prov_raw_resources", "recorded_at_utc", project_name)
    if written is None or (last is not None and written < last):
        raise UsageError(
            f"History is loaded oldest first: the manifest of {project_name} was written at {written or 'an unknown time'}, "
            f"and what is in the file was recorded at {last} or before. Load it into a new file, oldest first."
        )


def _newest(
    warehouse: DuckDBWarehouse, relation: str, column: str, project_name: str, condition: str = "true"
) -> datetime | None:
    found = warehouse.rows(
        f"select max({column}) as newest from {warehouse.surface.name_of(relation)} where project_name = ? and {condition}",
        [project_name],
    )
    newest: datetime | None = found[0]["newest"]
    return newest


def _load_as_run(artifacts: Artifacts, now: datetime) -> RunRow:
    """The load itself: `started_at_utc` is when dbt wrote the manifest, by which a later load knows whether it is older."""
    metadata = metadata_of(artifacts.manifest)
    written = artifacts.generated_at_utc
    return RunRow(
        invocation_id=f"load {metadata.get('invocation_id') or written}",
        project_name=artifacts.project_name,
        target_name=TARGET,
        command="load",
        dbt_version=as_text(metadata.get("dbt_version")),
        adapter_type=as_text(metadata.get("adapter_type")),
        started_at_utc=written,
        finished_at_utc=now,
        full_refresh=False,
        is_empty=False,
        results_total=0,
        capture_source="load",
    )
