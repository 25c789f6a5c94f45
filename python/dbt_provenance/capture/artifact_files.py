"""One file that dbt wrote: found, opened, of a known kind and version, and what in it is not known here."""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ArtifactError, ArtifactVersionError
from .canonical import as_mapping

KNOWN_VERSIONS = {"manifest": (10, 11, 12), "run-results": (4, 5, 6), "catalog": (1,), "sources": (3,)}
FILE_NAMES = ("manifest.json", "run_results.json", "catalog.json", "sources.json")

SECTIONS = {
    "nodes": "node",
    "sources": "source",
    "exposures": "exposure",
    "groups": "group",
    "metrics": "metric",
    "semantic_models": "semantic_model",
    "saved_queries": "saved_query",
    "functions": "function",
    "unit_tests": "unit_test",
    "docs": "doc",
}
"""The sections of a manifest that hold resources, each with the type of a resource that does not say its own."""

_SCHEMA = re.compile(r"/dbt/([a-z-]+)/v(\d+)\.json$")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_RESOURCE_TYPES = {
    "analysis", "doc", "exposure", "function", "group", "metric", "model", "operation", "rpc", "saved_query", "seed",
    "semantic_model", "snapshot", "source", "sql operation", "test", "unit_test",
}  # fmt: skip
_TOP_KEYS = {*SECTIONS, "metadata", "macros", "selectors", "disabled", "parent_map", "child_map", "group_map"}
_METADATA_KEYS = set(
    "adapter_type dbt_schema_version dbt_version env generated_at invocation_id invocation_started_at project_id "
    "project_name quoting run_started_at send_anonymous_usage_stats user_id".split()
)
_RESOURCE_KEYS = set(
    "_event_status access alias arguments attached_node block_contents build_path cache checksum classifiers "
    "column_name columns compiled compiled_code compiled_path config config_call_dict constraints contract created_at "
    "database defaults defer_relation deferred depends_on deprecation_date description dimensions doc_blocks docs "
    "enabled entities expect exports external extra_ctes extra_ctes_injected file_key_name filter fqn freshness "
    "functions generated_sql_file given group identifier index label language latest_version loaded_at_field "
    "loaded_at_query loader materialized maturity measures meta metadata metrics model name node_relation "
    "original_file_path overrides owner package_name patch_path path primary_entity primary_key query_params quoting "
    "quoting_ignore_case raw_code refs relation_name resource_type returns root_path schema source_description "
    "source_meta source_name sources state_relation static_analysis tags test_metadata tested_node_unique_id "
    "time_granularity time_spine type type_params unique_id unrendered_config unrendered_database unrendered_schema "
    "url version versions".split()
)
_COLUMN_KEYS = set("config constraints data_type description doc_blocks granularity meta name quote tags".split())


def artifact_files(path: Path) -> list[Path]:
    """The artifacts at a path: the file itself, or those of a target folder. Raises ArtifactError for none."""
    if path.is_file():
        return [path]
    names = (path / (name + ending) for name in FILE_NAMES for ending in (".gz", ""))
    files = {file.name.removesuffix(".gz"): file for file in names if file.is_file()}
    if not files:
        raise ArtifactError(
            f"No dbt artifact at {path}. Name a project's target folder or its manifest.json; "
            "dbt writes them on `dbt build` and `dbt parse`."
        )
    return list(files.values())


def read_artifact(file: Path) -> tuple[str, Mapping[str, Any]]:
    """What kind of artifact a file is (a key of KNOWN_VERSIONS), and what it holds.

    Raises ArtifactError when it is cut short or no artifact, ArtifactVersionError when its version is not known.
    """
    try:
        content = file.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        artifact = _parsed(content.decode("utf-8-sig", errors="replace"))
    except (OSError, EOFError, zlib.error) as error:
        raise ArtifactError(f"{file} cannot be read ({error}). Check the file, or let dbt write it again.") from None
    except (ValueError, RecursionError) as error:
        raise ArtifactError(
            f"{file} is not whole JSON ({error}): cut short, or no file of dbt's. Let dbt write it again."
        ) from None
    schema = _SCHEMA.search(str(metadata_of(artifact).get("dbt_schema_version")))
    if not schema or schema.group(1) not in KNOWN_VERSIONS:
        raise ArtifactError(
            f"{file} is JSON, but none of dbt's {', '.join(FILE_NAMES)}: metadata.dbt_schema_version does not say so. "
            "Name one of these, or the target folder."
        )
    kind, version = schema.group(1), int(schema.group(2))
    if version not in KNOWN_VERSIONS[kind]:
        known = ", ".join(str(number) for number in KNOWN_VERSIONS[kind])
        raise ArtifactVersionError(
            f"{file} is version {version} of dbt's {kind}; known here: {known}. "
            "Upgrade dbt-provenance, or load what a release of dbt wrote that it knows."
        )
    return kind, artifact


