"""Governance keys written wrongly on real resources: the build stays green, the finding says what to write, the stricter reading holds."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest
from conftest import dbt, shared_build

VISIBLE = ("resolved", "only_version")
NOTHING = ("not_found_or_not_authorized", "nothing_visible")
NO_DATE = ("not_found_or_not_authorized", "no_version_on_date")
DRAFT = ("clarify", "only_non_governing")

# model name: its meta, the finding and the field that it names, a part of the advice, what an allowed principal is answered
CASES: dict[str, tuple[dict[str, Any], str, str, str, tuple[str, str]]] = {
    "allow_number": ({"provenance_allow": 7}, "malformed policy", "provenance_allow", "name of a group", NOTHING),
    "allow_mapping": ({"provenance_allow": {"analyst": True}}, "malformed policy", "provenance_allow", "name of a group", NOTHING),
    "allow_mixed_list": ({"provenance_allow": ["analyst", 1]}, "malformed policy", "provenance_allow", "list of names", NOTHING),
    "allow_empty_name": ({"provenance_allow": [""]}, "allows nobody", "provenance_allow", "list of names", NOTHING),
    "allow_null": ({"provenance_allow": None}, "malformed policy", "provenance_allow", "name of a group", NOTHING),
    "group_of_nobody": ({"provenance_allow": ["analyst", "finance, analysts"]}, "group of nobody", "provenance_allow", "as a list", VISIBLE),
    "supersedes_nothing": ({"provenance_supersedes": "99"}, "supersedes nothing", "provenance_supersedes", "version of the same entity", VISIBLE),
    "deny_boolean": ({"provenance_deny": True}, "malformed policy", "provenance_deny", "name of a group", NOTHING),
    "deny_null_in_list": ({"provenance_deny": ["x", {"y": 1}]}, "malformed policy", "provenance_deny", "list of names", NOTHING),
    "tenant_list": ({"provenance_tenant": ["a", "b"]}, "malformed policy", "provenance_tenant", "name", NOTHING),
    "alow": ({"provenance_alow": ["finance"]}, "malformed policy", "provenance_alow", "name of a group", NOTHING),
    "deni": ({"provenance_deni": ["analyst"]}, "malformed policy", "provenance_deni", "name of a group", NOTHING),
    "tennant": ({"provenance_tennant": "a"}, "malformed policy", "provenance_tennant", "name of a group", NOTHING),
    "unknown_key": ({"provenance_colour": "red"}, "unknown key", "provenance_colour", "provenance_allow", VISIBLE),
    "misspelt_status": ({"provenance_satus": "draft"}, "unknown key", "provenance_satus", "provenance_status", VISIBLE),
    "two_tenants": ({"provenance_tenant": "elsewhere"}, "two tenants", "provenance_tenant", "one tenant", NOTHING),
    "unknown_status": ({"provenance_status": "blessed"}, "unknown status", "provenance_status", "authoritative, approved", DRAFT),
    "status_number": ({"provenance_status": 1}, "unknown status", "provenance_status", "authoritative, approved", DRAFT),
    "status_list": ({"provenance_status": ["approved"]}, "wrong type", "provenance_status", "one text", DRAFT),
    "version_list": ({"provenance_version": [1]}, "wrong type", "provenance_version", "one text", VISIBLE),
    "entity_mapping": ({"provenance_entity": {"a": "b"}}, "wrong type", "provenance_entity", "one text", VISIBLE),
    "grain_list": ({"provenance_grain": ["day"]}, "wrong type", "provenance_grain", "one text", VISIBLE),
    "unit_mapping": ({"provenance_unit": {"a": 1}}, "wrong type", "provenance_unit", "one text", VISIBLE),
    "owner_mapping": ({"provenance_owner": {"name": "x"}}, "wrong type", "provenance_owner", "one text", VISIBLE),
    "supersedes_list": ({"provenance_supersedes": ["1"]}, "wrong type", "provenance_supersedes", "one text", VISIBLE),
    "about_list": ({"provenance_about": ["a", "b"]}, "wrong type", "provenance_about", "one text", VISIBLE),
    "classification_list": ({"provenance_classification": ["a"]}, "wrong type", "provenance_classification", "one text", VISIBLE),
    "synonyms_number": ({"provenance_synonyms": 5}, "wrong type", "provenance_synonyms", "list of texts", VISIBLE),
    "synonyms_mapping": ({"provenance_synonyms": {"a": "b"}}, "wrong type", "provenance_synonyms", "list of texts", VISIBLE),
    "inverted": ({"provenance_valid_from": "2025-02-01", "provenance_valid_to": "2025-01-01"}, "inverted interval", "provenance_valid_to", "after it begins", NO_DATE),
    "empty_interval": ({"provenance_valid_from": "2025-02-01", "provenance_valid_to": "2025-02-01"}, "inverted interval", "provenance_valid_to", "after it begins", NO_DATE),
    "no_such_day": ({"provenance_valid_from": "2025-02-30"}, "unreadable date", "provenance_valid_from", "YYYY-MM-DD", DRAFT),
    "other_order": ({"provenance_valid_to": "31/12/2030"}, "unreadable date", "provenance_valid_to", "YYYY-MM-DD", DRAFT),
    "date_list": ({"provenance_valid_from": ["2025-01-01"]}, "wrong type", "provenance_valid_from", "one text", DRAFT),
    "date_number": ({"provenance_valid_from": 20250101}, "unreadable date", "provenance_valid_from", "YYYY-MM-DD", DRAFT),
}
# the same, where no rule of the project allows: models of a second folder that no policy reaches
CLOSED: dict[str, tuple[dict[str, Any], str, str, str, tuple[str, str]]] = {
    "deny_alone": ({"provenance_deny": ["finance"]}, "deny without allow", "provenance_allow", "name in provenance_allow", NOTHING),
    "allow_nobody": ({"provenance_allow": []}, "allows nobody", "provenance_allow", "name of a group", NOTHING),
}

PROJECT = """
name: findings
version: 1.0.0
profile: findings
models: {findings: {+materialized: view}}
vars:
  provenance_principals:
    - {principal: analyst, group_name: analyst}
    - {principal: steward, group_name: steward, principal_role: service}
  provenance_policies:
    - {policy_name: open, applies_to: path, pattern: models/open/*, tenant: default, allow: [analyst]}
"""
SEMANTIC = """
models:
  - name: time_spine
    time_spine: {standard_granularity_column: date_day}
    columns: [{name: date_day, granularity: day}]
semantic_models:
  - name: events
    model: ref('unknown_key')
    defaults: {agg_time_dimension: on_day}
    entities: [{name: event, type: primary, expr: id}]
    dimensions: [{name: on_day, type: time, expr: day, type_params: {time_granularity: day}}]
    measures: [{name: amount, agg: sum, expr: id}]
metrics:
  - {name: unowned, label: Unowned, type: simple, type_params: {measure: amount}}
  - {name: earlier, label: Earlier, type: simple, type_params: {measure: amount}, filter: "{{ Dimension('event__on_day') }} > '2024-01-01'", config: {meta: {provenance_entity: dated, provenance_owner: me, provenance_version: "1", provenance_valid_from: "2024-01-01", provenance_valid_to: "2024-12-31"}}}
  - {name: later, label: Later, type: simple, type_params: {measure: amount}, config: {meta: {provenance_entity: dated, provenance_owner: me, provenance_version: "2", provenance_valid_from: "2025-01-01"}}}
"""


def write_project(folder) -> None:
    project = folder / "findings"
    for name, cases in (("open", CASES), ("closed", CLOSED)):
        (project / "models" / name).mkdir(parents=True)
        for model in cases:
            (project / "models" / name / f"{model}.sql").write_text("select 1 as id, date '2025-01-01' as day\n")
        described = [{"name": model, "description": f"About {model}.", "config": {"meta": case[0]}} for model, case in cases.items()]
        (project / "models" / name / "models.yml").write_text(json.dumps({"models": described}))
    (project / "models/open/semantic.yml").write_text(SEMANTIC)
    (project / "models/open/time_spine.sql").write_text("select date '2025-01-01' as date_day\n")
    (project / "dbt_project.yml").write_text(PROJECT)
    (project / "profiles.yml").write_text("findings: {target: dev, outputs: {dev: {type: duckdb, path: findings.duckdb, threads: 2}}}\n")


@pytest.fixture(scope="module")
def con(tmp_path_factory, worker):
    def make(folder) -> None:
        write_project(folder)
        from conftest import ROOT

        project = folder / "findings"
        (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
        dbt(project, "deps")
        dbt(project, "build")

    project = shared_build(tmp_path_factory, worker, "findings_build", make) / "findings"
    with duckdb.connect(str(project / "findings.duckdb"), read_only=True) as opened:
        yield opened


def found(con, unique_id: str) -> set[tuple[str, str, str]]:
    con.execute("set variable provenance_principal = 'steward'")
    return set(con.execute("select finding_rule, field_name, advice from main_provenance.findings where unique_id = ?", [unique_id]).fetchall())


def answered(con, entity: str, *, as_of: str = "2025-06-30") -> tuple[str, str]:
    dated = con.execute("select outcome, reason from main_provenance.resolve(?, as_of => cast(? as date), principal => 'analyst')", [entity, as_of]).fetchone()
    return dated if dated[0] != "resolved" else con.execute("select outcome, reason from main_provenance.resolve(?, principal => 'analyst')", [entity]).fetchone()


@pytest.mark.parametrize("name", [*CASES, *CLOSED])
def test_a_malformed_key_is_found_and_read_strictly(con, name):
    _, rule, field, advice, outcome = (CASES | CLOSED)[name]
    named = found(con, f"model.findings.{name}")
    assert [one for one in named if one[0] == rule and one[1] == field and advice in one[2]], named
    assert answered(con, f"model.findings.{name}") == outcome


def test_what_is_written_well_is_no_finding(con):
    assert found(con, "model.findings.time_spine") == set()
    assert found(con, "metric.findings.later") == set()


def test_a_metric_without_owner_and_an_inclusive_end_are_found(con):
    assert ("metric without owner", "provenance_owner") in {one[:2] for one in found(con, "metric.findings.unowned")}
    inclusive = [one for one in found(con, "metric.findings.earlier") if one[0] == "inclusive end"]
    assert [(one[1], "2025-01-01" in one[2]) for one in inclusive] == [("provenance_valid_to", True)]


def test_findings_are_for_those_who_may_see_what_they_are_about(con):
    con.execute("set variable provenance_principal = 'analyst'")
    seen = {row[0] for row in con.execute("select unique_id from main_provenance.findings").fetchall()}
    assert "model.findings.unknown_key" in seen and "model.findings.allow_number" not in seen and "model.findings.deny_alone" not in seen
    con.execute("set variable provenance_principal = 'nobody'")
    assert con.execute("select count(*) from main_provenance.findings").fetchone() == (0,)


V1 = {"owner": "me", "status": "approved", "entity": "revenue", "version": "1", "formula": "gross", "valid_from": "2024-01-01", "valid_to": "2025-01-01"}
V2 = V1 | {"version": "2", "formula": "gross - refunds", "valid_from": "2025-01-01", "valid_to": "2026-01-01"}
# what dbt no longer lets through, or what needs a page: the state of the warehouse, the finding and its field
STATES = {
    "meta and config.meta differ": (
        lambda w: w.state("model.shop.torn", {"name": "torn", "meta": {"provenance_status": "draft"}, "meta_top": {"provenance_status": "approved"}}),
        ("two values", "provenance_status", "model.shop.torn"),
    ),
    "a page claims more than it may": (
        lambda w: w.state("page.shop.docs/a.md", {"resource_type": "page", "name": "a", "body": "A page.", "front_matter": {"status": "authoritative"}}, path="docs/a.md"),
        ("capped status", "provenance_status", "page.shop.docs/a.md"),
    ),
    "a page whose front matter cannot be read": (
        lambda w: w.state("page.shop.docs/b.md", {"resource_type": "page", "name": "b", "body": "A page.", "front_matter_error": "line 2"}, path="docs/b.md"),
        ("unreadable front matter", "front matter", "page.shop.docs/b.md"),
    ),
    "two versions overlap": (
        lambda w: w.metric("revenue_1", **V1).metric("revenue_2", **(V2 | {"valid_from": "2024-12-01"})),
        ("overlapping validity", "provenance_valid_to", "metric.shop.revenue_1"),
    ),
    "two versions are open": (
        lambda w: w.metric("revenue_1", **(V1 | {"valid_to": None})).metric("revenue_2", **(V2 | {"valid_to": "9999-12-31"})),
        ("two open rows", "provenance_valid_to", "metric.shop.revenue_1"),
    ),
    "two versions say the same": (
        lambda w: w.metric("revenue_1", **V1).metric("revenue_2", **(V1 | {"version": "2"})),
        ("duplicate", "provenance_version", "metric.shop.revenue_1"),
    ),
    "a rule without a group": (lambda w: w.policy("rules_policies", ("lame", None, "path", "*", "allow", None)), ("malformed rule", "lame", None)),
    "a rule about nothing known": (lambda w: w.policy("rules_policies", ("odd", None, "folder", "*", "deny", "finance")), ("malformed rule", "odd", None)),
}


@pytest.mark.parametrize("name", STATES)
def test_the_state_of_a_warehouse_is_found(warehouse, name):
    state, expected = STATES[name]
    state(warehouse)
    warehouse.build()
    assert expected in {(row["finding_rule"], row["field_name"], row["unique_id"]) for row in warehouse.view("findings", principal="steward")}


def test_well_written_versions_are_no_finding(warehouse):
    warehouse.metric("revenue_1", **V1).metric("revenue_2", **V2).build()
    assert warehouse.view("findings", principal="steward") == []
