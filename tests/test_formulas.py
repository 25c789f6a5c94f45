"""The formula of a metric over time: one interval for each time at which it, or anything it names, came to say something else."""

from __future__ import annotations

import datetime as dt
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from package_sql import Warehouse

JAN, FEB, MAR, APR = "2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01"
TO_FEB, FROM_FEB, OPEN = (JAN, FEB), (FEB, None), (JAN, None)


@pytest.fixture
def orders(warehouse: Warehouse) -> Warehouse:
    """A semantic model of which one measure, amount, changes in February; the other, visits, does not."""
    return semantic_model(semantic_model(warehouse, JAN, "gross"), FEB, "net")


def semantic_model(
    warehouse: Warehouse,
    at: str,
    expression: str,
    *,
    name: str = "orders",
    measure: str = "amount",
    project: str = "shop",
    **more: Any,
) -> Warehouse:
    measures = [{"name": measure, "agg": "sum", "expr": expression}, {"name": f"visits_of_{name}", "agg": "count", "expr": "1"}]
    document = {"name": name, "measures": measures, "depends_on": [f"model.{project}.fct_{name}"]} | more
    return warehouse.state(f"semantic_model.shop.{name}", document, at=at, project=project)


def metric(
    warehouse: Warehouse,
    name: str,
    metric_type: str = "simple",
    *,
    at: str = JAN,
    project: str = "shop",
    where: str | None = None,
    **params: Any,
) -> Warehouse:
    document = {"name": name, "type": metric_type, "type_params": params or {"measure": {"name": "amount"}}} | filtered(where)
    return warehouse.state(f"metric.shop.{name}", document, at=at, project=project)


def filtered(where: str | None) -> dict[str, Any]:
    return {"filter": {"where_filters": [{"where_sql_template": where}]}} if where else {}


def build_formulas(warehouse: Warehouse) -> None:
    """Only the relation that is asked for and what it stands on."""
    for model in warehouse.models:
        if model.name in ("prov_stg_resources", "prov_int_formulas"):
            warehouse.con.execute(model.statement())


def known(warehouse: Warehouse, name: str, *columns: str, project: str = "shop") -> list[tuple[Any, ...]]:
    """The intervals of a metric, oldest first: ((from, to), formula or what is asked for ...)."""
    build_formulas(warehouse)
    rows = warehouse.con.execute(
        f"""select known_from_utc, known_to_utc, {", ".join(columns or ("formula",))} from provenance_internal.prov_int_formulas
        where project_name = ? and unique_id = ? order by known_from_utc""",
        [project, f"metric.shop.{name}"],
    ).fetchall()
    return [(tuple(day and str(day.date() if day.time() == dt.time() else day) for day in row[:2]), *row[2:]) for row in rows]


# name, type, its parameters, the formula while the measure is gross; visits stands for a measure that never changes
KINDS = [
    ("simple", {"measure": {"name": "amount"}}, "SUM(gross)"),
    ("simple", {"measure": {"name": "amount"} | filtered("x > 1")}, "SUM(gross) FILTER (WHERE x > 1)"),
    ("ratio", {"numerator": {"name": "total"}, "denominator": {"name": "visits"}}, "SUM(gross) / COUNT(1)"),
    ("derived", {"expr": "total - visits", "metrics": [{"name": "total"}, {"name": "visits"}]}, "SUM(gross) - COUNT(1)"),
    (
        "derived",
        {
            "expr": "total - before",
            "metrics": [
                {"name": "total"},
                {"name": "total", "alias": "before", "offset_window": {"count": 1, "granularity": "month"}},
            ],
        },
        "SUM(gross) - SUM(gross) OFFSET (1 month)",
    ),
    (
        "cumulative",
        {"measure": {"name": "amount"}, "cumulative_type_params": {"window": {"count": 7, "granularity": "day"}}},
        "CUMULATIVE(SUM(gross), window 7 day)",
    ),
    ("cumulative", {"cumulative_type_params": {"metric": {"name": "total"}}}, "CUMULATIVE(SUM(gross))"),
    (
        "conversion",
        {
            "conversion_type_params": {
                "base_measure": {"name": "visits_of_orders"},
                "conversion_measure": {"name": "amount"},
                "entity": "user",
            }
        },
        "CONVERSION(COUNT(1) to SUM(gross), by user)",
    ),
    (
        "conversion",
        {"conversion_type_params": {"base_metric": {"name": "visits"}, "conversion_metric": {"name": "total"}, "entity": "user"}},
        "CONVERSION(COUNT(1) to SUM(gross), by user)",
    ),
]


