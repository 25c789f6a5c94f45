"""The canonical document: what is kept of a dbt resource, the same from every engine and release of dbt.

The list of kept keys stands in the dbt package (macros/capture/canonical_keys.sql), where the capture in Jinja reads it
too. Each rule below has its twin there. In order:

1. Keys: those of "common" and of the resource's type, less those of "dropped" for the type. The value is the resource's
   own; when that is empty, its config's. Empty is null, "", [] or {}; 0 and false are not. The document is flat.
2. "inside": of a kept mapping, or of each mapping in a kept list, only the keys named there.
3. meta: config.meta when that is not empty, else the top-level meta. When both are there, the entries of the top-level
   one that differ or stand only there are kept as meta_top.
4. tags and depends_on (its nodes) are sets: without repeats, sorted by code point.
5. version and latest_version are text. deprecation_date is its first ten characters, the date (dbt Core adds the time
   zone of the machine). loaded_at_field is dropped beside a loaded_at_query, which is what dbt then uses.
6. Parts are columns (a mapping from name to the keys of "column"; a column stays when nothing is said of it), and the
   entities, dimensions and measures of a semantic model. A part's meta is found as in rule 3, without meta_top, and
   loses the entries that equal the resource's; its tags lose the resource's. (dbt 2 repeats the resource's meta and
   tags in its columns. Whoever may see a part meets its parent's rules anyway.)
7. Pruning, at every depth: empty values are dropped, from lists too, also those that became empty; so is a value that
   "defaults" names for its key. Text is kept byte for byte.
8. Inside meta "defaults" do not count, and a text loses one line end at its end (dbt Core's Jinja took it already). An
   entry whose key begins with provenance_ is kept when it is empty too: an empty allow list is a statement.
9. Mappings and lists are followed as deep as "deepest" says; "too_deep" stands in the place of one below.
10. What dbt 2 says twice is said once: an entity's, dimension's or measure's expr that is its name, the expr of a metric's
   aggregation that is the metric's, and a window or grain_to_date of a metric that its cumulative or conversion part has.

Keys are sorted where the document becomes text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import SurfaceError

CANONICAL_VERSION = 1
"""Counts up whenever a rule or a list changes what a document looks like: raw rows are then re-baselined."""

KEYS_FILE = Path("macros", "capture", "canonical_keys.sql")

_KEYS = re.compile(r"\{# keys:begin #\}[^=]*=\s*(\{.*\})\s*-?%\}\s*\{# keys:end #\}", re.DOTALL)
_EMPTY: tuple[Any, ...] = (None, "", [], {})


def package_folder() -> Path:
    """The folder of the dbt package: inside the wheel, or the root of the repository when installed from there."""
    module = Path(__file__).resolve().parents[1]
    inside_wheel = module / "dbt_package"
    return inside_wheel if inside_wheel.is_dir() else module.parents[1]


@lru_cache(maxsize=1)
def canonical_keys() -> Mapping[str, Any]:
    """The lists of kept keys, as the macro canonical_keys states them. Raises SurfaceError when they are not there."""
    path = package_folder() / KEYS_FILE
    try:
        found = _KEYS.search(path.read_text(encoding="utf-8"))
        return json.loads(found.group(1)) if found else _no_keys(path)
    except (OSError, ValueError):
        return _no_keys(path)


def canonical_document(resource: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of one resource of manifest.json. Raises nothing on odd shapes: what is no mapping has no keys."""
    keys = canonical_keys()
    resource_type = str(resource.get("resource_type"))
    config = as_mapping(resource.get("config"))
    wanted = [*keys["common"], *keys.get(resource_type, ())]
    meta, meta_top = _meta(resource)
    tags = _set(_either("tags", resource, config))
    kept = {key: _value(key, resource, config) for key in wanted if key != "columns"} | {
        "meta": meta,
        "meta_top": meta_top,
        "tags": tags,
        "depends_on": _set(as_mapping(resource.get("depends_on")).get("nodes")),
    }
    for key in keys["dropped"].get(resource_type, ()):
        kept.pop(key, None)
    if "meta" not in kept:
        kept.pop("meta_top")
    for key in ("entities", "dimensions", "measures"):
        if isinstance(kept.get(key), list):
            kept[key] = [_part(as_mapping(element), keys["inside"][key], meta, tags) for element in kept[key]]
    document = _pruned_mapping(kept)
    if "columns" in wanted and resource.get("columns"):
        columns = as_mapping(resource["columns"])
        document["columns"] = {
            name: _pruned_mapping(_part(as_mapping(column), keys["column"], meta, tags))
            for name, column in columns.items()
        }
    return document


def location_document(resource: Mapping[str, Any]) -> dict[str, Any]:
    """Where a resource is written, and its checksum: kept beside the document, outside its hash.

    Paths have forward slashes and start at the package's own root (dbt 2 puts the install folder in front). A backslash
    beside forward slashes is part of a name; Windows has it alone.
    """
    checksum = resource.get("checksum")
    location = {
        "package_name": resource.get("package_name"),
        "original_file_path": _package_path(resource.get("original_file_path")),
        "checksum": checksum.get("checksum") if isinstance(checksum, Mapping) else checksum,
    }
    return {key: value for key, value in location.items() if value not in _EMPTY}


