"""The decision table of resolve, row by row: the case, what is asked, what is answered."""

import datetime as dt

import pytest

D = dt.date.fromisoformat
V1 = {"entity": "net_revenue", "version": "1", "status": "authoritative", "valid_from": "2024-01-01", "valid_to": "2025-01-01", "formula": "gross - refunds"}
V2 = {"entity": "net_revenue", "version": "2", "status": "authoritative", "valid_from": "2025-01-01", "supersedes": "1", "formula": "gross - refunds - credits"}


def page(name, *, at=None, body="A page.", **front):
    return lambda w: w.state(
        f"page.shop.docs/{name}.md", {"resource_type": "page", "name": name, "title": name, "body": body, "front_matter": front}, at=at, path=f"docs/{name}.md"
    )


def metric(name, text="", **meta):
    return lambda w: w.metric(name, text, **meta)


def model(name, version=None, *, latest=None, at=None, description="", deprecation=None, depends_on=(), **meta):
    document = {"name": name, "description": description or f"{name} {version or ''}", "depends_on": list(depends_on)}
    document |= {"version": version, "latest_version": latest} if version else {}
    document |= {"deprecation_date": deprecation} if deprecation else {}
    document |= {"meta": {f"provenance_{key}": value for key, value in meta.items()}} if meta else {}
    return lambda w: w.state(f"model.shop.{name}" + (f".v{version}" if version else ""), document, at=at)


def semantic_model(name, *, of):
    return lambda w: w.state(f"semantic_model.shop.{name}", {"name": name, "description": name, "depends_on": [of]})


def principal(*row):
    return lambda w: w.policy("rules_principals", row)


def rule(*row):
    return lambda w: w.policy("rules_policies", row)


TWO = [metric("net_revenue_v1", **V1), metric("net_revenue_v2", **V2)]
DRAFT = page("proposal", entity="metric.net_revenue", status="draft", version="draft-1", valid_from="2025-02-01")
WIKI = page("wiki", entity="doc.wiki", about="net_revenue", status="superseded", valid_from="2024-01-01", valid_to="2025-01-01")
OTHER_V2 = metric("net_revenue_other", **(V2 | {"formula": "gross", "version": "2b", "supersedes": "1"}))
SAME_V2 = metric("net_revenue_same", **(V2 | {"version": "2b"}))
HIDDEN = {"allow": ["finance"]}

