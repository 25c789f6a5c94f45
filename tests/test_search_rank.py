"""Search: the integers of the reference ranker, over the visible rows alone; lanes, tiers, paging, quoted spans."""

import random

import pytest
from dbt_provenance.answer.ranking import bag_of, rank

WORDS = ["gross", "net", "revenue", "refund", "order", "payment", "chargeback", "month", "close", "Umsatz", "純売上", "fct_orders_v2", "выручка", "café", "the", "of"]
HIDDEN = {"allow": ["finance"]}


def corpus(seed: int, count: int = 24) -> dict[str, str]:
    rng = random.Random(seed)
    return {f"m{number}_{rng.choice(['net', 'gross', 'order'])}": " ".join(rng.choices(WORDS, k=rng.randint(3, 40))) for number in range(count)}


def fill(warehouse, texts, **meta):
    for name, text in texts.items():
        warehouse.metric(name, text, **meta)


def scores(warehouse, query, **arguments):
    found = warehouse.call("search", query, principal="analyst", max_rows=1000, **arguments)
    return {row["entity_id"]: round(row["score"] * 1_000_000) for row in found}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_search_function_gives_the_integers_and_the_order_of_the_reference_ranker(warehouse, seed):
    texts = corpus(seed)
    fill(warehouse, texts)
    fill(warehouse, {f"hidden_{name}": text for name, text in corpus(seed + 100).items()}, **HIDDEN)
    warehouse.build()
    bags = {f"default/shop/metric.shop.{name}//definition": bag_of(name=name, title=name, text=text) for name, text in texts.items()}
    rng = random.Random(seed)
    for _ in range(12):
        query = " ".join(rng.choices(WORDS, k=rng.randint(1, 6)))
        found = [row for row in warehouse.call("search", query, principal="analyst", max_rows=1000) if row["tier"] == 3]
        expected = rank(query, bags)
        assert [(row["evidence_id"], round(row["score"] * 1_000_000)) for row in found] == [(one.document_id, one.millionths) for one in expected], query


def test_hidden_documents_change_no_visible_score_in_its_last_bit(package_models, warehouse):
    from package_sql import Warehouse

    texts = corpus(7)
    fill(warehouse, texts)
    crowded = Warehouse(package_models)
    crowded.policy("rules_principals", ("analyst", None, "analyst", None)).policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))
    fill(crowded, texts)
    fill(crowded, {f"other_{name}": text + " net revenue refund" for name, text in corpus(8, 60).items()}, **HIDDEN)
    warehouse.build()
    crowded.build()
    for query in ("net revenue", "refund of the order", "純売上", '"net"', "month close payment"):
        arguments = {"principal": "analyst", "as_of": "2025-01-01", "max_rows": 1000}
        first, second = (one.call("search", query, **arguments) for one in (warehouse, crowded))
        assert [{key: value for key, value in row.items() if key != "revision"} for row in first] == [{key: value for key, value in row.items() if key != "revision"} for row in second]


def test_pages_are_complete_and_do_not_overlap(warehouse):
    fill(warehouse, corpus(3))
    warehouse.build()
    whole = warehouse.call("search", "net revenue order", principal="analyst", max_rows=1000)
    paged = [row for first in range(1, len(whole) + 1, 5) for row in warehouse.call("search", "net revenue order", principal="analyst", max_rows=5, first_row=first)]
    assert [row["evidence_id"] for row in paged] == [row["evidence_id"] for row in whole]
    assert {row["total_visible"] for row in whole} == {len(whole)}
    assert warehouse.call("search", "net revenue order", principal="analyst", max_rows=5, first_row=len(whole) + 1) == []


