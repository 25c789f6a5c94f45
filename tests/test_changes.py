"""What changed of a definition, and what is built on it: random edits against a comparison in plain Python; what is hidden shows nowhere."""

import datetime as dt
import os
import random
from typing import Any

import pytest
from package_sql import Warehouse

SEEDS = range(1, 1 + int(os.environ.get("PROVENANCE_TEST_SEEDS", 2)))
START = dt.datetime(2025, 1, 1, 12)
BREAKING = {"formula", "filter", "grain", "unit"}
# what may be edited, and the flag that says so
CHOICES: dict[str, tuple[list[Any], str]] = {
    "text": (["One.", "Two.", "Three."], "text"),
    "formula": (["a", "b", "a - b"], "formula"),
    "filter": ([None, "x > 1", "x > 2"], "filter"),
    "grain": ([None, "day", "order"], "grain"),
    "unit": ([None, "USD", "EUR"], "unit"),
    "status": ([None, "approved", "authoritative", "deprecated"], "status"),
    "valid_from": ([None, "2024-01-01", "2024-02-01"], "validity"),
    "owner": ([None, "finance", "sales"], "other"),
    "synonyms": ([None, ["turnover"], ["takings"]], "other"),
    "tags": ([None, ["x"], ["y"]], "other"),
    "allow": ([None, ["analyst"], ["analyst", "more"]], "acl"),
}


def document(name: str, said: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "label": name, "type": "simple", "description": said["text"]}
    found["type_params"] = {"metric_aggregation_params": {"agg": "sum", "expr": said["formula"]}}
    found |= {"filter": {"where_filters": [{"where_sql_template": said["filter"]}]}} if said["filter"] else {}
    found |= {"tags": said["tags"]} if said["tags"] else {}
    meta = {f"provenance_{key}": said[key] for key in ("grain", "unit", "status", "valid_from", "owner", "synonyms", "allow") if said[key]}
    return found | ({"meta": meta} if meta else {})


def edited(dice: random.Random, said: dict[str, Any]) -> dict[str, Any]:
    return said | {key: dice.choice(CHOICES[key][0]) for key in dice.sample(list(CHOICES), dice.randint(1, 2))}


def flags(before: dict[str, Any], since: dict[str, Any], *, sees_policy: bool) -> frozenset[str]:
    found = {CHOICES[key][1] for key in CHOICES if before[key] != since[key]} - ({"acl"} if not sees_policy else set())
    return frozenset(found - {"other"} if found - {"other", "acl"} else found)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_change_has_the_flags_of_what_differs(package_models, seed):
    dice, warehouse = random.Random(seed), Warehouse(package_models)
    warehouse.policy("rules_principals", ("analyst", None, "analyst", None), ("steward", None, "analyst", "service")).policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))
    expected: dict[str, list[tuple[Any, ...]]] = {"analyst": [], "steward": []}
    for place in range(40):
        name, at, said = f"m{place}", START, {key: dice.choice(choices) for key, (choices, _) in CHOICES.items()}
        warehouse.state(f"metric.shop.{name}", document(name, said), at=at)
        for _ in range(dice.randint(1, 5)):
            at, before, said = at + dt.timedelta(days=dice.randint(1, 9)), said, edited(dice, said)
            if document(name, before) == document(name, said):
                continue
            warehouse.state(f"metric.shop.{name}", document(name, said), at=at)
            for principal, found in expected.items():
                if changed := flags(before, said, sees_policy=principal == "steward"):
                    found.append((f"metric.shop.{name}", at, changed, bool(changed & BREAKING), before["text"], said["text"]))
    warehouse.build()
    for principal, wanted in expected.items():
        rows = warehouse.view("definition_changes", principal=principal)
        shown = [
            (row["entity_id"], row["changed_at_utc"], frozenset(key.removesuffix("_changed") for key, value in row.items() if key.endswith("_changed") and value), row["is_breaking"], row["previous_text"], row["current_text"])
            for row in rows
        ]  # fmt: skip
        assert sorted(shown, key=repr) == sorted(wanted, key=repr)
        assert {row["acl_changed"] is None for row in rows} == {principal == "analyst"}
    warehouse.con.close()