# name, setup, entity and arguments, expected columns (only those named are compared)
CASES = [
    ("0 no principal", TWO, dict(entity="net_revenue", principal=None), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("0 unknown principal", TWO, dict(entity="net_revenue", principal="nobody"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("0 principal in no group", TWO, dict(entity="net_revenue", principal="stranger"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("0 a tenant that is not the asker's", TWO, dict(entity="net_revenue", tenant="elsewhere"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("1 several tenants and none given", [*TWO, principal("analyst", "second", "analyst", None)], dict(entity="net_revenue", as_of="2025-03-31"), dict(outcome="clarify", reason="missing_tenant", missing="tenant")),
    ("1 several tenants and one given", [*TWO, principal("analyst", "second", "analyst", None)], dict(entity="net_revenue", as_of="2025-03-31", tenant="default"), dict(outcome="resolved", version="2")),
    ("2 blank entity", TWO, dict(entity=" "), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("2 null entity", TWO, dict(entity=None), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("2 none answers", TWO, dict(entity="recognized_revenue"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("2 only a hidden one answers", [metric("secret", **HIDDEN)], dict(entity="secret"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("3 several entities of one name", [metric("total"), model("total")], dict(entity="total"), dict(outcome="clarify", reason="missing_entity", missing="entity", entity_id=None)),
    ("3 hiding leaves one", [metric("total"), model("total", **HIDDEN)], dict(entity="total"), dict(outcome="resolved", entity_id="metric.shop.total")),
    ("3 an id beats a name", [metric("total"), model("total")], dict(entity="model.shop.total"), dict(outcome="resolved", entity_id="model.shop.total")),
    ("3 type.name beats a name", [metric("total"), model("total")], dict(entity="model.total"), dict(outcome="resolved", entity_id="model.shop.total")),
    ("3 a name beats a synonym", [metric("total"), metric("sum", synonyms=["total"])], dict(entity="total"), dict(outcome="resolved", entity_id="metric.shop.total")),
    ("3 a synonym answers", [metric("total", synonyms=["Gesamt"])], dict(entity="gesamt"), dict(outcome="resolved", entity_id="metric.shop.total")),
    ("3 a draft gives no synonym", [page("idea", entity="metric.idea", status="draft", synonyms=["Gesamt"])], dict(entity="gesamt"), dict(outcome="not_found_or_not_authorized")),
    ("3 built one on another count as one", [model("orders"), semantic_model("orders", of="model.shop.orders")], dict(entity="orders"), dict(outcome="resolved", entity_id="semantic_model.shop.orders")),
    ("4 version not there", TWO, dict(entity="net_revenue", version="7"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("4 hidden version", [metric("net_revenue_v1", **V1), metric("net_revenue_v2", **(V2 | HIDDEN))], dict(entity="net_revenue", version="2"), dict(outcome="not_found_or_not_authorized", reason="nothing_visible")),
    ("5 version given, a draft", [*TWO, DRAFT], dict(entity="net_revenue", version="draft-1"), dict(outcome="clarify", reason="only_non_governing", missing=None)),
    ("6 version given, no date", TWO, dict(entity="net_revenue", version="1"), dict(outcome="resolved", reason="version_pinned", version="1")),
    ("6 version given, date inside", TWO, dict(entity="net_revenue", version="v1", as_of="2024-06-30"), dict(outcome="resolved", reason="version_pinned", version="1")),
    ("6 version in the name", TWO, dict(entity="net_revenue_v2"), dict(outcome="resolved", reason="version_pinned", version="2")),
    ("6 prerelease asked for", [model("orders", "1", latest="1"), model("orders", "2", latest="1")], dict(entity="orders", version="2"), dict(outcome="resolved", reason="version_pinned", version="2")),
    ("7 version given, date outside", TWO, dict(entity="net_revenue", version="1", as_of="2025-06-30"), dict(outcome="not_found_or_not_authorized", reason="no_version_on_date")),
    ("8 drafts only", [page("idea", entity="metric.idea", status="draft")], dict(entity="metric.idea"), dict(outcome="clarify", reason="only_non_governing", missing="governing_definition")),
    ("8 a page without status", [page("idea", entity="metric.idea")], dict(entity="metric.idea"), dict(outcome="clarify", reason="only_non_governing")),
    ("8a a period inside one version", TWO, dict(entity="net_revenue", as_of="2025-01-01", as_of_end="2025-03-31"), dict(outcome="resolved", reason="governs", version="2")),
    ("8a a period over a change", TWO, dict(entity="net_revenue", as_of="2024-10-01", as_of_end="2025-03-31"), dict(outcome="clarify", reason="missing_as_of", missing="as_of")),
    ("8a the last day is inclusive", TWO, dict(entity="net_revenue", as_of="2024-12-01", as_of_end="2025-01-01"), dict(outcome="clarify", missing="as_of")),
    ("8a a period that begins before all", TWO, dict(entity="net_revenue", as_of="2023-12-01", as_of_end="2024-01-31"), dict(outcome="clarify", missing="as_of")),
    ("8a a period that ends before it begins", TWO, dict(entity="net_revenue", as_of="2025-03-31", as_of_end="2025-01-01"), dict(outcome="clarify", missing="as_of")),
    ("9 only one version", [metric("net_revenue_v2", **V2)], dict(entity="net_revenue"), dict(outcome="resolved", reason="only_version", valid_from=D("2025-01-01"))),
    ("10 several and no date", TWO, dict(entity="net_revenue"), dict(outcome="clarify", reason="missing_as_of", missing="as_of", evidence_id=None)),
    ("10 an impossible date", TWO, dict(entity="net_revenue", as_of="2025-02-30"), dict(outcome="clarify", reason="missing_as_of", missing="as_of")),
    ("11 before all", TWO, dict(entity="net_revenue", as_of="2023-12-31"), dict(outcome="not_found_or_not_authorized", reason="no_version_on_date", entity_id=None)),
    ("11 in a gap", [metric("a_v1", **(V1 | {"valid_to": "2024-06-01"})), metric("a_v2", **(V2 | {"supersedes": "9"}))], dict(entity="net_revenue", as_of="2024-08-01"), dict(outcome="not_found_or_not_authorized", reason="no_version_on_date")),
    ("11 after all", [metric("a", **V1)], dict(entity="net_revenue", as_of="2025-01-01"), dict(outcome="not_found_or_not_authorized", reason="no_version_on_date")),
    ("12 the last day of the old", TWO, dict(entity="net_revenue", as_of="2024-12-31"), dict(outcome="resolved", reason="governs", version="1")),
    ("12 the first day of the new", TWO, dict(entity="net_revenue", as_of="2025-01-01"), dict(outcome="resolved", reason="governs", version="2")),
    ("12 authoritative over approved", [metric("a", entity="x", version="a", status="authoritative"), metric("b", entity="x", version="b", status="approved", formula="b")], dict(entity="x", as_of="2025-01-01"), dict(outcome="resolved", version="a")),
    ("12 a metric over a page of its rank", [metric("x", status="approved", version="m"), page("p", entity="metric.x", status="approved", version="p")], dict(entity="metric.x", as_of="2025-01-01"), dict(outcome="resolved", version="m")),
    ("12 an archived version inside its interval", [metric("a", **(V1 | {"status": "archived"}))], dict(entity="net_revenue", as_of="2024-06-30"), dict(outcome="resolved", status="archived")),
    ("8 archived without an interval", [metric("x", status="archived")], dict(entity="x", as_of="2024-06-30"), dict(outcome="clarify", reason="only_non_governing")),
    ("13 two of best rank that agree", [*TWO, SAME_V2], dict(entity="net_revenue", as_of="2025-03-31"), dict(outcome="resolved", reason="duplicate_equal")),
    ("14 two of best rank that differ", [*TWO, OTHER_V2], dict(entity="net_revenue", as_of="2025-03-31"), dict(outcome="conflict", missing="decision", evidence_id=None, definition_text=None, formula=None)),
    ("a draft closes nothing", [metric("a", **(V2 | {"version": "1", "supersedes": None})), metric("b", **(V2 | {"status": "draft", "version": "2", "valid_from": "2025-02-01"}))], dict(entity="net_revenue", as_of="2025-03-31"), dict(outcome="resolved", version="1", conflict_count=1)),
    ("a draft is counted", [*TWO, DRAFT], dict(entity="net_revenue", as_of="2025-03-31"), dict(outcome="resolved", version="2", conflict_count=1)),
    ("a superseded page is counted while it held", [*TWO, WIKI], dict(entity="net_revenue", as_of="2024-06-30"), dict(version="1", conflict_count=1)),
    ("a superseded page is not counted later", [*TWO, WIKI], dict(entity="net_revenue", as_of="2025-03-31"), dict(version="2", conflict_count=0)),
    ("superseded by and scheduled from", TWO, dict(entity="net_revenue", as_of="2024-06-30"), dict(superseded_by="default/shop/metric.shop.net_revenue_v2/2/definition", scheduled_from=D("2025-01-01"))),
    ("a hidden successor is no pointer", [metric("net_revenue_v1", **(V1 | {"valid_to": None})), metric("net_revenue_v2", **(V2 | HIDDEN))], dict(entity="net_revenue", as_of="2025-06-30"), dict(outcome="resolved", version="1", superseded_by=None, scheduled_from=None, valid_to=None)),
    ("9999-12-31 and null mean open", [metric("a", **(V2 | {"valid_to": "9999-12-31"}))], dict(entity="net_revenue", as_of="2500-01-01"), dict(outcome="resolved", valid_to=None)),
    ("a timestamp start is floored, an end is ceiled", [metric("a", **(V2 | {"valid_from": "2025-01-01T08:00:00", "valid_to": "2025-02-01T00:00:03"}))], dict(entity="net_revenue", as_of="2025-02-01"), dict(outcome="resolved", valid_from=D("2025-01-01"), valid_to=D("2025-02-02"))),
    ("an inverted interval never holds", [metric("a", **(V2 | {"valid_to": "2024-01-01"}))], dict(entity="net_revenue", as_of="2025-02-01"), dict(outcome="not_found_or_not_authorized", reason="no_version_on_date")),
    ("deprecated is decided on the date asked for: before", [model("orders", "1", latest="1", deprecation="2025-06-01")], dict(entity="orders", as_of="2025-01-01"), dict(outcome="resolved", status="unspecified")),
    ("deprecated is decided on the date asked for: after", [model("orders", "1", latest="1", deprecation="2025-06-01")], dict(entity="orders", as_of="2025-07-01"), dict(outcome="resolved", status="deprecated")),
    ("a page may not claim authority", [page("policy", entity="policy.rule", status="authoritative")], dict(entity="policy.rule", as_of="2025-07-01"), dict(outcome="resolved", status="approved")),
]


@pytest.mark.parametrize("setup, asked, expected", [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_resolve_decides_by_the_first_row_that_applies(warehouse, setup, asked, expected):
    for step in setup:
        step(warehouse)
    warehouse.build()
    entity, arguments = asked["entity"], {"principal": "analyst"} | {key: value for key, value in asked.items() if key != "entity"}
    (row,) = warehouse.call("resolve", entity, **arguments)
    assert {key: row[key] for key in expected} == expected
    if row["outcome"] == "not_found_or_not_authorized":
        assert {key for key, value in row.items() if value is not None} == {"outcome", "reason"}


def test_hidden_and_absent_give_equal_rows(warehouse):
    metric("secret", **HIDDEN)(warehouse)
    warehouse.build()
    for function in ("resolve", "resolve_candidates", "search", "trace_lineage", "impact"):
        assert warehouse.call(function, "secret", principal="analyst") == warehouse.call(function, "absent", principal="analyst")


def test_the_view_of_conflicts_names_each_pair_once_with_what_decides(warehouse):
    warehouse.metric("total", "Total.", formula="gross", status="approved")
    warehouse.metric("total_new", "Total.", entity="total", version="9", formula="net", status="draft")
    warehouse.metric("total_too", "Total.", entity="total", version="2", formula="gross - fees", status="approved", valid_from="2025-01-01")
    warehouse.metric("total_once", "Total.", entity="total", version="0", formula="old", status="approved", valid_from="2020-01-01", valid_to="2021-01-01")
    warehouse.metric("sum_of_gross", "Another name.", formula="gross")
    warehouse.metric("hidden", "Another name.", formula="gross", allow=["finance"])
    warehouse.build()
    pairs = sorted((row["conflict_kind"], row["evidence_id"].split("/")[2], row["other_evidence_id"].split("/")[2], row["decided_by"][:7]) for row in warehouse.view("conflicts", principal="analyst"))
    expected = [
        ("draft", "metric.shop.total", "metric.shop.total_new", "status:"),
        ("draft", "metric.shop.total_once", "metric.shop.total_new", "status:"),
        ("draft", "metric.shop.total_too", "metric.shop.total_new", "status:"),
        ("duplicate", "metric.shop.sum_of_gross", "metric.shop.total", "nothing"),
        ("governing", "metric.shop.total", "metric.shop.total_once", "nothing"),
        ("governing", "metric.shop.total", "metric.shop.total_too", "nothing"),
    ]
    assert pairs == expected