@pytest.mark.parametrize(("metric_type", "params", "before"), KINDS)
def test_a_changed_measure_opens_an_interval_of_every_metric_over_it(orders, metric_type, params, before):
    metric(metric(orders, "total"), "visits", measure={"name": "visits_of_orders"})
    metric(orders, "asked", metric_type, **params)
    assert known(orders, "asked") == [(TO_FEB, before), (FROM_FEB, before.replace("gross", "net"))]
    assert known(orders, "visits") == [(OPEN, "COUNT(1)")]


def test_the_innermost_measure_changes_a_formula_of_formulas(orders):
    metric(orders, "total", where="x > 1")
    metric(orders, "twice", "derived", expr="total + total", metrics=[{"name": "total"}])
    metric(orders, "outer", "derived", at=MAR, expr="twice / 2", metrics=[{"name": "twice"}])
    metric(orders, "outer", "derived", at=APR, expr="twice / 3", metrics=[{"name": "twice"}])
    inner = "(SUM(net) FILTER (WHERE x > 1) + SUM(net) FILTER (WHERE x > 1))"
    assert known(orders, "outer") == [((MAR, APR), f"{inner} / 2"), ((APR, None), f"{inner} / 3")]
    assert known(orders, "twice")[0] == (TO_FEB, inner.replace("net", "gross")[1:-1])


def test_what_is_named_at_any_depth_is_listed(orders):
    metric(
        orders,
        "total",
        where="{{ Metric('hurdle') }} > 1 and {{ TimeDimension('order__day', 'month') }} > '2025' and {{ Entity('buyer') }} = 1",
    )
    metric(
        orders,
        "outer",
        "derived",
        expr="total",
        metrics=[{"name": "total"} | filtered("{{ Dimension('order__buyer__country') }} = 'CH'")],
    )
    metric(orders, "hurdle", measure={"name": "visits_of_buyers"})
    buyers = {"primary_entity": "buyer", "entities": [{"name": "region"}], "dimensions": [{"name": "country"}, {"name": "day"}]}
    semantic_model(orders, JAN, "1", name="buyers", measure="buyers", **buyers)
    semantic_model(orders, MAR, "net", entities=[{"name": "order"}], dimensions=[{"name": "day"}, {"name": "hour"}])
    own = [
        f"semantic_model.shop.{part}"
        for part in ("buyers#entity#buyer", "orders#dimension#day", "orders#entity#order", "orders#measure#amount")
    ]
    models = ["semantic_model.shop.buyers", "semantic_model.shop.orders"]
    assert known(orders, "total", "filter_ids", "named_ids", "named_parts", "model_ids")[-1][1:] == (
        ["metric.shop.hurdle", *models], ["metric.shop.hurdle", *models], own, ["model.shop.fct_orders"],
    )  # fmt: skip
    assert known(orders, "outer", "filter_ids", "named_ids", "named_parts", "filter_text")[-1][1:] == (
        [], ["metric.shop.hurdle", "metric.shop.total", *models], ["semantic_model.shop.buyers#dimension#country", *own], None,
    )  # fmt: skip


def test_the_entity_of_a_filter_leads_to_the_models_that_have_it_at_the_time(warehouse):
    metric(warehouse, "total", where="{{ Entity('buyer') }} = 1")
    for at, name, has in ((JAN, "orders", True), (JAN, "buyers", False), (FEB, "buyers", True), (MAR, "orders", False)):
        semantic_model(warehouse, at, "x", name=name, measure=f"of_{name}", entities=[{"name": "buyer"}] if has else [])
    both = ["semantic_model.shop.buyers", "semantic_model.shop.orders"]
    assert known(warehouse, "total", "filter_ids") == [(TO_FEB, both[1:]), ((FEB, MAR), both), ((MAR, None), both[:1])]


