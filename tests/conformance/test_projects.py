"""The integration projects on each engine: they build and answer, and each resource has one hash, whichever engine and way it came by."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import duckdb
import engines
import pytest
from artifact_project import manifest, open_rows
from conftest import copy_project, dbt, shared_build
from dbt_provenance.capture.canonical import canonical_document, canonical_text
from engines import CHOSEN, Engine

PLACES = {
    "net_revenue": ("provenance_internal", "net_revenue.duckdb"),
    "small": ("main_provenance_internal", "small.duckdb"),
    "rules": ("provenance_internal", "rules.duckdb"),
}
OF_CORE = {"group.small.core"}
"""dbt Core gives a group the meta that the project gives to its models."""


def build_all(folder: Path, engine: Engine) -> None:
    for name in PLACES:
        project = copy_project(name, folder, engine.executable)
        if name == "net_revenue":
            dbt(project, "seed", executable=engine.executable, NET_REVENUE_SEMANTIC=engine.semantic_folder)
        if name == "rules":
            dbt(project, "seed", "--select", "package:rules", executable=engine.executable)
        dbt(project, "build", executable=engine.executable, NET_REVENUE_SEMANTIC=engine.semantic_folder)


@pytest.fixture(scope="session")
def build_of(tmp_path_factory, worker):
    """The folder with the projects as an engine of that name built them."""

    def of(name: str) -> Path:
        chosen = engines.engine(name)
        return shared_build(tmp_path_factory, worker, f"projects_{chosen.slug}", lambda folder: build_all(folder, chosen))

    return of


@pytest.fixture
def projects(build_of, engine) -> Path:
    return build_of(engine.name)


def hashes(folder: Path, name: str) -> dict[str, str]:
    """unique_id -> hash of the project's own resources."""
    schema, database = PLACES[name]
    return {uid: row[2] for uid, row in open_rows(folder / name / database, schema).items() if uid.split(".")[1] != "dbt_provenance"}


def test_the_worked_example_answers(projects):
    with duckdb.connect(str(projects / "net_revenue/net_revenue.duckdb"), read_only=True) as con:
        answered = {
            day: con.execute("select outcome, version, formula from provenance.resolve('metric.net_revenue', as_of => cast(? as date), principal => 'analyst')", [day]).fetchall()
            for day in ("2024-06-30", "2025-03-31", "2023-12-31")
        }
        assert answered == {
            "2024-06-30": [("resolved", "1", "SUM(order_total_usd) - SUM(refund_amount_usd)")],
            "2025-03-31": [("resolved", "2", "SUM(captured_payment_usd) - SUM(refund_amount_usd) - SUM(chargeback_amount_usd)")],
            "2023-12-31": [("not_found_or_not_authorized", None, None)],
        }
        hidden = con.execute("select outcome from provenance.resolve('metric.net_revenue', as_of => date '2025-03-31', principal => 'stranger')").fetchall()
        assert hidden == [("not_found_or_not_authorized",)]
        found = con.execute("select entity_id from provenance.search('net revenue', as_of => date '2025-03-31', principal => 'analyst') order by lane, result_rank limit 1").fetchall()
        assert found == [("metric.net_revenue.net_revenue",)]


@pytest.mark.parametrize("name", PLACES)
def test_jinja_and_the_manifest_give_the_same_hash_for_every_resource(projects, engine, name):
    schema, database = PLACES[name]
    wanted = {uid: canonical_text(canonical_document(resource)) for uid, resource in manifest(projects / name).items()}
    as_stored = duckdb.connect()
    texts = {uid: as_stored.execute("select json(?)::varchar", [text]).fetchone()[0] for uid, text in wanted.items()}
    captured = open_rows(projects / name / database, schema)
    different = {uid: (row[1], texts.get(uid)) for uid, row in captured.items() if row[2] != hashlib.sha256(texts.get(uid, "").encode()).hexdigest()}
    assert different == {}
    missing = {uid.split(".")[0] for uid in texts.keys() - captured.keys()}
    assert captured.keys() <= texts.keys() and len(captured) > 30
    assert missing <= {"doc", "unit_test"} | (set() if engine.is_core else {"operation", "analysis"})


@pytest.mark.parametrize("name", PLACES)
def test_the_releases_of_dbt_core_give_the_same_hashes(build_of, engine, name):
    if not engine.is_core or "Core 1.11" not in CHOSEN:
        pytest.skip("compared are releases of dbt Core with 1.11")
    own, others = hashes(build_of(engine.name), name), hashes(build_of("Core 1.11"), name)
    semantic = engine.semantic_folder != "semantic/legacy" and name == "net_revenue"
    own, others = ({uid: found for uid, found in side.items() if not (semantic and is_of_semantic_layer(uid))} for side in (own, others))
    assert own == others


def is_of_semantic_layer(uid: str) -> bool:
    """What stands in the worked example's two semantic folders, of which 1.12 reads the newer."""
    return uid.startswith(("metric.", "semantic_model.")) or uid.split(".")[2] in ("booked_orders", "paid_orders")


@pytest.mark.parametrize("name", PLACES)
def test_dbt_core_1_12_and_dbt_2_give_the_same_hashes(build_of, engine, name):
    if engine.name != "dbt 2" or "Core 1.12" not in CHOSEN:
        pytest.skip("compared are dbt Core 1.12 and dbt 2")
    own, others = hashes(build_of("dbt 2"), name), hashes(build_of("Core 1.12"), name)
    in_both = {uid for uid in others if uid in own}
    assert {uid for uid in in_both if own[uid] != others[uid]} <= OF_CORE
    assert {uid.split(".")[0] for uid in others.keys() - in_both} <= {"operation", "analysis", *(() if name == "net_revenue" else ("metric", "semantic_model", "saved_query"))}
    if name == "net_revenue":
        assert sum(is_of_semantic_layer(uid) for uid in in_both) > 9
