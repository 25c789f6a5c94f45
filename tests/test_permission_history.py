"""Who sees what, case by case: of a resource by its layers, and of its history when its policy changed."""

import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

import pytest
from package_sql import Warehouse
from permission_model import Oracle, Resource, State, World
from permission_worlds import DAY, GAP, START, Asking, ids, prefixed, surfaces, write

# named cases: who sees a resource whose policy is ...

CASE_PRINCIPALS = (
    ("in_a", None, "a", None), ("in_b", None, "b", None), ("in_ab", None, "a", None), ("in_ab", None, "b", None), ("in_child", None, "child", None),
    ("in_east_a", "east", "a", None), ("contractor", None, "contractors", "service"), ("contractor", None, "everyone", None), ("in_two", None, "a", None),
    ("in_two", "east", "a", None),
)  # fmt: skip
CASE_GROUPS = ((None, "child", "a"), (None, "a", "ring"), (None, "ring", "child"), ("east", "child", "b"))
CASE_RULES = (
    ("secret folder", None, "path", "models/secret/*", "deny", "b"), ("secret folder", None, "path", "models/secret/*", "allow", "a"),
    ("open folder", None, "path", "models/open/*", "allow", "a"), ("restricted", None, "tag", "restricted", "deny", "contractors"),
    ("restricted", None, "tag", "restricted", "allow", "everyone"), ("team rule", None, "dbt_group", "te*m", "allow", "b"), ("seeds", None, "resource_type", "seed", "allow", "b"),
    ("east folder", "east", "path", "models/east/*", "allow", "a"), ("no group", None, "path", "models/broken/*", "allow", None), ("no group", None, "path", "models/broken/*", "allow", "a"),
    ("no effect", None, "tag", "halfway", "alow", "a"), ("pages", None, "path", "docs/*", "allow", "a"), ("pieces", None, "resource_type", "page_piece", "deny", "b"),
)  # fmt: skip
A = {"in_a", "in_ab", "in_child"}
B = {"in_b", "in_ab"}
LAYER_CASES: dict[str, tuple[dict[str, Any], str, set[str]]] = {
    "nothing_said": ({}, "", set()),
    "allow_list": ({"meta": {"provenance_allow": ["a"]}}, "", A),
    "allow_text": ({"meta": {"provenance_allow": "a"}}, "", A),
    "allow_child": ({"meta": {"provenance_allow": "child"}}, "", A),  # a cycle: child in a in ring in child
    "allow_empty_where_a_rule_allows": ({"meta": {"provenance_allow": []}}, "models/open/x.yml", set()),
    "allow_null_where_a_rule_allows": ({"meta": {"provenance_allow": None}}, "models/open/x.yml", set()),
    "allow_unknown": ({"meta": {"provenance_allow": ["nobody_knows"]}}, "", set()),
    "allow_principal": ({"meta": {"provenance_allow": ["in_a"]}}, "", set()),
    "allow_a_deny_b": ({"meta": {"provenance_allow": ["a", "b"], "provenance_deny": ["b"]}}, "", A - B),
    "allow_child_deny_parent": ({"meta": {"provenance_allow": ["child"], "provenance_deny": ["a"]}}, "", set()),
    "deny_unknown": ({"meta": {"provenance_allow": ["a"], "provenance_deny": ["nobody_knows"]}}, "", A),
    "deny_alone": ({"meta": {"provenance_deny": ["b"]}}, "", set()),
    "deny_in_meta_where_a_rule_allows": ({"meta": {"provenance_deny": ["b"]}}, "models/open/x.yml", A - B),
    "both_places": ({"meta": {"provenance_allow": ["a"]}, "meta_top": {"provenance_allow": ["b"]}}, "", A & B),
    "both_layers": ({"meta": {"provenance_allow": ["b", "a"]}}, "models/secret/x.yml", A - B),
    "allow_number": ({"meta": {"provenance_allow": 5}}, "models/open/x.yml", set()),
    "allow_mapping": ({"meta": {"provenance_allow": {"group": "a"}}}, "models/open/x.yml", set()),
    "allow_mixed": ({"meta": {"provenance_allow": ["a", 5]}}, "models/open/x.yml", set()),
    "allow_blank": ({"meta": {"provenance_allow": ["a", ""]}}, "models/open/x.yml", set()),
    "deny_mapping": ({"meta": {"provenance_deny": {"b": True}}}, "models/open/x.yml", set()),
    "tenant_number": ({"meta": {"provenance_allow": ["a"], "provenance_tenant": 5}}, "", set()),
    "deny_misspelt": ({"meta": {"provenance_allow": ["a"], "provenance_dney": ["b"]}}, "", set()),
    "deny_in_capitals": ({"meta": {"provenance_allow": ["a"], "provenance_DENY": ["b"]}}, "", set()),
    "prefix_in_capitals": ({"meta": {"provenance_allow": ["a"], "Provenance_deny": ["b"]}}, "", set()),
    "prefix_with_a_dash": ({"meta": {"provenance_allow": ["a"], "provenance-deny": ["b"]}}, "", set()),
    "keys_in_a_mapping": ({"meta": {"provenance_allow": ["a"], "provenance": {"deny": ["b"]}}}, "", set()),
    "another_tools_provenance": ({"meta": {"provenance_allow": ["a"], "provenance": "ERP"}}, "", A),
    "of_the_east": ({"meta": {"provenance_allow": ["a"], "provenance_tenant": "east"}}, "", {"in_east_a"}),
    "east_by_rule": ({}, "models/east/x.yml", {"in_east_a"}),
    "two_tenants": ({"meta": {"provenance_tenant": "west"}}, "models/east/x.yml", set()),
    "tenant_of_the_default": ({"meta": {"provenance_tenant": "default"}}, "models/open/x.yml", A),
    "windows_path": ({}, "models\\secret\\x.yml", A - B),
    "path_with_a_line_break": ({"meta": {"provenance_allow": ["b"]}}, "models/secret/x\ny.yml", set()),
    "path_beside": ({"meta": {"provenance_allow": ["b"]}}, "other/models/secret/x.yml", B),
    "tag_restricted": ({"tags": ["x", "restricted"], "meta": {"provenance_allow": ["everyone", "contractors"]}}, "", set()),
    "tag_with_a_line_break": ({"tags": ["restricted\n"], "meta": {"provenance_allow": ["everyone"]}}, "", {"contractor"}),
    "dbt_group_speaks": ({"group": "team"}, "", {"in_ab"}),
    "dbt_group_unknown": ({"group": "ghosts", "meta": {"provenance_allow": ["a"]}}, "", A),
    "rule_without_group": ({"meta": {"provenance_allow": ["a"]}}, "models/broken/x.yml", set()),
    "rule_without_effect": ({"meta": {"provenance_allow": ["a"]}, "tags": ["halfway"]}, "", set()),
}  # fmt: skip
PAGE_CASES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "page_by_rule": ({"status": "approved"}, A),
    "page_allow": ({"status": "approved", "allow": ["b"]}, A & B),
    "page_deny": ({"status": "approved", "deny": "b"}, A - B),
    "page_deny_misspelt": ({"status": "approved", "denny": "b"}, set()),
    "page_deny_in_capitals": ({"status": "approved", "Deny": "b"}, set()),
    "page_deny_with_prefix": ({"status": "approved", "provenance_deny": "b"}, set()),
    "page_allow_number": ({"status": "approved", "allow": 5}, set()),
    "page_without_front_matter": ({}, A),
}


