"""The files that dbt writes into its target folder, as rows for the raw relations.

manifest.json gives the resources, catalog.json the types in the warehouse, run_results.json the run and its results,
sources.json the observations of freshness; each may be gzipped. Which file is which is said by its metadata, not its
name. Keys, sections and types of resource that are not known here are named and otherwise passed over; a version that
is not known here, or a file that is no artifact, is an ArtifactError.

Rows carry the columns of their raw relation that a file can know. Left to the loader: raw_id, target_name and
target_schema, canonical_version, change_kind, document_hash (the warehouse's sha256 of json(document)),
recorded_at_utc. Never read: the values of --vars and of the environment.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from typing import Any

from .artifact_files import artifact_files, as_text, metadata_of, not_understood, read_artifact, resources
from .canonical import as_mapping, canonical_document, canonical_text, location_document
from .messages import kept_message
from .times import utc_from_text

COMMANDS_WITHOUT_RUN = ("compile", "generate", "list", "ls", "parse", "show")
"""Commands that write run_results.json too, with status success, although nothing was built."""

_BIGINT = range(-(2**63), 2**63)


@dataclass(frozen=True, kw_only=True)
class ResourceRow:
    """One resource. `document` and `location` are JSON text."""

    project_name: str | None
    capture_source: str
    unique_id: str
    resource_type: str
    document: str
    location: str
    invocation_id: str | None = None
    dbt_version: str | None = None


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """One invocation of dbt that ran something. Times are naive UTC."""

    invocation_id: str | None
    project_name: str | None
    target_name: str | None
    command: str | None
    dbt_version: str | None
    adapter_type: str | None
    started_at_utc: datetime | None
    finished_at_utc: datetime | None
    full_refresh: bool | None
    is_empty: bool | None
    results_total: int
    capture_source: str = "manifest"


@dataclass(frozen=True, kw_only=True)
class RunResultRow:
    """What became of one node in one invocation. Times are naive UTC."""

    invocation_id: str | None
    project_name: str | None
    unique_id: str
    run_status: str | None
    execution_seconds: float | None
    message_text: str | None
    failures: int | None
    rows_affected: int | None
    started_at_utc: datetime | None
    finished_at_utc: datetime | None
    relation_name: str | None


@dataclass(frozen=True, kw_only=True)
class FreshnessRow:
    """One observation of a source. Times are naive UTC; no time and no age when the source held no rows."""

    invocation_id: str | None
    project_name: str | None
    unique_id: str
    observed_status: str | None
    max_loaded_at_utc: datetime | None
    snapshotted_at_utc: datetime | None
    age_seconds: float | None
    warn_after_count: int | None
    warn_after_period: str | None
    error_after_count: int | None
    error_after_period: str | None
    filter_text: str | None
    error_text: str | None
    observation_method: str


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """What was found. A file that was not there is an empty mapping; `left_out` says what was not taken, and why."""

    manifest: Mapping[str, Any]
    run_results: Mapping[str, Any]
    catalog: Mapping[str, Any]
    sources: Mapping[str, Any]
    not_understood: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def project_name(self) -> str | None:
        """The root project, or None without a manifest."""
        return _project_name(self.manifest)

    @property
    def generated_at_utc(self) -> datetime | None:
        """When dbt wrote the manifest (naive UTC): the recorded time of what it says when history is asked for."""
        return _time_or_none(metadata_of(self.manifest).get("generated_at"))

    def resource_rows(self) -> list[ResourceRow]:
        """One row a resource of the manifest, as many as it has, then one a relation of the catalog."""
        return [*self._manifest_rows(), *self._catalog_rows()]

    def run_rows(self) -> list[RunRow]:
        """The invocations that ran something: that of run_results.json, and that of sources.json."""
        runs = [self._run_row(artifact) for artifact in (self._executed(), self.sources) if artifact]
        return list({run.invocation_id: run for run in reversed(runs)}.values())

    def run_result_rows(self) -> list[RunResultRow]:
        """One row a node that ran, was skipped, or failed."""
        return [self._run_result_row(result) for result in _results(self._executed())]

    def freshness_rows(self, *, naive_zone: tzinfo = timezone.utc) -> list[FreshnessRow]:
        """One row a source in sources.json. `naive_zone` is what a time without a zone is in."""
        return [self._freshness_row(result, naive_zone) for result in _results(self.sources)]

    def _manifest_rows(self) -> Iterator[ResourceRow]:
        for unique_id, resource in resources(self.manifest):
            yield self._resource_row(
                self.manifest, "manifest", unique_id, canonical_document(resource), location_document(resource)
            )

    def _catalog_rows(self) -> Iterator[ResourceRow]:
        for section in ("nodes", "sources"):
            for node, relation in as_mapping(self.catalog.get(section)).items():
                document = _catalog_document(node, as_mapping(relation))
                yield self._resource_row(self.catalog, "catalog", f"catalog.{node}", document, {})

    def _resource_row(
        self,
        artifact: Mapping[str, Any],
        capture_source: str,
        unique_id: str,
        document: Mapping[str, Any],
        location: Mapping[str, Any],
    ) -> ResourceRow:
        metadata = metadata_of(artifact)
        return ResourceRow(
            project_name=self.project_name,
            capture_source=capture_source,
            unique_id=unique_id,
            resource_type=document["resource_type"],
            document=canonical_text(document),
            location=canonical_text(location),
            invocation_id=as_text(metadata.get("invocation_id")),
            dbt_version=as_text(metadata.get("dbt_version")),
        )

    def _executed(self) -> Mapping[str, Any]:
        """run_results.json, unless its command builds nothing."""
        return {} if _args(self.run_results).get("which") in COMMANDS_WITHOUT_RUN else self.run_results

    def _run_row(self, artifact: Mapping[str, Any]) -> RunRow:
        metadata, args, results = metadata_of(artifact), _args(artifact), _results(artifact)
        began = _time_or_none(metadata.get("invocation_started_at"))
        return RunRow(
            invocation_id=as_text(metadata.get("invocation_id")),
            project_name=self.project_name,
            target_name=as_text(args.get("target")),
            command="freshness" if artifact is self.sources else as_text(args.get("which")),
            dbt_version=as_text(metadata.get("dbt_version")),
            adapter_type=as_text(metadata_of(self.manifest).get("adapter_type")),
            started_at_utc=began or min(_timings(results, "started_at"), default=None),
            finished_at_utc=_time_or_none(metadata.get("generated_at")),
            full_refresh=_boolean(args.get("full_refresh")),
            is_empty=_boolean(args.get("empty")),
            results_total=len(results),
        )

    def _run_result_row(self, result: Mapping[str, Any]) -> RunResultRow:
        return RunResultRow(
            invocation_id=as_text(metadata_of(self.run_results).get("invocation_id")),
            project_name=self.project_name,
            unique_id=str(result.get("unique_id")),
            run_status=as_text(result.get("status")),
            execution_seconds=_number(result.get("execution_time")),
            message_text=kept_message(as_text(result.get("status")), as_text(result.get("message"))),
            failures=_integer(result.get("failures")),
            rows_affected=_integer(as_mapping(result.get("adapter_response")).get("rows_affected")),
            started_at_utc=min(_timings([result], "started_at"), default=None),
            finished_at_utc=max(_timings([result], "completed_at"), default=None),
            relation_name=as_text(result.get("relation_name")),
        )

    def _freshness_row(self, result: Mapping[str, Any], naive_zone: tzinfo) -> FreshnessRow:
        unique_id = str(result.get("unique_id"))
        criteria = as_mapping(result.get("criteria"))
        warn, error = as_mapping(criteria.get("warn_after")), as_mapping(criteria.get("error_after"))
        times, unread = {}, []
        for key in ("max_loaded_at", "snapshotted_at"):
            try:
                times[key] = utc_from_text(result.get(key), naive_zone=naive_zone)
            except ValueError:
                times[key] = None
                unread.append(f"{key}: {result.get(key)}")
        loaded_at = _unless_no_rows(times["max_loaded_at"], as_text(metadata_of(self.sources).get("dbt_version")))
        return FreshnessRow(
            invocation_id=as_text(metadata_of(self.sources).get("invocation_id")),
            project_name=self.project_name,
            unique_id=unique_id,
            observed_status="parse error" if unread else as_text(result.get("status")),
            max_loaded_at_utc=loaded_at,
            snapshotted_at_utc=times["snapshotted_at"],
            age_seconds=_number(result.get("max_loaded_at_time_ago_in_s")) if loaded_at else None,
            warn_after_count=_integer(warn.get("count")),
            warn_after_period=as_text(warn.get("period")),
            error_after_count=_integer(error.get("count")),
            error_after_period=as_text(error.get("period")),
            filter_text=as_text(criteria.get("filter")),
            error_text="; ".join(unread) or kept_message("error", as_text(result.get("error"))),
            observation_method=self._observation_method(unique_id),
        )

    def _observation_method(self, unique_id: str) -> str:
        """How dbt looked, as far as the manifest says: by a query, by a column, or by the warehouse's own metadata."""
        source = as_mapping(self.manifest.get("sources")).get(unique_id)
        if not isinstance(source, Mapping):
            return "unknown"
        for key in ("loaded_at_query", "loaded_at_field"):
            if source.get(key) or as_mapping(source.get("config")).get(key):
                return key
        return "metadata"


