"""`refresh` adds what Jinja cannot see: once, only what changed, and closes only what it can see is gone."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from conftest import dbt
from dbt_provenance.capture.append import Scope, append_resources
from dbt_provenance.capture.artifacts import read_artifacts
from dbt_provenance.cli import main
from dbt_provenance.warehouse.duckdb_connection import open_warehouse
from dbt_provenance.warehouse.profiles import read_target


@pytest.fixture(scope="module")
def built(net_revenue: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the worked example, built and refreshed, that this module changes step by step."""
    project = tmp_path_factory.mktemp("refresh") / "net_revenue"
    shutil.copytree(net_revenue, project, symlinks=True)
    return project


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "net_revenue"
    shutil.copytree(built, folder, symlinks=True)
    return folder


def refresh(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["refresh", "--project-dir", str(project), "--profiles-dir", str(project), *arguments])


def refreshed(project: Path, *arguments: str) -> dict:
    finished = refresh(project, "--json", *arguments)
    assert finished.exit_code == 0, finished.output
    return json.loads(finished.stdout)


def rows(project: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(project / "net_revenue.duckdb"), read_only=True) as connection:
        return connection.execute(sql).fetchall()


RAW = "provenance_internal.prov_raw_resources"

SENTENCE = "A section that is long enough to be a piece of its own. " * 4
NEW_PAGE = f"---\nallow: [analyst]\n---\n# Zarquons\n\n{SENTENCE}\n"


def test_pages_docs_blocks_and_what_no_graph_has_are_captured(built: Path) -> None:
    counts = dict(rows(built, f"select resource_type, count(*) from {RAW} where capture_source <> 'graph' group by 1"))
    manifest = json.loads((built / "target" / "manifest.json").read_text())
    assert counts["page"] == len(list((built / "docs").glob("*.md")))
    assert counts["doc"] == len(manifest["docs"])
    assert counts.get("unit_test", 0) == len(manifest["unit_tests"])


def test_what_the_graph_gave_is_equal_in_the_manifest(project: Path) -> None:
    target = read_target(project, project, environ={})
    scope = Scope(project_name="net_revenue", target_name="dev", target_schema="main", recorded_at=None)  # type: ignore[arg-type]
    resources = read_artifacts(project / "target").resource_rows()
    with open_warehouse(target, read_only=False) as warehouse:
        changes = append_resources(warehouse, resources, scope, whole_types={row.resource_type for row in resources})
    assert changes.total == 0


def test_nothing_changed_adds_nothing_and_runs_no_dbt(project: Path) -> None:
    before = rows(project, f"select count(*) from {RAW}")
    done = refreshed(project)
    assert done["changes"] == {"opened": {}, "closed": {}} and done["rebuilt"] is False
    assert rows(project, f"select count(*) from {RAW}") == before


def test_a_changed_a_new_and_a_deleted_page_are_three_rows_and_searched_at_once(project: Path) -> None:
    (project / "docs" / "revenue_wiki.md").unlink()
    draft = project / "docs" / "net_revenue_draft.md"
    draft.write_text(draft.read_text() + "\nChargebacks are called zarquons here.\n")
    (project / "docs" / "new.md").write_text(f"{NEW_PAGE}\n# Others\n\n{SENTENCE}\n")
    (project / "docs" / "plain.md").write_text("No front matter, no page.\n")
    finished = refresh(project)
    assert finished.stdout == "2 page, 2 page_piece, 1 page gone; the package's models are built\n"
    searched = ["search", "zarquons", "--principal", "analyst", "--json", "--database", str(project / "net_revenue.duckdb")]
    found = json.loads(CliRunner().invoke(main, searched).stdout)
    assert {row["entity_id"] for row in found} == {"metric.net_revenue.net_revenue", "doc.net_revenue.new"}
    (project / "docs" / "new.md").write_text(NEW_PAGE)
    assert refresh(project).stdout.startswith("1 page, 2 page_piece gone;")
    assert rows(project, f"select unique_id from {RAW} where change_kind = 'close' and resource_type = 'page'") == [
        ("page.net_revenue.docs/revenue_wiki.md",)
    ]


