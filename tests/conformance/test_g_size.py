"""A large project with long texts: all of it arrives whole, in statements under the bound that is set."""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

import duckdb
import pytest
import yaml
from conftest import ROOT, dbt, shared_build
from engines import Engine

sys.path.append(str(ROOT))
from bench.generate_project import ProjectSize, generate_project  # noqa: E402

FULL, PART = {"models": 1500, "tests": 3000, "long": 400}, {"models": 150, "tests": 300, "long": 40}
"""The whole size in `make test-matrix`, a tenth of it otherwise."""
STATEMENT_BYTES = 20_000
CODE = "select 1 as id /* " + "long code " * 1000 + "*/"
LONGEST = "It's long. " + "x" * 69_970 + " " + "zyzzyva" + "." * 11
MULTIBYTE = "語" * 4_990 + "。猫が好き。" + "語" * 4
TEXTS = {"long_0000": LONGEST, "long_0001": MULTIBYTE}
INTERNAL = "main_provenance_internal"


@pytest.fixture(scope="session")
def size(all_engines) -> dict[str, int]:
    return FULL if all_engines else PART


def make_large_project(folder: Path, engine: Engine, size: dict[str, int]) -> None:
    project = generate_project(folder / "generated", ProjectSize(models=size["models"] - size["long"]), package=ROOT)
    (project / "models/alone.sql").unlink(missing_ok=True)
    for number in range(size["long"]):
        (project / f"models/long_{number:04}.sql").write_text(CODE)
    long = {"models": [{"name": name, "description": text, "columns": []} for name, text in TEXTS.items()]}
    (project / "models/long.yml").write_text(yaml.safe_dump(long, allow_unicode=True))
    add_tests(project, size["tests"])
    dbt(project, "deps", executable=engine.executable)
    dbt(project, "run", "--select", "path:models/long_*", "package:dbt_provenance", "--vars", f"{{provenance_statement_bytes: {STATEMENT_BYTES}}}", executable=engine.executable)


def add_tests(project: Path, wanted: int) -> None:
    """Tests on further columns, until there are as many as wanted."""
    files = {file: yaml.safe_load(file.read_text()) for file in sorted(project.glob("models/area_*/models.yml"))}
    columns = [column for written in files.values() for model in written["models"] for column in model["columns"]]
    there = sum(len(column.get("data_tests", ())) for column in columns)
    for column in [column for column in columns if "data_tests" not in column][: wanted - there]:
        column["data_tests"] = ["not_null"]
    for file, written in files.items():
        file.write_text(yaml.safe_dump(written))


@pytest.fixture(scope="session")
def large(tmp_path_factory, worker, engine, size) -> Path:
    return shared_build(tmp_path_factory, worker, f"large_{engine.slug}", lambda folder: make_large_project(folder, engine, size)) / "generated"


def rows(project: Path, statement: str) -> list[tuple]:
    with duckdb.connect(str(project / "generated.duckdb"), read_only=True) as con:
        return con.execute(statement).fetchall()


def statements(project: Path, engine: Engine) -> list[str]:
    """What dbt says in its log that it sent."""
    log = "\n".join(file.read_text() for file in project.glob("logs/dbt.log*")) if engine.is_core else (project / "logs/query_log.sql").read_text()
    return re.split(r"\n(?:\x1b\[0m)?\d\d:\d\d:\d\d\.\d+ \[" if engine.is_core else r"\n-- created_at", log)


@pytest.mark.case("G1")
def test_every_resource_and_every_result_arrives(large, size):
    stored = dict(rows(large, f"select resource_type, count(*) from {INTERNAL}.prov_raw_resources where change_kind = 'open' and unique_id like '%.generated.%' group by 1"))
    assert (stored["model"], stored["test"]) == (size["models"], size["tests"])
    (found,) = rows(large, f"select count(*), count(distinct unique_id), min(run_status) from {INTERNAL}.prov_raw_run_results where unique_id like 'model.generated.long_%'")
    assert found == (size["long"], size["long"], "success")
    assert rows(large, f"select count(*) from {INTERNAL}.prov_raw_resources where contains(document, 'long code')") == [(0,)]


@pytest.mark.case("G1")
def test_every_statement_that_writes_stays_under_the_bound(large, engine):
    writing = [one for one in statements(large, engine) if re.search(r"(?:insert into|update|delete from) \"?\w*\"?\.?\"?main_provenance_internal\"?\.\"?prov_(?:seen|raw)", one)]
    assert len(writing) > 20
    assert max(len(one.encode()) for one in writing) <= STATEMENT_BYTES
    assert sum("x" * 5_000 in one for one in writing) > 3, "the longest text was sent in pieces"


@pytest.mark.case("G1")
@pytest.mark.parametrize("name", TEXTS)
def test_the_longest_texts_are_whole_with_their_hash_and_searched_to_their_end(large, name):
    stored = rows(large, f"select document ->> 'description', document_hash, sha256(document) from {INTERNAL}.prov_raw_resources where unique_id = 'model.generated.{name}'")
    assert stored == [(TEXTS[name], stored[0][2], stored[0][2])]
    shown = rows(large, f"select definition_text, content_hash from main_provenance.resolve('{name}', principal => 'analyst')")
    (other,) = rows(large, f"select content_hash from {INTERNAL}.prov_int_evidence where entity_id = 'model.generated.{name}' and evidence_type = 'definition'")
    assert shown[0][0] == TEXTS[name] and shown[0][1] == other[0]
    assert hashlib.sha256(TEXTS[name].encode()).hexdigest() == hashlib.sha256(shown[0][0].encode()).hexdigest()
    word = {"long_0000": "zyzzyva", "long_0001": "猫が好き"}[name]
    assert rows(large, f"select distinct entity_id from main_provenance.search('{word}', principal => 'analyst')") == [(f"model.generated.{name}",)]