def _parsed(text: str) -> Any:
    """JSON whose every value can be written as JSON again: no NaN, no infinity, no half of a surrogate pair.

    Numbers that Python or a double cannot hold stay as text. Of a key given twice the last one counts.
    """
    parsed = json.loads(text, parse_constant=str, parse_float=_float_or_text, parse_int=_int_or_text)
    return well_formed(parsed) if _ESCAPED_SURROGATE.search(text) else parsed


def _float_or_text(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _int_or_text(text: str) -> int | str:
    return int(text) if len(text) < 1000 else text


def well_formed(value: Any) -> Any:
    """The value with surrogates, which no UTF-8 can carry, joined to characters where they pair, else replaced."""
    if isinstance(value, str) and _SURROGATE.search(value):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed(item) for key, item in value.items()}
    return value


def resources(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The resources of all sections, each with its unique_id and a resource_type, with the keys that dbt Core gives them."""
    is_dbt_2 = str(metadata_of(manifest).get("dbt_version")).startswith("2.")
    for section, resource_type in SECTIONS.items():
        for unique_id, resource in as_mapping(manifest.get(section)).items():
            resource = as_mapping(resource)
            whole = {**resource, "resource_type": as_text(resource.get("resource_type")) or resource_type}
            yield unique_id, {**whole, **(_as_core_says(whole, manifest) if is_dbt_2 else {})}


def _as_core_says(resource: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What dbt 2 (rc196) says otherwise: a semantic model repeats its metrics as measures, and an exposure names metrics on
    which it is not said to depend. The twin is the macro whole_resources."""
    if resource["resource_type"] == "semantic_model" and isinstance(resource.get("measures"), list):
        return {"measures": [one for one in resource["measures"] if not as_mapping(one).get("create_metric")]}
    if resource["resource_type"] == "exposure" and isinstance(resource.get("metrics"), list):
        nodes = as_mapping(resource.get("depends_on")).get("nodes") or []
        return {"depends_on": {"nodes": [*_named_metrics(resource, as_mapping(manifest.get("metrics"))), *nodes]}}
    return {}


def _named_metrics(exposure: Mapping[str, Any], metrics: Mapping[str, Any]) -> list[str]:
    """The ids of the metrics that an exposure names: [name] or [package, name]."""
    found: list[str] = []
    for words in exposure["metrics"]:
        if not isinstance(words, list) or not words:
            continue
        own = f"metric.{words[0] if len(words) > 1 else exposure.get('package_name')}.{words[-1]}"
        others = [uid for uid, metric in metrics.items() if len(words) == 1 and as_mapping(metric).get("name") == words[0]]
        found += [own] if own in metrics else others
    return found


def not_understood(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """What the manifest holds that is not known here, one phrase each, with how often."""
    found = Counter(f"section {key!r}" for key in manifest.keys() - _TOP_KEYS)
    found.update(f"key {key!r} of metadata" for key in metadata_of(manifest).keys() - _METADATA_KEYS)
    for _, resource in resources(manifest):
        resource_type = resource["resource_type"]
        if resource_type not in _RESOURCE_TYPES:
            found[f"resource type {resource_type!r}"] += 1
        found.update(f"key {key!r} of {resource_type}" for key in resource.keys() - _RESOURCE_KEYS)
        for column in as_mapping(resource.get("columns")).values():
            found.update(f"key {key!r} of columns" for key in as_mapping(column).keys() - _COLUMN_KEYS)
    return tuple(f"{what} ({times})" if times > 1 else what for what, times in sorted(found.items()))


def metadata_of(artifact: Any) -> Mapping[str, Any]:
    """The head of an artifact: its versions, its invocation, when it was written."""
    return as_mapping(as_mapping(artifact).get("metadata"))


def as_text(value: Any) -> str | None:
    """The value as text; None for null and blank."""
    return None if value is None or value == "" else str(value)
