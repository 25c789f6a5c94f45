"""Rows for the raw relations, appended: only what differs from what is open, only inside one project and target.

The rule is that of macros/capture/append_changes.sql; a test holds the two equal. The document's text and hash are written by
DuckDB, so that they are the same whoever captured it. Everything happens in the caller's transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from ..warehouse.duckdb_connection import DuckDBWarehouse
from .artifacts import FreshnessRow, ResourceRow, RunResultRow, RunRow
from .canonical import CANONICAL_VERSION

STATEMENT_CHARACTERS = 4_000_000

AUTHORED_TEXT = ("description", "block_contents", "body", "text")
"""The keys of a document that hold what a person wrote, by type of resource: what an erasure suppresses wherever it returns."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Whose rows are compared, and what the new ones say of themselves. `recorded_at` is naive UTC."""

    project_name: str
    target_name: str
    target_schema: str | None
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True)
class Changes:
    """How many resources were opened or changed, and closed, by type."""

    opened: dict[str, int]
    closed: dict[str, int]

    @property
    def total(self) -> int:
        """Rows appended."""
        return sum(self.opened.values()) + sum(self.closed.values())


def append_resources(
    warehouse: DuckDBWarehouse,
    rows: Sequence[ResourceRow],
    scope: Scope,
    *,
    whole_types: Iterable[str],
    still_there: Iterable[str] = (),
) -> Changes:
    """Appends what changed. Of `whole_types` all there is was given: what is open and not among it gets a closing row,
    unless its unique_id is in `still_there`. A text that the ledger erased is not captured."""
    _stage(warehouse, rows, still_there)
    raw = warehouse.surface.name_of("prov_raw_resources")
    appended = warehouse.rows(
        _APPEND.format(raw=raw, ledger=warehouse.surface.name_of("prov_ledger"), texts=_texts("seen.document")),
        [
            scope.project_name,
            scope.target_name,
            list(whole_types),
            scope.project_name,
            scope.target_name,
            scope.target_schema,
            CANONICAL_VERSION,
            scope.recorded_at,
        ],
    )
    warehouse.rows("drop table provenance_seen")
    return Changes(opened=_counted(appended, "open"), closed=_counted(appended, "close"))


def append_runs(warehouse: DuckDBWarehouse, runs: Iterable[RunRow], scope: Scope) -> int:
    """Appends invocations that are not recorded yet. Gives how many."""
    return _append_new(warehouse, "prov_raw_runs", runs, scope, key=("invocation_id",))


def append_run_results(warehouse: DuckDBWarehouse, results: Iterable[RunResultRow], scope: Scope) -> int:
    """Appends results of invocations that have none of that node yet. Gives how many."""
    return _append_new(warehouse, "prov_raw_run_results", results, scope, key=("invocation_id", "unique_id"))


def append_freshness(warehouse: DuckDBWarehouse, observations: Iterable[FreshnessRow], scope: Scope) -> int:
    """Appends observations of sources that their invocation did not record itself. Gives how many."""
    return _append_new(warehouse, "prov_raw_freshness", observations, scope, key=("invocation_id", "unique_id"))


def _texts(document: str) -> str:
    return "coalesce(" + ", ".join(f"json_extract_string({document}, '$.{key}')" for key in AUTHORED_TEXT) + ")"


