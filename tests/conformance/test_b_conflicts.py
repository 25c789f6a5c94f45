"""Conflicting definitions, drafts, and who speaks for what."""

import json

import duckdb
import pytest
from click.testing import CliRunner
from conftest import copy_project, dbt
from dbt_provenance.answer.ask import ask
from dbt_provenance.cli import main
from dbt_provenance.warehouse.duckdb_connection import DuckDBWarehouse
from dbt_provenance.warehouse.relations import surfaces_in_catalog

RELATION = '"db"."core"."a"'


def answers(warehouse, entity, **asked):
    (row,) = warehouse.call("resolve", entity, principal="analyst", **asked)
    return row


def conflicts(warehouse, *, principal="analyst"):
    rows = warehouse.view("conflicts", principal=principal)
    return sorted((row["conflict_kind"], row["evidence_id"].split("/")[2], row["other_evidence_id"].split("/")[2], row["decided_by"]) for row in rows)


def asked_in_words(warehouse, question, **asked):
    connected = DuckDBWarehouse(connection=warehouse.con, surface=surfaces_in_catalog(warehouse.con)[0])
    return ask(question, warehouse=connected, principal="analyst", **asked).to_dict()


# B1: two manifests about one relation


def manifest(folder, project, at, *, nodes=(), sources=()):
    folder.mkdir(exist_ok=True)
    metadata = {
        "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "dbt_version": "1.11.16", "generated_at": at, "invocation_id": project + at,
        "project_name": project, "adapter_type": "duckdb",
    }  # fmt: skip
    document = {"metadata": metadata, "nodes": {one["unique_id"]: one for one in nodes}, "sources": {one["unique_id"]: one for one in sources}}
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


def model_a(text):
    return {
        "resource_type": "model", "name": "a", "unique_id": "model.a.a", "package_name": "a", "original_file_path": "models/a.sql", "database": "db", "schema": "core", "alias": "a",
        "relation_name": RELATION, "description": text, "columns": {}, "config": {"materialized": "table"}, "depends_on": {"nodes": []},
    }  # fmt: skip


def source_b(table, text, *, relation=RELATION):
    return {
        "resource_type": "source", "name": table, "source_name": "core", "unique_id": f"source.b.core.{table}", "package_name": "b", "original_file_path": "models/s.yml", "database": "db",
        "schema": "core", "identifier": table, "relation_name": relation, "description": text, "source_description": "S", "columns": {},
    }  # fmt: skip


@pytest.fixture(scope="session")
def loaded(tmp_path_factory, engine):
    """A, then B, then B again, in one file; how many rows each load added, and the file."""
    if not engine.is_core:
        pytest.skip("load makes a file of DuckDB 2, which the DuckDB inside dbt 2 does not open")
    folder = tmp_path_factory.mktemp(f"two_projects_{engine.slug}")
    a = manifest(folder / "a", "a", "2026-01-01T00:00:00Z", nodes=[model_a("X")])
    b = manifest(folder / "b", "b", "2026-01-02T00:00:00Z", sources=[source_b("a", "Y"), source_b("plain", "", relation='"db"."core"."plain"')])
    counts = []
    for path in (a, b, b):
        finished = CliRunner().invoke(main, ["load", str(path), "--into", str(folder / "two.duckdb"), "--allow", "all", "--principal", "analyst", "--dbt", str(engine.executable)])
        assert finished.exit_code == 0, finished.output
        with duckdb.connect(str(folder / "two.duckdb"), read_only=True) as con:
            counts += con.execute("select count(*) from provenance_internal.prov_raw_resources").fetchone()
    with duckdb.connect(str(folder / "two.duckdb"), read_only=True) as con:
        con.execute("set variable provenance_principal = 'analyst'")
        yield con, counts


@pytest.mark.case("B1")
def test_the_project_that_builds_a_relation_speaks_for_it_however_often_another_is_loaded(loaded):
    con, counts = loaded
    assert counts[0] < counts[1] == counts[2]
    for entity in ("model.a.a", "a"):
        assert con.execute("select outcome, entity_id, definition_text from provenance.resolve(?)", [entity]).fetchall() == [("resolved", "model.a.a", "X")]
    kept = con.execute("select definition_text, may_govern, text_origin, recorded_to_utc from provenance.evidence where entity_id = 'source.b.core.a' and evidence_type = 'definition'")
    assert kept.fetchall() == [("Y", False, "authored", None)]
    assert con.execute("select outcome, reason from provenance.resolve('source.b.core.a')").fetchall() == [("clarify", "only_non_governing")]
    pairs = con.execute("select conflict_kind, entity_id, definition_text, other_entity_id, other_definition_text, decided_by from provenance.conflicts").fetchall()
    assert pairs == [("foreign_description", "model.a.a", "X", "source.b.core.a", "Y", "ownership: the project that builds the relation speaks for it")]


