"""What is erased is gone and stays gone; what is revoked is hidden; a lost ledger answers nothing until it is brought back."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from conftest import dbt
from dbt_provenance.cli import main

DRAFT = "default/net_revenue/page.net_revenue.docs/net_revenue_draft.md/draft-2025-02-10/definition"
DRAFT_TEXT = "exclude chargebacks until month-end"
V1_TEXT = "through 2024-12-31 is SUM(order_total_usd)"
V1 = "default/net_revenue/metric.net_revenue.net_revenue_v1/1/definition"


@pytest.fixture
def project(net_revenue: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "net_revenue"
    shutil.copytree(net_revenue, folder, symlinks=True)
    return folder


def run(project: Path, *arguments: str) -> Result:
    place = ["--project-dir", str(project), "--profiles-dir", str(project)]
    return CliRunner().invoke(main, [*arguments, *place], env={"DBT_PROVENANCE_PRINCIPAL": "analyst"})


def ok(project: Path, *arguments: str) -> str:
    finished = run(project, *arguments)
    assert finished.exit_code == 0, finished.output
    return finished.stdout


def outcome(project: Path, *arguments: str) -> str:
    return json.loads(ok(project, "resolve", *arguments, "--json"))["outcome"]


def found(project: Path, query: str) -> set[str]:
    return {row["evidence_id"] for row in json.loads(ok(project, "search", query, "--max-rows", "1000", "--json"))}


def tables_with(project: Path, text: str) -> set[str]:
    """The tables of the whole file in which the text stands."""
    with duckdb.connect(str(project / "net_revenue.duckdb"), read_only=True) as connection:
        tables = connection.execute(
            "select table_schema, table_name from information_schema.tables where table_type = 'BASE TABLE'"
        ).fetchall()
        return {
            name
            for schema, name in tables
            if connection.execute(
                f'select 1 from "{schema}"."{name}" as x where contains(lower(cast(x as varchar)), lower(?)) limit 1', [text]
            ).fetchall()
        }


def execute(project: Path, sql: str) -> None:
    with duckdb.connect(str(project / "net_revenue.duckdb")) as connection:
        connection.execute(sql)


def test_an_erased_page_is_hidden_at_once_gone_and_not_captured_again(project: Path) -> None:
    assert DRAFT in found(project, "chargebacks") and "prov_raw_resources" in tables_with(project, DRAFT_TEXT)
    said = ok(project, "erase", DRAFT, "--reason", "asked for")
    assert said.startswith(f"erased {DRAFT}, 1 captured documents")
    assert DRAFT not in found(project, "chargebacks")
    assert tables_with(project, DRAFT_TEXT) == set()
    # Another front matter over the same body is another document with the same text.
    page = project / "docs" / "net_revenue_draft.md"
    page.write_text(page.read_text().replace("status: draft", "status: approved"))
    ok(project, "refresh")
    dbt(project, "build", "--full-refresh", "--select", "package:dbt_provenance")
    assert tables_with(project, DRAFT_TEXT) == set()
    assert DRAFT not in found(project, "chargebacks")


def test_an_erased_definition_is_not_captured_by_a_build(project: Path) -> None:
    assert tables_with(project, V1_TEXT)
    dbt(project, "run-operation", "erase", "--args", json.dumps({"subject": V1}))
    assert outcome(project, "net_revenue", "--as-of", "2024-06-30") == "not_found_or_not_authorized"
    assert outcome(project, "net_revenue", "--as-of", "2025-03-31") == "resolved"
    # Another label beside the same description is another document with the same text.
    semantic = project / "semantic" / "legacy" / "semantic.yml"
    semantic.write_text(semantic.read_text().replace("label: Net revenue until 2024", "label: Net revenue of old"))
    dbt(project, "build", "--select", "package:dbt_provenance")
    assert tables_with(project, V1_TEXT) == set()
    assert outcome(project, "net_revenue", "--as-of", "2024-06-30") == "not_found_or_not_authorized"


def test_a_revocation_from_a_group_that_nobody_is_in_is_refused(project: Path) -> None:
    finished = dbt(project, "run-operation", "revoke", "--args", json.dumps({"subject": "net_revenue", "group_name": "analysts"}), check=False)
    assert finished.returncode != 0
    assert "nobody is in group analysts, nothing is revoked; the groups are analyst, finance" in finished.stdout


def test_a_revocation_hides_and_nothing_is_removed(project: Path) -> None:
    assert ok(project, "revoke", "metric.net_revenue.net_revenue", "--group", "finance").startswith(
        "revoked metric.net_revenue.net_revenue from group finance"
    )
    assert outcome(project, "net_revenue", "--as-of", "2025-03-31") == "resolved"
    ok(project, "revoke", "net_revenue", "--reason", "in dispute")
    assert outcome(project, "net_revenue", "--as-of", "2025-03-31") == "not_found_or_not_authorized"
    assert "prov_int_evidence" in tables_with(project, "metric.net_revenue.net_revenue_v2/2")


def test_a_subject_that_is_not_there_changes_nothing(project: Path) -> None:
    subject = 'it\'s "nothing" {{ 1 / 0 }} 収益'
    finished = run(project, "erase", subject)
    assert finished.exit_code == 2 and finished.stderr.count("\n") == 1
    assert f"no evidence and no entity is called {subject}" in finished.stderr
    assert "prov_ledger" not in tables_with(project, "erase")


def test_a_lost_ledger_answers_nothing_until_it_is_brought_back(project: Path, tmp_path: Path) -> None:
    execute(
        project,
        "insert into provenance_internal.prov_ledger (ledger_id, ledger_action, entity_id) values (1, 'revoke', 'metric.net_revenue.net_revenue')",
    )
    dumped = tmp_path / "ledger.jsonl"
    ok(project, "ledger", "--dump", str(dumped))
    execute(project, "drop table provenance_internal.prov_ledger")
    for command in (["resolve", "stg_orders"], ["search", "revenue"], ["trace", "stg_orders"], ["status"]):
        finished = run(project, *command)
        assert finished.exit_code == 6 and "ledger --restore FILE" in finished.stderr
    # No build makes it anew open.
    dbt(project, "build", "--select", "package:dbt_provenance")
    assert outcome(project, "stg_orders") == "not_found_or_not_authorized" and found(project, "orders") == set()
    assert "1 entries restored" in ok(project, "ledger", "--restore", str(dumped))
    assert outcome(project, "stg_orders") == "resolved"
    assert outcome(project, "net_revenue", "--as-of", "2025-03-31") == "not_found_or_not_authorized"
    assert "0 entries restored" in ok(project, "ledger", "--restore", str(dumped))
    refused = run(project, "ledger", "--start-empty")
    assert refused.exit_code == 2 and "it was not lost" in refused.stderr
    execute(project, "drop table provenance_internal.prov_ledger")
    ok(project, "ledger", "--start-empty")
    assert outcome(project, "net_revenue", "--as-of", "2025-03-31") == "resolved"


def test_a_restored_ledger_takes_erased_documents_out_of_an_older_copy(project: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.duckdb"
    shutil.copy(project / "net_revenue.duckdb", older)
    ok(project, "erase", DRAFT)
    ok(project, "ledger", "--dump", str(tmp_path / "ledger.jsonl"))
    shutil.copy(older, project / "net_revenue.duckdb")
    assert DRAFT in found(project, "chargebacks")
    ok(project, "ledger", "--restore", str(tmp_path / "ledger.jsonl"))
    assert DRAFT not in found(project, "chargebacks")
    assert "prov_raw_resources" not in tables_with(project, DRAFT_TEXT)


@pytest.mark.parametrize("dump", ["", "no json", '{"ledger_id": 1}', '["erase"]', '{"ledger_action": "erase", "other": 1}'])
def test_what_is_no_dump_restores_nothing(project: Path, tmp_path: Path, dump: str) -> None:
    (tmp_path / "dump").write_text(dump)
    finished = run(project, "ledger", "--restore", str(tmp_path / "dump"))
    assert finished.exit_code == 2 and ("dump` wrote" in finished.stderr or "holds no entry" in finished.stderr)
    assert outcome(project, "net_revenue", "--as-of", "2025-03-31") == "resolved"
