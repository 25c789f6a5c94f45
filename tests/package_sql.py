"""The package's compiled SQL, run without dbt: models in the order of the DAG over raw rows that a test writes itself.

A build with dbt takes seconds; this takes tenths, so that properties can be tried on hundreds of warehouses. The SQL is what
`dbt build` compiled in the project integration_tests/rules; nothing of it is written again here.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

INTERNAL = "provenance_internal"
RULES_SEEDS = {
    "rules_principals": ("principal", "tenant", "group_name", "principal_role"),
    "rules_groups": ("tenant", "group_name", "parent_group"),
    "rules_policies": ("policy_name", "tenant", "applies_to", "pattern", "effect", "group_name"),
}


@dataclass(frozen=True)
class Model:
    """One node of the package: where it is built, how, and its compiled SQL."""

    name: str
    schema: str
    alias: str
    materialized: str
    sql: str
    arguments: tuple[tuple[str, str], ...]

    @property
    def relation(self) -> str:
        return f'"{self.schema}"."{self.alias}"'

    def statement(self) -> str:
        if self.materialized == "provenance_landing":
            return f"create table if not exists {self.relation} as select * from ({self.sql}) where false"
        if self.materialized == "provenance_function":
            arguments = ", ".join(name if default == "required" else f"{name} := {default}" for name, default in self.arguments)
            return f"create or replace macro {self.relation}({arguments}) as table {self.sql}"
        kind = "table" if self.materialized == "provenance_mart" else self.materialized
        return f"create or replace {kind} {self.relation} as {self.sql}"


def read_models(project: Path) -> list[Model]:
    """The package's models in build order, from a project that `dbt build` has run in."""
    nodes = json.loads((project / "target/manifest.json").read_text())["nodes"]
    own = {uid: node for uid, node in nodes.items() if node["package_name"] == "dbt_provenance" and node["resource_type"] == "model"}
    ordered: list[Model] = []
    done: set[str] = set()

    def visit(uid: str) -> None:
        if uid in done or uid not in own:
            return
        done.add(uid)
        for upstream in own[uid]["depends_on"]["nodes"]:
            visit(upstream)
        ordered.append(_model(own[uid], project))

    for uid in own:
        visit(uid)
    return ordered


def _model(node: dict[str, Any], project: Path) -> Model:
    folder = project / "target/compiled/dbt_provenance"
    # dbt 2 keeps the package's install folder in the path
    compiled = next(path for path in (folder / node["original_file_path"], folder / "dbt_packages/dbt_provenance" / node["original_file_path"]) if path.exists())
    arguments = tuple((one["name"], one["default"]) for one in node["config"]["meta"].get("arguments", []))
    return Model(node["name"], node["schema"], node["alias"], node["config"]["materialized"], compiled.read_text().replace("__unfinished", ""), arguments)


