"""The three clocks, as one principal sees them: data freshness, the definitions' effective time, index freshness."""

from __future__ import annotations

from datetime import date
from typing import Any

from .warehouse.duckdb_connection import DuckDBWarehouse


def three_clocks(warehouse: DuckDBWarehouse, *, today: date) -> dict[str, Any]:
    """What the public views say to whom `act_as` named. Dates are reporting dates, times naive UTC."""
    index = warehouse.rows(f"select * from {warehouse.surface.name_of('index_status')}")
    return {
        "data": warehouse.rows(f"select * from {warehouse.surface.name_of('freshness')} order by entity_id"),
        "definitions": warehouse.rows(
            f"""
            select
                count(*) as visible,
                count(*) filter (where may_govern and coalesce(valid_from <= ?, true) and coalesce(? < valid_to, true)) as governing_today,
                count(*) filter (where may_govern and valid_from > ?) as scheduled,
                min(valid_from) as first_valid_from,
                max(valid_from) as last_valid_from,
                min(recorded_from_utc) as first_recorded_utc,
                max(recorded_from_utc) as last_recorded_utc
            from {warehouse.surface.name_of("definitions")}
            """,
            [today, today, today],
        )[0],
        "index": index[0] if index else {},
    }
