"""What a question is about and what it asks: language alone, over the hits that a small world of entities would give."""

from datetime import date

import pytest
from dbt_provenance.answer.ask import ask
from dbt_provenance.answer.questions import kind_of, read_question
from dbt_provenance.answer.subjects import Choice, Hit, accepted_hits, choose, telling_words
from dbt_provenance.answer.tokens import words
from dbt_provenance.warehouse.duckdb_connection import DuckDBWarehouse, open_warehouse
from dbt_provenance.warehouse.relations import surfaces_in_catalog
from hypothesis import given
from hypothesis import strategies as st
from package_sql import Warehouse

NET, FCT, ORDERS, STG = "metric.shop.net_revenue", "model.shop.fct_orders", "source.shop.raw_app.orders", "model.shop.stg_orders"
REFUNDS, RATE, DASHBOARD, WIKI = (
    "metric.shop.refunds",
    "metric.shop.refund_rate",
    "exposure.shop.revenue_dashboard",
    "doc.shop.revenue_wiki",
)
EVENTS, CUSTOMERS, OTHER = "source.shop.raw_payments.payment_events", "model.shop.customers", "model.other.customers"

BUILT_ON = {
    NET: {REFUNDS, FCT, STG, ORDERS, EVENTS},
    REFUNDS: {FCT, STG, ORDERS, EVENTS},
    RATE: {REFUNDS, FCT, STG, ORDERS, EVENTS},
    DASHBOARD: {NET, REFUNDS, FCT, STG, ORDERS, EVENTS},
    FCT: {STG, ORDERS, EVENTS},
    STG: {ORDERS},
}
RANKS = {"metric": 1, "semantic_model": 2, "model": 3, "source": 4, "exposure": 5, "doc": 6, "lineage": 3}
# span -> (tier, entity, pinned version)
NAMES = {
    "net revenue": [(2, NET, None)],
    "metric net revenue": [(1, NET, None)],
    "net revenue v1": [(2, NET, "1")],
    "nettoumsatz": [(3, NET, None)],
    "純売 売上": [(3, NET, None)],
    "net revenue from 2025": [(4, NET, None)],
    "fct orders": [(2, FCT, None)],
    "fct orders v2": [(2, FCT, "2")],
    "lineage fct orders": [(1, "lineage.shop.fct_orders", None)],
    "stg orders": [(2, STG, None)],
    "orders": [(2, ORDERS, None)],
    "raw app orders": [(2, ORDERS, None)],
    "payment events": [(2, EVENTS, None)],
    "raw payments payment events": [(2, EVENTS, None)],
    "refunds": [(2, REFUNDS, None)],
    "refund rate": [(2, RATE, None)],
    "revenue dashboard": [(2, DASHBOARD, None)],
    "revenue wiki": [(2, WIKI, None)],
    "customers": [(2, CUSTOMERS, None), (2, OTHER, None)],
    "definition of net revenue": [(4, RATE, None)],
    "model": [(2, "model.shop.model", None)],
    "contact": [(2, "source.shop.crm.contact", None)],
    "memo 2025 02 10": [(4, WIKI, None)],
}


def hits_in(text: str) -> list[Hit]:
    """As find_entities would give them."""
    split = words(text)
    found = []
    for first in range(len(split)):
        for count in range(1, 8):
            for tier, entity_id, pinned in (
                NAMES.get(" ".join(split[first : first + count]), []) if first + count <= len(split) else []
            ):
                about = NET if entity_id == WIKI else None
                row = {
                    "first_word": first,
                    "word_count": count,
                    "tier": tier,
                    "entity_id": entity_id,
                    "kind_rank": RANKS[entity_id.split(".")[0]],
                }
                row |= {"pinned_version": pinned, "page_evidence_id": "wiki" if about else None, "about_entity_id": about}
                found.append(Hit.from_row(row | {"built_on": BUILT_ON.get(about or entity_id, ())}))
    named = {hit.entity_id for hit in found}
    return [Hit(**vars(hit) | {"built_on": hit.built_on & named}) for hit in found]


