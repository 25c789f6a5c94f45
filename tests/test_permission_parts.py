"""What shows of a hidden part or neighbour: columns and measures with a policy of their own, lineage, formulas, hashes."""

import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

import pytest
from package_sql import INTERNAL, Warehouse
from permission_model import Oracle, Resource, State, World
from permission_worlds import DAY, GAP, ask_all, prefixed, strike, surfaces, write

# named cases: what of a column with a policy of its own is seen by a reader in groups a and c; a keeper is also in b

COLUMN_PRINCIPALS = tuple((who, None, group, None) for who, groups in (("reader", "ac"), ("keeper", "abc")) for group in groups)
READER, KEEPER = {"reader", "keeper"}, {"keeper"}
ABSENT_COLUMN = "absent"
# the states of a model in turn: the column's policy in each, that the column is absent, or a gap; then who finds what each said of it
COLUMN_CASES: dict[str, tuple[list[Any], list[set[str]]]] = {
    "none": ([{}], [READER]),
    "allow": ([{"allow": ["b"]}], [KEEPER]),
    "allow_both": ([{"allow": ["a"]}], [READER]),
    "deny": ([{"deny": ["c"]}], [set()]),
    "deny_unknown": ([{"deny": ["nobody_knows"]}], [READER]),
    "malformed": ([{"allow": 5}], [set()]),
    "misspelt": ([{"dney": ["b"]}], [set()]),
    "tenant": ([{"tenant": "east"}], [set()]),
    "guarded_later": ([{}, {"allow": ["b"]}], [KEEPER, KEEPER]),
    "opened_later": ([{"allow": ["b"]}, {}], [READER, READER]),
    "removed": ([{"allow": ["b"]}, ABSENT_COLUMN], [KEEPER, set()]),
    "removed_and_gone": ([{"allow": ["b"]}, ABSENT_COLUMN, GAP], [KEEPER, set(), set()]),
    "guarded_before_a_gap": ([{"allow": ["b"]}, GAP, {}], [KEEPER, set(), READER]),
    "guarded_after_a_gap": ([{}, GAP, {"allow": ["b"]}], [KEEPER, set(), KEEPER]),
    "removed_in_a_gap": ([{"allow": ["b"]}, GAP, ABSENT_COLUMN], [KEEPER, set(), set()]),
    "removed_and_back_after_a_gap": ([{"allow": ["b"]}, ABSENT_COLUMN, GAP, {}], [KEEPER, set(), set(), READER]),
}  # fmt: skip


def column_word(name: str, place: int) -> str:
    return f"falcon{name.replace('_', '')}{place}x"


def column_world(shown_to: str | None = None) -> World:
    """Each case as a model, and as the measure, dimension and entity of semantic models; without what one principal may not see of them."""
    resources = []
    for name, (policies, viewers) in COLUMN_CASES.items():
        for kind in ("column", "measure", "dimension", "entity"):
            states = []
            for place, policy in enumerate(policies):
                document = {"resource_type": "model" if kind == "column" else "semantic_model", "name": f"zebra_{kind}_{name}", "package_name": "shop", "meta": {"provenance_allow": ["a"]}}
                document["description"] = f"zebra text {place}"
                if policy is GAP:
                    states.append(State(DAY[place], None))
                    continue
                parts = {"amount": {"description": "open amount"}}
                if policy is not ABSENT_COLUMN and (shown_to is None or shown_to in viewers[place]):
                    meta = {"meta": prefixed(policy)} if policy else {}
                    parts[f"secret_{kind}_{name}"] = {"description": f"{column_word(name, place)} {kind}"} | meta
                if kind == "column":
                    document["columns"] = parts
                else:
                    document[{"entity": "entities"}.get(kind, kind + "s")] = [{"name": part, "type": "foreign"} | said for part, said in parts.items()]
                states.append(State(DAY[place], document))
            kind_id = "model" if kind == "column" else "semantic_model"
            resources.append(Resource("shop", f"{kind_id}.shop.zebra_{kind}_{name}", "models/m.yml", tuple(states)))
    return World(tuple(resources), COLUMN_PRINCIPALS)


@pytest.fixture(scope="module")
def columns(package_models) -> Iterable[tuple[World, Warehouse, dict[str, dict[str, dict[str, list[dict[str, Any]]]]], dict[str, str]]]:
    """The world, its warehouse, what each principal finds by each word (today and on earlier days), and all that is said on any surface."""
    world = column_world()
    warehouse = write(Warehouse(package_models), world)
    askers = [("reader", None), ("keeper", None)]
    words = [column_word(name, place) for name, (policies, _) in COLUMN_CASES.items() for place in range(len(policies))]
    found: dict[str, dict[str, Any]] = {}
    for known_at in (None, *(str(DAY[place] + dt.timedelta(days=1)) for place in range(3))):
        more = "max_rows => 1000" + (f", known_at => '{known_at}'" if known_at else "")
        for (principal, _), answers in ask_all(warehouse, "search", askers, words, more).items():
            for word, rows in answers.items():
                found.setdefault(principal or "", {}).setdefault(word, []).extend(rows)
    said = {
        principal or "": json.dumps([list(rows.values()) if isinstance(rows, dict) else rows for name, rows in everything.items()], default=str)
        for (principal, _), everything in surfaces(warehouse, world, askers).items()
    }
    yield world, warehouse, found, said
    warehouse.con.close()


