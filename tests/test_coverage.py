"""coverage: what visible resources lack, by folder, dbt group and owner (RULES 2.9)."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from package_sql import Warehouse
from permission_model import Oracle
from permission_worlds import ASKERS, random_world

LIMITS = {"freshness": {"warn_after": {"count": 12, "period": "hour"}}}
AT = dt.datetime(2025, 3, 1)


@pytest.fixture
def project(warehouse) -> Warehouse:
    add = warehouse.state
    add("source.shop.raw.expected", {"name": "expected", "source_name": "raw", "description": "d"} | LIMITS, path="models/raw/sources.yml")
    add("source.shop.raw.measured", {"name": "measured", "source_name": "raw"} | LIMITS, path="models/raw/sources.yml")
    add("source.shop.raw.silent", {"name": "silent", "source_name": "raw"}, path="models/raw/sources.yml")
    add("model.shop.all", {"name": "all", "description": "d", "group": "core", "meta": {"provenance_owner": "ada", "provenance_status": "approved"}, "depends_on": ["source.shop.raw.silent"]}, path="models/marts/all.sql")
    add("model.shop.none", {"name": "none"}, path="models\\marts\\none.sql")
    add("model.shop.hidden", {"name": "hidden", "meta": {"provenance_allow": "nobody"}}, path="models/marts/hidden.sql")
    add("seed.shop.codes", {"name": "codes"}, path="seeds/codes.csv")
    add("doc.shop.text", {"name": "text", "block_contents": "d"}, path="models/marts/text.md")
    warehouse.measured("source.shop.raw.measured", AT, AT)
    return warehouse.build()


def by_group(warehouse: Warehouse, grouping: str, principal: str = "analyst") -> dict[tuple[Any, str], dict[str, Any]]:
    rows = warehouse.view("coverage", principal=principal)
    return {(row["grouping_value"], row["resource_type"]): {key.removesuffix("_count"): value for key, value in row.items() if key.endswith("_count")} for row in rows if row["grouping_kind"] == grouping}


def test_each_lack_is_counted_in_its_folder(project):
    assert by_group(project, "folder") == {
        ("models/raw", "source"): {"resource": 3, "undocumented": 2, "unowned": 3, "without_status": 3, "without_policy": None, "without_freshness": 2, "without_lineage": None},
        ("models/marts", "model"): {"resource": 2, "undocumented": 1, "unowned": 1, "without_status": 1, "without_policy": None, "without_freshness": None, "without_lineage": 1},
        ("seeds", "seed"): {"resource": 1, "undocumented": 1, "unowned": 1, "without_status": 1, "without_policy": None, "without_freshness": None, "without_lineage": None},
    }


def test_groups_and_owners_are_counted_too_and_whoever_has_none_is_a_row(project):
    assert {key: row["resource"] for key, row in by_group(project, "group_name").items()} == {("core", "model"): 1, (None, "model"): 1, (None, "source"): 3, (None, "seed"): 1}
    assert {key: row["resource"] for key, row in by_group(project, "owner").items()} == {("ada", "model"): 1, (None, "model"): 1, (None, "source"): 3, (None, "seed"): 1}


def test_what_no_policy_opens_is_counted_for_the_service_role_alone(package_models):
    warehouse = Warehouse(package_models)
    warehouse.policy("rules_principals", ("analyst", None, "analyst", None), ("steward", None, "analyst", "service"))
    for name, meta in (("open", {"provenance_allow": "analyst"}), ("forgotten", {}), ("closed", {"provenance_allow": "nobody"}), ("elsewhere", {"provenance_tenant": "east"})):
        warehouse.state(f"model.shop.{name}", {"name": name, "meta": meta}, path="models/m.yml")
    warehouse.build()
    found = {who: by_group(warehouse, "folder", who)["models", "model"] for who in ("analyst", "steward")}
    assert {who: (row["resource"], row["undocumented"], row["without_policy"]) for who, row in found.items()} == {"analyst": (1, 1, None), "steward": (1, 1, 1)}
    warehouse.con.close()


def test_whoever_sees_nothing_gets_no_row(project):
    assert [project.view("coverage", principal=who) for who in (None, "nobody", "stranger")] == [[], [], []]


@pytest.mark.parametrize("seed", [31, 32])
def test_with_the_hidden_physically_removed_every_count_is_equal(make, seed):
    world = random_world(seed)
    oracle, whole, compared = Oracle(world), make(world), 0
    for principal, tenant in ASKERS[:4]:
        seen = oracle.resources_seen(oracle.asker(principal, tenant))
        less = make(world.without({one.key for one in world.resources} - seen))
        rows = [sorted(one.view("coverage", principal=principal, tenant=tenant), key=repr) for one in (whole, less)]
        assert rows[0] == rows[1], principal
        compared += len(rows[0])
    assert compared > 10