def test_a_catalog_of_a_selection_closes_no_other_types(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_provenance.capture.dbt_command.DbtProject.run", lambda *_, **__: _Ended())
    catalog = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json", "dbt_version": "1.11.0"},
        "nodes": {
            node: {"metadata": {"type": "BASE TABLE"}, "columns": {"a": {"type": "INTEGER", "index": 1}}}
            for node in ("model.net_revenue.stg_orders", "model.net_revenue.fct_orders.v2", "model.net_revenue.was_removed")
        },
        "sources": {},
    }
    written = project / "target" / "catalog.json"
    written.write_text(json.dumps(catalog))
    assert refreshed(project)["changes"]["opened"] == {"catalog": 3}
    catalog["nodes"] = {"model.net_revenue.stg_orders": catalog["nodes"]["model.net_revenue.stg_orders"]}
    written.write_text(json.dumps(catalog))
    assert refreshed(project)["changes"] == {"opened": {}, "closed": {"catalog": 1}}
    written.unlink()
    assert refreshed(project)["changes"] == {"opened": {}, "closed": {}}


def test_observations_are_added_once_and_never_beside_the_hooks_own(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_provenance.capture.dbt_command.DbtProject.run", lambda *_, **__: _Ended())
    dbt(project, "source", "freshness", check=False)
    recorded = rows(project, "select count(*) from provenance_internal.prov_raw_freshness")
    assert refreshed(project)["observations"] == 0
    sources = json.loads((project / "target" / "sources.json").read_text())
    sources["metadata"]["invocation_id"] = "measured elsewhere"
    (project / "target" / "sources.json").write_text(json.dumps(sources))
    assert refreshed(project)["observations"] == len(sources["results"]) > 0
    assert refreshed(project)["observations"] == 0
    total = rows(project, "select count(*) from provenance_internal.prov_raw_freshness")
    assert total[0][0] == recorded[0][0] + len(sources["results"])


def test_a_section_that_the_engine_did_not_give_is_taken_from_the_manifest(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbt_provenance.capture.dbt_command.DbtProject.run", lambda *_, **__: _Ended())
    with duckdb.connect(str(project / "net_revenue.duckdb")) as connection:
        connection.execute(f"delete from {RAW} where resource_type = 'metric'")
    manifest = json.loads((project / "target" / "manifest.json").read_text())
    assert refreshed(project)["changes"] == {"opened": {"metric": len(manifest["metrics"])}, "closed": {}}
    del manifest["metrics"]["metric.net_revenue.refunds"]
    (project / "target" / "manifest.json").write_text(json.dumps(manifest))
    assert refreshed(project)["changes"] == {"opened": {}, "closed": {"metric": 1}}
    manifest["metrics"] = {}
    manifest["metadata"]["dbt_version"] = "2.0.0"
    (project / "target" / "manifest.json").write_text(json.dumps(manifest))
    assert refreshed(project)["changes"] == {"opened": {}, "closed": {}}


def test_a_failing_dbt_says_so_and_keeps_what_was_captured(project: Path) -> None:
    (project / "docs" / "new.md").write_text("---\nallow: [analyst]\n---\nNew.\n")
    finished = refresh(project, "--", "--no-such-option")
    assert finished.exit_code == 7 and "what was captured is kept" in finished.stderr and "--no-such-option" in finished.stderr
    assert rows(project, f"select count(*) from {RAW} where unique_id = 'page.net_revenue.docs/new.md'") == [(1,)]
    finished = refresh(project, "--dbt", "no-such-program")
    assert finished.exit_code == 7 and "no-such-program is not a program" in finished.stderr


@pytest.mark.parametrize(
    ("file", "text", "code", "said"),
    [
        ("manifest.json", None, 3, "Run `dbt build` first"),
        ("manifest.json", '{"metadata": {', 3, "not whole JSON"),
        (
            "manifest.json",
            '{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v99.json"}}',
            3,
            "version 99",
        ),
        ("catalog.json", "[]", 3, "none of dbt's"),
    ],
)
def test_artifacts_that_cannot_be_read_change_nothing(project: Path, file: str, text: str | None, code: int, said: str) -> None:
    before = rows(project, f"select count(*) from {RAW}")
    (project / "target" / file).unlink(missing_ok=True)
    if text:
        (project / "target" / file).write_text(text)
    finished = refresh(project)
    assert finished.exit_code == code and said in finished.stderr and finished.stderr.count("\n") == 1
    assert rows(project, f"select count(*) from {RAW}") == before


class _Ended:
    def require(self, remark: str = "") -> "_Ended":
        return self
