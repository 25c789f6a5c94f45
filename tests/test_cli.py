"""The command line on the worked example: what it prints, what it does not import, and how bad input ends."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dbt_provenance
import duckdb
import pytest
from click.testing import CliRunner, Result
from dbt_provenance.cli import EPILOG, main
from dbt_provenance.options import LONGEST_TEXT
from dbt_provenance.terminal import plain_document, plain_table, to_json

ROOT = Path(__file__).resolve().parents[1]
V2 = "default/net_revenue/metric.net_revenue.net_revenue_v2/2/definition"


def run(project: Path, *arguments: str, principal: str | None = "analyst") -> Result:
    place = ["--project-dir", str(project), "--profiles-dir", str(project)]
    return CliRunner().invoke(main, [*arguments, *place], env={"DBT_PROVENANCE_PRINCIPAL": principal})


def answer(project: Path, *arguments: str, principal: str | None = "analyst"):
    finished = run(project, *arguments, "--json", principal=principal)
    assert finished.exit_code == 0, finished.stderr
    return json.loads(finished.stdout)


def test_resolve_gives_the_row_of_the_sql_function(net_revenue: Path) -> None:
    row = answer(net_revenue, "resolve", "net_revenue", "--as-of", "2025-03-31")
    assert (row["outcome"], row["evidence_id"], row["valid_from"], row["valid_to"]) == ("resolved", V2, "2025-01-01", None)


def test_candidates_are_rows_with_their_roles(net_revenue: Path) -> None:
    rows = answer(net_revenue, "resolve", "net_revenue", "--as-of", "2025-03-31", "--candidates")
    assert V2 in {row["evidence_id"] for row in rows if row["candidate_role"] == "governing"}


def test_search_has_both_lanes(net_revenue: Path) -> None:
    rows = answer(net_revenue, "search", "net revenue", "--as-of", "2025-03-31", "--max-rows", "1")
    assert [(row["lane"], row["rank"]) for row in rows] == [("answer", 1), ("conflict", 1)]


def test_trace_and_impact_walk_both_ways(net_revenue: Path) -> None:
    upstream = answer(net_revenue, "trace", "metric.net_revenue", "--as-of", "2025-03-31")
    downstream = answer(net_revenue, "impact", "source.net_revenue.raw_app.orders")
    assert "source.net_revenue.raw_app.orders" in {row["upstream_id"] for row in upstream}
    assert "metric.net_revenue.net_revenue_v2" in {row["downstream_id"] for row in downstream}
    assert {row["depth"] for row in answer(net_revenue, "trace", "net_revenue", "--max-depth", "1")} == {1}


def test_status_shows_three_clocks(net_revenue: Path) -> None:
    clocks = answer(net_revenue, "status")
    assert {row["entity_id"] for row in clocks["data"]} == {
        "source.net_revenue.raw_app.orders",
        "source.net_revenue.raw_payments.payment_events",
    }
    assert clocks["definitions"]["first_valid_from"] == "2024-01-01" and clocks["definitions"]["governing_today"] > 0
    assert clocks["index"]["index_state"] == "current" and clocks["index"]["target_name"] == "dev"


def test_nobody_and_a_stranger_see_the_same_nothing(net_revenue: Path) -> None:
    for command in (["resolve", "net_revenue", "--as-of", "2025-03-31"], ["search", "revenue"], ["trace", "net_revenue"]):
        assert run(net_revenue, *command, principal=None).output == run(net_revenue, *command, principal="nobody").output
        hidden, absent = (run(net_revenue, *command, principal=name).output for name in ("stranger", "nobody"))
        assert hidden == absent


def test_a_file_is_enough_without_a_project(net_revenue: Path) -> None:
    asked = ["resolve", "net_revenue", "--as-of", "2025-03-31", "--principal", "analyst", "--json"]
    finished = CliRunner().invoke(main, [*asked, "--database", str(net_revenue / "net_revenue.duckdb")])
    assert json.loads(finished.stdout) == answer(net_revenue, "resolve", "net_revenue", "--as-of", "2025-03-31")


def test_output_that_is_no_terminal_is_plain(net_revenue: Path) -> None:
    resolved = run(net_revenue, "resolve", "net_revenue", "--as-of", "2025-03-31").stdout
    found = run(net_revenue, "search", "net revenue", "--as-of", "2025-03-31").stdout
    assert "\x1b" not in resolved + found
    assert resolved.startswith("outcome: resolved\nreason: governs\n")
    names, *lines = found.splitlines()
    assert names.split("\t")[:4] == ["lane", "rank", "tier", "score"] and all(
        line.count("\t") == names.count("\t") for line in lines
    )


def test_what_is_missing_is_hinted_on_stderr(net_revenue: Path) -> None:
    finished = run(net_revenue, "resolve", "net_revenue")
    assert finished.stdout.startswith("outcome: clarify\nreason: missing_as_of\n") and finished.exit_code == 0
    assert "--as-of" in finished.stderr


@pytest.mark.parametrize(("entity", "code"), [("net_revenue", 0), ("nothing_of_that_name", 1)])
def test_strict_ends_with_1_unless_resolved(net_revenue: Path, entity: str, code: int) -> None:
    assert run(net_revenue, "resolve", entity, "--as-of", "2025-03-31", "--strict").exit_code == code
    assert run(net_revenue, "resolve", entity, "--as-of", "2025-03-31").exit_code == 0


def test_names_are_remembered_while_the_manifest_stands(net_revenue: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(net_revenue, project, symlinks=True)
    remembered = project / "target" / "dbt_provenance_relations.json"
    remembered.unlink(missing_ok=True)
    asked = ("resolve", "net_revenue", "--as-of", "2025-03-31")
    answer(project, *asked)
    said = json.loads(remembered.read_text())
    (project / "target" / "manifest.json").touch()
    answer(project, *asked)
    assert json.loads(remembered.read_text())["stamp"] != said["stamp"]
    remembered.write_text("{not json")
    assert answer(project, *asked)["outcome"] == "resolved"
    (project / "target" / "manifest.json").unlink()
    assert answer(project, *asked)["outcome"] == "resolved"


def test_a_manifest_of_another_target_names_nothing(net_revenue: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(net_revenue, project, symlinks=True)
    profiles = (project / "profiles.yml").read_text()
    (project / "profiles.yml").write_text(profiles + profiles.partition("outputs:")[2].replace("dev:", "prod:"))
    finished = run(project, "resolve", "net_revenue", "--target", "prod")
    assert finished.exit_code == 6 and "built here for target dev, not for prod" in finished.stderr


def test_a_question_imports_no_dbt_and_nothing_for_show(net_revenue: Path) -> None:
    code = f"""
