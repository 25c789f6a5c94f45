"""Definitions that change over time: versions, validity, deprecation."""

import datetime as dt

import pytest


@pytest.mark.case("A1")
def test_of_two_dated_versions_the_one_of_the_reporting_date_governs(warehouse):
    warehouse.metric("net_revenue_v1", formula="gross - refunds", entity="metric.net_revenue", version=1, status="approved", valid_from="2024-01-01", valid_to="2025-04-01")
    warehouse.metric("net_revenue_v2", formula="gross - refunds - credits", entity="metric.net_revenue", version=2, status="approved", valid_from="2025-04-01")
    warehouse.build()
    answered = {}
    for day in ("2025-03-31", "2025-04-01", "2023-12-31"):
        (row,) = warehouse.call("resolve", "net_revenue", as_of=dt.date.fromisoformat(day), principal="analyst")
        answered[day] = (row["outcome"], row["version"])
    assert answered == {"2025-03-31": ("resolved", "1"), "2025-04-01": ("resolved", "2"), "2023-12-31": ("not_found_or_not_authorized", None)}