@pytest.fixture(scope="module")
def layer_cases(package_models) -> Iterable[tuple[World, dict[str, set[str]]]]:
    """All layer cases in one world, and what each principal is shown of it: evidence ids."""
    resources = [Resource("shop", "group.shop.team", "models/g.yml", (State(START, {"resource_type": "group", "name": "team", "meta": {"provenance_allow": ["a"]}}),))]
    for name, (extra, path, _) in LAYER_CASES.items():
        document = {"resource_type": "metric", "name": name, "package_name": "shop", "description": name, "type": "simple"} | extra
        resources.append(Resource("shop", f"metric.shop.{name}", path or "models/x.yml", (State(START, document),)))
    for name, (front, _) in PAGE_CASES.items():
        page = {"resource_type": "page", "name": name, "front_matter": front, "body": name, "package_name": "shop"}
        piece = {"resource_type": "page_piece", "page": f"page.shop.docs/{name}.md", "heading": "h", "heading_path": ["h"], "text": name, "package_name": "shop"}
        resources.append(Resource("shop", f"page.shop.docs/{name}.md", f"docs/{name}.md", (State(START, page),)))
        resources.append(Resource("shop", f"page.shop.docs/{name}.md#h", f"docs/{name}.md", (State(START, piece),)))
    orphan = {"resource_type": "page_piece", "page": "page.shop.docs/gone.md", "heading": "h", "heading_path": ["h"], "text": "orphan", "package_name": "shop"}
    resources.append(Resource("shop", "page.shop.docs/gone.md#h", "docs/gone.md", (State(START, orphan),)))
    broken = {"resource_type": "page", "name": "broken", "front_matter": {"allow": ["a"]}, "front_matter_error": "line 2", "body": "broken", "package_name": "shop"}
    resources.append(Resource("shop", "page.shop.docs/broken.md", "docs/broken.md", (State(START, broken),)))
    world = World(tuple(resources), CASE_PRINCIPALS, CASE_GROUPS, CASE_RULES)
    warehouse = write(Warehouse(package_models), world)
    principals = sorted({row[0] for row in CASE_PRINCIPALS})
    yield world, {principal: ids(warehouse.view("evidence", principal=principal), "evidence_id") for principal in principals}
    warehouse.con.close()


