"""Real artifacts, loaded: every resource is there, and the questions answer; what cannot be read changes nothing."""

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from conftest import shared_build
from dbt_provenance.capture.dbt_command import DbtProject
from dbt_provenance.cli import main

SECTIONS = (
    "nodes",
    "sources",
    "exposures",
    "groups",
    "metrics",
    "semantic_models",
    "saved_queries",
    "functions",
    "unit_tests",
    "docs",
)
"""The sections of a manifest that hold resources; all but docs say the type of each."""

FILES = {
    "projects.duckdb": (
        "jaffle_shop_duckdb",
        "fivetran_quickbooks",
        "fivetran_salesforce_source",
        "tuva",
        "sl_llm_benchmark",
        "dbt_bouncer/dbt_110",
    ),
    "bouncer_111.duckdb": ("dbt_bouncer/dbt_111",),
    "bouncer_112.duckdb": ("dbt_bouncer/dbt_112",),
    "bouncer_20.duckdb": ("dbt_bouncer/dbt_20",),
}
"""What is loaded together: one run of dbt a file. One project under several releases of dbt goes into files of its own."""

CORPORA = [(file, folder) for file, folders in FILES.items() for folder in folders]
RAW = "provenance_internal.prov_raw_resources"
EXAMPLE = Path(__file__).parent / "data" / "artifacts" / "built_project"


def load(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["load", *map(str, arguments)])


def answered(file: Path, *arguments: str) -> list[dict]:
    finished = CliRunner().invoke(main, [*arguments, "--json", "--database", str(file), "--principal", "reader"])
    assert finished.exit_code == 0, finished.output
    return json.loads(finished.stdout)


def rows(file: Path, sql: str, *values: object) -> list[tuple]:
    with duckdb.connect(str(file), read_only=True) as connection:
        return connection.execute(sql, values).fetchall()


def open_counts(file: Path, project_name: str) -> Counter:
    return Counter(
        dict(
            rows(
                file,
                f"""
                select resource_type, count(*)
                from (
                    select * from {RAW} where project_name = ?
                    qualify row_number() over (partition by unique_id order by raw_id desc) = 1
                )
                where change_kind = 'open' and resource_type <> 'catalog'
                group by 1
                """,
                project_name,
            )
        )
    )


def manifest_counts(manifest: dict) -> Counter:
    return Counter(
        "doc" if section == "docs" else resource["resource_type"]
        for section in SECTIONS
        for resource in manifest.get(section, {}).values()
    )


def manifest_of(folder: Path) -> dict:
    packed = folder / "manifest.json.gz"
    return json.loads(gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / "manifest.json").read_bytes())


@pytest.fixture(scope="session")
def loaded(shared_folder: Path, tmp_path_factory, worker) -> Path:
    """A folder with the files of FILES, each loaded by the command and open to `reader`."""

    def make(folder: Path) -> None:
        for file, folders in FILES.items():
            paths = [shared_folder / "corpora" / path for path in folders]
            finished = load(*paths, "--into", folder / file, "--allow", "everyone", "--principal", "reader")
            assert finished.exit_code == 0, finished.output

    return shared_build(tmp_path_factory, worker, "loaded", make)


@pytest.mark.parametrize(("file", "folder"), CORPORA)
def test_each_resource_type_has_the_manifests_count(loaded: Path, shared_folder: Path, file: str, folder: str) -> None:
    manifest = manifest_of(shared_folder / "corpora" / folder)
    assert open_counts(loaded / file, manifest["metadata"]["project_name"]) == manifest_counts(manifest)


@pytest.mark.parametrize(("file", "folder"), CORPORA)
def test_resolve_search_and_trace_answer_on_each(loaded: Path, shared_folder: Path, file: str, folder: str) -> None:
    manifest = manifest_of(shared_folder / "corpora" / folder)
    models = [node for node in manifest["nodes"].values() if node["resource_type"] == "model"]
    entities = [*models, *manifest["metrics"].values()]
    described = next(entity for entity in entities if entity["description"])
    derived = next(entity for entity in entities if entity["depends_on"]["nodes"])
    resolved = answered(loaded / file, "resolve", described["unique_id"])
    assert (resolved["outcome"], resolved["definition_text"]) == ("resolved", described["description"])
    assert answered(loaded / file, "search", described["name"])[0]["rank"] == 1
    upstream = {row["upstream_id"] for row in answered(loaded / file, "trace", derived["unique_id"], "--max-depth", "1")}
    assert upstream >= set(derived["depends_on"]["nodes"])


