"""A DuckDB file: opened, asked through the package's functions, closed.

Questions open it read-only, so that any number of them can run side by side; DuckDB lets nobody read while a process writes,
and nobody write while one reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import SurfaceError, UsageError, WarehouseError, WarehouseLockedError
from .duckdb_engine import duckdb_engine
from .holder import held_by
from .profiles import Target
from .relations import NOT_BUILT, PACKAGE, Surface, find_surface

if TYPE_CHECKING:
    import duckdb

PAUSE_SECONDS = 0.2
"""Between two tries to open a file that another process holds."""

NEW_FILE = {"storage_compatibility_version": "v1.4.0"}
"""dbt 2 (rc196) brings a DuckDB 1.5, which does not open what DuckDB 2 writes by default. A file keeps the form it was made in."""

LOST_LEDGER = (
    "The ledger of erasures and revocations is gone, so nothing is answered. "
    "Bring it back with `dbt-provenance ledger --restore FILE`, or begin a new one with `dbt-provenance ledger --start-empty`."
)


@dataclass(frozen=True, kw_only=True)
class DuckDBWarehouse:
    """An open warehouse. Rows are mappings from column name to value: text, int, float, bool, date, naive datetime (UTC)."""

    connection: duckdb.DuckDBPyConnection
    surface: Surface

    def call(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        """The rows of a public function. Values are bound; None means that the argument is left out.

        Raises SurfaceError when the function is not there or is another version's, WarehouseError for what DuckDB refuses.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        listed = ", ".join(f"{name} => ?" for name in given)
        return self.rows(f"select * from {self.surface.name_of(function)}({listed})", list(given.values()))

    def act_as(self, principal: str | None, tenant: str | None = None) -> None:
        """Who asks, for the public views: sets the session's variables."""
        for name, value in (("provenance_principal", principal), ("provenance_tenant", tenant)):
            if value is not None:
                self.rows(f"set variable {name} = ?", [value])

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of a statement. Raises as `call` does."""
        with duckdb_errors():
            cursor = self.connection.execute(sql, list(values))
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row)) for row in cursor.fetchall()]


@contextmanager
def open_warehouse(place: Target | Path, *, target_name: str | None = None, read_only: bool = True, wait_seconds: float = 0.0) -> Iterator[DuckDBWarehouse]:
    """The warehouse of a project's target, or a DuckDB file (of one target, or of the one named). Closed at the end."""
    file = place if isinstance(place, Path) else place.database_file
    with connected(file, read_only=read_only, wait_seconds=wait_seconds) as connection:
        if isinstance(place, Path):
            surface = find_surface(connection, database=file, target_name=target_name)
        else:
            manifest = place.artifacts_folder / "manifest.json"
            surface = find_surface(connection, database=file, manifest=manifest, target_name=place.target_name)
        yield DuckDBWarehouse(connection=connection, surface=surface)


@contextmanager
def connected(file: Path, *, read_only: bool, wait_seconds: float = 0.0) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a DuckDB file, closed at the end. A file that is not there is made only when it is not read-only, in a form that
    the DuckDB inside any supported dbt opens; one that another process holds is tried again for that long.

    Raises WarehouseError (nothing there, no DuckDB file, no duckdb installed) and WarehouseLockedError.
    """
    try:
        duckdb = duckdb_engine()
    except ImportError:
        raise WarehouseError(
            "duckdb is not installed beside dbt-provenance. Install it: pip install 'dbt_provenance[duckdb]'"
        ) from None
    if read_only and not file.exists():
        raise WarehouseError(
            f"There is no DuckDB file at {file}. Build the project with `dbt build`, or name the file with --database."
        )
    with _opened(duckdb, file, read_only=read_only, until=monotonic() + wait_seconds) as connection:
        yield connection


def _opened(duckdb: ModuleType, file: Path, *, read_only: bool, until: float) -> duckdb.DuckDBPyConnection:
    """Tries again while another process holds the file, until that moment."""
    while True:
        try:
            return duckdb.connect(str(file), read_only=read_only, config={} if file.exists() else NEW_FILE)
        except duckdb.Error as error:
            refusal = _cannot_open(file, error)
        if not isinstance(refusal, WarehouseLockedError) or monotonic() >= until:
            raise refusal
        sleep(min(PAUSE_SECONDS, max(0.0, until - monotonic())))


@contextmanager
def duckdb_errors() -> Iterator[None]:
    """Errors of DuckDB as this package's own."""
    duckdb = duckdb_engine()

    try:
        yield
    except duckdb.CatalogException as error:
        if "prov_ledger" in str(error):
            raise SurfaceError(LOST_LEDGER) from None
        raise SurfaceError(f"{_first_line(error)} {PACKAGE} is not built here, or only in part. {NOT_BUILT}") from None
    except duckdb.BinderException as error:
        raise SurfaceError(
            f"{_first_line(error)} What is built here is of another version of {PACKAGE}: "
            f"run `dbt build --select package:{PACKAGE}` with this one."
        ) from None
    except duckdb.InvalidInputException as error:
        raise UsageError(f"DuckDB cannot take what was asked: {_first_line(error)}") from None
    except duckdb.Error as error:
        raise WarehouseError(f"DuckDB could not answer: {_first_line(error)}") from None


def _cannot_open(file: Path, error: Exception) -> WarehouseError:
    text = str(error)
    held = held_by(text)
    if held:
        return WarehouseLockedError(
            f"{file} cannot be opened: {held}. DuckDB lets nobody read while another process writes, and nobody write while one reads. "
            "Try again when it has ended, close it, or wait longer with --wait."
        )
    if "version number" in text:
        return WarehouseError(f"{file} was written by another version of DuckDB: {_first_line(error)} Upgrade duckdb.")
    return WarehouseError(f"{file} cannot be opened as a DuckDB file: {_first_line(error)} Name another with --database.")


def _first_line(error: Exception) -> str:
    line = str(error).strip().splitlines()[0]
    line = re.sub(r"^[A-Z][A-Za-z ]+ Error: ", "", line)
    return line if line.endswith((".", "!", "?")) else f"{line}."