@pytest.mark.parametrize("name", LAYER_CASES)
def test_who_sees_a_resource_whose_policy_is(layer_cases, name):
    shown = layer_cases[1]
    assert {principal for principal, found in shown.items() if any(f"metric.shop.{name}/" in one for one in found)} == LAYER_CASES[name][2]


@pytest.mark.parametrize("name", PAGE_CASES)
def test_who_sees_a_page_and_its_pieces_where_a_rule_denies_pieces_to_b(layer_cases, name):
    shown, viewers = layer_cases[1], PAGE_CASES[name][1]
    assert {principal for principal, found in shown.items() if any(f"/{name}.md/" in one for one in found)} == viewers
    assert {principal for principal, found in shown.items() if any(f"/{name}.md#h/" in one for one in found)} == viewers - B


def test_the_oracle_agrees_on_every_layer_case(layer_cases):
    world, shown = layer_cases
    assert shown == {principal: set(Oracle(world).evidence(Oracle(world).asker(principal))) for principal in shown}
    assert not any("gone.md" in one or "broken.md" in one for found in shown.values() for one in found)


# named cases: what of a resource's history is seen when its policy changed

FIN, OPS, BOTH = {"fin", "both"}, {"ops", "both"}, {"both"}
# states in turn, ten days apart: the policy of each, or a gap; then who sees what each of them said
HISTORY_CASES: dict[str, tuple[list[Any], list[set[str]]]] = {
    "shrunk": ([{"allow": ["fin", "ops"]}, {"allow": ["fin"]}], [FIN, FIN]),
    "shrunk_away": ([{"allow": ["fin", "ops"]}, {"allow": ["fin"]}, {}], [set(), set(), set()]),
    "widened": ([{"allow": ["fin"]}, {"allow": ["fin", "ops"]}], [FIN | OPS, FIN | OPS]),
    "gone": ([{"allow": ["fin", "ops"]}, {"allow": ["fin"]}, GAP], [FIN, FIN]),
    "back_for_others": ([{"allow": ["fin"]}, GAP, {"allow": ["ops"]}], [BOTH, OPS]),
    "back_open": ([{"allow": ["fin"]}, GAP, {"allow": ["fin", "ops"]}], [FIN, FIN | OPS]),
    "back_closed": ([{"allow": ["fin", "ops"]}, GAP, {}], [set(), set()]),
    "closed_before": ([{}, GAP, {"allow": ["ops"]}], [set(), OPS]),
    "unreadable_before": ([{"allow": 5}, GAP, {"allow": ["ops"]}], [set(), OPS]),
    "denied_before": ([{"allow": ["fin", "ops"], "deny": ["fin"]}, GAP, {"allow": ["fin", "ops"]}], [OPS - FIN, FIN | OPS]),
    "last_before_the_gap_counts": ([{"allow": ["ops"]}, {"allow": ["fin"]}, GAP, {"allow": ["ops"]}], [BOTH, BOTH, OPS]),
    "two_gaps": ([{"allow": ["ops"]}, GAP, {"allow": ["fin"]}, GAP, {"allow": ["ops"]}], [BOTH, BOTH, OPS]),
    "moved_to_another_tenant": ([{"allow": ["ops"]}, GAP, {"allow": ["ops"], "tenant": "east"}], [set(), {"ops_east"}]),
    "moved_at_once": ([{"allow": ["ops"]}, {"allow": ["ops"], "tenant": "east"}], [{"ops_east"}, {"ops_east"}]),
    "member_of_a_group_that_opened_in_the_gap": ([{"group": "team"}, GAP, {"group": "team"}], [BOTH, OPS]),
    "gone_member_of_a_group_that_opened": ([{"group": "team"}, GAP], [BOTH]),
    "member_of_a_group_that_opened": ([{"group": "team"}], [OPS]),
}
HISTORY_PRINCIPALS = (
    ("fin", None, "fin", None), ("ops", None, "ops", None), ("both", None, "fin", None), ("both", None, "ops", None), ("ops_east", "east", "ops", None),
)  # fmt: skip
HISTORY_ASKERS: tuple[Asking, ...] = (("fin", None), ("ops", None), ("both", None), ("ops_east", None))