def test_an_erasure_in_a_loaded_file_needs_no_project(loaded: Path, tmp_path: Path) -> None:
    file = shutil.copy(loaded / "bouncer_20.duckdb", tmp_path / "copy.duckdb")
    row = answered(file, "search", "customers")[0]
    finished = CliRunner().invoke(main, ["erase", row["entity_id"], "--database", str(file)])
    assert finished.exit_code == 0 and finished.stdout.startswith(f"erased {row['entity_id']}, ")
    assert answered(file, "resolve", row["entity_id"])["outcome"] == "not_found_or_not_authorized"


def test_a_stranger_sees_nothing_of_it(loaded: Path) -> None:
    asked = ["search", "orders", "--json", "--principal", "stranger", "--database", str(loaded / "projects.duckdb")]
    assert json.loads(CliRunner().invoke(main, asked).stdout) == []


# What follows needs no dbt: only what reaches the raw relations is looked at.


@pytest.fixture
def without_build(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        def require(self, remark: str = "") -> "Ended":
            return self

    monkeypatch.setattr(DbtProject, "run", lambda *_, **__: Ended())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small target folder that a test may change."""
    return shutil.copytree(EXAMPLE, tmp_path / "target")


def rewritten(folder: Path, generated_at: str, description: str | None) -> None:
    """The folder's manifest as dbt would write it at that time, with its first node described so, or gone."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["metadata"] |= {"generated_at": generated_at, "invocation_id": f"parse at {generated_at}"}
    unique_id = min(manifest["nodes"])
    if description is None:
        del manifest["nodes"][unique_id]
    else:
        manifest["nodes"][unique_id]["description"] = description
    (folder / "manifest.json").write_text(json.dumps(manifest))


def captured(file: Path) -> list[tuple]:
    return rows(
        file,
        f"select raw_id, unique_id, change_kind, json_extract_string(document, '$.description'), recorded_at_utc from {RAW} order by raw_id",
    )


def test_loading_again_adds_nothing(without_build: None, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    assert load(folder, "--into", file).exit_code == 0
    before = captured(file), rows(file, "select count(*) from provenance_internal.prov_raw_run_results")
    again = load(folder, "--into", file)
    assert "nothing changed" in again.stdout and "Nobody may see anything of it yet" in again.stdout
    assert (captured(file), rows(file, "select count(*) from provenance_internal.prov_raw_run_results")) == before


def test_an_older_manifest_changes_no_definition_unless_history_is_asked_for(
    without_build: None, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "a.duckdb"
    rewritten(folder, "2024-02-01T00:00:00Z", "newer")
    load(folder, "--into", file)
    before = captured(file)
    rewritten(folder, "2024-01-01T00:00:00Z", "older")
    finished = load(folder, "--into", file)
    assert finished.exit_code == 0 and "older than what was loaded" in finished.stdout
    assert captured(file) == before
    refused = load(folder, "--into", file, "--history")
    assert refused.exit_code == 2 and "oldest first" in refused.stderr and refused.stderr.count("\n") == 1
    assert captured(file) == before
    rewritten(folder, "2024-03-01T00:00:00Z", None)
    load(folder, "--into", file)
    assert [row[2] for row in captured(file)[len(before) :]] == ["close"]


def test_history_is_recorded_as_of_when_it_was_written_whatever_the_order_named(
    without_build: None, folder: Path, tmp_path: Path
) -> None:
    written = []
    for month, description in [("03", "third"), ("01", "first"), ("02", "second")]:
        rewritten(folder, f"2024-{month}-01T00:00:00Z", description)
        written.append(shutil.copytree(folder, tmp_path / month))
    file = tmp_path / "a.duckdb"
    assert load(*written, "--into", file, "--history").exit_code == 0
    unique_id = min(json.loads((folder / "manifest.json").read_text())["nodes"])
    revisions = [(row[3], row[4].month) for row in captured(file) if row[1] == unique_id]
    assert revisions == [("first", 1), ("second", 2), ("third", 3)]


def test_one_project_under_four_releases_of_dbt_ends_as_the_last(
    without_build: None, shared_folder: Path, tmp_path: Path
) -> None:
    folders = [shared_folder / "corpora" / "dbt_bouncer" / release for release in ("dbt_20", "dbt_110", "dbt_112", "dbt_111")]
    assert load(*folders, "--into", tmp_path / "a.duckdb", "--history").exit_code == 0
    assert open_counts(tmp_path / "a.duckdb", "dbt_bouncer_test_project") == manifest_counts(manifest_of(folders[0]))


def test_files_named_one_by_one_are_one_set(without_build: None, folder: Path, tmp_path: Path) -> None:
    load(folder, "--into", tmp_path / "folder.duckdb")
    load(*sorted(folder.glob("*.json")), "--into", tmp_path / "files.duckdb")
    counts = "select (select count(*) from {0}.prov_raw_resources), (select count(*) from {0}.prov_raw_run_results), (select count(*) from {0}.prov_raw_freshness)"
    both = [rows(tmp_path / name, counts.format("provenance_internal")) for name in ("folder.duckdb", "files.duckdb")]
    assert both[0] == both[1] and min(both[0][0]) > 0


def test_a_policy_holds_until_another_is_given(without_build: None, folder: Path, tmp_path: Path) -> None:
    file, policy = tmp_path / "a.duckdb", tmp_path / "policy.yml"
    kept = "select policy_json from provenance_internal.prov_load_policy"
    load(folder, "--into", file, "--allow", "a", "--allow", "b", "--principal", "p")
    members = json.loads(rows(file, kept)[0][0])["principals"]
    assert members == [{"principal": "p", "group_name": "a"}, {"principal": "p", "group_name": "b"}]
    assert "Nobody may see" not in load(folder, "--into", file).stdout
    policy.write_text(
        "principals: [{principal: q, group_name: g}]\npolicies: [{applies_to: path, pattern: 'models/*', allow: [g]}]\n"
    )
    load(folder, "--into", file, "--policy", policy)
    load(folder, "--into", file)
    assert json.loads(rows(file, kept)[0][0])["principals"] == [{"principal": "q", "group_name": "g"}]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--allow", "g"], "--principal P belong together"),
        (["--principal", "p"], "--principal P belong together"),
        (["--policy", "nowhere.yml"], "nowhere.yml cannot be read"),
        (["--policy", "policy.yml", "--allow", "g", "--principal", "p"], "leave --allow and --principal out"),
    ],
)
def test_half_a_policy_is_refused(without_build: None, folder: Path, tmp_path: Path, options: list[str], said: str) -> None:
    finished = load(folder, "--into", tmp_path / "a.duckdb", *options)
    assert finished.exit_code == 2 and said in finished.stderr and not (tmp_path / "a.duckdb").exists()


@pytest.mark.parametrize(
    "policy",
    [
        "- a list",
        "rules: []",
        "policies: {a: b}",
        "policies: [{pattern: x}]",
        "principals: [{name: x}]",
        "policies: [text]",
        "policies: [",
    ],
)
def test_a_policy_with_what_would_be_passed_over_is_refused(
    without_build: None, folder: Path, tmp_path: Path, policy: str
) -> None:
    (tmp_path / "policy.yml").write_text(policy)
    finished = load(folder, "--into", tmp_path / "a.duckdb", "--policy", tmp_path / "policy.yml")
    assert finished.exit_code == 2 and finished.stderr.count("\n") == 1 and not (tmp_path / "a.duckdb").exists()


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda folder: shutil.rmtree(folder), 3, "No dbt artifact at"),
        (lambda folder: (folder / "manifest.json").unlink(), 3, "project"),
        (lambda folder: (folder / "manifest.json").write_text("{"), 3, "not whole JSON"),
        (lambda folder: (folder / "manifest.json").write_text((folder / "manifest.json").read_text()[:-99]), 3, "not whole JSON"),
        (lambda folder: (folder / "run_results.json").write_text("[]"), 3, "none of dbt's"),
        (
            lambda folder: (folder / "manifest.json").write_text(
                (folder / "manifest.json").read_text().replace("manifest/v12", "manifest/v99")
            ),
            3,
            "version 99",
        ),
    ],
)
def test_what_cannot_be_read_changes_nothing(
    without_build: None, folder: Path, tmp_path: Path, change, code: int, said: str
) -> None:
    file = tmp_path / "a.duckdb"
    load(folder, "--into", file)
    before = captured(file)
    change(folder)
    finished = load(folder, "--into", file)
    assert (finished.exit_code, finished.stderr.count("\n")) == (code, 1) and said in finished.stderr
    assert captured(file) == before


def test_a_projects_own_warehouse_is_not_loaded_into(without_build: None, folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    load(folder, "--into", file)
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"update {RAW} set target_name = 'dev'")
    finished = load(folder, "--into", file)
    assert finished.exit_code == 2 and "is the warehouse of a dbt project (target dev)" in finished.stderr


def test_a_file_that_cannot_be_made_is_said(without_build: None, folder: Path, tmp_path: Path) -> None:
    finished = load(folder, "--into", tmp_path / "no" / "such" / "folder" / "a.duckdb")
    assert finished.exit_code == 5 and finished.stderr.count("\n") == 1


def test_without_dbt_duckdb_one_sentence_says_how_to_get_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.metadata import PackageNotFoundError

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("dbt_provenance.capture.load.version", missing)
    finished = load(folder, "--into", tmp_path / "a.duckdb")
    assert (
        finished.exit_code == 7 and "pip install 'dbt_provenance[load]'" in finished.stderr and finished.stderr.count("\n") == 1
    )
    assert not (tmp_path / "a.duckdb").exists()
