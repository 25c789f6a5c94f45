"""The same project on dbt Core and on dbt 2: green on both, equal documents, one history in one file. And on an adapter that is not known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import copy_project, dbt, shared_build
from engines import postgres_adapter
from test_capture import nested

INTERNAL = "main_provenance_internal"
AS_DUCKDB_1_5_READS = "config_options: {storage_compatibility_version: v1.5.0}"
NOT_IN_DBT2 = {"analysis", "operation", "metric", "semantic_model", "saved_query"}
"""Types of which dbt 2's graph of the small project has nothing: its semantic layer is in YAML that dbt 2 passes over."""
OF_THE_ENGINE = {"group.small.core"}
"""dbt Core gives a group the meta that the project gives to its models."""


def rows(project: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(next(project.glob("*.duckdb"))), read_only=True) as con:
        return con.execute(statement, values).fetchall()


def documents(project: Path) -> dict[str, tuple[str, str, str]]:
    """unique_id -> type, hash and document of what is open, without the package's own resources: those are no evidence."""
    found = rows(
        project,
        f"""select unique_id, resource_type, document_hash, document from {INTERNAL}.prov_raw_resources
        qualify row_number() over (partition by unique_id order by raw_id desc) = 1 and change_kind = 'open'""",
    )
    return {row[0]: row[1:] for row in found if row[0].split(".")[1] != "dbt_provenance"}


def changes(project: Path) -> list[tuple[str, str]]:
    """Every change that was written, in order, without the package's own resources."""
    found = rows(project, f"select unique_id, change_kind from {INTERNAL}.prov_raw_resources order by raw_id")
    return [row for row in found if row[0].split(".")[1] != "dbt_provenance"]


def for_both_engines(project: Path) -> Path:
    """Lets DuckDB 2 write the file so that dbt 2's DuckDB 1.5 opens it."""
    profiles = project / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("threads: 2}", "threads: 2, " + AS_DUCKDB_1_5_READS + "}"))
    return project


@pytest.fixture(scope="module")
def on_both(tmp_path_factory, worker, dbt2) -> tuple[Path, Path]:
    """The small project, built on dbt Core and, in another file, on dbt 2."""

    def make(folder: Path) -> None:
        core = for_both_engines(copy_project("small", folder))
        (core / "models/stg_deep.sql").write_text("select 1 as id")
        (core / "models/stg_deep.yml").write_text(json.dumps({"models": [{"name": "stg_deep", "config": {"meta": {"deep": nested(100)}}}]}))
        shutil.copytree(core, folder / "dbt2/small", symlinks=True)
        dbt(core, "build")
        dbt(folder / "dbt2/small", "build", executable=dbt2)

    folder = shared_build(tmp_path_factory, worker, "engines_build", make)
    return folder / "small", folder / "dbt2/small"


def test_both_engines_build_the_same_relations(on_both):
    listed = "select table_schema, table_name, table_type from information_schema.tables where table_schema like 'main_provenance%'"
    core, dbt2_s = (set(rows(project, listed)) for project in on_both)
    seeds = {(INTERNAL, f"provenance_{name}", "BASE TABLE") for name in ("authority", "groups", "policies", "principals")}
    assert core - dbt2_s == seeds and dbt2_s <= core and len(dbt2_s) > 40
    functions = "select distinct schema_name, function_name from duckdb_functions() where schema_name like 'main_provenance%'"
    assert set(rows(on_both[0], functions)) == set(rows(on_both[1], functions)) != set()


def test_both_engines_write_the_same_documents(on_both):
    core, dbt2_s = map(documents, on_both)
    assert {core[uid][0] for uid in core.keys() - dbt2_s.keys()} == NOT_IN_DBT2 and dbt2_s.keys() <= core.keys()
    different = {uid: (core[uid][2], dbt2_s[uid][2]) for uid in dbt2_s if core[uid][1] != dbt2_s[uid][1]}
    assert different.keys() == OF_THE_ENGINE, different


def test_a_first_build_on_dbt_2_records_its_run(on_both):
    assert rows(on_both[1], f"select command, results_total > 60 from {INTERNAL}.prov_raw_runs") == [("build", True)]


def test_an_unchanged_build_on_dbt_2_writes_no_resource(on_both, dbt2, tmp_path):
    project = Path(shutil.copytree(on_both[1], tmp_path / "small", symlinks=True))
    before = rows(project, f"select count(*) from {INTERNAL}.prov_raw_resources")
    dbt(project, "build", executable=dbt2)
    assert rows(project, f"select count(*) from {INTERNAL}.prov_raw_resources") == before


@pytest.mark.parametrize("first", [0, 1], ids=["Core first", "dbt 2 first"])
def test_a_change_of_engine_closes_nothing_and_opens_no_revision(on_both, dbt2, tmp_path, first):
    project = Path(shutil.copytree(on_both[first], tmp_path / "small", symlinks=True))
    before = changes(project)
    command = ("run", "--select", "stg_events")
    dbt(project, *command, **({"executable": dbt2} if first == 0 else {}))
    added = changes(project)[len(before) :]
    core_alone = {uid for uid, row in documents(on_both[0]).items() if row[0] in NOT_IN_DBT2}
    assert dict(added) == {uid: "open" for uid in OF_THE_ENGINE | (core_alone if first else set())}
    dbt(project, *command, **({"executable": dbt2} if first == 1 else {}))
    assert [change for change in changes(project)[len(before) + len(added) :] if change[0] not in OF_THE_ENGINE] == []


BATCHES = """
{% macro say_batches(marks) %}
    {%- for mark in marks -%}
        {%- set texts = [] -%}
        {%- for number in range(9) -%}{%- do texts.append(tojson({'text': mark * 3000})) -%}{%- endfor -%}
        {%- for batch in dbt_provenance.bounded_batches(texts) -%}
            {%- do log('statement: ' ~ dbt_provenance.insert_staged('prov_seen', batch) | replace('\n', ' '), info=true) -%}
        {%- endfor -%}
    {%- endfor -%}
{% endmacro %}
"""


@pytest.mark.parametrize("engine", [0, 1], ids=["Core", "dbt 2"])
def test_a_statement_is_bounded_in_bytes_not_in_characters(on_both, dbt2, tmp_path, engine):
    project = Path(shutil.copytree(on_both[engine], tmp_path / "small", symlinks=True))
    (project / "macros/batches.sql").write_text(BATCHES)
    operation = ("run-operation", "say_batches", "--args", json.dumps({"marks": ["a", "é", "語", "😀", "'"]}, ensure_ascii=False), "--vars", "provenance_statement_bytes: 40000")
    finished = dbt(project, *operation, **({"executable": dbt2} if engine else {}))
    sizes = [len(line.split("statement: ", 1)[1].encode()) for line in finished.stdout.splitlines() if "statement: " in line]
    assert len(sizes) > 10 and max(sizes) <= 40_000


def test_a_project_on_an_adapter_that_is_not_known_is_parsed_and_left_alone(tmp_path):
    project = copy_project("small", tmp_path)
    profile = {"type": "postgres", "host": "localhost", "port": 1, "user": "u", "password": "p", "dbname": "d", "schema": "s"}
    (project / "profiles.yml").write_text(json.dumps({"small": {"target": "dev", "outputs": {"dev": profile}}}))
    dbt(project, "parse", PYTHONPATH=str(postgres_adapter()))
    nodes = json.loads((project / "target/manifest.json").read_text())["nodes"]
    assert "model.small.stg_events" in nodes
    assert [uid for uid in nodes if uid.startswith(("model.dbt_provenance", "seed.dbt_provenance"))] == []