def history_mark(name: str, place: int) -> str:
    return f"mark {name} {place} said"


def history_world() -> World:
    """Each case as a model and as a page with one piece; a group that was closed to ops and opened on day 25."""
    team = [State(DAY[0], {"resource_type": "group", "name": "team", "meta": {"provenance_allow": ["fin"]}})]
    team.append(State(DAY[2] + dt.timedelta(days=-5), {"resource_type": "group", "name": "team", "meta": {"provenance_allow": ["ops"]}}))
    resources, results = [Resource("shop", "group.shop.team", "models/g.yml", tuple(team))], []
    for name, (policies, _) in HISTORY_CASES.items():
        models, pages, pieces = [], [], []
        for place, policy in enumerate(policies):
            at, text = DAY[place], history_mark(name, place)
            if policy is GAP:
                models, pages, pieces = ([*states, State(at, None)] for states in (models, pages, pieces))
                continue
            group = {"group": policy["group"]} if "group" in policy else {}
            keys = {key: value for key, value in policy.items() if key != "group"}
            own = {"name": f"zebra_{name}", "package_name": "shop"}
            models.append(State(at, {"resource_type": "model", "description": text, "meta": prefixed(keys), "depends_on": ["seed.shop.zebra_base"]} | own | group))
            pages.append(State(at, {"resource_type": "page", "body": text, "front_matter": {"status": "approved"} | keys} | own | group))
            piece = {"resource_type": "page_piece", "page": f"page.shop.docs/zebra_{name}.md", "heading": "h", "heading_path": ["h"], "text": f"{text} in a piece", "package_name": "shop"}
            pieces.append(State(at, piece))
            results.append((f"run {place}", "shop", f"model.shop.zebra_{name}", at + dt.timedelta(hours=1)))
        resources.append(Resource("shop", f"model.shop.zebra_{name}", "models/m.yml", tuple(models)))
        resources.append(Resource("shop", f"page.shop.docs/zebra_{name}.md", f"docs/zebra_{name}.md", tuple(pages)))
        resources.append(Resource("shop", f"page.shop.docs/zebra_{name}.md#h", f"docs/zebra_{name}.md", tuple(pieces)))
        test = {"resource_type": "test", "name": f"zebra_test_{name}", "package_name": "shop", "attached_node": f"model.shop.zebra_{name}", "meta": {"provenance_allow": ["fin", "ops"]}}
        resources.append(Resource("shop", f"test.shop.zebra_test_{name}", "models/m.yml", (State(DAY[0], test),)))
        results.append(("run 0", "shop", f"test.shop.zebra_test_{name}", DAY[0] + dt.timedelta(hours=1)))
    base = {"resource_type": "seed", "name": "zebra_base", "package_name": "shop", "meta": {"provenance_allow": ["fin", "ops"]}}
    resources.append(Resource("shop", "seed.shop.zebra_base", "seeds/s.yml", (State(DAY[0], base),)))
    return World(tuple(resources), HISTORY_PRINCIPALS, (), (), (), tuple(results))


