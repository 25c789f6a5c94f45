"""health: one row an entity, over what the asker may see (DESIGN 3.10, RULES 2.8, 2.9, 2.11)."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

from package_sql import Warehouse
from permission_model import Oracle
from permission_worlds import ASKERS, ordered, random_world
from test_valid_time import random_histories
from test_valid_time import write as write_histories

HOUR = dt.timedelta(hours=1)
LIMITS = {"freshness": {"warn_after": {"count": 12, "period": "hour"}, "error_after": {"count": 24, "period": "hour"}}}
HIDDEN = {"meta": {"provenance_allow": "nobody"}}


def source(warehouse: Warehouse, name: str, **more: Any) -> str:
    warehouse.state(f"source.shop.raw.{name}", {"name": name, "source_name": "raw"} | LIMITS | more)
    return f"source.shop.raw.{name}"


def model(warehouse: Warehouse, name: str, *upstream: str, **more: Any) -> str:
    warehouse.state(f"model.shop.{name}", {"name": name, "depends_on": list(upstream)} | more)
    return f"model.shop.{name}"


def check(warehouse: Warehouse, name: str, *of: str, **more: Any) -> str:
    warehouse.state(f"test.shop.{name}", {"name": name, "depends_on": list(of)} | more)
    return f"test.shop.{name}"


def health(warehouse: Warehouse, principal: str = "analyst") -> dict[str, dict[str, Any]]:
    return {row["entity_id"]: row for row in warehouse.view("health", principal=principal)}


def fresh(warehouse: Warehouse, unique_id: str) -> str:
    warehouse.measured(unique_id, warehouse.now() - 2 * HOUR, warehouse.now() - HOUR)
    return unique_id


def test_the_worst_source_at_any_depth_is_named_with_its_reason(warehouse):
    good, late = fresh(warehouse, source(warehouse, "good")), source(warehouse, "late")
    warehouse.measured(late, warehouse.now() - 14 * HOUR, warehouse.now() - HOUR, status="warn")
    first = model(warehouse, "first", late)
    model(warehouse, "second", first, good)
    model(warehouse, "only_good", good)
    model(warehouse, "of_seed", "seed.shop.codes")
    warehouse.state("seed.shop.codes", {"name": "codes"})
    warehouse.state("exposure.shop.board", {"name": "board", "depends_on": ["model.shop.second"]})
    rows = health(warehouse.build())
    for entity in ("model.shop.first", "model.shop.second", "exposure.shop.board", late):
        row = rows[entity]
        assert (row["upstream_freshness"], row["upstream_freshness_source"]) == ("late", late), entity
        assert row["upstream_freshness_reason"] == "the newest load is older than warn_after"
    assert rows["model.shop.only_good"]["upstream_freshness"] == "fresh"
    assert (rows["model.shop.of_seed"]["upstream_freshness"], rows["model.shop.of_seed"]["upstream_freshness_source"]) == ("no source", None)
    assert {row["lineage_state"] for row in rows.values()} == {"known"}


def test_what_never_was_measured_is_worse_than_fresh_and_what_is_known_to_be_bad_is_worse_than_both(warehouse):
    good, silent, stale = fresh(warehouse, source(warehouse, "good")), source(warehouse, "silent"), source(warehouse, "stale")
    warehouse.measured(stale, warehouse.now() - 30 * HOUR, warehouse.now() - HOUR, status="error")
    model(warehouse, "two", good, silent)
    model(warehouse, "three", good, silent, stale)
    rows = health(warehouse.build())
    assert [rows[f"model.shop.{name}"]["upstream_freshness"] for name in ("two", "three")] == ["never observed", "stale"]


def test_what_may_not_be_seen_upstream_makes_it_unknown_and_says_nothing_else(warehouse):
    good, bad = fresh(warehouse, source(warehouse, "good")), source(warehouse, "secret_source", **HIDDEN)
    warehouse.measured(bad, warehouse.now() - 90 * HOUR, warehouse.now() - HOUR, status="error")
    model(warehouse, "between", bad, **HIDDEN)
    model(warehouse, "reads_hidden", good, "model.shop.between")
    model(warehouse, "after", "model.shop.reads_hidden")
    model(warehouse, "reads_absent", good, "model.shop.never_there")
    rows = health(warehouse.build())
    shown = [{key: value for key, value in rows[f"model.shop.{name}"].items() if not key.endswith("_id")} for name in ("reads_hidden", "after", "reads_absent")]
    assert shown[0] == shown[1] == shown[2]
    assert (shown[0]["upstream_freshness"], shown[0]["upstream_freshness_source"]) == ("unknown", None)
    assert (shown[0]["lineage_state"], shown[0]["has_redacted_upstream"]) == ("incomplete", True)
    assert "secret" not in repr(rows) and "between" not in repr(rows)


def test_a_worse_visible_source_is_said_although_something_else_is_hidden(warehouse):
    stale = source(warehouse, "stale")
    warehouse.measured(stale, warehouse.now() - 30 * HOUR, warehouse.now() - HOUR, status="error")
    model(warehouse, "between", **HIDDEN)
    model(warehouse, "both", stale, "model.shop.between")
    row = health(warehouse.build())["model.shop.both"]
    assert (row["upstream_freshness"], row["upstream_freshness_source"], row["has_redacted_upstream"]) == ("stale", stale, True)


def test_of_what_nothing_says_what_it_is_built_from_lineage_and_freshness_are_unknown(warehouse):
    model(warehouse, "reads_a_table_by_name")
    row = health(warehouse.build())["model.shop.reads_a_table_by_name"]
    assert (row["lineage_state"], row["upstream_freshness"], row["has_redacted_upstream"]) == ("unknown", "unknown", False)


def test_each_test_counts_once_by_what_it_last_said_of_data(warehouse):
    one, two = model(warehouse, "one"), model(warehouse, "two")
    at = dt.datetime(2025, 3, 1)
    cases: dict[str, list[tuple[str, bool]]] = {
        "passed": [("fail", False), ("pass", False)],
        "failed": [("pass", False), ("fail", False)],
        "warned": [("warn", False)],
        "crashed": [("error", False)],
        "skipped": [("pass", False), ("skipped", False)],
        "never": [],
        "only_empty": [("pass", True)],
        "failed_then_empty": [("fail", False), ("pass", True)],
        "passed_then_empty": [("pass", False), ("fail", True)],
    }
    for name, said in cases.items():
        unique_id = check(warehouse, name, one)
        for place, (status, is_empty) in enumerate(said):
            warehouse.ran(unique_id, status, at=at + place * HOUR, is_empty=is_empty)
    gone = check(warehouse, "gone", one)
    warehouse.ran(gone, "fail", at=at).state(gone, None, at=at)
    warehouse.ran(check(warehouse, "of_both", one, two), "fail", at=at)
    warehouse.ran(check(warehouse, "attached", one, two, attached_node=two), "pass", at=at)
    warehouse.ran(check(warehouse, "hidden", one, **HIDDEN), "fail", at=at)
    rows = health(warehouse.build())
    assert [rows[one][f"tests_{word}"] for word in ("passed", "failed", "unknown")] == [2, 5, 3]
    assert [rows[two][f"tests_{word}"] for word in ("passed", "failed", "unknown")] == [1, 1, 0]


def test_the_last_run_is_the_last_one_for_data_in_this_target(warehouse):
    one, at = model(warehouse, "one"), dt.datetime(2025, 3, 1)
    warehouse.ran(one, "success", at=at, invocation="first").ran(one, "error", at=at + HOUR, invocation="second")
    warehouse.ran(one, "success", at=at + 2 * HOUR, invocation="third", is_empty=True).ran(one, "success", at=at + 3 * HOUR, invocation="fourth")
    warehouse.con.execute("update provenance_internal.prov_raw_run_results set target_name = 'ci' where invocation_id = 'fourth'")
    model(warehouse, "never_run")
    rows = health(warehouse.build())
    assert [rows[one][f"last_{word}"] for word in ("invocation_id", "run_at_utc", "run_status")] == ["second", at + HOUR, "error"]
    assert rows["model.shop.never_run"]["last_invocation_id"] is None


def test_a_metric_is_run_and_tested_as_the_model_that_it_rests_on(warehouse):
    late = source(warehouse, "late")
    warehouse.measured(late, warehouse.now() - 14 * HOUR, warehouse.now() - HOUR, status="warn")
    orders = model(warehouse, "orders", late)
    warehouse.state("semantic_model.shop.sold", {"name": "sold", "depends_on": [orders], "measures": [{"name": "gross", "agg": "sum", "expr": "amount"}]})
    warehouse.state("metric.shop.revenue", {"name": "revenue", "type": "simple", "type_params": {"measure": {"name": "gross"}}, "depends_on": ["semantic_model.shop.sold"]})
    warehouse.ran(orders, "success", at=dt.datetime(2025, 3, 1), invocation="build")
    warehouse.ran(check(warehouse, "unique", orders), "pass", at=dt.datetime(2025, 3, 1))
    row = health(warehouse.build())["metric.shop.revenue"]
    assert (row["run_entity_id"], row["last_invocation_id"], row["tests_passed"], row["upstream_freshness"]) == (orders, "build", 1, "late")


def test_the_version_that_governs_today_stands_for_the_entity(warehouse):
    good, late = fresh(warehouse, source(warehouse, "good")), source(warehouse, "late")
    warehouse.measured(late, warehouse.now() - 14 * HOUR, warehouse.now() - HOUR, status="warn")
    for version, upstream in (("1", late), ("2", good)):
        warehouse.state(f"model.shop.dim.v{version}", {"name": "dim", "version": version, "latest_version": "2", "depends_on": [upstream]})
    row = health(warehouse.build())["model.shop.dim"]
    assert (row["governing_version"], row["upstream_freshness"], row["governing_reason"]) == ("2", "fresh", "governs")


def test_findings_and_conflicts_are_counted_where_all_sides_are_visible(warehouse):
    for name, formula in (("net_a", "x"), ("net_b", "y")):
        warehouse.metric(name, formula=formula, entity="metric.net", version=name, status="approved", valid_from="2020-01-01", owner="finance")
    warehouse.metric("net_c", formula="z", entity="metric.net", version="c", status="approved", valid_from="2020-01-01", owner="finance", allow="nobody")
    warehouse.metric("alone", formula="q", status="blessed")
    rows = health(warehouse.build())
    assert (rows["metric.shop.net"]["governing_reason"], rows["metric.shop.net"]["governing_evidence_id"], rows["metric.shop.net"]["status"]) == ("conflict", None, None)
    for name in ("findings", "conflicts"):
        listed = [one for row in warehouse.view(name, principal="analyst") for one in {row["entity_id"], row.get("other_entity_id")} - {None}]
        assert {entity: row[f"open_{name}"] for entity, row in rows.items()} == {entity: listed.count(entity) for entity in rows}, name
    assert (rows["metric.shop.net"]["open_conflicts"], rows["metric.shop.alone"]["governing_reason"]) == (1, "only_non_governing")
    assert rows["metric.shop.alone"]["open_findings"] == 2


def assert_governs_as_resolved(warehouse: Warehouse, principal: str, tenant: str | None = None) -> list[str]:
    """Every row says of today what resolve says. Gives the reasons."""
    today, reasons = warehouse.now().date(), []
    for row in warehouse.view("health", principal=principal, tenant=tenant):
        (answer,) = warehouse.call("resolve", row["entity_id"], as_of=today, principal=principal, tenant=tenant)
        assert (row["governing_reason"], row["governing_evidence_id"], row["governing_version"], row["status"]) == (
            answer["reason"], answer["evidence_id"], answer["version"], answer["status"],
        ), row["entity_id"]  # fmt: skip
        reasons.append(row["governing_reason"])
    return reasons


def test_what_governs_today_is_what_resolve_answers_for_today(warehouse):
    reasons = assert_governs_as_resolved(write_histories(warehouse, random_histories(5)), "analyst")
    assert set(reasons) >= {"governs", "conflict", "no_version_on_date", "only_non_governing"}


def test_what_governs_is_decided_over_what_the_asker_may_see(make):
    warehouse = make(random_world(11))
    assert sum(len(assert_governs_as_resolved(warehouse, *asking)) for asking in ASKERS) >= 20


def test_a_hidden_test_run_or_source_changes_no_number(make):
    world = random_world(21)
    asking = ("ann", None)
    seen = Oracle(world).resources_seen(Oracle(world).asker(*asking))
    hidden = {one.key for one in world.resources if one.resource_type in ("test", "source")} - seen
    assert hidden
    both = [ordered(make(one).view("health", principal="ann")) for one in (world, world.without(hidden))]
    assert both[0] == both[1] != ordered(make(replace(world, results=())).view("health", principal="ann"))


def test_whoever_is_not_known_sees_no_row(make):
    warehouse = make(random_world(21))
    assert [warehouse.view(view, principal=who) for view in ("health", "coverage") for who in (None, "nobody", "idle")] == [[]] * 6


def test_health_of_layers_that_each_read_the_whole_layer_before_is_told_of_each(warehouse):
    origin = fresh(warehouse, source(warehouse, "origin"))
    for layer in range(12):
        for place in range(30):
            model(warehouse, f"m_{layer}_{place}", *([f"model.shop.m_{layer - 1}_{one}" for one in range(30)] if layer else [origin]))
    warehouse.build()
    rows = health(warehouse)
    assert len(rows) == 361 and {row["upstream_freshness"] for row in rows.values()} == {"fresh"}
