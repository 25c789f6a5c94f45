"""The small dbt project that the wheel carries, set up in a temporary folder for one DuckDB file.

The package is linked in where `dbt deps` would put it, so nothing is downloaded. The raw relations are made here from the
package's own landing models, so that dbt has to be started only once, after the rows are in.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..warehouse.duckdb_connection import DuckDBWarehouse
from ..warehouse.relations import Surface, quoted
from .canonical import package_folder
from .dbt_command import DbtProject
from .landing import create_landing, landing_models

if TYPE_CHECKING:
    import duckdb

CARRIER = Path(__file__).resolve().parents[1] / "carrier"
TARGET = "load"
SCHEMA = "main"
INTERNAL_SCHEMA = "provenance_internal"
POLICY_TABLE = "prov_load_policy"

_SWITCHES = {"capture": False, "hook": False}
"""The carrier's own graph and runs are nobody's evidence."""


@contextmanager
def carrier_project(file: Path, variables: Mapping[str, Any], *, program: str) -> Iterator[DbtProject]:
    """The carrier as a dbt project that writes to the file. `variables` are dbt's vars. Removed at the end."""
    with tempfile.TemporaryDirectory(prefix="dbt-provenance-") as temporary:
        folder = Path(temporary, "carrier")
        shutil.copytree(CARRIER, folder)
        _link(package_folder(), folder / "dbt_packages" / "dbt_provenance")
        with (folder / "dbt_project.yml").open("a", encoding="utf-8") as project:
            # JSON is YAML; escaped, so that no text can end the line.
            project.write(f"\nvars: {json.dumps({**variables, 'provenance_switches': _SWITCHES})}\n")
        yield DbtProject(
            program=program,
            project_folder=folder,
            profiles_folder=folder,
            target_name=TARGET,
            working_folder=folder,
            environment=_environment(file),
        )


def raw_relations(connection: duckdb.DuckDBPyConnection) -> DuckDBWarehouse:
    """The raw relations of a loaded file, made when missing: all but a ledger that was lost while raw holds rows (dbt makes it
    anew, sealed)."""
    names = {name: (INTERNAL_SCHEMA, name) for name in landing_models()}
    warehouse = DuckDBWarehouse(connection=connection, surface=Surface(names=names, target_name=TARGET))
    warehouse.rows(f"create schema if not exists {quoted(INTERNAL_SCHEMA)}")
    tables = warehouse.rows("select table_name from information_schema.tables where table_schema = ?", [INTERNAL_SCHEMA])
    is_new = not any(table["table_name"] == "prov_raw_resources" for table in tables)
    for name in names:
        if is_new or name != "prov_ledger":
            create_landing(warehouse, name)
    return warehouse


def _environment(file: Path) -> dict[str, str]:
    """This process's, without what would turn dbt towards another project or target."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DBT_")}
    return {**kept, "PROVENANCE_LOAD_FILE": str(file.resolve()), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}


def _link(package: Path, place: Path) -> None:
    place.parent.mkdir()
    try:
        place.symlink_to(package, target_is_directory=True)
    except OSError:
        parts = ("dbt_project.yml", "macros", "models", "seeds")
        for part in parts:
            source = package / part
            if source.is_dir():
                shutil.copytree(source, place / part)
            else:
                place.mkdir(exist_ok=True)
                shutil.copy(source, place / part)