@pytest.mark.case("B1")
def test_the_text_of_a_whole_source_stands_in_where_its_table_has_none_and_is_called_inherited(loaded):
    origin = "select definition_text, text_origin, text_derived from provenance.definitions where entity_id = ?"
    assert loaded[0].execute(origin, ["source.b.core.plain"]).fetchall() == [("S", "inherited", True)]
    assert loaded[0].execute(origin, ["source.b.core.a"]).fetchall() == [("Y", "authored", False)]


@pytest.mark.case("B1")
def test_what_another_project_says_of_a_relation_is_kept_below_what_its_builder_says(warehouse):
    warehouse.state("model.a.a", {"name": "a", "description": "X", "relation_name": RELATION}, project="a")
    warehouse.state("source.b.core.a", {"name": "a", "source_name": "core", "description": "Y", "source_description": "S", "relation_name": RELATION}, project="b")
    warehouse.state("source.b.core.plain", {"name": "plain", "source_name": "core", "source_description": "S", "relation_name": '"db"."core"."plain"'}, project="b")
    warehouse.build()
    assert [answers(warehouse, entity)["definition_text"] for entity in ("model.a.a", "a")] == ["X", "X"]
    said = {row["entity_id"]: (row["definition_text"], row["text_origin"], row["may_govern"]) for row in warehouse.view("definitions", principal="analyst")}
    assert said["source.b.core.a"] == ("Y", "authored", False) and said["source.b.core.plain"] == ("S", "inherited", True)
    assert conflicts(warehouse) == [("foreign_description", "model.a.a", "source.b.core.a", "ownership: the project that builds the relation speaks for it")]


@pytest.mark.case("B1")
def test_a_source_over_a_relation_whose_builder_is_hidden_shows_no_conflict(warehouse):
    closed = {"provenance_allow": "others"}
    warehouse.state("model.a.a", {"name": "a", "description": "X", "relation_name": RELATION, "meta": closed}, project="a")
    warehouse.state("source.b.core.a", {"name": "a", "source_name": "core", "description": "Y", "relation_name": RELATION}, project="b")
    warehouse.build()
    assert conflicts(warehouse) == [] and answers(warehouse, "model.a.a")["reason"] == "nothing_visible"


# B2


@pytest.mark.case("B2")
def test_a_later_text_replaces_the_first_and_each_keeps_its_closed_interval(warehouse):
    warehouse.metric("churn", "Alpha leavers.", at="2025-01-02").metric("churn", "Beta leavers.", at="2025-02-03")
    warehouse.state("metric.shop.churn", None, at="2025-03-04").metric("churn", "Gamma leavers.", at="2025-04-05").build()
    rows = warehouse.view("evidence", principal="analyst")
    assert [(row["definition_text"][:5], str(row["valid_from"]), str(row["valid_to"]), row["recorded_to_utc"] is None) for row in sorted(rows, key=lambda row: row["revision"])] == [
        ("Alpha", "None", "2025-02-03", False), ("Beta ", "2025-02-03", "2025-03-04", False), ("Gamma", "2025-04-05", "None", True),
    ]  # fmt: skip
    assert answers(warehouse, "churn", as_of="2026-01-01")["definition_text"] == "Gamma leavers."
    assert answers(warehouse, "churn", as_of="2025-03-10")["reason"] == "no_version_on_date"
    changes = sorted(warehouse.view("definition_changes", principal="analyst"), key=lambda row: row["changed_at_utc"])
    assert [(row["change_kind"], row["is_breaking"]) for row in changes] == [("edited", False), ("gone", True), ("returned", False)]
    assert [(row["previous_text"], row["current_text"]) for row in changes] == [("Alpha leavers.", "Beta leavers."), ("Beta leavers.", None), ("Beta leavers.", "Gamma leavers.")]