def understood(text: str) -> tuple[str, Choice]:
    question = read_question(text)
    hits = accepted_hits(question, hits_in(text))
    kind = kind_of(question, [hit.span for hit in hits], {hit.entity_type for hit in hits})
    return kind.name if kind.name != "lineage" else f"lineage {kind.direction}", choose(question, hits, kind)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("definition", "For reporting date 2024-06-30, what definition of net revenue applies?"),
        ("definition", "What is net revenue?"),
        ("definition", "What does net revenue mean?"),
        ("definition", "How do we calculate net revenue?"),
        ("definition", "How is net revenue computed in Q1 2025?"),
        ("definition", "formula for net revenue, please"),
        ("definition", "Which definition of net revenue is used for 2025-03-31?"),
        ("definition", "What's the current definition of net revenue?"),
        ("definition", "Explain net revenue"),
        ("definition", "What is the source of truth for net revenue?"),
        ("definition", "What formula does net revenue use?"),
        ("definition", "純売上の定義"),
        ("supporting_model", "For net revenue on 2025-03-31, which dbt model version supports the metric?"),
        ("supporting_model", "Which table backs net revenue?"),
        ("supporting_model", "What is the underlying model of net revenue?"),
        ("supporting_model", "Which model is net revenue built on?"),
        ("supporting_model", "Where is net revenue calculated?"),
        ("supporting_model", "Which view should I query for net revenue?"),
        ("supporting_model", "Does fct_orders support net revenue?"),
        ("supporting_model", "model behind refund rate"),
        ("grain", "What is the grain of fct_orders version 2?"),
        ("grain", "At which level of detail is fct_orders?"),
        ("grain", "What does one row of fct_orders represent?"),
        ("grain", "Is there a row per order in fct_orders?"),
        ("grain", "granularity of fct_orders"),
        ("grain", "What uniquely identifies a record in stg_orders?"),
        ("grain", "Is the grain of fct_orders still one row per order?"),
        ("lineage upstream", "Which raw sources feed fct_orders version 2 for net revenue?"),
        ("lineage upstream", "Where does fct_orders come from?"),
        ("lineage upstream", "What does fct_orders depend on?"),
        ("lineage upstream", "What is fct_orders built from?"),
        ("lineage upstream", "Trace fct_orders back to its sources"),
        ("lineage upstream", "upstream of fct_orders"),
        ("lineage upstream", "What goes into fct_orders?"),
        ("lineage upstream", "From which tables is the data in fct_orders taken?"),
        ("lineage upstream", "lineage of net revenue"),
        ("lineage downstream", "What depends on stg_orders?"),
        ("lineage downstream", "Which dashboards use net revenue?"),
        ("lineage downstream", "What breaks if stg_orders changes?"),
        ("lineage downstream", "Who consumes fct_orders?"),
        ("lineage downstream", "What is the impact of dropping raw_app.orders?"),
        ("lineage downstream", "What does stg_orders feed?"),
        ("lineage downstream", "What is built on stg_orders?"),
        ("lineage both", "What is upstream and downstream of fct_orders?"),
        ("freshness", "What freshness expectation applies to raw_payments.payment_events?"),
        ("freshness", "How fresh is raw_payments.payment_events?"),
        ("freshness", "How old is the data in payment_events?"),
        ("freshness", "When was payment_events last loaded?"),
        ("freshness", "Is raw_app.orders up to date?"),
        ("freshness", "What's the SLA on payment_events?"),
        ("freshness", "Is the payment_events data stale?"),
        ("freshness", "When should we be warned that payment_events is late? What is its latency?"),
        ("still_right", "According to the 2025 draft, net revenue excludes chargebacks until month-end close, right?"),
        ("still_right", "The old Revenue Wiki says revenue is order total minus refunds. Is that current for 2025-03-31?"),
        ("still_right", "Is net revenue still captured payments minus refunds?"),
        ("still_right", "Can I still use fct_orders v1?"),
        ("still_right", "Is it true that net revenue includes refunds?"),
        ("still_right", "Is the Revenue Wiki outdated?"),
        ("still_right", "Can we trust net revenue v1?"),
        ("owner", "Who owns net revenue?"),
        ("owner", "Who is responsible for fct_orders?"),
        ("owner", "Whom do I ask about net revenue?"),
        ("owner", "Which team maintains fct_orders?"),
        ("owner", "point of contact for refund rate"),
        ("owner", "net revenue owner"),
        ("change", "What changed in net revenue?"),
        ("change", "When did the definition of net revenue change?"),
        ("change", "How does net revenue differ from before?"),
        ("change", "What is the difference between net revenue v1 and v2?"),
        ("change", "history of net revenue"),
        ("change", "Has net revenue been redefined?"),
    ],
)
def test_the_kind_of_a_question_is_known_by_its_cue(kind, text):
    assert understood(text)[0] == kind


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        (NET, "What is net_revenue?"),
        (NET, "what does NET REVENUE mean"),
        (NET, "netRevenue, on 2025-03-31?"),
        (NET, "What is Nettoumsatz?"),
        (NET, "今日の純売上は"),
        (NET, "Is metric.net_revenue right?"),
        (NET, "Is net-revenue fct_orders' only measure?"),
        (FCT, "What is the grain of fct_orders for net revenue?"),
        (FCT, "Which raw sources feed fct_orders for the metric net revenue?"),
        (NET, "Which sources feed net revenue version 2 through fct_orders?"),
        (NET, "Who owns net revenue in fct_orders?"),
        (NET, "Does net revenue subtract refunds?"),
        (NET, "The old Revenue Wiki says revenue is order total minus refunds. Is that current?"),
        (NET, "Is net revenue on the revenue dashboard still right?"),
        (ORDERS, "What is the definition of orders?"),
        (ORDERS, "Explain the unpaid orders source"),
        (STG, "What is stg_orders?"),
        (FCT, "Does stg_orders feed fct_orders?"),
        (EVENTS, "How fresh is payment events?"),
        ("lineage.shop.fct_orders", "Show lineage.fct_orders"),
        # a title that is a name with plain words around it does not take the name
        (NET, "What is the definition of net revenue?"),
        # a word of the question that is an entity's name, too
        (RATE, "Which model has refund rate?"),
        (RATE, "Who is the contact for refund rate?"),
        ("source.shop.crm.contact", "What is contact?"),
    ],
)
def test_the_subject_is_the_longest_name_and_by_kind_what_is_built(subject, text):
    choice = understood(text)[1]
    assert choice.subject and choice.subject.entity_id == subject


