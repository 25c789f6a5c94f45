"""The package's landing relations, from the models that say their columns: for when dbt has not made them, or not yet."""

from __future__ import annotations

import re
from pathlib import Path

from ..warehouse.duckdb_connection import DuckDBWarehouse
from .canonical import package_folder

_CONFIG = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def landing_models() -> dict[str, Path]:
    """The files of the landing models by name."""
    return {model.stem: model for model in sorted((package_folder() / "models" / "raw").glob("*.sql"))}


def create_landing(warehouse: DuckDBWarehouse, model_name: str) -> None:
    """Makes the relation when it is missing, as macros/materializations/landing.sql does."""
    columns = _CONFIG.sub("", landing_models()[model_name].read_text(encoding="utf-8"))
    name = warehouse.surface.name_of(model_name)
    warehouse.rows(f"create table if not exists {name} as select * from ({columns}) as landing_columns where false")