def chain(warehouse: Warehouse, hidden: str | None = None) -> Warehouse:
    """A metric that changed, two models and a dashboard built on it one after the other."""
    for at, formula in (("2025-01-02", "a"), ("2025-02-03", "b")):
        warehouse.metric("sales", "Sales.", formula=formula, at=at)
    for unique_id, upstream in (("model.shop.near", "metric.shop.sales"), ("model.shop.far", "model.shop.near"), ("exposure.shop.board", "model.shop.far"), ("exposure.shop.other", "metric.shop.sales")):
        own = {"name": unique_id.split(".")[2], "depends_on": [upstream]} | ({"meta": {"provenance_allow": "others"}} if unique_id == hidden else {})
        warehouse.state(unique_id, own, at="2025-01-02")
    return warehouse.build()


@pytest.mark.parametrize(
    ("hidden", "touched"),
    [
        (None, {"model.shop.near": 1, "exposure.shop.other": 1, "model.shop.far": 2, "exposure.shop.board": 3}),
        ("exposure.shop.board", {"model.shop.near": 1, "exposure.shop.other": 1, "model.shop.far": 2}),
        ("model.shop.near", {"exposure.shop.other": 1}),
    ],
)
def test_what_a_change_touches_is_counted_and_named_through_what_is_visible(warehouse, hidden, touched):
    chain(warehouse, hidden)
    (row,) = warehouse.view("definition_changes", principal="analyst")
    assert (row["direct_downstream_count"], row["total_downstream_count"]) == (list(touched.values()).count(1), len(touched))
    impacts = warehouse.view("change_impacts", principal="analyst")
    assert {one["downstream_entity_id"]: one["shortest_distance"] for one in impacts} == touched
    assert {(one["downstream_type"], one["is_breaking"]) for one in impacts} <= {("model", True), ("exposure", True)}


def test_a_changed_measure_changes_the_metric_and_a_changed_model_what_backs_it(warehouse):
    warehouse.state("metric.shop.total", {"name": "total", "description": "Total.", "type": "simple", "type_params": {"measure": {"name": "amount"}}}, at="2025-01-02")
    for at, expression, model in (("2025-01-02", "gross", "model.shop.old"), ("2025-02-03", "net", "model.shop.old"), ("2025-03-04", "net", "model.shop.new")):
        warehouse.state("semantic_model.shop.orders", {"name": "orders", "depends_on": [model], "measures": [{"name": "amount", "agg": "sum", "expr": expression}]}, at=at)
    for name in ("old", "new"):
        warehouse.state(f"model.shop.{name}", {"name": name, "description": name}, at="2025-01-02")
    warehouse.build()
    rows = sorted((row for row in warehouse.view("definition_changes", principal="analyst") if row["entity_id"] == "metric.shop.total"), key=lambda row: row["changed_at_utc"])
    assert [(row["formula_changed"], row["backing_changed"], row["is_breaking"], row["revision"] == row["previous_revision"]) for row in rows] == [(True, False, True, True), (False, True, True, True)]


def test_changes_are_those_known_at_the_time(warehouse):
    chain(warehouse)
    assert warehouse.view("definition_changes", principal="analyst", known_at="2025-02-02") == []
    assert len(warehouse.view("definition_changes", principal="analyst", known_at="2025-02-03")) == 1
    assert warehouse.view("definitions", principal="analyst", known_at="yesterday") == []
    assert len(warehouse.view("definition_changes", principal="analyst", known_at="2025-02-02T23:00:00-02:00")) == 1
    assert len(warehouse.view("definition_changes", principal="analyst", known_at="2999-01-01")) == 1