def read_artifacts(path: Path) -> Artifacts:
    """What dbt wrote: of a target folder, all that it holds; of one file, that file alone.

    Raises ArtifactError (nothing there, cut short, no artifact) and ArtifactVersionError.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for file in artifact_files(path):
        kind, artifact = read_artifact(file)
        found[kind] = artifact
    manifest, run_results = found.get("manifest", {}), found.get("run-results", {})
    return Artifacts(
        manifest=manifest,
        run_results=run_results,
        catalog=found.get("catalog", {}),
        sources=found.get("sources", {}),
        not_understood=not_understood(manifest),
        left_out=_left_out(run_results),
    )


def _catalog_document(node: str, relation: Mapping[str, Any]) -> dict[str, Any]:
    columns = {
        name: {key: column[key] for key in ("type", "index") if column.get(key) is not None}
        for name, column in as_mapping(relation.get("columns")).items()
        if isinstance(column, Mapping)
    }
    document = {
        "resource_type": "catalog",
        "node": node,
        "table_type": as_mapping(relation.get("metadata")).get("type"),
        "columns": columns,
    }
    return {key: value for key, value in document.items() if value}


def _project_name(manifest: Mapping[str, Any]) -> str | None:
    """The root project; of a file that does not name it the package whose md5 is project_id, else the largest one."""
    metadata = metadata_of(manifest)
    if metadata.get("project_name"):
        return str(metadata["project_name"])
    built = (resource for _, resource in resources(manifest) if resource["resource_type"] != "doc")
    packages = Counter(str(resource["package_name"]) for resource in built if resource.get("package_name"))
    for package in packages:
        if hashlib.md5(package.encode(), usedforsecurity=False).hexdigest() == metadata.get("project_id"):
            return package
    return max(sorted(packages), key=lambda package: packages[package], default=None)


def _left_out(run_results: Mapping[str, Any]) -> tuple[str, ...]:
    command = _args(run_results).get("which")
    if command not in COMMANDS_WITHOUT_RUN:
        return ()
    return (f"run_results.json was written by `dbt {command}`, which builds nothing: no run, no results",)


def _args(artifact: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_mapping(artifact.get("args"))


def _results(artifact: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    results = artifact.get("results")
    return [result for result in results if isinstance(result, Mapping)] if isinstance(results, list) else []


def _timings(results: list[Mapping[str, Any]], key: str) -> list[datetime]:
    timings = (timing for result in results for timing in result.get("timing") or () if isinstance(timing, Mapping))
    return [time for timing in timings if (time := _time_or_none(timing.get(key)))]


def _time_or_none(text: Any) -> datetime | None:
    try:
        return utc_from_text(text)
    except ValueError:
        return None


def _unless_no_rows(time: datetime | None, dbt_version: str | None) -> datetime | None:
    """For a source without rows dbt Core writes the first instant of the year 1, dbt 2 that of 1970."""
    of_no_rows = datetime(1970, 1, 1) if (dbt_version or "").startswith("2.") else datetime(1, 1, 1)
    return None if time == of_no_rows else time


def _boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value in _BIGINT else None


def _number(value: Any) -> float | None:
    return (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 else None
    )
