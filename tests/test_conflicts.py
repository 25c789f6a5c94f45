"""Conflicts and what is found of two statements, over random intervals, formulas and spellings."""

import datetime as dt
import os
import random
from itertools import combinations

import pytest
from package_sql import Warehouse

SEEDS = range(1, 1 + int(os.environ.get("PROVENANCE_TEST_SEEDS", 2)))
FIRST = dt.date(2025, 1, 1)


def open_warehouse(package_models) -> Warehouse:
    warehouse = Warehouse(package_models)
    warehouse.policy("rules_principals", ("analyst", None, "analyst", None), ("steward", None, "analyst", "service"))
    return warehouse.policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))


def drawn_end(dice: random.Random, *, is_end: bool) -> tuple[str | None, dt.date | None]:
    """What is written, and the day that it means: a start is floored, an end ceiled, and four marks are open."""
    day = FIRST + dt.timedelta(days=dice.randint(0, 12))
    marks = ["9999-12-31", "9999-12-31T00:00:00", "infinity", None] if is_end else [None]
    if dice.random() < 0.3:
        return dice.choice(marks), None
    if dice.random() < 0.4:
        return f"{day}T00:00:03", day + dt.timedelta(days=1) if is_end else day
    return day.isoformat(), day


def overlap(one: tuple, other: tuple) -> tuple[dt.date | None, dt.date | None] | None:
    start = max((side[0] for side in (one, other) if side[0]), default=None)
    end = min((side[1] for side in (one, other) if side[1]), default=None)
    return (start, end) if start is None or end is None or start < end else None


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_overlaps_is_a_finding_and_a_conflict_on_exactly_the_days_of_the_overlap(package_models, seed):
    dice, warehouse = random.Random(seed), open_warehouse(package_models)
    entities: dict[str, list[tuple[dt.date | None, dt.date | None, str]]] = {}
    for place in range(40):
        for version in range(dice.randint(2, 3)):
            (from_text, start), (to_text, end) = drawn_end(dice, is_end=False), drawn_end(dice, is_end=True)
            if start and end and start >= end:
                continue
            formula = dice.choice("abc")
            warehouse.metric(f"e{place}_{version}", formula=formula, entity=f"e{place}", version=str(version), owner="me", valid_from=from_text, valid_to=to_text)
            entities.setdefault(f"metric.shop.e{place}", []).append((start, end, formula))
    warehouse.build()
    expected = set()
    for entity, rows in entities.items():
        for one, other in combinations(rows, 2):
            if overlap(one, other):
                rule = "duplicate" if one[2] == other[2] else "two open rows" if one[1] is other[1] is None else "overlapping validity"
                expected.add((entity, rule))
    found = warehouse.view("findings", principal="analyst")
    assert {(row["entity_id"], row["finding_rule"]) for row in found if row["finding_rule"] in ("duplicate", "two open rows", "overlapping validity")} == expected
    shown = {(row["entity_id"], row["overlaps_from"], row["overlaps_to"]) for row in warehouse.view("conflicts", principal="analyst") if row["conflict_kind"] == "governing"}
    assert shown == {(entity, *overlap(one, other)) for entity, rows in entities.items() for one, other in combinations(rows, 2) if one[2] != other[2] and overlap(one, other)}
    for entity, rows in list(entities.items())[:10]:
        for day in (FIRST + dt.timedelta(days=step) for step in range(-1, 15, 3)):
            holding = {row[2] for row in rows if (row[0] is None or row[0] <= day) and (row[1] is None or day < row[1])}
            (answer,) = warehouse.call("resolve", entity, as_of=day, principal="analyst")
            assert answer["outcome"] == ("conflict" if len(holding) > 1 else "resolved" if holding else "not_found_or_not_authorized"), (entity, day)
    warehouse.con.close()


def spelled(dice: random.Random, parts: list[str]) -> str:
    return dice.choice(["_".join(parts), "".join(part.capitalize() for part in parts), "-".join(parts), parts[0] + "".join(part.capitalize() for part in parts[1:])])


@pytest.mark.parametrize("seed", SEEDS)
def test_names_that_differ_in_spelling_alone_are_one_name(package_models, seed):
    dice, warehouse = random.Random(seed), open_warehouse(package_models)
    metrics = []
    for place in range(30):
        parts, formula = dice.sample(["total", "net", "revenue", "order"], 2), dice.choice("abcd")
        project = f"p{place}"
        name = spelled(dice, parts)
        warehouse.metric(name, project=project, formula=formula, owner="me")
        metrics.append((f"metric.{project}.{name}", tuple(parts), formula))
    warehouse.build()
    expected = set()
    for (one, parts, formula), (other, other_parts, other_formula) in combinations(sorted(metrics), 2):
        if formula == other_formula:
            expected.add(("duplicate", one, other))
        elif parts == other_parts:
            expected.add(("same_name", one, other))
    assert {(row["conflict_kind"], row["entity_id"], row["other_entity_id"]) for row in warehouse.view("conflicts", principal="analyst")} == expected
    warehouse.con.close()


PAIRS = {
    "duplicate": lambda w, **hidden: w.metric("one", formula="a").metric("two", formula="a", **hidden),
    "same_name": lambda w, **hidden: w.metric("net_sales", formula="a").metric("NetSales", formula="b", project="other", **hidden),
    "governing": lambda w, **hidden: w.metric("x1", formula="a", entity="x", version="1").metric("x2", formula="b", entity="x", version="2", **hidden),
    "draft": lambda w, **hidden: w.metric("x1", formula="a", entity="x", version="1").metric("x2", formula="b", entity="x", version="2", status="draft", **hidden),
    "page": lambda w, **hidden: w.metric("x", formula="a").state(
        "page.shop.docs/p.md", {"resource_type": "page", "name": "p", "body": "Once.", "front_matter": {"status": "superseded", "about": "x"} | hidden}, path="docs/p.md"
    ),
    "foreign_description": lambda w, **hidden: w.state("model.shop.a", {"name": "a", "description": "X", "relation_name": '"a"'}).state(
        "source.other.s.a",
        {"name": "a", "source_name": "s", "description": "Y", "relation_name": '"A"', "meta": {f"provenance_{key}": value for key, value in hidden.items()}},
        project="other",
    ),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_a_pair_is_shown_to_whoever_sees_both_sides_and_to_nobody_else(warehouse, kind):
    PAIRS[kind](warehouse).build()
    assert [row["conflict_kind"] for row in warehouse.view("conflicts", principal="analyst")] == [kind]
    assert warehouse.view("conflicts", principal="stranger") == []


@pytest.mark.parametrize("kind", PAIRS)
def test_a_pair_with_a_hidden_side_is_neither_conflict_nor_finding(warehouse, kind):
    PAIRS[kind](warehouse, allow="others").build()
    assert warehouse.view("conflicts", principal="analyst") == []
    assert {row["finding_rule"] for row in warehouse.view("findings", principal="analyst")} <= {"metric without owner"}


def test_what_was_mended_is_no_longer_current(warehouse):
    warehouse.metric("one", formula="a", at="2025-01-02").metric("two", formula="a", at="2025-01-02").metric("two", formula="b", at="2025-02-03").build()
    assert {row["is_current"] for row in warehouse.view("conflicts", principal="analyst")} == {False}
    assert {row["is_current"] for row in warehouse.view("conflicts", principal="analyst", known_at="2025-01-15")} == {True}