_APPEND = """
    insert into {raw} (
        raw_id, project_name, target_name, target_schema, canonical_version, capture_source, unique_id, resource_type, change_kind,
        document, document_hash, location, recorded_at_utc, invocation_id, dbt_version
    )
    with open_rows as (
        select landed.*
        from {raw} as landed
        where landed.project_name = ? and landed.target_name = ?
        qualify row_number() over (partition by landed.unique_id order by landed.raw_id desc) = 1
    ),
    changes as (
        select seen.unique_id, seen.resource_type, 'open' as change_kind, seen.document, seen.document_hash, seen.location,
            seen.capture_source, seen.invocation_id, seen.dbt_version
        from provenance_seen as seen
        left join open_rows on open_rows.unique_id = seen.unique_id
        where seen.document is not null
          and (open_rows.unique_id is null or open_rows.change_kind = 'close' or open_rows.document_hash is distinct from seen.document_hash)
          and not exists (
              select 1 from {ledger} as erased
              where erased.ledger_action = 'erase'
                and (erased.document_hash = seen.document_hash or erased.content_hash = sha256({texts}))
          )
        union all
        select open_rows.unique_id, open_rows.resource_type, 'close', null, null, open_rows.location,
            open_rows.capture_source, null, null
        from open_rows
        left join provenance_seen as seen on seen.unique_id = open_rows.unique_id
        where seen.unique_id is null and open_rows.change_kind = 'open' and open_rows.resource_type in (select unnest(?))
    )
    select
        (select coalesce(max(raw_id), 0) from {raw}) + row_number() over (order by unique_id),
        ?, ?, ?, ?, capture_source, unique_id, resource_type, change_kind,
        document, document_hash, location, ?, invocation_id, dbt_version
    from changes
    returning resource_type, change_kind
"""


def _stage(warehouse: DuckDBWarehouse, rows: Sequence[ResourceRow], still_there: Iterable[str]) -> None:
    """What was seen, as a table of this connection. A row of `still_there` has an id alone."""
    warehouse.rows(
        """
        create or replace temporary table provenance_seen (
            unique_id varchar, resource_type varchar, document varchar, document_hash varchar, location varchar,
            capture_source varchar, invocation_id varchar, dbt_version varchar
        )
        """
    )
    there = {row.unique_id for row in rows}
    alone = (json.dumps({"unique_id": unique_id}) for unique_id in still_there if unique_id not in there)
    for batch in _batches([*map(_staged, rows), *alone]):
        warehouse.rows(
            """
            insert into provenance_seen
            select
                json_extract_string(resource, '$.unique_id'),
                json_extract_string(resource, '$.resource_type'),
                cast(json_extract(resource, '$.document') as varchar),
                sha256(cast(json_extract(resource, '$.document') as varchar)),
                cast(json_extract(resource, '$.location') as varchar),
                json_extract_string(resource, '$.capture_source'),
                json_extract_string(resource, '$.invocation_id'),
                json_extract_string(resource, '$.dbt_version')
            from (select unnest(json_extract(?, '$[*]')) as resource)
            """,
            [f"[{','.join(batch)}]"],
        )


def _staged(row: ResourceRow) -> str:
    """One resource as JSON; its document and location are JSON already."""
    beside = {
        "unique_id": row.unique_id,
        "resource_type": row.resource_type,
        "capture_source": row.capture_source,
        "invocation_id": row.invocation_id,
        "dbt_version": row.dbt_version,
    }
    return f'{json.dumps(beside, ensure_ascii=False)[:-1]},"document":{row.document},"location":{row.location}}}'


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > STATEMENT_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _counted(appended: Iterable[dict[str, Any]], change_kind: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in appended:
        if row["change_kind"] == change_kind:
            counts[row["resource_type"]] = counts.get(row["resource_type"], 0) + 1
    return counts


def _append_new(warehouse: DuckDBWarehouse, relation: str, rows: Iterable[Any], scope: Scope, *, key: tuple[str, ...]) -> int:
    """Appends rows by column name unless one with the same key is there. Columns that a row lacks come from the scope."""
    raw = warehouse.surface.name_of(relation)
    beside = {
        "project_name": scope.project_name,
        "target_name": scope.target_name,
        "target_schema": scope.target_schema,
        "recorded_at_utc": scope.recorded_at,
    }
    types = {column["column_name"]: column["column_type"] for column in warehouse.rows(f"describe {raw}")}
    same = " and ".join(f"there.{name} is not distinct from added.{name}" for name in key)
    texts = (json.dumps(_known(row) | beside, ensure_ascii=False, default=datetime.isoformat) for row in rows)
    appended = 0
    for batch in _batches(texts):
        appended += len(
            warehouse.rows(
                f"""
                insert into {raw}
                select added.* from (select unnest(row) from (select unnest(from_json(?, ?)) as row)) as added
                where not exists (select 1 from {raw} as there where {same})
                returning 1
                """,
                [f"[{','.join(batch)}]", json.dumps([types])],
            )
        )
    return appended


def _known(row: Any) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row)}
