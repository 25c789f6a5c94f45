"""Artifact files on each engine: real ones load, new keys of a known version load and are named, an unknown version changes nothing."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from dbt_provenance.capture.artifact_files import resources
from dbt_provenance.cli import main
from engines import Engine

RAW = "provenance_internal.prov_raw_resources"
CORPORA = ("jaffle_shop_duckdb", "sl_llm_benchmark", "fivetran_quickbooks", "fivetran_salesforce_source", "tuva", "dbt_bouncer/dbt_111", "dbt_bouncer/dbt_112", "dbt_bouncer/dbt_20")
SAMPLE = ("jaffle_shop_duckdb", "sl_llm_benchmark")
"""tests/test_load.py loads all of them on Core 1.11; `make test-matrix` on every engine."""


def load(engine: Engine, *arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["load", *map(str, arguments), "--allow", "everyone", "--principal", "reader", "--dbt", str(engine.executable)])


def rows(file: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def manifest_of(folder: Path) -> dict:
    return json.loads(gzip.decompress((folder / "manifest.json.gz").read_bytes()))


def test_real_artifacts_load(engine, shared_folder, tmp_path, all_engines):
    names = CORPORA if all_engines else SAMPLE
    # One project under several releases of dbt goes into files of its own.
    files = {tmp_path / "projects.duckdb": [name for name in names if not name.startswith("dbt_bouncer")]}
    files |= {tmp_path / f"{name.replace('/', '_')}.duckdb": [name] for name in names if name.startswith("dbt_bouncer")}
    for file, loaded in files.items():
        finished = load(engine, *(shared_folder / "corpora" / name for name in loaded), "--into", file)
        assert finished.exit_code == 0, finished.output
        manifests = [manifest_of(shared_folder / "corpora" / name) for name in loaded]
        wanted = Counter(resource["resource_type"] for manifest in manifests for _, resource in resources(manifest))
        stored = Counter(dict(rows(file, f"select resource_type, count(*) from {RAW} where resource_type <> 'catalog' group by 1")))
        assert stored == wanted
        metric = next((resource["name"] for manifest in manifests for resource in manifest.get("metrics", {}).values()), None)
        name = metric or next(resource["name"] for manifest in manifests for resource in manifest["nodes"].values() if resource["resource_type"] == "model")
        assert rows(file, f"select count(*) > 0 from provenance.search('{name}', principal => 'reader')") == [(True,)]


def node(uid: str, **keys: object) -> dict:
    resource_type, package, name = uid.split(".")
    return {"unique_id": uid, "resource_type": resource_type, "package_name": package, "name": name, "original_file_path": "models/x.sql", **keys}


def newer_manifest(version: int = 12) -> dict:
    """A file of a version that is known, from a release of dbt that is not."""
    column = {"name": "c", "description": "A column.", "glow": {"a": 1}}
    nodes = [node("model.shop.orders", description="Orders.", flux=1, columns={"c": column}, config={"flux": 2, "meta": {"provenance_status": "approved"}}), node("flux.shop.flow", description="Flows.")]
    return {
        "metadata": {"dbt_schema_version": f"https://schemas.getdbt.com/dbt/manifest/v{version}.json", "dbt_version": "1.99.0", "project_name": "shop", "generated_at": "2026-01-01T00:00:00Z", "new_key": 1},
        "nodes": {one["unique_id"]: one for one in nodes},
        "sources": {"source.shop.raw.events": {"unique_id": "source.shop.raw.events", "source_name": "raw", "name": "events", "resource_type": "source", "package_name": "shop", "freshness": {"warn_after": {"count": 1, "period": "day", "flux": 3}}}},
        "macros": {"macro.shop.m": {"name": "m", "supported_languages": ["javascript"], "config": {"flux": 4}}},
        "new_section": {"x": {}},
    }  # fmt: skip


def written(folder: Path, manifest: dict) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


@pytest.mark.case("G8")
def test_new_keys_of_a_known_version_load_and_are_named_and_an_unknown_version_changes_nothing(engine, tmp_path):
    file = tmp_path / "loaded.duckdb"
    finished = load(engine, written(tmp_path / "artifacts", newer_manifest()), "--into", file)
    assert finished.exit_code == 0, finished.output
    for what in ("section 'new_section'", "key 'new_key' of metadata", "key 'flux' of model", "key 'glow' of columns", "resource type 'flux'"):
        assert what in finished.output
    states = f"select unique_id, change_kind, document_hash from {RAW} order by raw_id"
    before = rows(file, states)
    assert {row[0] for row in before} == {"model.shop.orders", "flux.shop.flow", "source.shop.raw.events"}
    answered = rows(file, "select outcome, status, definition_text from provenance.resolve('orders', principal => 'reader')")
    assert answered == [("resolved", "approved", "Orders.")]
    whole = file.read_bytes()
    refused = load(engine, written(tmp_path / "artifacts", newer_manifest(99)), "--into", file)
    assert refused.exit_code == 3 and refused.stderr.count("\n") == 1 and "version 99 of dbt's manifest; known here: 10, 11, 12" in refused.stderr
    assert file.read_bytes() == whole and rows(file, states) == before
