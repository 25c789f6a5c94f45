"""DuckDB without what its Python package imports besides: that costs more than an answer (see docs/benchmarks.md)."""

from __future__ import annotations

from types import ModuleType


def duckdb_engine() -> ModuleType:
    """The module with connect() and the errors. Raises ImportError when duckdb is not installed.

    `duckdb` imports 0.1 s of Python for data frames and file systems; its extension module alone has all that is used here.
    """
    try:
        import _duckdb

        if hasattr(_duckdb, "connect") and hasattr(_duckdb, "CatalogException"):
            return _duckdb
    except ImportError:
        pass
    import duckdb

    return duckdb
