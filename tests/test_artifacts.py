"""What is read from dbt's artifacts: counts, kept keys, times, and one clear sentence when a file is no good."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest
from dbt_provenance.capture.artifact_files import SECTIONS
from dbt_provenance.capture.artifacts import Artifacts, read_artifacts
from dbt_provenance.capture.canonical import (
    canonical_document,
    canonical_keys,
    canonical_text,
    location_document,
    package_folder,
)
from dbt_provenance.capture.times import utc_from_text
from dbt_provenance.errors import ArtifactError, ArtifactVersionError, ProvenanceError
from hypothesis import given, settings
from hypothesis import strategies as st

DATA = Path(__file__).parent / "data" / "artifacts"
BUILT = DATA / "built_project"
SHARED = Path(os.environ.get("PROVENANCE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
CORPORA = SHARED / "corpora"

needs_corpora = pytest.mark.skipif(
    not CORPORA.is_dir(), reason=f"no corpora at {CORPORA}; PROVENANCE_SHARED names them"
)


def manifests() -> list[Path]:
    return sorted(CORPORA.glob("**/manifest.json.gz")) if CORPORA.is_dir() else []


def documents(path: Path) -> dict[str, dict[str, Any]]:
    return {row.unique_id: json.loads(row.document) for row in read_artifacts(path).resource_rows()}


def written(folder: Path, manifest: Any, name: str = "manifest.json") -> Path:
    file = folder / name
    file.write_bytes(manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode())
    return file


def manifest_of(*nodes: dict[str, Any], version: int = 12, **top: Any) -> dict[str, Any]:
    schema = f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"
    return {
        "metadata": {"dbt_schema_version": schema, "project_name": "shop"},
        "nodes": {node["unique_id"]: node for node in nodes},
        **top,
    }


def model(**keys: Any) -> dict[str, Any]:
    return {"unique_id": "model.shop.m", "resource_type": "model", "name": "m", "package_name": "shop", **keys}


# --- counts ---------------------------------------------------------------------------------------------------------


@needs_corpora
@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.parent.name)
def test_resources_by_type_are_exactly_the_manifests(path: Path) -> None:
    manifest = json.loads(gzip.decompress(path.read_bytes()))
    expected = Counter(
        resource["resource_type"] for section in SECTIONS for resource in manifest.get(section, {}).values()
    )
    rows = read_artifacts(path).resource_rows()
    assert Counter(row.resource_type for row in rows) == expected
    assert len({row.unique_id for row in rows}) == len(rows)
    assert {row.project_name for row in rows} == {manifest["metadata"]["project_name"]}


@needs_corpora
@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.parent.name)
def test_no_document_holds_code_or_paths(path: Path) -> None:
    forbidden = {
        "raw_code",
        "compiled_code",
        "path",
        "original_file_path",
        "checksum",
        "created_at",
        "unrendered_config",
    }
    for document in documents(path).values():
        assert not forbidden & document.keys()


# --- one document, whatever engine ----------------------------------------------------------------------------------


def test_one_project_gives_the_same_documents_on_dbt_core_and_dbt_2() -> None:
    core, dbt2 = documents(DATA / "manifest_dbt_1_11.json"), documents(DATA / "manifest_dbt_2_rc196.json")
    assert core.keys() == dbt2.keys()
    # dbt Core applies the folder configs of models: to groups and analyses as well; dbt 2 does not.
    only_core = {"group.probe.g1": {"meta"}, "analysis.probe.an": {"meta", "tags"}}
    for unique_id, document in core.items():
        known = only_core.get(unique_id, set())
        assert {k: v for k, v in document.items() if k not in known} == {
            k: v for k, v in dbt2[unique_id].items() if k not in known
        }, unique_id
    assert dbt2["group.probe.g1"]["meta"] == {"gm": 1}


@needs_corpora
def test_dbt_1_10_and_1_11_give_the_same_documents() -> None:
    folder = CORPORA / "dbt_bouncer"
    assert documents(folder / "dbt_110" / "manifest.json.gz") == documents(folder / "dbt_111" / "manifest.json.gz")


SEMANTIC = ("metric", "semantic_model")
CONTENT_DIFFERS_112_20 = {
    "model.dbt_bouncer_test_project.py_order_stats",  # disabled on dbt 2
    "test.dbt_bouncer_test_project.not_null_py_order_stats_order_id.c5cf82f56b",
    "test.dbt_bouncer_test_project.unique_py_order_stats_order_id.f3facdd241",
    "doc.dbt.__overview__",  # the engine's own page
}


@needs_corpora
def test_dbt_1_12_and_2_give_the_same_documents_where_the_project_is_the_same() -> None:
    folder = CORPORA / "dbt_bouncer"
    core, dbt2 = (documents(folder / name / "manifest.json.gz") for name in ("dbt_112", "dbt_20"))
    compared = [
        unique_id
        for unique_id in core
        if unique_id not in CONTENT_DIFFERS_112_20
        and not unique_id.startswith(SEMANTIC)
        and not unique_id.startswith("unit_test.dbt_bouncer_test_project.customers.")  # ids of versions differ
    ]
    assert len(compared) > 100
    assert {unique_id: core[unique_id] for unique_id in compared} == {
        unique_id: dbt2.get(unique_id) for unique_id in compared
    }


# --- the rules of the canonical document ----------------------------------------------------------------------------

RULES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("empty values go", model(description="", tags=[], group=None, meta={}), {}),
    ("empty inside goes, and what became empty", model(meta={"a": {"b": [None, ""]}, "c": 0}), {"meta": {"c": 0}}),
    ("false and zero stay", model(meta={"a": False, "b": 0}), {"meta": {"a": False, "b": 0}}),
    ("defaults go", model(access="protected", config={"contract": {"enforced": False, "alias_types": True}}), {}),
    ("defaults count outside meta only", model(meta={"access": "protected"}), {"meta": {"access": "protected"}}),
    ("an empty allow list stays", model(meta={"provenance_allow": []}), {"meta": {"provenance_allow": []}}),
    ("a null deny stays", model(config={"meta": {"provenance_deny": None}}), {"meta": {"provenance_deny": None}}),
    ("config.meta comes first", model(meta={"a": 1}, config={"meta": {"a": 1, "b": 2}}), {"meta": {"a": 1, "b": 2}}),
    (
        "a differing top-level meta is told",
        model(meta={"a": 1, "b": 2, "c": 3}, config={"meta": {"a": 1, "b": 9}}),
        {"meta": {"a": 1, "b": 9}, "meta_top": {"b": 2, "c": 3}},
    ),
    ("one line end of a meta text goes", model(meta={"a": "x\n\n"}), {"meta": {"a": "x\n"}}),
    ("a description is kept byte for byte", model(description=" x\n"), {"description": " x\n"}),
    ("tags are a set", model(tags=["b", "a", "b"]), {"tags": ["a", "b"]}),
    (
        "depends_on is a set of nodes",
        model(depends_on={"nodes": ["b", "a", "a"], "macros": ["x"]}),
        {"depends_on": ["a", "b"]},
    ),
    ("versions are text", model(version=2, latest_version=1.5), {"version": "2", "latest_version": "1.5"}),
    ("version 0 is a version", model(version=0), {"version": "0"}),
    (
        "a deprecation date is a date",
        model(deprecation_date="2026-01-01T00:00:00+09:00"),
        {"deprecation_date": "2026-01-01"},
    ),
    (
        "a group may stand in config",
        model(config={"group": "g", "access": "public"}),
        {"group": "g", "access": "public"},
    ),
    (
        "grants stay",
        model(config={"grants": {"all privileges": ["a"]}}),
        {"grants": {"all privileges": ["a"]}},
    ),
    ("code and unknown keys go", model(raw_code="select 1", flux=1), {}),
    (
        "an undocumented column stays",
        model(columns={"a.b": {"name": "a.b", "description": ""}}),
        {"columns": {"a.b": {}}},
    ),
    (
        "a column named meta is a column",
        model(columns={"meta": {"name": "meta", "description": "x\n"}}),
        {"columns": {"meta": {"description": "x\n"}}},
    ),
    (
        "what a column repeats of its model goes",
        model(
            meta={"a": 1, "b": 2},
            tags=["t"],
            columns={"c": {"name": "c", "meta": {"a": 1, "b": 3}, "tags": ["t", "u"]}},
        ),
        {"meta": {"a": 1, "b": 2}, "tags": ["t"], "columns": {"c": {"meta": {"b": 3}, "tags": ["u"]}}},
    ),
    (
        "a column's config.meta comes first",
        model(columns={"c": {"name": "c", "meta": {"a": 1}, "config": {"meta": {"provenance_deny": ["x"]}}}}),
        {"columns": {"c": {"meta": {"provenance_deny": ["x"]}}}},
    ),
    ("odd shapes have no keys", model(config=None, meta=7, depends_on=[], columns=[], tags=3), {}),
]


@pytest.mark.parametrize(("resource", "expected"), [rule[1:] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_rule(resource: dict[str, Any], expected: dict[str, Any]) -> None:
    always = {"name": "m", "resource_type": "model", "package_name": "shop"}
    assert canonical_document(resource) == always | expected


def test_a_loaded_at_query_hides_the_field_that_dbt_does_not_use() -> None:
    source = {"resource_type": "source", "name": "t", "loaded_at_field": "ts", "loaded_at_query": "select 1"}
    assert canonical_document(source) == {"resource_type": "source", "name": "t", "loaded_at_query": "select 1"}


def test_parts_of_a_semantic_model_have_the_meta_that_is_their_own() -> None:
    entity = {
        "name": "order",
        "type": "primary",
        "label": None,
        "config": {"meta": {"a": 1, "b": 2}},
        "metadata": {"x": 1},
    }
    document = canonical_document(
        {"resource_type": "semantic_model", "config": {"meta": {"a": 1}}, "entities": [entity], "measures": [None]}
    )
    assert document["entities"] == [{"name": "order", "type": "primary", "meta": {"b": 2}}]
    assert "measures" not in document


def test_what_dbt_2_says_twice_is_said_once() -> None:
    week = {"count": 7, "granularity": "day"}
    simple = {"expr": "amount", "metric_aggregation_params": {"agg": "sum", "expr": "amount"}}
    cumulative = {"window": week, "grain_to_date": "month", "cumulative_type_params": {"window": week}}
    kept = [canonical_document({"resource_type": "metric", "type_params": one})["type_params"] for one in (simple, cumulative)]
    assert kept == [{"expr": "amount", "metric_aggregation_params": {"agg": "sum"}}, {"grain_to_date": "month", "cumulative_type_params": {"window": week}}]
    dimensions = [{"name": "day", "expr": "day"}, {"name": "day", "expr": "date(at)"}]
    document = canonical_document({"resource_type": "semantic_model", "dimensions": dimensions})
    assert document["dimensions"] == [{"name": "day"}, {"name": "day", "expr": "date(at)"}]


def test_what_dbt_2_says_of_exposures_and_semantic_models_is_read_as_dbt_core_says_it(tmp_path: Path) -> None:
    exposure = {"unique_id": "exposure.shop.page", "resource_type": "exposure", "package_name": "shop", "name": "page", "depends_on": {"nodes": ["model.shop.m"]}, "metrics": [["paid"], ["other", "sum"], ["lost"]]}
    measures = [{"name": "paid", "create_metric": True}, {"name": "own"}]
    top = {
        "exposures": {"exposure.shop.page": exposure},
        "metrics": {uid: {"unique_id": uid, "resource_type": "metric", "name": uid.rsplit(".", 1)[1]} for uid in ("metric.shop.paid", "metric.other.sum")},
        "semantic_models": {"semantic_model.shop.s": {"resource_type": "semantic_model", "name": "s", "measures": measures}},
    }
    for version, nodes, kept in (("2.0.0", ["metric.other.sum", "metric.shop.paid", "model.shop.m"], ["own"]), ("1.12.0", ["model.shop.m"], ["paid", "own"])):
        manifest = manifest_of(**top)
        manifest["metadata"]["dbt_version"] = version
        found = documents(written(tmp_path, manifest))
        assert found["exposure.shop.page"]["depends_on"] == nodes
        assert [one["name"] for one in found["semantic_model.shop.s"]["measures"]] == kept


def test_a_freshness_object_without_counts_is_no_policy() -> None:
    nothing = {"count": None, "period": None}
    source = {"resource_type": "source", "name": "t", "freshness": {"warn_after": nothing, "error_after": nothing}}
    assert canonical_document(source) == {"resource_type": "source", "name": "t"}


def test_kept_keys_are_a_literal_for_jinja_too() -> None:
    text = (package_folder() / "macros" / "capture" / "canonical_keys.sql").read_text()
    returned: list[Any] = []
    module = jinja2.Environment(extensions=["jinja2.ext.do"]).from_string(
        text, globals={"return": lambda value: returned.append(value) or ""}
    )
    module.make_module().canonical_keys()  # type: ignore[attr-defined]
    assert returned == [canonical_keys()]


def test_location_starts_at_the_package_and_has_forward_slashes() -> None:
    resource = {
        "package_name": "p",
        "original_file_path": "dbt_packages\\p\\models\\x.sql",
        "checksum": {"checksum": "c"},
    }
    assert location_document(resource) == {"package_name": "p", "original_file_path": "models/x.sql", "checksum": "c"}
    assert location_document({"original_file_path": "dbt_packages/p/models/w\\5.sql"}) == {"original_file_path": "models/w\\5.sql"}


# --- hostile text ---------------------------------------------------------------------------------------------------

DUCKDB = duckdb.connect()
HOSTILE = [
    'O\'Reilly "x" \\U0001 C:\\Users\\w5 80% %s {{ x }} {% raw %} {# c #} 😀',
    "$$; drop table x; --",
    "\x00\x01\x1f\x7f\u2028\u202e",
    "مرحبا שלום हिन्दी 日本語",
    "\\ud800 \\n \\",
]
texts = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"])))
values = st.recursive(
    st.one_of(texts, st.integers(-(2**70), 2**70), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(description=texts, tag=texts, key=texts, value=values, column=texts)
def test_hostile_text_comes_back_from_the_warehouse_byte_for_byte(
    description: str, tag: str, key: str, value: Any, column: str
) -> None:
    resource = model(
        description=description,
        tags=[tag],
        meta={"provenance_owner": value, f"x{key}": key},
        columns={column: {"name": column, "description": description}},
    )
    document = canonical_document(resource)
    assert document.get("description", "") == description
    escaped = json.dumps(document, sort_keys=True)  # as dbt Core's tojson writes it
    query = "select json(?)::varchar, sha256(json(?)) = sha256(json(?)), json(?) ->> 'description'"
    back, same_hash, read = DUCKDB.execute(query, [*[canonical_text(document)] * 2, escaped, escaped]).fetchone()  # type: ignore[misc]
    assert json.loads(back) == document
    assert same_hash
    assert (read or "") == description


def test_json_that_other_tools_write_does_not_crash(tmp_path: Path) -> None:
    content = (
        b'\xef\xbb\xbf{"metadata": {"dbt_schema_version": "/dbt/manifest/v12.json", "project_name": "shop"}, "nodes": {'
        b'"model.shop.m": {"resource_type": "model", "name": "first", "name": "m", "description": "\\ud83d half \xff",'
        b' "meta": {"nan": NaN, "inf": -Infinity, "big": 1e999, "int": '
        + b"9"
        * 5000
        + b', "u64": 12345678901234567890123,'
        b' "\\udc00": 1}}}}'
    )
    (row,) = read_artifacts(written(tmp_path, content)).resource_rows()
    document = json.loads(row.document)
    row.document.encode("utf-8")
    DUCKDB.execute("select json(?)", [row.document])
    assert document["name"] == "m"
    assert document["description"] == "\ufffd half \ufffd"
    meta = document["meta"]
    assert (meta["nan"], meta["inf"], meta["big"], meta["u64"]) == (
        "NaN",
        "-Infinity",
        "1e999",
        12345678901234567890123,
    )
    assert meta["\ufffd"] == 1


# --- versions, unknown things, files that are no good ---------------------------------------------------------------


@pytest.mark.parametrize("version", [10, 11, 12])
def test_known_versions_load(tmp_path: Path, version: int) -> None:
    assert len(read_artifacts(written(tmp_path, manifest_of(model(), version=version))).resource_rows()) == 1


def test_what_is_not_understood_is_named_and_the_rest_loads(tmp_path: Path) -> None:
    manifest = manifest_of(
        model(flux=1, columns={"c": {"name": "c", "glow": 1}, "d": {"name": "d", "glow": 2}}),
        {"unique_id": "flux.shop.f", "resource_type": "flux", "name": "f", "meta": {"provenance_deny": ["x"]}},
        macros={"macro.shop.x": {"supported_languages": ["javascript"]}},
        new_section={},
    )
    manifest["metadata"]["new_key"] = 1
    artifacts = read_artifacts(written(tmp_path, manifest))
    assert [row.resource_type for row in artifacts.resource_rows()] == ["model", "flux"]
    assert json.loads(artifacts.resource_rows()[1].document)["meta"] == {"provenance_deny": ["x"]}
    assert artifacts.not_understood == (
        "key 'flux' of model",
        "key 'glow' of columns (2)",
        "key 'new_key' of metadata",
        "resource type 'flux'",
        "section 'new_section'",
    )


@needs_corpora
@pytest.mark.parametrize("path", manifests(), ids=lambda path: path.parent.name)
def test_real_manifests_are_understood(path: Path) -> None:
    not_understood = read_artifacts(path).not_understood
    assert [what for what in not_understood if "of columns" not in what] == []  # keys of columns may be the project's


WHOLE = json.dumps(manifest_of(model())).encode()
NO_GOOD: list[tuple[str, bytes | None, type[ProvenanceError], str]] = [
    ("missing", None, ArtifactError, "No dbt artifact at"),
    ("cut short", WHOLE[:-30], ArtifactError, "not whole JSON"),
    ("empty", b"", ArtifactError, "not whole JSON"),
    ("no JSON", b"<html>", ArtifactError, "not whole JSON"),
    ("nested without end", b"[" * 200_000, ArtifactError, "not whole JSON"),
    ("a list", b"[]", ArtifactError, "none of dbt's"),
    ("another JSON", b'{"metadata": {"dbt_schema_version": "x"}}', ArtifactError, "none of dbt's"),
    ("a semantic manifest", b'{"semantic_models": []}', ArtifactError, "none of dbt's"),
    ("gzip cut short", gzip.compress(WHOLE)[:40], ArtifactError, "cannot be read"),
    (
        "v99",
        json.dumps(manifest_of(version=99)).encode(),
        ArtifactVersionError,
        "version 99 of dbt's manifest; known here",
    ),
    ("v9", json.dumps(manifest_of(version=9)).encode(), ArtifactVersionError, "version 9"),
]


@pytest.mark.parametrize(("content", "kind", "says"), [case[1:] for case in NO_GOOD], ids=[case[0] for case in NO_GOOD])
def test_a_file_that_is_no_good_gives_one_clear_sentence(
    tmp_path: Path, content: bytes | None, kind: type[ProvenanceError], says: str
) -> None:
    file = tmp_path / "manifest.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ProvenanceError) as caught:
        read_artifacts(file)
    assert type(caught.value) is kind
    assert caught.value.exit_code == 3
    assert says in caught.value.message
    assert str(file) in caught.value.message
    assert "\n" not in caught.value.message


def test_a_folder_without_artifacts_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="Name a project's target folder"):
        read_artifacts(tmp_path)


def test_a_gzipped_manifest_loads_by_any_name(tmp_path: Path) -> None:
    file = written(tmp_path, gzip.compress(WHOLE), "anything.bin")
    assert len(read_artifacts(file).resource_rows()) == 1


def test_the_project_of_an_older_manifest_is_found_by_its_project_id(tmp_path: Path) -> None:
    nodes = [model(unique_id=f"model.big.{n}", package_name="big") for n in range(3)]
    manifest = manifest_of(model(), *nodes)
    del manifest["metadata"]["project_name"]
    assert read_artifacts(written(tmp_path, manifest)).project_name == "big"
    manifest["metadata"]["project_id"] = hashlib.md5(b"shop").hexdigest()
    assert read_artifacts(written(tmp_path, manifest)).project_name == "shop"


# --- runs, results, catalog, freshness ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built() -> Artifacts:
    return read_artifacts(BUILT)


def test_values_of_vars_and_environment_are_never_kept(built: Artifacts) -> None:
    kept = [*built.resource_rows(), *built.run_rows(), *built.run_result_rows(), *built.freshness_rows()]
    assert "secret-of" in (BUILT / "run_results.json").read_text()
    assert "secret-of" not in repr(kept)


def test_run_and_results_are_read(built: Artifacts) -> None:
    run, freshness = sorted(built.run_rows(), key=lambda row: row.command or "")
    assert (run.command, run.target_name, run.full_refresh, run.is_empty) == ("build", "dev", True, False)
    assert (run.results_total, run.adapter_type, run.project_name) == (6, "duckdb", "jaffle_shop")
    assert run.started_at_utc == datetime(2026, 11, 30, 18, 19, 10, 888388)
    assert (freshness.command, freshness.results_total) == ("freshness", 5)
    results = {row.unique_id: row for row in built.run_result_rows()}
    assert Counter(row.run_status for row in results.values()) == {"success": 3, "pass": 1, "error": 1, "skipped": 1}
    seed = results["seed.jaffle_shop.raw_orders"]
    assert (seed.rows_affected, seed.failures) == (99, None)
    assert seed.started_at_utc and seed.finished_at_utc and seed.started_at_utc < seed.finished_at_utc
    assert results["model.jaffle_shop.orders"].message_text == "Runtime Error"
    assert results["test.jaffle_shop.not_null_customers_customer_id.5c9bf9911d"].failures == 0


@needs_corpora
def test_results_of_docs_generate_are_no_run() -> None:
    artifacts = read_artifacts(CORPORA / "dbt_bouncer" / "dbt_111")
    assert artifacts.run_rows() == [] and artifacts.run_result_rows() == []
    assert "dbt generate" in artifacts.left_out[0]


def test_times_with_nanoseconds_are_cut_to_microseconds() -> None:
    assert utc_from_text("2026-08-20T13:47:12.274457473Z") == datetime(2026, 8, 20, 13, 47, 12, 274457)


def test_the_catalog_gives_types(built: Artifacts) -> None:
    rows = {row.unique_id: row for row in built.resource_rows() if row.resource_type == "catalog"}
    row = rows["catalog.model.jaffle_shop.customers"]
    document = json.loads(row.document)
    assert (row.capture_source, document["node"]) == ("catalog", "model.jaffle_shop.customers")
    assert document["table_type"] == "BASE TABLE"
    assert document["columns"]["customer_id"] == {"type": "INTEGER", "index": 1}


def test_the_recorded_time_of_a_manifest_is_when_dbt_wrote_it(built: Artifacts) -> None:
    assert built.generated_at_utc == datetime(2026, 11, 30, 18, 19, 13, 853986)


def test_one_instant_in_four_spellings() -> None:
    tokyo = timezone(timedelta(hours=9))
    instant = datetime(2025, 6, 1, 9)
    assert utc_from_text("2025-06-01 18:00:00", naive_zone=tokyo) == instant
    assert utc_from_text("2025-06-01T18:00:00+09:00") == instant
    assert utc_from_text("2025-06-01T09:00:00Z") == instant
    with pytest.raises(ValueError, match="not a time"):
        utc_from_text("2025-06-01T09:00:00+00:00Z")


@pytest.mark.parametrize(
    "text", ["2025-02-30", "2025-13-01T00:00:00Z", "yesterday", "0001-01-01T00:00:00+09:00", 17, []]
)
def test_what_is_no_time_is_refused(text: Any) -> None:
    with pytest.raises(ValueError):
        utc_from_text(text)


def test_freshness_observations(built: Artifacts) -> None:
    rows = {row.unique_id.rsplit(".", 1)[1]: row for row in built.freshness_rows()}
    zoned = rows["by_field"]
    assert (zoned.max_loaded_at_utc, zoned.observed_status) == (datetime(2025, 6, 1, 9), "warn")
    assert (zoned.age_seconds, zoned.observation_method) == (10800.0, "loaded_at_field")
    assert (zoned.warn_after_count, zoned.warn_after_period, zoned.error_after_count) == (2, "hour", 6)
    assert zoned.filter_text == "day > '2025-01-01'"
    doubled = rows["by_query"]
    assert (doubled.observed_status, doubled.max_loaded_at_utc, doubled.age_seconds) == ("parse error", None, None)
    assert doubled.error_text == "max_loaded_at: 2025-06-01T09:00:00+00:00Z"
    assert doubled.observation_method == "loaded_at_query"
    no_rows = rows["by_metadata"]
    assert (no_rows.max_loaded_at_utc, no_rows.age_seconds) == (None, None)
    assert (no_rows.observation_method, no_rows.warn_after_count) == ("metadata", None)
    crashed = rows["crashed"]
    assert (crashed.observed_status, crashed.error_text) == ("runtime error", "Catalog Error")
    assert rows["unknown_here"].observation_method == "unknown"


def test_a_naive_observation_is_in_the_zone_that_is_named(built: Artifacts) -> None:
    rows = {row.unique_id: row for row in built.freshness_rows(naive_zone=timezone(timedelta(hours=9)))}
    assert rows["source.jaffle_shop.pay.unknown_here"].max_loaded_at_utc == datetime(2025, 6, 1, 9)
