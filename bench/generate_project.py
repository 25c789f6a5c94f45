"""A dbt project of any size: models of ten described columns, two tests on every third, a source table for every twentieth."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import yaml

COLUMNS = 10
MODELS_A_FOLDER = 100
MODELS_A_SOURCE_TABLE = 20

_SUBJECTS = ("order", "customer", "refund", "payment", "shipment", "invoice", "session", "campaign", "product", "contract")
_TYPES = ("integer", "varchar", "date", "timestamp", "decimal(18, 2)")


@dataclass(frozen=True, kw_only=True)
class ProjectSize:
    """How many models; everything else follows from it."""

    models: int

    @property
    def source_tables(self) -> int:
        """Tables of the one source."""
        return max(1, self.models // MODELS_A_SOURCE_TABLE)


def generate_project(folder: Path, size: ProjectSize, *, package: Path | None) -> Path:
    """Writes the project anew into `folder` and gives it back. With `package`, packages.yml names that folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _write_yaml(folder / "dbt_project.yml", _project())
    _write_yaml(folder / "profiles.yml", _profile())
    if package:
        _write_yaml(folder / "packages.yml", {"packages": [{"local": str(package.resolve())}]})
    _write_yaml(folder / "models" / "sources.yml", {"sources": [_source(size)]})
    (folder / "models" / "alone.sql").write_text("select 1 as id\n", encoding="utf-8")
    for first in range(0, size.models, MODELS_A_FOLDER):
        _write_models(folder / "models" / f"area_{first // MODELS_A_FOLDER:03}", first, size)
    return folder


def _project() -> dict:
    return {
        "name": "generated",
        "version": "1.0.0",
        "config-version": 2,
        "profile": "generated",
        "models": {"generated": {"+meta": {"provenance_owner": "data"}}},
        "vars": {
            "provenance_principals": [{"principal": "analyst", "group_name": "analyst"}],
            "provenance_policies": [
                {"policy_name": "all", "applies_to": "project", "pattern": "generated", "allow": ["analyst"]}
            ],
        },
        "flags": {"send_anonymous_usage_stats": False},
    }


def _profile() -> dict:
    target = {"type": "duckdb", "path": "generated.duckdb", "threads": 2}
    return {"generated": {"target": "dev", "outputs": {"dev": target}}}


def _source(size: ProjectSize) -> dict:
    tables = [
        {
            "name": f"raw_{number:04}",
            "description": f"Rows of {_subject(number)} as the application writes them.",
            "columns": [{"name": "id", "description": "The key that the application gave."}],
        }
        for number in range(size.source_tables)
    ]
    freshness = {"warn_after": {"count": 12, "period": "hour"}}
    return {
        "name": "application",
        "description": "The application's own database.",
        "config": {"loaded_at_field": "written_at", "freshness": freshness},
        "tables": tables,
    }


def _write_models(folder: Path, first: int, size: ProjectSize) -> None:
    folder.mkdir(parents=True)
    numbers = range(first, min(first + MODELS_A_FOLDER, size.models))
    for number in numbers:
        (folder / f"{_name(number)}.sql").write_text(_sql(number, size), encoding="utf-8")
    _write_yaml(folder / "models.yml", {"models": [_model(number) for number in numbers]})


def _sql(number: int, size: ProjectSize) -> str:
    """Every twentieth model reads a source, each other one two models before it."""
    if number % MODELS_A_SOURCE_TABLE == 0:
        table = (number // MODELS_A_SOURCE_TABLE) % size.source_tables
        return f"select * from {{{{ source('application', 'raw_{table:04}') }}}}\n"
    near, far = _name(number - 1), _name(number // 2)
    return f"select near.* from {{{{ ref('{near}') }}}} as near\nleft join {{{{ ref('{far}') }}}} as far on far.id = near.id\n"


def _model(number: int) -> dict:
    columns = [_column(number, column) for column in range(COLUMNS)]
    if number % 3 == 0:
        columns[0]["data_tests"] = ["not_null", "unique"]
    subject = _subject(number)
    return {
        "name": _name(number),
        "description": f"One row per {subject} after step {number}: it's what the reports on {subject} are built on.",
        "columns": columns,
    }


def _column(number: int, column: int) -> dict:
    if column == 0:
        return {"name": "id", "description": f"The key of the {_subject(number)}.", "data_type": "integer"}
    return {
        "name": f"{_subject(number + column)}_{column}",
        "description": f"What the {_subject(number)} of step {number} says of {_subject(number + column)}, number {column}.",
        "data_type": _TYPES[column % len(_TYPES)],
    }


def _name(number: int) -> str:
    return f"{_subject(number)}_step_{number:05}"


def _subject(number: int) -> str:
    return _SUBJECTS[number % len(_SUBJECTS)]


def _write_yaml(path: Path, content: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content, sort_keys=False, width=200), encoding="utf-8")