def test_a_change_that_touches_no_formula_opens_no_interval(warehouse):
    semantic_model(warehouse, JAN, "gross")
    metric(warehouse, "total")
    metric(warehouse, "outer", "derived", expr="total", metrics=[{"name": "total"}])
    semantic_model(warehouse, FEB, "gross", description="Only a description.")
    warehouse.state(
        "metric.shop.total",
        {"name": "total", "type": "simple", "description": "A text.", "type_params": {"measure": {"name": "amount"}}},
        at=MAR,
    )
    assert known(warehouse, "total") == known(warehouse, "outer") == [(OPEN, "SUM(gross)")]


def test_each_change_of_the_metric_itself_opens_an_interval(warehouse):
    semantic_model(warehouse, JAN, "gross")
    metric(warehouse, "total")
    metric(warehouse, "total", at=FEB, where="x > 1")
    metric(warehouse, "total", "cumulative", at=MAR, where="x > 1")
    assert known(warehouse, "total", "metric_type", "formula", "filter_text") == [
        (TO_FEB, "simple", "SUM(gross)", None),
        ((FEB, MAR), "simple", "SUM(gross)", "x > 1"),
        ((MAR, None), "cumulative", "CUMULATIVE(SUM(gross))", "x > 1"),
    ]


def test_an_equal_formula_over_another_metric_is_another_interval(warehouse):
    semantic_model(warehouse, JAN, "gross")
    for at, name in ((JAN, "total"), (FEB, "same")):
        metric(warehouse, name)
        metric(warehouse, "outer", "derived", at=at, expr=name, metrics=[{"name": name}])
    assert known(warehouse, "outer", "formula", "named_ids") == [
        (TO_FEB, "SUM(gross)", ["metric.shop.total", "semantic_model.shop.orders"]),
        (FROM_FEB, "SUM(gross)", ["metric.shop.same", "semantic_model.shop.orders"]),
    ]


def test_a_dimension_that_a_filter_names_is_listed_since_it_is_there(warehouse):
    metric(warehouse, "total", where="{{ Dimension('order__day') }} > 1")
    for at, dimensions in ((JAN, []), (FEB, [{"name": "day"}])):
        semantic_model(warehouse, at, "gross", entities=[{"name": "order"}], dimensions=dimensions)
    own = ["semantic_model.shop.orders#entity#order", "semantic_model.shop.orders#measure#amount"]
    assert known(warehouse, "total", "named_parts") == [
        (TO_FEB, own),
        (FROM_FEB, ["semantic_model.shop.orders#dimension#day", *own]),
    ]


def test_a_measure_that_moves_to_another_model_unchanged_is_another_interval(warehouse):
    semantic_model(warehouse, JAN, "gross")
    metric(warehouse, "total")
    semantic_model(warehouse, FEB, "gross", measure="other")
    semantic_model(warehouse, FEB, "gross", name="sales")
    assert known(warehouse, "total", "formula", "named_parts", "model_ids") == [
        (TO_FEB, "SUM(gross)", ["semantic_model.shop.orders#measure#amount"], ["model.shop.fct_orders"]),
        (FROM_FEB, "SUM(gross)", ["semantic_model.shop.sales#measure#amount"], ["model.shop.fct_sales"]),
    ]


def test_of_two_models_with_a_measure_the_later_counts_while_it_is_there(warehouse):
    metric(warehouse, "total")
    for at, name in ((JAN, "first"), (JAN, "second"), (FEB, "third")):
        semantic_model(warehouse, at, name, name=name)
    warehouse.state("semantic_model.shop.third", None, at=MAR)
    assert known(warehouse, "total", "formula", "named_ids") == [
        (TO_FEB, "SUM(first)", ["semantic_model.shop.first"]),
        ((FEB, MAR), "SUM(third)", ["semantic_model.shop.third"]),
        ((MAR, None), "SUM(first)", ["semantic_model.shop.first"]),
    ]