@pytest.mark.parametrize("name", COLUMN_CASES)
def test_who_finds_the_words_of_a_column_whose_policy_was(columns, name):
    _, _, found, said = columns
    policies, viewers = COLUMN_CASES[name]
    for place, policy in enumerate(policies):
        if policy is GAP or policy is ABSENT_COLUMN:
            continue
        word = column_word(name, place)
        assert {who for who, words in found.items() if words[word]} == viewers[place], place
        fields = {row["matched_field"] for words in found.values() for row in words[word]}
        assert fields <= {f"{kind} secret_{kind}_{name}" for kind in ("column", "measure", "dimension", "entity")}
        assert {row["entity_id"] for words in found.values() for row in words[word]} == {one for one in entity_ids(columns[0]) if one.endswith(f"_{name}")} or not fields
        assert all(word not in said[who] for who in READER - viewers[place]), place
    if not any(viewers):
        assert all(f"secret_column_{name}" not in text for text in said.values())


def entity_ids(world: World) -> set[str]:
    return {Oracle(world).entity_id(one) for one in world.resources}


def test_a_hidden_part_moves_no_row_on_any_surface(columns, make):
    world, warehouse, _, _ = columns
    less = column_world("reader")
    expected, found = (surfaces(one, world, [("reader", None)])["reader", None] for one in (warehouse, make(less)))
    for name in expected:
        assert found[name] == expected[name], name


# small worlds: what shows of something hidden that stands beside something visible


def small_world(*resources: Resource, principals: Iterable[tuple[str | None, ...]] = (), **more: Any) -> World:
    return World(resources, (("reader", None, "a", None), ("keeper", None, "a", None), ("keeper", None, "b", None), *principals), **more)


def stated(unique_id: str, *states: dict[str, Any] | None, project: str = "shop", allow: Any = "a") -> Resource:
    """A resource with a state every ten days; a state without meta allows group a."""
    found = []
    for place, said in enumerate(states):
        own = {"resource_type": unique_id.split(".")[0], "name": unique_id.rsplit(".", 1)[-1], "package_name": unique_id.split(".")[1], "meta": {"provenance_allow": allow}}
        found.append(State(DAY[place], None if said is None else own | said))
    return Resource(project, unique_id, "models/x.yml", tuple(found))


HIDDEN_META = {"provenance_allow": ["b"]}


@pytest.fixture(scope="module")
def small(package_models) -> Iterable[Warehouse]:
    """Small worlds that do not touch each other, in one warehouse."""
    semantic = {"depends_on": ["model.shop.base"], "measures": [{"name": "secret_sum", "agg": "sum", "expr": "secret_expr", "meta": HIDDEN_META}], "entities": [{"name": "secret_key", "type": "primary", "meta": HIDDEN_META}]}
    ratio = {"type": "ratio", "type_params": {"numerator": {"name": "secret_one"}, "denominator": {"name": "open_one"}}}
    atom = {"type": "simple", "type_params": {"metric_aggregation_params": {"agg": "sum", "expr": "x"}}}
    world = small_world(
        stated("model.shop.base", {}),
        # lineage
        stated("seed.shop.root", {}),
        stated("model.shop.gapped", {"meta": HIDDEN_META, "depends_on": ["seed.shop.root"]}, None, {"depends_on": ["model.shop.base"]}),
        stated("model.shop.after", {"depends_on": ["model.shop.gapped"]}),
        stated("model.pkg.twice", {"depends_on": ["model.shop.base"]}),
        stated("model.shop.secret_child", {"meta": HIDDEN_META}),
        stated("model.pkg.twice", {"depends_on": ["model.other.theirs"], "meta": HIDDEN_META}, project="other"),
        stated("model.other.theirs", {}, project="other"),
        stated("model.shop.fed", {"depends_on": ["model.shop.secret_child", "model.shop.secret_other"]}),
        stated("model.shop.secret_other", {"meta": HIDDEN_META}),
        # formulas
        stated("metric.shop.secret_one", atom | {"meta": HIDDEN_META}),
        stated("metric.shop.open_one", atom),
        stated("metric.shop.share", ratio | {"description": "first text"}, ratio | {"description": "second text"}),
        stated("semantic_model.shop.parted", semantic),
        stated("metric.shop.on_secret_sum", {"type": "simple", "type_params": {"measure": {"name": "secret_sum"}}}),
        stated("semantic_model.shop.backed", {"depends_on": ["model.shop.secret_child"], "measures": [{"name": "open_sum", "agg": "sum", "expr": "y"}]}),
        stated("metric.shop.on_secret_model", {"type": "simple", "type_params": {"measure": {"name": "open_sum"}}}),
        # findings
        stated("model.shop.columned", {"columns": {"secret_wrong": {"meta": {"provenance_allow": 5}}, "secret_odd": {"meta": {**HIDDEN_META, "provenance_colour": "secretly blue"}}}}),
        # rivals: a metric, and a model of its name that it is built on through what is revoked
        stated("metric.shop.rival", atom | {"depends_on": ["model.shop.between"]}),
        stated("model.shop.between", {"depends_on": ["model.shop.rival"]}),
        stated("model.shop.rival", {}),
    )
    warehouse = write(Warehouse(package_models), world)
    yield warehouse
    warehouse.con.close()