@pytest.mark.case("B2")
@pytest.mark.parametrize(("word", "period"), [("alpha", "2025-01-15"), ("beta", "2025-02-15"), ("gamma", "2026-01-01")])
def test_a_word_of_a_text_is_an_answer_in_its_own_period_alone(warehouse, word, period):
    warehouse.metric("churn", "Alpha leavers.", at="2025-01-02").metric("churn", "Beta leavers.", at="2025-02-03")
    warehouse.state("metric.shop.churn", None, at="2025-03-04").metric("churn", "Gamma leavers.", at="2025-04-05").build()
    lanes = {day: {row["lane"] for row in warehouse.call("search", word, as_of=day, principal="analyst")} for day in ("2025-01-15", "2025-02-15", "2026-01-01")}
    assert lanes == {day: {"answer" if day == period else "conflict"} for day in lanes}


# B3


@pytest.fixture
def retired(warehouse):
    for status, start, end in (("archived", "2022-01-01", "2023-01-01"), ("deprecated", "2023-01-01", "2025-01-01"), ("approved", "2025-01-01", None)):
        warehouse.metric(f"reach_{status}", f"The {status} one.", entity="reach", version=status, status=status, valid_from=start, valid_to=end)
    return warehouse.build()


@pytest.mark.case("B3")
def test_deprecated_and_archived_answer_for_their_own_periods_and_are_labelled(retired):
    for day, status in (("2022-06-01", "archived"), ("2024-06-01", "deprecated"), ("2026-01-01", "approved")):
        row = answers(retired, "reach", as_of=day)
        assert (row["outcome"], row["status"], row["definition_text"]) == ("resolved", status, f"The {status} one."), day
        assert {one["status"]: one["holds_on_date"] for one in retired.call("resolve_candidates", "reach", as_of=day, principal="analyst")} == {
            one: one == status for one in ("archived", "deprecated", "approved")
        }
    assert answers(retired, "reach", as_of="2021-06-01")["reason"] == "no_version_on_date"


@pytest.mark.case("B3")
def test_what_is_retired_is_dropped_from_no_export_and_what_is_archived_is_no_answer_today(retired):
    for view in ("definitions", "evidence"):
        assert {row["status"] for row in retired.view(view, principal="analyst") if row["entity_id"] == "metric.shop.reach"} == {"archived", "deprecated", "approved"}
    lanes = {row["status"]: (row["lane"], row["label"]) for row in retired.call("search", "reach", as_of="2026-01-01", principal="analyst")}
    assert lanes == {"approved": ("answer", "governing"), "deprecated": ("conflict", "other period"), "archived": ("conflict", "archived")}


@pytest.mark.case("B3")
def test_without_a_period_of_its_own_what_is_archived_governs_nothing(warehouse):
    warehouse.metric("reach", "Archived.", status="archived").build()
    assert answers(warehouse, "reach", as_of="2025-06-01")["reason"] == "only_non_governing"


# B4


@pytest.fixture
def several(warehouse):
    for project, name, formula in (("finance", "total_net_revenue", "gross - refunds"), ("marketing", "total_net_revenue", "Gross -  Refunds"), ("shop", "TotalNetRevenue", "gross")):
        warehouse.metric(name, f"{name} of {project}.", project=project, formula=formula)
    for period in ("daily", "weekly", "monthly"):
        warehouse.state(f"model.shop.{period}_net_revenue", {"name": f"{period}_net_revenue", "description": f"Net revenue, {period}."})
    return warehouse.build()


@pytest.mark.case("B4")
@pytest.mark.parametrize("question", ["net revenue", "What is net revenue?", "What is total net revenue?", "What is TotalNetRevenue on 2025-06-30?"])
def test_one_name_with_several_formulas_is_asked_back_in_groups_that_show_what_differs(several, question):
    envelope = asked_in_words(several, question)
    assert (envelope["outcome"], envelope["missing"]) == ("clarify", "entity")
    groups = {choice["formula"].replace(" ", "").lower(): sorted(choice["entities"]) for choice in envelope["choices"]}
    assert groups == {"sum(gross-refunds)": ["metric.finance.total_net_revenue", "metric.marketing.total_net_revenue"], "sum(gross)": ["metric.shop.TotalNetRevenue"]}
    assert set(envelope["suggestions"]) >= {entity for entities in groups.values() for entity in entities}