@pytest.mark.parametrize(
    "text",
    [
        "What is recognized revenue?",
        "What is revenue?",
        "What is fct_orders_daily?",
        "What is pre_fct_orders?",
        "What is other_app.orders?",
        "What is RecognizedNetRevenue?",
        "What is net?",
        "What are the unpaid orders?",
        "What is the definition of gross refunds?",
        "What are the orders of Acme?",
        "Which model has gross margin?",
        "",
        "?!",
    ],
)
def test_a_name_that_is_only_partly_there_is_never_accepted(text):
    assert understood(text)[1] == Choice(None)


def test_equal_spans_of_entities_that_have_nothing_to_do_with_each_other_are_left_open():
    assert understood("What is customers?")[1].rivals == (CUSTOMERS, OTHER)
    assert understood("Does refund rate include stg orders customers?")[1].subject.entity_id == RATE
    assert set(understood("Is revenue dashboard like payment events or refund rate of customers?")[1].rivals) >= {DASHBOARD, RATE}


@pytest.mark.parametrize(
    ("versions", "text"),
    [
        (("2",), "What is the grain of fct_orders version 2?"),
        (("2",), "grain of fct_orders v2"),
        (("2",), "grain of fct_orders (v2)"),
        (("2",), "grain of version 2 of the model fct_orders"),
        (("2",), "grain of the 2nd version of fct_orders"),
        (("2",), "grain of fct_orders_v2"),
        (("3",), "grain of fct_orders.v3"),
        (("2",), "Which raw sources feed fct_orders version 2 for net revenue?"),
        ((), "grain of fct_orders in 2025"),
        ((), "For fct_orders, which dbt model version supports it?"),
        ((), "grain of fct_orders with dbt version 2"),
        (("1", "2"), "what changed in fct_orders between v1 and v2?"),
        (("2024-02",), "grain of fct_orders version 2024-02"),
    ],
)
def test_a_version_belongs_to_the_span_beside_it(versions, text):
    choice = understood(text)[1]
    assert choice.subject and choice.subject.entity_id == FCT and choice.subject.versions == versions