import sys
from dbt_provenance.cli import main
try:
    main(["resolve", "net_revenue", "--as-of", "2025-03-31", "--principal", "analyst", "--database", {str(net_revenue / "net_revenue.duckdb")!r}])
except SystemExit as end:
    assert end.code == 0
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"dbt", "dbt_common", "rich", "jinja2", "frontmatter", "markdown_it"}}), file=sys.stderr)
"""
    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert finished.stdout.startswith("outcome: resolved") and finished.stderr.strip() == "[]"


def test_the_package_itself_imports_nothing_heavy() -> None:
    code = "import sys; before = set(sys.modules); import dbt_provenance; print(sorted(set(sys.modules) - before))"
    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert finished.stdout.strip() == "['dbt_provenance']"


def test_the_version_stands_once_more_in_pyproject() -> None:
    assert f'version = "{dbt_provenance.__version__}"' in (ROOT / "pyproject.toml").read_text()


BAD_INPUT = [
    (["resolve", "x", "--as-of", "2025-02-30"], 2, "'2025-02-30' is no date of the calendar"),
    (["resolve", "x", "--as-of", "yesterday"], 2, "YYYY-MM-DD"),
    (["resolve", "x", "--known-at", "2025-13-01"], 2, "no instant"),
    (["search", ""], 2, "The query is empty"),
    (["search", " \t "], 2, "The query is empty"),
    (["search", "a" * 100_000], 2, f"100000 characters; at most {LONGEST_TEXT}"),
    (["ask", ""], 2, "The question is empty"),
    (["ask", "a" * 100_000], 2, "Shorten it"),
    (["resolve", "caf\udce9"], 2, "not UTF-8"),
    (["ledger"], 2, "Say one of"),
    (["ledger", "--restore", "nowhere.jsonl"], 2, "nowhere.jsonl cannot be read"),
    (["resolve", "x", "--target", "nowhere"], 4, "no target 'nowhere'"),
    (["resolve", "x", "--database", "nowhere.duckdb"], 2, "leave --project-dir and --profiles-dir out"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), BAD_INPUT)
def test_bad_input_ends_in_one_sentence(net_revenue: Path, arguments: list[str], code: int, said: str) -> None:
    finished = run(net_revenue, *arguments)
    assert (finished.exit_code, finished.stdout) == (code, "")
    assert said in finished.stderr and finished.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "entity", ["", " ", "nothing.of.that.name", "'; drop table x; --", "net_revenue\x00", "صافي الإيرادات", "%", "🧾"]
)
def test_an_unknown_entity_is_an_answer(net_revenue: Path, entity: str) -> None:
    row = answer(net_revenue, "resolve", entity)
    assert {name for name, value in row.items() if value is not None} == {"outcome", "reason"}
    assert row["outcome"] == "not_found_or_not_authorized"


def test_no_project_no_profile_no_file_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("DBT_PROJECT_DIR", "DBT_PROFILES_DIR"):
        monkeypatch.delenv(name, raising=False)

    def ended(*arguments: str) -> tuple[int, str]:
        finished = CliRunner().invoke(main, ["resolve", "x", *arguments])
        assert finished.stderr.count("\n") == 1
        return finished.exit_code, finished.stderr

    code, said = ended()
    assert code == 4 and "no dbt_project.yml" in said
    (tmp_path / "dbt_project.yml").write_text("name: shop\nprofile: shop\n")
    code, said = ended()
    assert code == 4 and "no profiles.yml" in said
    (tmp_path / "profiles.yml").write_text("shop: {target: dev, outputs: {dev: {type: duckdb, path: shop.duckdb}}}")
    code, said = ended()
    assert code == 5 and "There is no DuckDB file at" in said and "dbt build" in said
    (tmp_path / "shop.duckdb").write_text("no database")
    code, said = ended()
    assert code == 5 and "cannot be opened as a DuckDB file" in said
    (tmp_path / "shop.duckdb").unlink()
    duckdb.connect(str(tmp_path / "shop.duckdb")).close()
    code, said = ended()
    assert code == 6 and "was not built in this database" in said
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "manifest.json").write_text('{"nodes": ')
    code, said = ended()
    assert code == 3 and "manifest.json cannot be read" in said
    (tmp_path / "target" / "manifest.json").write_text('{"nodes": {}}')
    code, said = ended()
    assert code == 6 and "does not use the package" in said


def test_a_held_file_says_who_holds_it(net_revenue: Path, tmp_path: Path) -> None:
    file = shutil.copy(net_revenue / "net_revenue.duckdb", tmp_path / "held.duckdb")
    code = f"import duckdb, sys; c = duckdb.connect({str(file)!r}); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        finished = CliRunner().invoke(main, ["resolve", "net_revenue", "--database", str(file)])
    finally:
        holder.communicate()
    assert finished.exit_code == 5 and finished.stderr.count("\n") == 1
    assert "is in use by python" in finished.stderr and f"process {holder.pid}" in finished.stderr


def test_no_handle_is_left_open(net_revenue: Path, tmp_path: Path) -> None:
    file = shutil.copy(net_revenue / "net_revenue.duckdb", tmp_path / "copy.duckdb")
    CliRunner().invoke(main, ["resolve", "net_revenue", "--database", str(file)])
    duckdb.connect(str(file)).close()


def test_each_exit_code_of_the_help_is_an_errors_own() -> None:
    from dbt_provenance import errors

    own = {getattr(errors, name).exit_code for name in errors.__all__}
    assert {int(code) for code in re.findall(r"^  (\d)  ", EPILOG, re.MULTILINE)} == own | {0}


def test_hostile_text_is_shown_escaped_and_given_whole_as_json() -> None:
    hostile = "a\x1b]0;title\x07b\u202ec\x9b31md\te\nf[bold]g[/]"
    assert json.loads(to_json({"text": hostile})) == {"text": hostile}
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", to_json({"text": hostile}) + plain_table([{"text": hostile}]))
    assert plain_table([{"text": hostile}]).count("\n") == 1
    shown = plain_document({"text": hostile})
    assert "\x1b" not in shown and "[bold]g[/]" in shown and "\n  f" in shown