def canonical_text(document: Mapping[str, Any]) -> str:
    """The document as JSON: keys sorted, no white space, characters unescaped."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _either(key: str, resource: Mapping[str, Any], config: Mapping[str, Any]) -> Any:
    own = resource.get(key)
    return config.get(key) if own in _EMPTY else own


def _value(key: str, resource: Mapping[str, Any], config: Mapping[str, Any]) -> Any:
    """The value of an ordinary key, before pruning (rules 1, 2 and 5)."""
    value = _either(key, resource, config)
    if value in _EMPTY:
        return None
    if key in ("version", "latest_version"):
        return str(value)
    if key == "deprecation_date":
        return str(value)[:10]
    if key == "loaded_at_field" and _either("loaded_at_query", resource, config):
        return None
    return _narrowed(key, value)


def _narrowed(key: str, value: Any) -> Any:
    inside = canonical_keys()["inside"].get(key)
    if inside is None or key in ("entities", "dimensions", "measures"):
        return value
    if isinstance(value, list):
        return [_only(as_mapping(item), inside) for item in value]
    kept = _only(as_mapping(value), inside)
    return _without_repeats(kept) if key == "type_params" else kept


def _without_repeats(params: dict[str, Any]) -> dict[str, Any]:
    """The type_params of a metric (rule 10)."""
    kept, aggregation = dict(params), params.get("metric_aggregation_params")
    if isinstance(aggregation, Mapping) and aggregation.get("expr") == params.get("expr"):
        kept["metric_aggregation_params"] = {key: value for key, value in aggregation.items() if key != "expr"}
    for part in ("cumulative_type_params", "conversion_type_params"):
        for key in ("window", "grain_to_date"):
            if isinstance(params.get(part), Mapping) and key in kept and kept[key] == params[part].get(key):
                del kept[key]
    return kept


def _meta(resource: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    in_config, at_top = as_mapping(as_mapping(resource.get("config")).get("meta")), as_mapping(resource.get("meta"))
    if not in_config:
        return at_top, {}
    return in_config, _differing(at_top, in_config)


def _part(part: Mapping[str, Any], keys: Collection[str], meta: Mapping[str, Any], tags: list[str]) -> dict[str, Any]:
    """A column, entity, dimension or measure with what is its own (rule 6), before pruning."""
    kept = _only(part, keys)
    kept["meta"] = _differing(_meta(part)[0], meta)
    if "expr" in kept and kept["expr"] == kept.get("name"):
        del kept["expr"]
    if "tags" in keys:
        kept["tags"] = [tag for tag in _set(_either("tags", as_mapping(part.get("config")), part)) if tag not in tags]
    return kept


def _pruned_mapping(mapping: Mapping[str, Any], *, in_meta: bool = False, depth: int = 0) -> dict[str, Any]:
    """The mapping without what says nothing (rules 7 to 9)."""
    defaults: Mapping[str, list[Any]] = {} if in_meta else canonical_keys()["defaults"]
    pruned = {
        key: _pruned(value, in_meta=in_meta or key in ("meta", "meta_top"), depth=depth + 1)
        for key, value in mapping.items()
    }
    return {
        key: value
        for key, value in pruned.items()
        if (value not in _EMPTY and value not in defaults.get(key, ())) or (in_meta and key.startswith("provenance_"))
    }


def _pruned(value: Any, *, in_meta: bool, depth: int) -> Any:
    if isinstance(value, (Mapping, list)) and value and depth > canonical_keys()["deepest"]:
        return canonical_keys()["too_deep"]
    if isinstance(value, Mapping):
        return _pruned_mapping(value, in_meta=in_meta, depth=depth)
    if isinstance(value, list):
        return [item for item in (_pruned(item, in_meta=in_meta, depth=depth + 1) for item in value) if item not in _EMPTY]
    if isinstance(value, str) and in_meta:
        return value.removesuffix("\n")
    return value


def _differing(entries: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if key not in others or others[key] != value}


def _only(mapping: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: mapping[key] for key in keys if key in mapping}


def _set(values: Any) -> list[str]:
    listed = [values] if isinstance(values, str) else values
    return sorted({str(value) for value in listed if value not in _EMPTY}) if isinstance(listed, list) else []


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The value when it is a mapping, else an empty one: artifacts hold null where nothing was said."""
    return value if isinstance(value, Mapping) else {}


def _package_path(path: Any) -> str | None:
    if not isinstance(path, str):
        return None
    parts = (path if "/" in path else path.replace("\\", "/")).split("/")
    return "/".join(parts[2:] if parts[0] == "dbt_packages" else parts)


def _no_keys(path: Path) -> Mapping[str, Any]:
    raise SurfaceError(
        f"The lists of kept keys cannot be read from {path}: the installation of dbt-provenance is not whole. "
        "Install it again."
    )