def test_names_come_first_in_every_spelling_and_odd_queries_end_quietly(warehouse):
    for name in ("d_ab_customer_orders", "d_ab_customer_orders_daily_v2", "d_ab_orders", "customer_churn", "SalesRegion", "raw_data"):
        warehouse.metric(name, "A measure of something.")
    warehouse.metric("public_set", "The public-data set.")
    warehouse.metric("npi", "A number.", synonyms=["provider id"])
    warehouse.build()

    def first(query, **arguments):
        rows = warehouse.call("search", query, principal="analyst", **arguments)
        return rows[0]["entity_id"].removeprefix("metric.shop.") if rows else None

    assert first("d_ab_customer_orders") == "d_ab_customer_orders"
    assert first("customer orders") in ("d_ab_customer_orders", "d_ab_customer_orders_daily_v2")
    assert first("region") == "SalesRegion"
    assert first("what is provider id") == "npi"
    assert [row["entity_id"] for row in warehouse.call("search", '"public-data"', principal="analyst")] == ["metric.shop.public_set"]
    (synonym,) = [row for row in warehouse.call("search", "provider id", principal="analyst") if row["entity_id"] == "metric.shop.npi"]
    assert (synonym["tier"], synonym["matched_field"]) == (2, "synonym")
    for query in ("_", "", " ", None, '"', '""', "%", "'; drop table x; --", "x" * 100_000):
        assert warehouse.call("search", query, principal="analyst") == []


def test_a_column_is_found_by_its_text_and_named_unless_it_has_a_stricter_policy(warehouse):
    columns = {"shop_name": {"description": "店舗名"}, "salary": {"description": "Gehalt", "meta": {"provenance_allow": ["finance"]}}}
    warehouse.state("model.shop.staff", {"name": "staff", "description": "People.", "columns": columns})
    warehouse.build()
    (row,) = warehouse.call("search", "店舗名", principal="analyst")
    assert (row["entity_id"], row["matched_field"]) == ("model.shop.staff", "column shop_name")
    assert warehouse.call("search", "Gehalt", principal="analyst") == warehouse.call("search", "salary", principal="analyst") == []


def test_lanes_part_by_the_date_asked_for(warehouse):
    warehouse.metric("a_v1", "turnover", entity="a", version="1", status="authoritative", valid_from="2024-01-01", valid_to="2025-01-01")
    warehouse.metric("a_v2", "turnover", entity="a", version="2", status="authoritative", valid_from="2025-01-01", supersedes="1")
    warehouse.metric("b", "turnover", status="draft")
    warehouse.build()
    found = warehouse.call("search", "turnover", as_of="2025-03-31", principal="analyst")
    assert {(row["lane"], row["label"], row["version"]) for row in found} == {("answer", "governing", "2"), ("conflict", "other period", "1"), ("conflict", "draft", None)}
    earlier = warehouse.call("search", "turnover", as_of="2024-03-31", principal="analyst")
    assert {(row["lane"], row["label"], row["version"]) for row in earlier} == {("answer", "governing", "1"), ("conflict", "scheduled", "2"), ("conflict", "draft", None)}


@pytest.fixture
def quotable(warehouse):
    warehouse.metric("take", "What is taken.", synonyms=["booked orders", "value shipped"])
    columns = {"open_amount": {"description": "money still owed"}, "secret_amount": {"description": "money never owed", "meta": {"provenance_allow": ["finance"]}}}
    warehouse.state("model.shop.bills", {"name": "bills", "description": "Bills.", "columns": columns})
    return warehouse.policy("rules_principals", ("auditor", None, "analyst", None), ("auditor", None, "finance", None)).build()


@pytest.mark.parametrize(
    ("principal", "query", "expected"),
    [
        ("analyst", '"booked orders"', {"metric.shop.take"}),
        ("analyst", '"orders value"', set()),  # across two synonyms
        ("analyst", '"still owed"', {"model.shop.bills"}),
        ("analyst", '"owed money"', set()),  # across two columns
        ("analyst", '"never owed"', set()),
        ("auditor", '"never owed"', {"model.shop.bills"}),
        ("auditor", '"never owed" "still owed"', {"model.shop.bills"}),
        ("analyst", '"never owed" "still owed"', set()),
        ("auditor", '"bills" "value shipped"', set()),
    ],
)
def test_what_is_quoted_stands_in_one_field_that_the_asker_may_see(quotable, principal, query, expected):
    assert {row["entity_id"] for row in quotable.call("search", query, principal=principal)} == expected