def test_what_tells_nothing_of_the_subject_is_no_term_of_a_suggestion():
    assert telling_words(
        read_question("For reporting date 2025-03-31, what is the recognized revenue definition (version 2)?")
    ) == ["recognized", "revenue"]
    assert telling_words(read_question("What is the definition of the metric?")) == []


@given(st.text())
def test_any_text_is_split_as_the_index_splits_it(text):
    question = read_question(text)
    assert list(question.words) == words(text)
    assert all(run.first <= number < run.end for number, run in enumerate(question.runs))


@pytest.fixture(scope="module")
def example(net_revenue):
    with open_warehouse(net_revenue / "net_revenue.duckdb") as warehouse:
        yield warehouse


def asked(warehouse, text, principal="analyst", **given_):
    return ask(text, warehouse=warehouse, principal=principal, **given_).to_dict()


@pytest.mark.parametrize(
    "text", ["", " \n\t", "?", "\0", "a" * 100_000, "net " * 25_000, "2025-03-31 " * 9_000, "' or 1=1; --", "{{ 1 }} ${x} %s"]
)
def test_a_question_that_names_nothing_is_not_found(example, text):
    envelope = asked(example, text)
    assert (envelope["outcome"], envelope["missing"], envelope["suggestions"]) in [
        ("not_found_or_not_authorized", None, []),
        ("clarify", "entity", envelope["suggestions"]),
    ]


def test_hidden_and_absent_give_the_same_bytes(example):
    hidden = asked(example, "What is the board revenue definition?", as_of="2025-03-31")
    absent = asked(example, "What is the lunar revenue definition?", as_of="2025-03-31")
    assert hidden | {"question": None} == absent | {"question": None}
    assert (hidden["outcome"], hidden["reason"]) == ("not_found_or_not_authorized", "nothing_visible")
    assert "board_revenue" not in str(hidden)


def test_a_stranger_and_nobody_see_nothing(example):
    for principal in ("stranger", "nobody", None):
        assert asked(example, "What is net revenue on 2025-03-31?", principal)["outcome"] == "not_found_or_not_authorized"


