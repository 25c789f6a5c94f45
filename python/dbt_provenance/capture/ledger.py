"""The ledger of erasures and revocations: written by the package's macros, kept and brought back by hand.

No build makes a lost ledger anew: one that dbt finds missing beside captured rows comes back sealed, and nothing is answered
until it is restored from a dump, or begun again empty.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ..errors import UsageError
from ..warehouse.duckdb_connection import DuckDBWarehouse
from .dbt_command import DbtProject
from .landing import create_landing

_IDENTITY = (
    "ledger_action", "evidence_id", "entity_id", "document_hash", "content_hash", "group_name", "tenant_id",
)  # fmt: skip


def erase(dbt: DbtProject, subject: str, *, reason: str | None = None) -> Sequence[str]:
    """Erases evidence, or an entity. Gives what the package says of it. Raises UsageError for a subject that is not there or is
    not one, DbtRunError for what else stands in the way."""
    return dbt.operate("erase", subject=subject, reason=reason)


def revoke(
    dbt: DbtProject, subject: str, *, group_name: str | None = None, tenant: str | None = None, reason: str | None = None
) -> Sequence[str]:
    """Hides evidence, or an entity, from everyone or from one group. Gives and raises as `erase` does."""
    return dbt.operate("revoke", subject=subject, group_name=group_name, tenant=tenant, reason=reason)


def dump(warehouse: DuckDBWarehouse) -> str:
    """The ledger as one JSON object a line: what `restore` takes."""
    entries = warehouse.rows(f"select * from {warehouse.surface.name_of('prov_ledger')} order by ledger_id")
    return "".join(json.dumps(entry, ensure_ascii=False, default=datetime.isoformat) + "\n" for entry in entries)


def restore(warehouse: DuckDBWarehouse, dumped: str) -> int:
    """Adds the entries of a dump that are not there, opens a sealed ledger, and takes erased documents out of raw again.

    Gives how many entries were added. Raises UsageError for what is no dump; then nothing is changed.
    """
    entries = _entries(dumped)
    ledger, raw = warehouse.surface.name_of("prov_ledger"), warehouse.surface.name_of("prov_raw_resources")
    warehouse.rows("begin")
    create_landing(warehouse, "prov_ledger")
    types = {row["column_name"]: row["column_type"] for row in warehouse.rows(f"describe {ledger}")}
    strange = sorted({key for entry in entries for key in entry} - types.keys())
    if strange:
        raise UsageError(f"The dump has {', '.join(strange)}, which the ledger does not. Name a file that `ledger --dump` wrote.")
    added = warehouse.rows(
        f"""
        insert into {ledger}
        select added.* replace ((select coalesce(max(ledger_id), 0) from {ledger}) + row_number() over (order by ledger_id) as ledger_id)
        from (select unnest(entry) from (select unnest(from_json(?, ?)) as entry)) as added
        where added.ledger_action <> 'seal'
          and not exists (select 1 from {ledger} as there where {_same("there", "added")})
        returning ledger_id
        """,
        [json.dumps(entries), json.dumps([types])],
    )
    warehouse.rows(f"delete from {ledger} where ledger_action = 'seal'")
    warehouse.rows(
        f"""
        update {raw} set document = null
        where document_hash in (select document_hash from {ledger} where ledger_action = 'erase')
        """
    )
    warehouse.rows("commit")
    return len(added)


def start_empty(warehouse: DuckDBWarehouse) -> None:
    """Begins a new ledger where the old one was lost. Raises UsageError when there is one that was not lost."""
    ledger = warehouse.surface.name_of("prov_ledger")
    create_landing(warehouse, "prov_ledger")
    entries = warehouse.rows(f"select ledger_action, count(*) as entries from {ledger} group by all")
    if entries and all(entry["ledger_action"] != "seal" for entry in entries):
        raise UsageError(f"The ledger is there, with {sum(entry['entries'] for entry in entries)} entries: it was not lost.")
    warehouse.rows(f"delete from {ledger} where ledger_action = 'seal'")


def _entries(dumped: str) -> Sequence[dict[str, Any]]:
    try:
        entries = [json.loads(line) for line in dumped.splitlines() if line.strip()]
    except ValueError as error:
        raise UsageError(f"This is no dump of a ledger ({error}). Name a file that `ledger --dump` wrote.") from None
    if not all(isinstance(entry, dict) and entry.get("ledger_action") for entry in entries):
        raise UsageError("This is no dump of a ledger: a line has no ledger_action. Name a file that `ledger --dump` wrote.")
    if not entries:
        raise UsageError("The dump holds no entry. If nothing was ever erased or revoked, use `ledger --start-empty`.")
    return entries


def _same(one: str, other: str, columns: Iterable[str] = _IDENTITY) -> str:
    return " and ".join(f"{one}.{column} is not distinct from {other}.{column}" for column in columns)