def test_an_input_that_was_recorded_later_than_the_metric_is_open_backwards(warehouse):
    metric(warehouse, "outer", "derived", expr="total + 1", metrics=[{"name": "total"}])
    metric(warehouse, "total", at="2025-01-01 00:00:00.000002")
    semantic_model(warehouse, "2025-01-01 00:00:00.000003", "gross")
    semantic_model(warehouse, FEB, "net")
    assert known(warehouse, "outer") == [(TO_FEB, "SUM(gross) + 1"), (FROM_FEB, "SUM(net) + 1")]
    assert known(warehouse, "total") == [(("2025-01-01 00:00:00.000002", FEB), "SUM(gross)"), (FROM_FEB, "SUM(net)")]


def test_a_metric_that_is_gone_and_comes_back_has_no_interval_in_between(orders):
    metric(orders, "total")
    orders.state("metric.shop.total", None, at="2025-01-15")
    metric(orders, "total", at=MAR)
    assert known(orders, "total") == [((JAN, "2025-01-15"), "SUM(gross)"), ((MAR, None), "SUM(net)")]
    orders.state("metric.shop.total", None, at=APR)
    assert known(orders, "total")[-1] == ((MAR, APR), "SUM(net)")


def test_an_input_that_is_gone_gives_nothing_and_stays_named(warehouse):
    semantic_model(warehouse, JAN, "gross")
    metric(warehouse, "total")
    metric(warehouse, "share", "ratio", numerator={"name": "total"}, denominator={"name": "total"})
    metric(warehouse, "outer", "derived", expr="total + 1", metrics=[{"name": "total"}])
    warehouse.state("metric.shop.total", None, at=FEB)
    metric(warehouse, "total", at=MAR)
    warehouse.state("semantic_model.shop.orders", None, at=APR)
    part = ["semantic_model.shop.orders#measure#amount"]
    assert known(warehouse, "outer", "formula", "named_ids", "named_parts", "model_ids") == [
        (TO_FEB, "SUM(gross) + 1", ["metric.shop.total", "semantic_model.shop.orders"], part, ["model.shop.fct_orders"]),
        ((FEB, MAR), "total + 1", ["metric.shop.total"], [], []),
        ((MAR, APR), "SUM(gross) + 1", ["metric.shop.total", "semantic_model.shop.orders"], part, ["model.shop.fct_orders"]),
        ((APR, None), "total + 1", ["metric.shop.total", "semantic_model.shop.orders"], part, []),
    ]
    assert [formula for _, formula in known(warehouse, "share")] == [
        "SUM(gross) / SUM(gross)",
        None,
        "SUM(gross) / SUM(gross)",
        None,
    ]
    assert known(warehouse, "total")[-1] == ((APR, None), None)


def test_an_aggregation_over_a_semantic_model_rests_on_the_model_of_the_time(warehouse):
    metric(warehouse, "total", metric_aggregation_params={"agg": "sum", "expr": "gross", "semantic_model": "orders"})
    metric(warehouse, "alone", metric_aggregation_params={"agg": "max"})
    for at, model in ((JAN, "old"), (FEB, "new")):
        semantic_model(warehouse, at, "1", measure="other", depends_on=[f"model.shop.{model}"])
    assert known(warehouse, "total", "formula", "model_ids", "named_ids", "named_parts") == [
        (TO_FEB, "SUM(gross)", ["model.shop.old"], ["semantic_model.shop.orders"], []),
        (FROM_FEB, "SUM(gross)", ["model.shop.new"], ["semantic_model.shop.orders"], []),
    ]
    assert known(warehouse, "alone", "formula", "model_ids", "named_ids") == [(OPEN, "MAX(alone)", [], [])]