def test_a_neighbour_that_is_hidden_is_one_mark_without_name_count_or_time(small):
    rows = small.call("trace_lineage", "fed", principal="reader")
    (mark,) = rows
    assert {key: value for key, value in mark.items() if value is not None} == {
        "depth": 1, "direction": "upstream", "downstream_id": "model.shop.fed", "downstream_entity_id": "model.shop.fed", "downstream_type": "model",
        "column_lineage": "unknown", "redacted": True,
    }  # fmt: skip
    (lineage,) = small.call("resolve", "lineage.fed", principal="reader")
    assert (lineage["definition_text"], lineage["content_hash"], lineage["redacted"]) == (None, None, True)


def test_the_walk_does_not_use_what_a_hidden_namesake_of_another_project_is_built_on(small):
    assert [row["upstream_id"] for row in small.call("trace_lineage", "model.pkg.twice", principal="reader")] == ["model.shop.base"]


def test_the_walk_does_not_use_what_was_built_before_a_gap_under_another_policy(small):
    rows = small.call("trace_lineage", "after", principal="reader", known_at=str(DAY[0] + dt.timedelta(days=1)))
    assert "seed.shop.root" not in {row["upstream_id"] for row in rows}


def test_the_walk_does_not_pass_through_what_is_revoked(make):
    chain = [stated(f"model.shop.{name}", {"depends_on": [f"model.shop.{below}"]}) for name, below in (("four", "three"), ("three", "two"), ("two", "one"))]
    warehouse = make(small_world(*chain, stated("model.shop.one", {})))
    assert len(warehouse.call("trace_lineage", "four", principal="reader")) == 3
    strike(warehouse, {"ledger_action": "revoke", "entity_id": "model.shop.three"})
    assert [(row["upstream_id"], row["redacted"]) for row in warehouse.call("trace_lineage", "four", principal="reader")] == [(None, True)]


def test_what_is_revoked_makes_no_two_entities_one(small):
    assert small.call("resolve", "rival", principal="reader")[0]["entity_id"] == "metric.shop.rival"
    strike(small, {"ledger_action": "revoke", "entity_id": "model.shop.between"})
    try:
        assert small.call("resolve", "rival", principal="reader")[0]["reason"] == "missing_entity"
    finally:
        small.con.execute(f"delete from {INTERNAL}.prov_ledger")


def test_rivals_are_weighed_by_the_edges_of_the_time_of_knowing(make):
    built = {"depends_on": ["model.shop.rival"]}
    atom = {"type": "simple", "type_params": {"metric_aggregation_params": {"agg": "sum", "expr": "x"}}}
    warehouse = make(small_world(stated("metric.shop.rival", atom, atom | built), stated("model.shop.rival", {})))
    assert warehouse.call("resolve", "rival", principal="reader")[0]["outcome"] != "clarify"
    assert warehouse.call("resolve", "rival", principal="reader", known_at=str(DAY[0]))[0]["reason"] == "missing_entity"


def test_a_formula_that_is_hidden_decides_nothing(small):
    assert small.call("resolve", "share", principal="keeper")[0]["reason"] == "only_version"
    assert small.call("resolve", "share", principal="reader")[0]["reason"] == "missing_as_of"


def test_a_formula_over_a_hidden_measure_is_redacted(small):
    (row,) = small.call("resolve", "on_secret_sum", principal="reader")
    assert (row["formula"], row["redacted"]) == (None, True)
    assert small.call("resolve", "on_secret_sum", principal="keeper")[0]["formula"] == "SUM(secret_expr)"


def test_a_hidden_entity_is_no_grain(small):
    assert small.call("resolve", "parted", principal="reader")[0]["grain"] is None
    assert small.call("resolve", "parted", principal="keeper")[0]["grain"] == "secret_key"


def test_no_hash_is_made_with_the_name_of_a_hidden_backing_model(small):
    (row,) = small.call("resolve_candidates", "on_secret_model", principal="reader")
    assert row["backing_model"] is None
    assert row["candidate_group"] != small.call("resolve_candidates", "on_secret_model", principal="keeper")[0]["candidate_group"]


def test_the_hash_of_a_semantic_model_leaves_out_hidden_parts(columns, make):
    world, warehouse, _, _ = columns
    less = make(column_world("reader"))
    hashes = [{(row["evidence_id"], row["revision"]): row["content_hash"] for row in one.view("evidence", principal="reader")} for one in (warehouse, less)]
    assert hashes[0] == hashes[1]


def test_findings_do_not_name_a_column_that_is_hidden(small):
    assert "secret" not in json.dumps([row for row in small.view("findings", principal="reader") if row["unique_id"] == "model.shop.columned"])
