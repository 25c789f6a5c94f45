"""Definitions that change over time: versions, validity, deprecation."""

import datetime as dt

import duckdb
import pytest
from conftest import ROOT, dbt

DAY = dt.date.fromisoformat


def model(name, text, version=None, *, latest=None, deprecation=None, depends_on=()):
    document = {"resource_type": "model", "name": name, "description": text, "depends_on": list(depends_on)}
    document |= {"version": version, "latest_version": latest} if version else {}
    document |= {"deprecation_date": deprecation} if deprecation else {}
    return f"model.shop.{name}" + (f".v{version}" if version else ""), document


def record(warehouse, at, *states):
    for unique_id, document in states:
        warehouse.state(unique_id, document, at=at)


def answers(warehouse, entity, **asked):
    (row,) = warehouse.call("resolve", entity, principal="analyst", **asked)
    return row


@pytest.mark.case("A1")
def test_of_two_dated_versions_the_one_of_the_reporting_date_governs(warehouse):
    warehouse.metric("net_revenue_v1", formula="gross - refunds", entity="metric.net_revenue", version=1, status="approved", valid_from="2024-01-01", valid_to="2025-04-01")
    warehouse.metric("net_revenue_v2", formula="gross - refunds - credits", entity="metric.net_revenue", version=2, status="approved", valid_from="2025-04-01")
    warehouse.build()
    answered = {}
    for day in ("2025-03-31", "2025-04-01", "2023-12-31"):
        (row,) = warehouse.call("resolve", "net_revenue", as_of=dt.date.fromisoformat(day), principal="analyst")
        answered[day] = (row["outcome"], row["version"])
    assert answered == {"2025-03-31": ("resolved", "1"), "2025-04-01": ("resolved", "2"), "2023-12-31": ("not_found_or_not_authorized", None)}


