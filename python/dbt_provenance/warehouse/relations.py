"""What the package's relations and functions are called in a warehouse.

Their names are what the project's generate_schema_name makes of them. They are read from dbt's manifest.json, and remembered
in a small file beside it for as long as the manifest's size and time stand: so that no megabytes of JSON are read before an
answer. Without a manifest, or when it was written for another target, the catalog of the DuckDB file says them, remembered in
the user's cache: every public function reads the ledger, and its definition says in which schema that is.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ArtifactError, SurfaceError
from .duckdb_engine import duckdb_engine

if TYPE_CHECKING:
    import duckdb

PACKAGE = "dbt_provenance"
REMEMBERED = "dbt_provenance_relations.json"
PUBLIC_PREFIX = "provenance__"

NOT_BUILT = "Add the package to packages.yml and run `dbt deps && dbt build`, or name another target with --target."

_RESOLVE_ARGUMENTS = ["entity", "as_of", "as_of_end", "version", "principal", "tenant", "known_at"]
_LEDGER = re.compile(r'("(?:[^"]|"")+"|\w+)\."?prov_ledger\b')


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The names of one target: by model name for internal relations, without prefix for public ones -> (schema, name)."""

    names: Mapping[str, tuple[str, str]]
    target_name: str | None = None

    def name_of(self, name: str) -> str:
        """The quoted name, without the database. Raises SurfaceError when there is none."""
        if name not in self.names:
            raise SurfaceError(f"The warehouse has no {name} of {PACKAGE}. {NOT_BUILT}")
        return ".".join(quoted(part) for part in self.names[name])


def quoted(name: str) -> str:
    """An identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def find_surface(
    connection: duckdb.DuckDBPyConnection, *, database: Path, manifest: Path | None = None, target_name: str | None = None
) -> Surface:
    """The surface of the target in an open warehouse. Raises SurfaceError when it was not built there."""
    source = manifest if manifest is not None and manifest.is_file() else database
    stamp = _stamp(source, target_name)
    remembered = _recall(source, stamp)
    if remembered:
        return remembered
    surface = _manifest_surface(connection, source, target_name) if source != database else None
    surface = surface or _catalog_surface(connection, target_name)
    _remember(source, stamp, surface)
    return surface


def _manifest_surface(connection: duckdb.DuckDBPyConnection, manifest: Path, target_name: str | None) -> Surface | None:
    """What the manifest says, None when it was written for another target."""
    surface = Surface(names=names_in_manifest(manifest), target_name=target_name)
    return surface if target_name is None or _built_for(connection, surface) == target_name else None


def _catalog_surface(connection: duckdb.DuckDBPyConnection, target_name: str | None) -> Surface:
    surfaces = surfaces_in_catalog(connection)
    found = [surface for surface in surfaces if target_name in (None, surface.target_name)]
    if len(found) == 1:
        return found[0]
    there = ", ".join(sorted(str(surface.target_name) for surface in surfaces))
    if found:
        raise SurfaceError(f"{PACKAGE} was built here for several targets ({there}). Choose one with --target.")
    if surfaces:
        raise SurfaceError(f"{PACKAGE} was built here for target {there}, not for {target_name}. {NOT_BUILT}")
    raise SurfaceError(f"{PACKAGE} was not built in this database. {NOT_BUILT}")


def names_in_manifest(manifest: Path) -> dict[str, tuple[str, str]]:
    """The names of the package's models. Raises ArtifactError when it cannot be read, SurfaceError without the package."""
    try:
        nodes = json.loads(manifest.read_bytes())["nodes"].values()
        models = [node for node in nodes if node["package_name"] == PACKAGE and node["resource_type"] == "model"]
        names = {node["name"].removeprefix(PUBLIC_PREFIX): (node["schema"], node["alias"]) for node in models}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(f"{manifest} cannot be read ({error}). Let dbt write it again: `dbt parse`.") from None
    if not names:
        raise SurfaceError(f"The project does not use the package {PACKAGE}. {NOT_BUILT}")
    return names


def surfaces_in_catalog(connection: duckdb.DuckDBPyConnection) -> list[Surface]:
    """All surfaces in the file, one a schema that holds a ledger which the function `resolve` reads."""
    functions = connection.execute(
        """
        select schema_name, function_name, parameters, macro_definition
        from duckdb_functions()
        where function_type = 'table_macro' and not internal and database_name = current_database()
        """
    ).fetchall()
    relations = connection.execute(
        """
        select table_schema, table_name from information_schema.tables
        where table_catalog = current_database()
        """
    ).fetchall()
    read_by = [(schema, name, arguments, _ledger_schema(definition)) for schema, name, arguments, definition in functions]
    surfaces = []
    for schema, name, arguments, internal in read_by:
        if internal is None or not name.endswith("resolve") or arguments != _RESOLVE_ARGUMENTS:
            continue
        prefix = name.removesuffix("resolve")
        public = [(s, n) for s, n, _, i in read_by if (s, i) == (schema, internal)] + [r for r in relations if r[0] == schema]
        names = {n: (s, n) for s, n in relations if s == internal and n.startswith("prov")}
        names |= {n: (s, n) for s, n, _, i in read_by if s == i == internal}
        names |= {n.removeprefix(prefix): (s, n) for s, n in public if n.startswith(prefix)}
        names.setdefault("prov_ledger", (internal, "prov_ledger"))
        surfaces.append(Surface(names=names, target_name=_built_for(connection, Surface(names=names))))
    return surfaces


def _ledger_schema(definition: str) -> str | None:
    found = _LEDGER.search(definition)
    if not found:
        return None
    schema = found.group(1)
    return schema[1:-1].replace('""', '"') if schema.startswith('"') else schema


def _built_for(connection: duckdb.DuckDBPyConnection, surface: Surface) -> str | None:
    """The target for which the surface's tables were built, None when they are not there."""
    duckdb = duckdb_engine()

    if "prov_int_build" not in surface.names:
        return None
    try:
        rows = connection.execute(f"select target_name from {surface.name_of('prov_int_build')}").fetchall()
    except duckdb.CatalogException:
        return None
    return rows[0][0] if rows else None


def _stamp(source: Path, target_name: str | None) -> list[Any] | None:
    """What must stand for remembered names to hold; None when nothing can be remembered."""
    try:
        state = os.stat(source)
    except OSError:
        return None
    return [str(source.absolute()), state.st_size, state.st_mtime_ns, target_name]


def _recall(source: Path, stamp: list[Any] | None) -> Surface | None:
    for file in _memories(source) if stamp else ():
        try:
            remembered = json.loads(file.read_bytes())
            if remembered["stamp"] == stamp:
                names = {name: (schema, alias) for name, (schema, alias) in remembered["names"].items()}
                return Surface(names=names, target_name=remembered["target_name"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return None


def _remember(source: Path, stamp: list[Any] | None, surface: Surface) -> None:
    """When nothing can be written, the names are looked up each time."""
    text = json.dumps({"stamp": stamp, "target_name": surface.target_name, "names": surface.names})
    for file in _memories(source) if stamp else ():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            partial = file.with_name(f"{file.name}.{os.getpid()}")
            partial.write_text(text, encoding="utf-8")
            partial.replace(file)
            return
        except OSError:
            continue


def _memories(source: Path) -> list[Path]:
    """Where names are remembered: beside a manifest (`dbt clean` removes both), else in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / PACKAGE
    in_cache = cache / f"{hashlib.sha256(str(source.absolute()).encode()).hexdigest()[:16]}.json"
    return [source.parent / REMEMBERED, in_cache] if source.name == "manifest.json" else [in_cache]