@pytest.fixture(scope="module")
def history(package_models) -> Iterable[tuple[World, Warehouse]]:
    world = history_world()
    warehouse = write(Warehouse(package_models), world)
    yield world, warehouse
    warehouse.con.close()


@pytest.fixture(scope="module")
def history_shown(history) -> dict[str, tuple[list[dict[str, Any]], str]]:
    """By principal: the rows of evidence, and all that was said on any surface, today and as known on earlier days."""
    world, warehouse = history
    today = surfaces(warehouse, world, HISTORY_ASKERS)
    earlier = [surfaces(warehouse, world, HISTORY_ASKERS, str(DAY[place] + dt.timedelta(days=1))) for place in range(3)]
    return {asking[0] or "": (today[asking]["evidence"], json.dumps([list(found[asking].values()) for found in (today, *earlier)], default=str)) for asking in HISTORY_ASKERS}


@pytest.mark.parametrize("name", HISTORY_CASES)
def test_who_sees_what_each_state_said_of_a_resource_that_was(history_shown, name):
    policies, viewers = HISTORY_CASES[name]
    places = [place for place, policy in enumerate(policies) if policy is not GAP]
    for place, expected in zip(places, viewers):
        text = history_mark(name, place)
        stated = {who: [row for row in rows if row["definition_text"] in (text, f"{text} in a piece")] for who, (rows, _) in history_shown.items()}
        if not name.startswith(("member", "gone_member")) or place == 0:
            assert {who: len(found) for who, found in stated.items() if found} == dict.fromkeys(expected, 3), place
        assert {who for who, (_, said) in history_shown.items() if text in said} == expected, place


def test_the_oracle_agrees_on_every_history_case(history, history_shown):
    oracle = Oracle(history[0])
    for principal, (rows, _) in history_shown.items():
        texts = {document.get(key) for found in oracle.evidence(oracle.asker(principal)).values() for document in found for key in ("description", "body", "text")}
        assert ids(rows, "definition_text") >= texts - {None}
        assert ids((row for row in rows if not row["text_derived"]), "definition_text") == texts - {None}


@pytest.mark.parametrize("asking", HISTORY_ASKERS)
def test_runs_before_a_gap_need_the_policy_before_the_gap(history, asking):
    world, warehouse = history
    oracle = Oracle(world)
    asker = oracle.asker(*asking)
    models = {one.unique_id: one for one in world.resources if one.resource_type == "model"}
    expected = set()
    for invocation, _, unique_id, at in world.results:
        if unique_id in models:
            place = max(place for place, states in enumerate(models[unique_id].segments) if states[0].at <= at)
            if oracle.sees(asker, models[unique_id], place):
                expected.add((invocation, unique_id))
    rows = warehouse.view("run_results", principal=asking[0], tenant=asking[1])
    assert {pair for pair in ids(rows, "invocation_id", "unique_id") if pair[1].startswith("model")} == expected


def test_dbt_edges_before_a_gap_need_the_policy_before_the_gap(history):
    _, warehouse = history
    rows = warehouse.view("lineage_edges", principal="ops")
    edges = {(row["downstream_id"], row["recorded_from_utc"]) for row in rows if row["kind"] == "physical"}
    assert ("model.shop.zebra_back_for_others", DAY[2]) in edges
    assert ("model.shop.zebra_back_for_others", DAY[0]) not in edges