@pytest.fixture(scope="session")
def moved(tmp_path_factory, engine):
    """A project built with latest_version 1, then with 2 and nothing else changed; the instant between, and its file."""
    project = tmp_path_factory.mktemp(f"latest_{engine.slug}")
    (project / "models").mkdir()
    for number in (1, 2, 3):
        (project / f"models/rpt_v{number}.sql").write_text(f"select {number} as amount\n")
    (project / "models/c.sql").write_text("select amount from {{ ref('rpt') }}\n")
    (project / "profiles.yml").write_text("latest: {target: dev, outputs: {dev: {type: duckdb, path: latest.duckdb}}}\n")
    (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
    (project / "dbt_project.yml").write_text(
        "name: latest\nversion: 1.0.0\nprofile: latest\nvars:\n  provenance_principals: [{principal: analyst, group_name: analyst}]\n"
        '  provenance_policies: [{applies_to: project, pattern: "*", allow: [analyst]}]\n'
    )
    dbt(project, "deps", executable=engine.executable)
    for latest in (1, 2):
        (project / "models/models.yml").write_text(
            f"models:\n  - {{name: rpt, description: Report., latest_version: {latest}, versions: [{{v: 1}}, {{v: 2}}, {{v: 3}}]}}\n  - {{name: c, description: Reads rpt.}}\n"
        )
        dbt(project, "build", executable=engine.executable)
    with duckdb.connect(str(project / "latest.duckdb"), read_only=True) as con:
        con.execute("set variable provenance_principal = 'analyst'")
        yield con


def shown(con, sql, *values):
    return con.execute(sql.replace("provenance.", "main_provenance."), values).fetchall()


@pytest.mark.case("A2")
def test_the_binding_of_an_unpinned_ref_moves_with_latest_version_at_the_build_that_moved_it(moved):
    edges = shown(moved, "select upstream_version, recorded_from_utc, recorded_to_utc from provenance.lineage_edges where downstream_entity_id = 'model.latest.c' and kind = 'physical' order by 1")
    assert [version for version, _, _ in edges] == ["1", "2"]
    assert edges[0][2] == edges[1][1] > edges[0][1] and edges[1][2] is None
    hashes = shown(moved, "select content_hash, recorded_to_utc from provenance.evidence where entity_id = 'lineage.latest.c' order by revision")
    assert len(hashes) == 2 and hashes[0] == (hashes[0][0], edges[1][1]) and hashes[0][0] != hashes[1][0] and hashes[1][1] is None


@pytest.mark.case("A2")
def test_without_a_version_the_latest_governs_and_what_is_above_it_is_called_a_prerelease(moved):
    resolved = "select version, reason, is_prerelease from provenance.resolve('model.rpt', as_of => current_date + 1, version => ?)"
    assert shown(moved, resolved, None) == [("2", "governs", False)]
    assert shown(moved, resolved, "3") == [("3", "version_pinned", True)]
    assert shown(moved, "select version, is_prerelease, only_when_asked from provenance.definitions where entity_id = 'model.latest.rpt' order by 1") == [
        ("1", False, False), ("2", False, False), ("3", True, True),
    ]  # fmt: skip
    assert shown(moved, "select version, candidate_role from provenance.resolve_candidates('model.rpt', as_of => current_date + 1) order by 1")[2] == ("3", "prerelease")
    changed = shown(moved, "select version, validity_changed, other_changed from provenance.definition_changes where entity_id = 'model.latest.rpt' and change_kind = 'edited' order by 1")
    assert changed == [("1", True, False), ("2", True, False), ("3", True, False)]


@pytest.mark.case("A2")
def test_as_known_before_the_move_the_earlier_version_governs_and_is_what_is_read(moved):
    (move,) = shown(moved, "select max(recorded_from_utc) from provenance.lineage_edges where kind = 'physical'")
    moved.execute("set variable provenance_known_at = ?", [move[0] - dt.timedelta(milliseconds=1)])
    try:
        assert shown(moved, "select version from provenance.resolve('model.rpt', as_of => current_date + 1)") == [("1",)]
        assert shown(moved, "select upstream_version, recorded_to_utc from provenance.lineage_edges where kind = 'physical'") == [("1", None)]
        assert shown(moved, "select count(*) from provenance.definition_changes") == [(0,)]
        assert shown(moved, "select count(*), count(recorded_to_utc) from provenance.evidence where entity_id = 'lineage.latest.c'") == [(1, 0)]
    finally:
        moved.execute("set variable provenance_known_at = null")


@pytest.mark.case("A3")
def test_what_depends_on_a_deprecated_version_says_so_and_what_replaces_it(warehouse):
    states = [model("foo", "One.", "1", latest="2", deprecation="1999-01-01"), model("foo", "Two.", "2", latest="2"), model("bar", "Bar.", depends_on=["model.shop.foo.v1"])]
    record(warehouse, "2025-01-02", *states, model("baz", "Baz.", depends_on=["model.shop.foo.v2"]))
    warehouse.build()
    said = "depends on deprecated foo v1, replaced by v2"
    assert {row["entity_id"]: row["dependency_warning"] for row in warehouse.view("definitions", principal="analyst")}.items() >= {("model.shop.bar", said), ("model.shop.baz", None)}
    findings = [row for row in warehouse.view("findings", principal="analyst") if row["finding_rule"] == "depends on deprecated"]
    assert [(row["entity_id"], row["found_value"], row["advice"]) for row in findings] == [("model.shop.bar", said, "refer to version 2")]
    edges = {row["downstream_entity_id"]: row for row in warehouse.view("lineage_edges", principal="analyst")}
    retired = ("upstream_retired", "upstream_deprecation_date", "upstream_replaced_by")
    assert [edges["model.shop.bar"][column] for column in retired] == ["deprecated", DAY("1999-01-01"), "2"]
    assert [edges["model.shop.baz"][column] for column in retired] == [None, None, None]


@pytest.mark.case("A3")
def test_before_its_deprecation_the_version_governs_as_if_nothing_were_wrong(warehouse):
    record(warehouse, "2025-01-02", model("foo", "One.", "1", latest="2", deprecation="1999-01-01"), model("foo", "Two.", "2", latest="2"))
    warehouse.build()
    row = answers(warehouse, "foo", as_of="1998-12-31")
    assert (row["outcome"], row["version"], row["definition_text"], row["status"]) == ("resolved", "1", "One.", "unspecified")
    assert answers(warehouse, "foo", as_of="1999-01-01")["version"] == "2"
    assert answers(warehouse, "foo", version="1", as_of="1998-12-31")["reason"] == "version_pinned"


@pytest.mark.case("A3")
@pytest.mark.parametrize("hidden", ["foo", "bar"])
def test_the_warning_needs_both_ends_to_be_visible(warehouse, hidden):
    for unique_id, document in (model("foo", "One.", "1", latest="2", deprecation="1999-01-01"), model("foo", "Two.", "2", latest="2"), model("bar", "Bar.", depends_on=["model.shop.foo.v1"])):
        warehouse.state(unique_id, document | ({"meta": {"provenance_allow": "others"}} if document["name"] == hidden else {}))
    warehouse.build()
    assert not [row for row in warehouse.view("findings", principal="analyst") if row["finding_rule"] == "depends on deprecated"]
    assert not [row for row in warehouse.view("definitions", principal="analyst") if row["dependency_warning"]]


@pytest.mark.case("A3")
def test_the_warning_names_no_replacement_that_is_hidden_and_waits_for_its_day(warehouse):
    states = [model("foo", "One.", "1", latest="2", deprecation="1999-01-01"), model("foo", "Two.", "2", latest="2"), model("bar", "Bar.", depends_on=["model.shop.foo.v1"])]
    states[1][1]["meta"] = {"provenance_allow": "others"}
    later = [model("later", "One.", "1", latest="1", deprecation="2999-01-01"), model("reader", "R.", depends_on=["model.shop.later.v1"])]
    record(warehouse, "2025-01-02", *states, *later)
    warehouse.build()
    warnings = [row["dependency_warning"] for row in warehouse.view("definitions", principal="analyst") if row["dependency_warning"]]
    assert warnings == ["depends on deprecated foo v1"]


@pytest.mark.case("A4")
def test_a_date_in_an_overlap_is_a_conflict_of_both_and_a_finding(warehouse):
    warehouse.metric("rate_v1", formula="a", entity="rate", version="1", valid_from="2025-01-01", valid_to="2025-02-01T00:00:03")
    warehouse.metric("rate_v2", formula="b", entity="rate", version="2", valid_from="2025-02-01T00:00:00")
    warehouse.build()
    assert [answers(warehouse, "rate", as_of=day)["version"] for day in ("2025-01-31", "2025-02-02")] == ["1", "2"]
    row = answers(warehouse, "rate", as_of="2025-02-01")
    assert (row["outcome"], row["missing"], row["evidence_id"]) == ("conflict", "decision", None)
    candidates = warehouse.call("resolve_candidates", "rate", as_of="2025-02-01", principal="analyst")
    assert {(one["version"], one["candidate_role"]) for one in candidates} == {("1", "conflicting"), ("2", "conflicting")}
    found = {(one["finding_rule"], one["entity_id"], one["found_value"]) for one in warehouse.view("findings", principal="analyst")}
    assert ("overlapping validity", "metric.shop.rate", "2025-02-01 to 2025-02-02") in found


@pytest.mark.case("A4")
@pytest.mark.parametrize("one_end", ["9999-12-31", "9999-12-31T23:59:59", "infinity", None])
@pytest.mark.parametrize("other_end", ["9999-12-31", None])
def test_every_mark_of_an_open_end_is_open_and_two_open_rows_are_a_finding_and_never_a_pick(warehouse, one_end, other_end):
    warehouse.metric("v3", formula="a", entity="share", version="3", valid_from="2025-01-01", valid_to=one_end)
    warehouse.metric("v4", formula="b", entity="share", version="4", valid_from="2025-01-01", valid_to=other_end)
    warehouse.build()
    assert {row["valid_to"] for row in warehouse.view("definitions", principal="analyst")} == {None}
    assert [answers(warehouse, "share", as_of=day)["outcome"] for day in ("2025-01-01", "2800-01-01")] == ["conflict", "conflict"]
    assert [row["finding_rule"] for row in warehouse.view("findings", principal="analyst") if row["severity"] == "error"] == ["two open rows"]


@pytest.mark.case("A4")
def test_two_rows_that_nobody_dated_are_two_open_rows(warehouse):
    warehouse.metric("tax_a", "A.", entity="tax", version="1").metric("tax_b", "B.", entity="tax", version="2").build()
    assert answers(warehouse, "tax", as_of="2025-06-01")["outcome"] == "conflict"
    assert [row["finding_rule"] for row in warehouse.view("findings", principal="analyst") if row["severity"] == "error"] == ["two open rows"]


@pytest.mark.case("A5")
def test_a_definition_that_is_scheduled_is_announced_and_takes_effect_on_its_date(warehouse):
    warehouse.metric("bookings_v1", "Old.", formula="a", entity="bookings", version="1", valid_from="2024-01-01", at="2025-01-02")
    warehouse.metric("bookings_v2", "New.", formula="b", entity="bookings", version="2", valid_from="2025-07-01", supersedes="1", at="2025-05-10")
    warehouse.build()
    row = answers(warehouse, "bookings", as_of="2025-06-15")
    assert (row["definition_text"], row["scheduled_from"], row["superseded_by"].split("/")[2:4]) == ("Old.", DAY("2025-07-01"), ["metric.shop.bookings_v2", "2"])
    assert answers(warehouse, "bookings", as_of="2025-07-01")["definition_text"] == "New."
    before = answers(warehouse, "bookings", as_of="2025-06-15", known_at="2025-05-09")
    assert (before["definition_text"], before["scheduled_from"], before["superseded_by"]) == ("Old.", None, None)
    (change,) = [one for one in warehouse.view("definition_changes", principal="analyst") if one["change_kind"] == "superseded"]
    assert (change["previous_formula"], change["current_formula"], change["is_breaking"], change["changed_at_utc"]) == ("SUM(a)", "SUM(b)", True, dt.datetime(2025, 5, 10))


@pytest.mark.case("A5")
def test_the_answer_in_words_says_when_the_next_definition_begins(warehouse):
    from dbt_provenance.answer.ask import ask
    from dbt_provenance.warehouse.duckdb_connection import DuckDBWarehouse
    from dbt_provenance.warehouse.relations import surfaces_in_catalog

    warehouse.metric("bookings_v1", "Old.", entity="bookings", version="1", valid_from="2024-01-01", at="2025-01-02")
    warehouse.metric("bookings_v2", "New.", entity="bookings", version="2", valid_from="2025-07-01", supersedes="1", at="2025-05-10")
    warehouse.build()
    asked = DuckDBWarehouse(connection=warehouse.con, surface=surfaces_in_catalog(warehouse.con)[0])
    envelope = ask("What is bookings on 2025-06-15?", warehouse=asked, principal="analyst").to_dict()
    assert envelope["evidence"][0]["text"] == "Old." and "superseding version scheduled 2025-07-01" in envelope["evidence"][0]["limitations"]