@pytest.mark.case("B4")
def test_resolve_groups_what_answers_to_one_name_and_a_full_id_decides(several):
    row = answers(several, "total_net_revenue", as_of="2025-06-01")
    assert (row["outcome"], row["missing"], row["evidence_id"]) == ("clarify", "entity", None)
    assert len({one["candidate_group"] for one in several.call("resolve_candidates", "total_net_revenue", as_of="2025-06-01", principal="analyst")}) == 1
    assert answers(several, "metric.finance.total_net_revenue", as_of="2025-06-01")["definition_text"] == "total_net_revenue of finance."
    assert asked_in_words(several, "What is metric.finance.total_net_revenue?")["outcome"] == "resolved"


@pytest.mark.case("B4")
def test_one_formula_for_two_entities_and_one_name_for_two_formulas_are_conflicts(several):
    assert conflicts(several) == [
        ("duplicate", "metric.finance.total_net_revenue", "metric.marketing.total_net_revenue", "nothing: two entities for one formula"),
        ("same_name", "metric.finance.total_net_revenue", "metric.shop.TotalNetRevenue", "nothing: one name for two formulas"),
        ("same_name", "metric.marketing.total_net_revenue", "metric.shop.TotalNetRevenue", "nothing: one name for two formulas"),
    ]


@pytest.mark.case("B4")
def test_two_authoritative_formulas_of_one_entity_and_period_are_a_conflict_that_a_person_decides(warehouse):
    for version, formula in (("1", "gross"), ("2", "gross - fees")):
        warehouse.metric(f"margin_{version}", formula=formula, entity="margin", version=version, status="authoritative", valid_from="2024-01-01")
    warehouse.build()
    assert answers(warehouse, "margin", as_of="2025-06-01")["outcome"] == "conflict"
    assert conflicts(warehouse) == [("governing", "metric.shop.margin_1", "metric.shop.margin_2", "nothing: a person must decide")]


@pytest.mark.case("B4")
def test_what_decides_between_two_sides_is_named(warehouse):
    warehouse.metric("gain", formula="a", status="authoritative").metric("gain_2", formula="b", entity="gain", version="2", status="approved")
    warehouse.metric("gain_3", formula="c", entity="gain", version="3", status="draft")
    warehouse.state("page.shop.docs/old.md", {"resource_type": "page", "name": "old", "body": "Once.", "front_matter": {"status": "superseded", "about": "gain"}}, path="docs/old.md")
    warehouse.build()
    assert {(kind, other.split(".", 2)[-1], decided) for kind, one, other, decided in conflicts(warehouse) if one == "metric.shop.gain"} == {
        ("governing", "gain_2", "status: authoritative before approved"), ("draft", "gain_3", "status: a draft decides nothing"),
        ("page", "docs", "status: what is superseded decides nothing"),
    }  # fmt: skip


# the check that a project switches on


def repeat_a_metric(project, engine):
    """Writes captured_payments down once more, as payments_taken, which nobody may see."""
    file = project / engine.semantic_folder / "semantic.yml"
    lines = file.read_text().splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if "name: captured_payments, label" in line)
    lines.insert(place + 1, lines[place].replace("name: captured_payments, label: Captured payments", "name: payments_taken, label: Payments taken").replace("{meta: {", "{meta: {provenance_allow: [], "))
    file.write_text("".join(lines))


@pytest.mark.case("B4")
def test_a_check_that_a_project_switches_on_fails_the_build_for_a_repeated_metric(tmp_path, engine):
    project = copy_project("net_revenue", tmp_path, engine.executable)
    environment = {"executable": engine.executable, "NET_REVENUE_SEMANTIC": engine.semantic_folder}
    config = (project / "dbt_project.yml").read_text()
    dbt(project, "seed", **environment)
    (project / "dbt_project.yml").write_text(config.rstrip() + "\n  provenance_fail_on: [duplicate, same_name, governing]\n")
    assert "provenance_definitions_agree" in dbt(project, "build", **environment).stdout
    repeat_a_metric(project, engine)
    failed = dbt(project, "build", check=False, **environment)
    assert failed.returncode == 1 and "provenance_definitions_agree" in failed.stdout, failed.stdout
    (project / "dbt_project.yml").write_text(config)
    assert "provenance_definitions_agree" not in dbt(project, "build", **environment).stdout