def test_the_same_package_in_two_projects_does_not_mix(orders):
    for project in ("shop", "pkg"):
        metric(orders, "total", project=project, where="{{ Metric('outer') }} > 1" if project == "pkg" else None)
        metric(orders, "outer", "derived", project=project, expr="total", metrics=[{"name": "total"}])
    semantic_model(orders, MAR, "theirs", project="pkg")
    semantic_model(orders, APR, "theirs now", project="pkg")
    assert known(orders, "outer", "formula", "model_ids", project="pkg") == [
        ((JAN, APR), "SUM(theirs) FILTER (WHERE {{ Metric('outer') }} > 1)", ["model.pkg.fct_orders"]),
        ((APR, None), "SUM(theirs now) FILTER (WHERE {{ Metric('outer') }} > 1)", ["model.pkg.fct_orders"]),
    ]
    assert known(orders, "outer", "formula", "model_ids") == [
        (TO_FEB, "SUM(gross)", ["model.shop.fct_orders"]),
        (FROM_FEB, "SUM(net)", ["model.shop.fct_orders"]),
    ]
    orders.build()
    shown = orders.con.execute(
        "select project_name, formula from provenance_internal.prov_int_evidence where entity_id = 'metric.shop.outer'"
    ).fetchall()
    assert sorted(shown) == [("pkg", "SUM(theirs now) FILTER (WHERE {{ Metric('outer') }} > 1)"), ("shop", "SUM(net)")]
    assert orders.con.execute(
        "select project_name from provenance_internal.prov_int_edges where edge_role = 'filter'"
    ).fetchall() == [("pkg",)]


def test_a_state_that_was_replaced_in_the_same_instant_never_held(warehouse):
    metric(warehouse, "total")
    for at, expression in ((FEB, "wrong"), (FEB, "gross"), (MAR, "wrong"), (MAR, "net")):
        semantic_model(warehouse, at, expression, depends_on=[f"model.shop.{expression}"])
    assert known(warehouse, "total", "formula", "model_ids") == [
        ((JAN, MAR), "SUM(gross)", ["model.shop.gross"]),
        ((MAR, None), "SUM(net)", ["model.shop.net"]),
    ]


def test_a_circle_of_metrics_ends_and_what_stays_a_name_is_listed(warehouse):
    metric(warehouse, "a", "derived", expr="b + 1", metrics=[{"name": "b"}])
    metric(warehouse, "b", "derived", expr="a + 2", metrics=[{"name": "a"}])
    for place in range(9):
        metric(warehouse, f"deep_{place}", "derived", expr=f"deep_{place + 1}", metrics=[{"name": f"deep_{place + 1}"}])
    ((_, formula, named),) = known(warehouse, "a", "formula", "named_ids")
    assert "a" in formula or "b" in formula
    assert named == ["metric.shop.a", "metric.shop.b"]
    ((_, formula, named),) = known(warehouse, "deep_0", "formula", "named_ids")
    assert f"metric.shop.{formula.strip('()')}" in named


def test_evidence_shows_the_formula_last_known_and_edges_all_that_a_filter_named(orders):
    metric(orders, "total", where="{{ Entity('buyer') }} = 1")
    for at, name, entity in ((JAN, "old", "buyer"), (MAR, "new", "buyer"), (MAR, "old", "none"), (JAN, "places", "place")):
        semantic_model(orders, at, "1", name=name, measure=name, entities=[{"name": entity}])
    metric(orders, "total", at=APR, where="{{ Entity('place') }} = 1")
    semantic_model(orders, "2025-05-01", "last")
    orders.build()
    shown = orders.con.execute(
        "select formula, filter_text from provenance_internal.prov_int_evidence where unique_id = 'metric.shop.total' order by raw_id"
    ).fetchall()
    assert shown == [("SUM(net)", "{{ Entity('buyer') }} = 1"), ("SUM(last)", "{{ Entity('place') }} = 1")]
    edges = orders.con.execute(
        """select split_part(upstream_id, '.', 3), strftime(recorded_from_utc, '%Y-%m-%d'), strftime(recorded_to_utc, '%Y-%m-%d')
        from provenance_internal.prov_int_edges where edge_role = 'filter' order by upstream_id"""
    ).fetchall()
    assert edges == [("new", JAN, APR), ("old", JAN, APR), ("places", APR, None)]


# The same by plain Python: states of a few resources at a few instants, composed one instant at a time.
DAYS = 6
METRICS = "pqrs"
EXPRESSIONS = st.sampled_from(["x", "y"])
DEFINITIONS = st.one_of(
    st.tuples(st.just("simple"), st.lists(st.sampled_from("ab"), min_size=1, max_size=1)),
    st.tuples(st.sampled_from(["ratio", "derived"]), st.lists(st.sampled_from(METRICS), min_size=2, max_size=2)),
)
World = dict[str, dict[int, Any]]


