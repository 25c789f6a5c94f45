"""Where dbt takes meta: the same keys say the same in each place, two different values close, and no key is no permission."""

from __future__ import annotations

import duckdb
import pytest
from artifact_project import POLICY, Built

KEYS = {"provenance_allow": ["analyst"], "provenance_status": "approved", "provenance_owner": "data"}
OTHERS = {"provenance_allow": ["board"], "provenance_status": "draft", "provenance_owner": "data"}
PLACES = {"top": {"meta": KEYS}, "config": {"config": {"meta": KEYS}}, "both": {"meta": KEYS, "config": {"meta": KEYS}}, "differs": {"meta": KEYS, "config": {"meta": OTHERS}}, "none": {}}
TYPES = ("model", "metric", "source", "exposure", "seed")


@pytest.fixture
def by_place(package_models):
    """Each type of resource with its keys in each place, as manifest.json of a dbt that keeps both has them."""
    from dbt_provenance.capture.canonical import canonical_document
    from package_sql import Warehouse

    warehouse = Warehouse(package_models)
    warehouse.policy("rules_principals", ("analyst", None, "analyst", None), ("member", None, "board", None), ("both", None, "analyst", None), ("both", None, "board", None), ("steward", None, "keeper", "service"))
    warehouse.policy("rules_policies", ("nothing", None, "path", "nowhere", "allow", "analyst"))
    for resource_type in TYPES:
        for place, keys in PLACES.items():
            name = f"in_{place}"
            uid = f"{resource_type}.shop.{'raw.' if resource_type == 'source' else ''}{name}"
            document = canonical_document({"name": name, "resource_type": resource_type, "package_name": "shop", "source_name": "raw", **keys})
            warehouse.state(uid, document)
    warehouse.build()
    yield warehouse
    warehouse.con.close()


def seen_by(warehouse, principal: str) -> dict[str, set[str]]:
    """Type -> the places whose resource is visible."""
    seen: dict[str, set[str]] = {resource_type: set() for resource_type in TYPES}
    for row in warehouse.view("evidence", principal=principal):
        if row["evidence_type"] == "definition":
            seen[row["entity_type"]].add(row["entity_id"].rsplit("in_", 1)[1])
    return seen


@pytest.mark.case("G11")
def test_the_first_three_places_say_the_same_and_the_fourth_takes_the_stricter(by_place):
    assert seen_by(by_place, "analyst") == dict.fromkeys(TYPES, {"top", "config", "both"})
    assert seen_by(by_place, "member") == dict.fromkeys(TYPES, set())
    assert seen_by(by_place, "both") == dict.fromkeys(TYPES, {"top", "config", "both", "differs"})
    statuses = {(row["entity_id"].rsplit("in_", 1)[1], row["status"]) for row in by_place.view("evidence", principal="both") if row["evidence_type"] == "definition"}
    assert statuses == {("top", "approved"), ("config", "approved"), ("both", "approved"), ("differs", "draft")}


@pytest.mark.case("G11")
def test_the_fourth_is_a_finding(by_place):
    found = {(row["unique_id"], row["field_name"]) for row in by_place.view("findings", principal="both") if row["finding_rule"] == "two values"}
    assert {uid.rsplit("in_", 1)[1] for uid, _ in found} == {"differs"}
    assert {uid.split(".")[0] for uid, _ in found} == set(TYPES)
    assert {field for _, field in found} == {"provenance_allow", "provenance_status"}


@pytest.mark.case("G11")
def test_what_has_no_key_is_seen_by_nobody(by_place):
    for principal in ("analyst", "member", "both", "stranger"):
        assert not any("none" in places for places in seen_by(by_place, principal).values())


@pytest.mark.case("G11")
def test_each_place_that_the_engine_takes_gives_the_same(built: Built):
    """dbt 2 refuses a model's meta outside its config; dbt Core 1.10 and later refuse it in both places."""
    models = ["meta_in_config", "meta_by_folder", *(["meta_at_top"] if built.engine.is_core else [])]
    documents = built.open_documents()
    kept = {name: {key: documents[f"model.small.{name}"]["meta"][key] for key in POLICY} for name in models}
    assert kept == dict.fromkeys(models, POLICY)
    with duckdb.connect(str(built.folder / "small.duckdb"), read_only=True) as con:
        for principal, visible in (("analyst", sorted(models)), ("reader", []), ("nobody", [])):
            found = con.execute("select distinct split_part(entity_id, '.', 3) from main_provenance.search('meta', principal => ?) where entity_id like 'model.small.meta%' order by 1", [principal]).fetchall()
            assert [row[0] for row in found] == visible


@pytest.mark.case("G11")
def test_a_models_policy_is_not_taken_for_its_columns_own(built: Built):
    """dbt 2 repeats a model's config.meta in each of its columns."""
    document = built.open_documents()["model.small.customers.v2"]
    assert document["meta"]["z_key"] == 1
    assert all("meta" not in column for column in document["columns"].values())
    assert built.open_documents()["model.small.stg_events"]["columns"]["customer"]["meta"] == {"masked": True, "provenance_deny": ["steward"]}