@pytest.mark.parametrize(
    ("text", "as_of", "outcome", "missing", "reporting_date"),
    [
        ("What is net revenue on 31 March 2025?", None, "resolved", None, "2025-03-31"),
        ("What is net revenue on 31 March 2025?", date(2024, 6, 30), "resolved", None, "2024-06-30"),
        ("What is net revenue?", "31 March 2025", "resolved", None, "2025-03-31"),
        ("What is net revenue?", "2025-02-30", "clarify", "as_of", None),
        ("What is net revenue in Q1 2025?", None, "resolved", None, "2025-01-01/2025-03-31"),
        ("What is net revenue in December 2024?", None, "resolved", None, "2024-12-01/2024-12-31"),
        ("What is net revenue on 31 April 2025?", None, "clarify", "as_of", None),
        ("What is net revenue on 2024-06-30 and 2025-03-31?", None, "clarify", "as_of", None),
        ("What is net revenue on 2024-06-30 and 2025-03-31?", date(2025, 3, 31), "resolved", None, "2025-03-31"),
        ("What is net revenue today?", None, "clarify", "as_of", None),
        ("What is net revenue in 2025?", None, "clarify", "as_of", None),
        ("What is net revenue version 1?", None, "resolved", None, None),
        ("What is net revenue v9?", None, "not_found_or_not_authorized", None, None),
        ("What is net revenue on 2020-01-01?", None, "not_found_or_not_authorized", None, "2020-01-01"),
    ],
)
def test_the_date_is_the_flag_or_what_the_text_says_once(example, text, as_of, outcome, missing, reporting_date):
    envelope = asked(example, text, as_of=as_of)
    assert (envelope["outcome"], envelope["missing"], envelope["reporting_date"]) == (outcome, missing, reporting_date)


def test_what_says_otherwise_stands_beside_what_governs(example):
    envelope = asked(example, "How is net revenue calculated on 2025-03-31?")
    assert envelope["formula"] == "SUM(captured_payment_usd) - SUM(refund_amount_usd) - SUM(chargeback_amount_usd)"
    assert {conflict["status"] for conflict in envelope["conflicts"]} == {"draft", "superseded"}
    assert [conflict["evidence_id"] for conflict in envelope["conflicts"]] == [
        evidence["evidence_id"] for evidence in envelope["evidence"] if evidence["role"] == "conflicting"
    ]


def test_an_owner_is_named(example):
    assert asked(example, "Who owns net revenue?", as_of="2025-03-31")["owner"] == "finance-analytics"
    envelope = asked(example, "Who is responsible for fct_orders v2?")
    assert envelope["owner"] is None and "no owner is declared" in envelope["evidence"][0]["limitations"]


def test_what_changed_shows_both_definitions(example):
    envelope = asked(example, "What changed in net revenue?", as_of="2025-03-31")
    texts = {evidence["version"]: evidence["role"] for evidence in envelope["evidence"]}
    assert texts["2"] == "governing" and texts["1"] == "supporting"


def test_a_policy_is_not_an_observation(example):
    envelope = asked(example, "How fresh is raw_payments.payment_events?", as_of="2025-03-31")
    assert "warn after 2 hours, error after 6 hours" in envelope["freshness"]["policy"]
    assert envelope["freshness"]["observation"] is None
    assert envelope["freshness"]["verified"] is envelope["current_data_freshness_verified"] is False


def test_freshness_of_what_stands_on_several_sources_asks_which(example):
    envelope = asked(example, "How fresh is net revenue?", as_of="2025-03-31")
    assert (envelope["outcome"], envelope["missing"]) == ("clarify", "entity")
    assert envelope["suggestions"] == ["source.net_revenue.raw_app.orders", "source.net_revenue.raw_payments.payment_events"]


def test_lineage_downstream_hides_behind_one_mark(example):
    edges = asked(example, "What depends on fct_orders v2?")["lineage"]
    assert {"redacted": True} in edges
    assert any(edge.get("downstream_id") == "exposure.net_revenue.revenue_dashboard" for edge in edges)
    assert "board_revenue" not in str(edges)
    of_finance = asked(example, "What depends on fct_orders v2?", "finance")["lineage"]
    assert "board_revenue_bridge" in str(of_finance) and {"redacted": True} not in of_finance


def test_a_row_that_holds_most_of_the_terms_is_suggested(example):
    envelope = asked(example, "What is revenue?")
    assert (envelope["outcome"], envelope["missing"]) == ("clarify", "entity")
    assert "metric.net_revenue.net_revenue" in envelope["suggestions"]
    assert asked(example, "What is recognized revenue?")["suggestions"] == []