@dataclass
class Warehouse:
    """An in-memory DuckDB with the package's relations, filled by a test."""

    models: list[Model]
    con: duckdb.DuckDBPyConnection = field(default_factory=lambda: duckdb.connect())
    clock: dt.datetime = dt.datetime(2025, 1, 1, 12)

    def __post_init__(self) -> None:
        for schema in {model.schema for model in self.models} | {"main"}:
            self.con.execute(f'create schema if not exists "{schema}"')
        for name, columns in RULES_SEEDS.items():
            self.con.execute(f"create table main.{name} ({', '.join(f'{column} varchar' for column in columns)})")
        self._create("provenance_landing")

    def _create(self, *materialized: str) -> None:
        for model in self.models:
            if model.materialized in materialized:
                self.con.execute(model.statement())

    def build(self) -> Warehouse:
        self._create("provenance_mart", "view", "provenance_function")
        return self

    def policy(self, seed: str, *rows: tuple[str | None, ...]) -> Warehouse:
        for row in rows:
            self.con.execute(f"insert into main.{seed} values ({', '.join('?' for _ in RULES_SEEDS[seed])})", list(row))
        return self

    def state(
        self, unique_id: str, document: dict[str, Any] | None, *, at: dt.datetime | str | None = None, project: str = "shop", path: str | None = None
    ) -> Warehouse:
        """One raw row: the resource's document as captured at an instant (UTC), or its closing when there is none."""
        moment = dt.datetime.fromisoformat(at) if isinstance(at, str) else at or self.clock
        resource_type = (document or {}).get("resource_type") or unique_id.split(".")[0]
        text = json.dumps({"resource_type": resource_type, "package_name": project} | document, sort_keys=True) if document is not None else None
        location = json.dumps({"package_name": project, "original_file_path": path or f"models/{unique_id}.yml"})
        self.con.execute(
            f"""insert into {INTERNAL}.prov_raw_resources
            select (select coalesce(max(raw_id), 0) + 1 from {INTERNAL}.prov_raw_resources), ?, 'dev', 'main', 1, 'graph', ?, ?, ?,
                cast(json(?) as varchar), sha256(cast(json(?) as varchar)), ?, ?, 'test', '1.11.0'""",
            [project, unique_id, resource_type, "close" if document is None else "open", text, text, location, moment],
        )
        return self

    def metric(self, name: str, text: str = "", **meta: Any) -> Warehouse:
        """A simple metric with declared governance keys, without their prefix (valid_from=...); formula=... gives it a measure."""
        formula = meta.pop("formula", None)
        extra = {key: meta.pop(key) for key in ("at", "project", "path") if key in meta}
        project = extra.get("project", "shop")
        document: dict[str, Any] = {"name": name, "label": name, "description": text or f"What {name} means.", "type": "simple"}
        if formula is not None:
            document["type_params"] = {"metric_aggregation_params": {"agg": "sum", "expr": formula}}
        if meta:
            document["meta"] = {f"provenance_{key}": value for key, value in meta.items()}
        return self.state(f"metric.{project}.{name}", document, **extra)

    def measured(
        self, unique_id: str, loaded: dt.datetime | None, at: dt.datetime | None, *, project: str = "shop", status: str | None = "pass", invocation: str = "check", **more: Any
    ) -> Warehouse:
        """A measurement of a source: its newest load and when that was looked for (UTC). `more` are columns."""
        row = {"invocation_id": invocation, "project_name": project, "target_name": "dev", "unique_id": unique_id, "observed_status": status, "max_loaded_at_utc": loaded}
        row |= {"snapshotted_at_utc": at, "observation_method": "loaded_at_field", "recorded_at_utc": at or self.now()} | more
        return self._insert("prov_raw_freshness", row)

    def ran(self, unique_id: str, status: str, *, at: dt.datetime, project: str = "shop", invocation: str | None = None, is_empty: bool = False) -> Warehouse:
        """A result of a node in an invocation of its own, with the invocation."""
        invocation = invocation or f"run {unique_id} {at}"
        shared = {"invocation_id": invocation, "project_name": project, "target_name": "dev", "recorded_at_utc": at}
        self._insert("prov_raw_runs", shared | {"command": "build", "is_empty": is_empty})
        return self._insert("prov_raw_run_results", shared | {"unique_id": unique_id, "run_status": status, "finished_at_utc": at})

    def now(self) -> dt.datetime:
        return self.con.execute("select make_timestamp(epoch_us(now()))").fetchall()[0][0]

    def _insert(self, raw: str, row: dict[str, Any]) -> Warehouse:
        self.con.execute(f"insert into {INTERNAL}.{raw} ({', '.join(row)}) values ({', '.join('?' for _ in row)})", list(row.values()))
        return self

    def call(self, function: str, *positional: Any, **named: Any) -> list[dict[str, Any]]:
        """Rows of a public function as mappings."""
        arguments = ["?"] * len(positional) + [f"{name} => ?" for name in named]
        cursor = self.con.execute(f"select * from provenance.{function}({', '.join(arguments)})", [*positional, *named.values()])
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row)) for row in cursor.fetchall()]

    def view(self, name: str, *, principal: str | None, tenant: str | None = None, known_at: str | None = None) -> list[dict[str, Any]]:
        """Rows of a public view, as the session of a principal, and as known at an instant."""
        self.con.execute("set variable provenance_known_at = ?", [known_at])
        self.con.execute("set variable provenance_principal = ?", [principal])
        self.con.execute("set variable provenance_tenant = ?", [tenant])
        cursor = self.con.execute(f"select * from provenance.{name}")
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row)) for row in cursor.fetchall()]