def worlds() -> st.SearchStrategy[World]:
    def states(contents):
        return st.dictionaries(st.integers(0, DAYS - 1), st.one_of(contents, contents, st.none()), max_size=4).map(
            lambda by_day: dict(sorted(by_day.items()))
        )

    return st.fixed_dictionaries({name: states(EXPRESSIONS) for name in "ab"} | {name: states(DEFINITIONS) for name in METRICS})


def at(world: World, name: str, day: int, *, open_backwards: bool = True) -> Any:
    opened = [when for when, content in world[name].items() if content is not None]
    reached = [when for when in world[name] if when <= day and opened and when >= opened[0]] or (
        opened[:1] if open_backwards else []
    )
    return world[name][reached[-1]] if reached else None


def composed(world: World, name: str, day: int, level: int = 5) -> tuple[str | None, set[str]]:
    """The formula of a metric that is there on the day, and the names in it."""
    definition = at(world, name, day)
    if definition is None or level == 0:
        return None, set()
    metric_type, named = definition
    there = {one for one in named if any(world[one].values())}
    if metric_type == "simple":
        expression = at(world, named[0], day)
        return expression and f"SUM({expression})", there
    inner = {one: composed(world, one, day, level - 1) for one in named}
    there = there.union(*(names for _, names in inner.values()))
    texts = {
        one: text if text is None or (at(world, one, day) or [""])[0] == "simple" else f"({text})"
        for one, (text, _) in inner.items()
    }
    if metric_type == "derived":
        return " + ".join(texts[one] or one for one in named), there
    return (None if None in texts.values() else " / ".join(texts[one] for one in named)), there


@pytest.fixture(scope="module")
def empty(package_models) -> Warehouse:
    warehouse = Warehouse(package_models)
    yield warehouse
    warehouse.con.close()


def formulas_of(warehouse: Warehouse, world: World) -> dict[str, list[tuple[Any, ...]]]:
    start = dt.datetime(2025, 1, 1)
    warehouse.con.execute("delete from provenance_internal.prov_raw_resources")
    for name, states in world.items():
        for day, content in states.items():
            moment = start + dt.timedelta(days=day)
            if content is None:
                warehouse.state(f"{'metric' if name in METRICS else 'semantic_model'}.shop.{name}", None, at=moment)
            elif name in METRICS:
                metric_type, named = content
                params = {
                    "simple": {"measure": named[0]},
                    "ratio": {"numerator": named[0], "denominator": named[-1]},
                    "derived": {"expr": " + ".join(named), "metrics": [{"name": one} for one in sorted(set(named))]},
                }[metric_type]
                metric(warehouse, name, metric_type, at=moment, **params)
            else:
                warehouse.state(
                    f"semantic_model.shop.{name}",
                    {"name": name, "measures": [{"name": name, "agg": "sum", "expr": content}]},
                    at=moment,
                )
    build_formulas(warehouse)
    found: dict[str, list[tuple[Any, ...]]] = {name: [] for name in METRICS}
    for unique_id, *row in warehouse.con.execute(
        """select unique_id, known_from_utc, coalesce(known_to_utc, timestamp '2026-01-01'), metric_type, formula, named_ids, named_parts
        from provenance_internal.prov_int_formulas order by unique_id, known_from_utc"""
    ).fetchall():
        found[unique_id[-1]].append((*((moment - start) / dt.timedelta(days=1) for moment in row[:2]), *row[2:]))
    return found


@given(world=worlds())
@settings(max_examples=60, deadline=None)
def test_at_every_instant_the_formula_is_the_one_composed_by_hand(empty, world):
    found = formulas_of(empty, world)
    for name, intervals in found.items():
        assert all(
            first[1] < after[0] or (first[1] == after[0] and first[2:] != after[2:]) for first, after in pairwise(intervals)
        )
        for day in range(DAYS):
            shown = [(row[2], row[3], {one.rsplit(".", 1)[-1] for one in row[4]}) for row in intervals if row[0] <= day < row[1]]
            own = at(world, name, day, open_backwards=False)
            assert shown == ([] if own is None else [(own[0], *composed(world, name, day))]), (name, day)