def test_lineage_of_what_has_no_statement_of_it_is_answered_by_its_edges(example):
    envelope = asked(example, "What does the revenue dashboard depend on?")
    assert envelope["entity_id"] == "exposure.net_revenue.revenue_dashboard"
    assert {"metric.net_revenue.net_revenue", "model.net_revenue.fct_orders"} <= {
        edge["upstream_id"] for edge in envelope["lineage"]
    }
    assert asked(example, "What feeds raw_app.orders?")["outcome"] == "not_found_or_not_authorized"


def of(made) -> DuckDBWarehouse:
    """A warehouse that a test filled, as questions see one."""
    return DuckDBWarehouse(connection=made.con, surface=surfaces_in_catalog(made.con)[0])


def test_who_is_in_several_tenants_says_in_which(warehouse):
    warehouse.policy("rules_principals", ("both", "east", "analyst", None), ("both", "west", "analyst", None))
    warehouse.metric("margin", tenant="east").build()
    for text in ("What is margin?", "What is EBITDA?"):
        envelope = asked(of(warehouse), text, "both")
        assert (envelope["outcome"], envelope["reason"], envelope["missing"]) == ("clarify", "missing_tenant", "tenant")
    assert asked(of(warehouse), "What is margin?", "both", tenant="west")["outcome"] == "not_found_or_not_authorized"


def test_statements_of_equal_rank_that_differ_are_a_conflict_with_both_sides(warehouse):
    for name, formula in (("margin_a", "a - b"), ("margin_b", "a - c")):
        warehouse.metric(name, entity="margin", status="approved", formula=formula, version=name[-1], valid_from="2025-01-01")
    envelope = asked(of(warehouse.build()), "What is margin on 2025-03-31?")
    assert (envelope["outcome"], envelope["missing"], envelope["formula"]) == ("conflict", "decision", None)
    assert [conflict["role"] for conflict in envelope["conflicts"]] == ["conflicting", "conflicting"]
    assert {evidence["version"] for evidence in envelope["evidence"]} == {"a", "b"}


def test_only_a_draft_is_no_answer(warehouse):
    warehouse.metric("margin", status="draft").build()
    envelope = asked(of(warehouse), "What is margin on 2025-03-31?")
    assert (envelope["outcome"], envelope["reason"], envelope["missing"]) == (
        "clarify",
        "only_non_governing",
        "governing_definition",
    )


HIDDEN = [
    ("gross_margin", {}),
    ("margin_of_safety", {"synonyms": ["margin", "the margin"]}),
    ("operating_margin", {"entity": "margin", "status": "authoritative", "valid_from": "2025-01-01"}),
    ("ebitda", {"synonyms": ["earnings"]}),
]


def test_with_the_hidden_rows_removed_every_envelope_has_the_same_bytes(package_models):
    questions = [
        "What is margin on 2025-03-31?",
        "What is gross_margin?",
        "What is the gross margin?",
        "What is the margin of safety?",
        "What is margin v9?",
        "Who owns operating margin?",
        "What are earnings?",
        "What is EBITDA?",
        "What depends on margin?",
        "What is the ratio of gross margin to sales?",
    ]
    envelopes = []
    for hidden in (HIDDEN, []):
        made = Warehouse(package_models)
        made.policy("rules_principals", ("analyst", None, "analyst", None))
        made.policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))
        made.metric("margin", "Sales less cost of sales.", status="approved", formula="sales - cost", owner="finance")
        made.metric("sales", "What was sold, in total.", status="approved", formula="amount")
        for name, meta in hidden:
            made.metric(name, "Secret.", allow=["finance"], formula="secret", **meta)
        envelopes.append([asked(of(made.build()), text) for text in questions])
    assert envelopes[0] == envelopes[1]
    assert "ecret" not in str(envelopes)
