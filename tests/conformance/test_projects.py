"""The integration projects on each engine: they build and answer, and each resource has one hash, whichever engine and way it came by."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import duckdb
import engines
import pytest
from artifact_project import artifact_build, manifest, open_rows
from conftest import copy_project, dbt, rules_build, shared_build
from dbt_provenance.capture.canonical import canonical_document, canonical_text
from engines import CHOSEN, Engine

PLACES = {
    "net_revenue": ("provenance_internal", "net_revenue.duckdb"),
    "small": ("main_provenance_internal", "small.duckdb"),
    "rules": ("provenance_internal", "rules.duckdb"),
}
SEMANTIC = {"metric", "semantic_model", "saved_query"}
OF_CORE = {"group.small.core"}
"""dbt Core gives a group the meta that the project gives to its models; dbt 2 does not."""
NOT_IN_DBT_2 = {"operation", "analysis"}
"""Types that the graph of dbt 2 does not have."""


def make_net_revenue(folder: Path, engine: Engine) -> None:
    project = copy_project("net_revenue", folder, engine.executable)
    for command in ("seed", "build"):
        dbt(project, command, executable=engine.executable, NET_REVENUE_SEMANTIC=engine.semantic_folder)


@pytest.fixture(scope="session")
def build_of(request, tmp_path_factory, worker) -> Callable[[str, str], Path]:
    """The folder of a project as the engine of that name built it."""

    def of(name: str, project: str) -> Path:
        chosen = engines.engine(name)
        if project == "rules":
            return rules_build(tmp_path_factory, worker, chosen)
        if project == "small":
            return artifact_build(tmp_path_factory, worker, chosen).folder
        if name == "Core 1.11":
            return request.getfixturevalue("net_revenue")
        return shared_build(tmp_path_factory, worker, f"net_revenue_{chosen.slug}", lambda folder: make_net_revenue(folder, chosen)) / project

    return of


def hashes(folder: Path) -> dict[str, str]:
    """unique_id -> hash of the project's own resources."""
    schema, database = PLACES[folder.name]
    return {uid: row[2] for uid, row in open_rows(folder / database, schema).items() if uid.split(".")[1] != "dbt_provenance"}


def resource_type(uid: str) -> str:
    return uid.split(".")[0]


def test_the_worked_example_answers(build_of, engine):
    with duckdb.connect(str(build_of(engine.name, "net_revenue") / "net_revenue.duckdb"), read_only=True) as con:

        def resolved(day: str, principal: str) -> list[tuple]:
            return con.execute("select outcome, version, formula from provenance.resolve('metric.net_revenue', as_of => cast(? as date), principal => ?)", [day, principal]).fetchall()

        assert resolved("2024-06-30", "analyst") == [("resolved", "1", "SUM(order_total_usd) - SUM(refund_amount_usd)")]
        assert resolved("2025-03-31", "analyst") == [("resolved", "2", "SUM(captured_payment_usd) - SUM(refund_amount_usd) - SUM(chargeback_amount_usd)")]
        assert resolved("2023-12-31", "analyst") == resolved("2025-03-31", "stranger") == [("not_found_or_not_authorized", None, None)]
        found = con.execute("select entity_id from provenance.search('net revenue', as_of => date '2025-03-31', principal => 'analyst') where lane = 'answer'").fetchall()
        assert found[0] == ("metric.net_revenue.net_revenue",)
        reached = con.execute("select downstream_id from provenance.impact('model.net_revenue.fct_orders', principal => 'analyst')").fetchall()
        assert ("exposure.net_revenue.revenue_dashboard",) in reached


@pytest.mark.parametrize("name", PLACES)
def test_jinja_and_the_manifest_give_the_same_hash_for_every_resource(build_of, engine, name):
    folder = build_of(engine.name, name)
    schema, database = PLACES[name]
    as_stored = duckdb.connect()
    texts = {uid: as_stored.execute("select json(?)::varchar", [canonical_text(canonical_document(resource))]).fetchone()[0] for uid, resource in manifest(folder).items()}
    captured = open_rows(folder / database, schema)
    assert {uid: (row[1], texts.get(uid)) for uid, row in captured.items() if row[2] != hashlib.sha256(texts.get(uid, "").encode()).hexdigest()} == {}
    missing = {resource_type(uid) for uid in texts.keys() - captured.keys()}
    assert len(captured) > 30 and missing <= {"doc", "unit_test"} | (set() if engine.is_core else NOT_IN_DBT_2)


@pytest.mark.parametrize("name", PLACES)
def test_the_releases_of_dbt_core_give_the_same_hashes(build_of, engine, name):
    if engine.name not in ("Core 1.10", "Core 1.12") or "Core 1.11" not in CHOSEN:
        pytest.skip("compared are dbt Core 1.10 and 1.12 with 1.11")
    own, others = hashes(build_of(engine.name, name)), hashes(build_of("Core 1.11", name))
    # Core 1.12 gives unit tests in the graph; it reads the semantic layer in another form, which a folder of its own holds.
    apart = {"unit_test"} | (SEMANTIC if engine.name == "Core 1.12" else set())
    own, others = ({uid: found for uid, found in side.items() if resource_type(uid) not in apart} for side in (own, others))
    assert {uid for uid in own if uid in others and own[uid] != others[uid]} == set()
    assert own.keys() ^ others.keys() <= ({"model.net_revenue.booked_orders", "model.net_revenue.paid_orders"} if engine.name == "Core 1.12" else set())
    assert len(own) > 2


@pytest.mark.parametrize("name", PLACES)
def test_dbt_core_1_12_and_dbt_2_give_the_same_hashes(build_of, engine, name):
    if engine.name != "dbt 2" or "Core 1.12" not in CHOSEN:
        pytest.skip("compared are dbt Core 1.12 and dbt 2")
    own, others = hashes(build_of("dbt 2", name)), hashes(build_of("Core 1.12", name))
    assert {uid for uid in own if uid in others and own[uid] != others[uid]} <= OF_CORE
    assert own.keys() <= others.keys()
    assert {uid for uid in others.keys() - own.keys() if resource_type(uid) not in NOT_IN_DBT_2 | {"unit_test"}} <= {"model.small.meta_at_top"}
    if name != "rules":
        assert sum(resource_type(uid) in SEMANTIC for uid in own) > 8
