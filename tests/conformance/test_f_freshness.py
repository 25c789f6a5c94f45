"""Freshness: what is expected and what was measured stay apart, and only what was measured counts (DESIGN 2, RULES 1 and 2.8)."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import jinja2
import pytest
from conftest import ROOT, copy_project, dbt, shared_build
from dbt_provenance.capture.artifacts import read_artifacts
from dbt_provenance.capture.times import utc_from_text
from package_sql import Warehouse

HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)
CLOCK = "suspicious: clock used as data"
SECONDS = {"minute": 60, "hour": 3600, "day": 86400}


def policy(**limits: tuple[int, str]) -> dict[str, Any]:
    return {"freshness": {f"{level}_after": {"count": count, "period": period} for level, (count, period) in limits.items()}}


def source(warehouse: Warehouse, name: str, **document: Any) -> str:
    warehouse.state(f"source.shop.raw.{name}", {"name": name, "source_name": "raw", "loaded_at_field": "loaded_at"} | document)
    return f"source.shop.raw.{name}"


def states(warehouse: Warehouse) -> dict[str, dict[str, Any]]:
    """Rows of freshness by the name of the source."""
    return {row["unique_id"].rsplit(".", 1)[1]: row for row in warehouse.view("freshness", principal="analyst")}


# on the engines: what dbt itself measures, after none, two and three checks


@pytest.fixture(scope="session")
def measured(tmp_path_factory, worker, engine) -> list[dict[str, dict[str, Any]]]:
    """The rows of freshness of the project of that name by source, and of findings, after none, two and three checks."""

    def look(project: Path) -> dict[str, Any]:
        with duckdb.connect(str(project / "freshness.duckdb"), read_only=True) as con:
            con.execute("set variable provenance_principal = 'analyst'")
            shown = {view: con.execute(f"select * from main_provenance.{view}") for view in ("freshness",)}
            rows = [dict(zip([column[0] for column in shown["freshness"].description], row)) for row in shown["freshness"].fetchall()]
            found = con.execute("select unique_id, finding_rule from main_provenance.findings order by all").fetchall()
            raw = con.execute("select unique_id, observation_method, error_after_count from main_provenance_internal.prov_raw_freshness order by all").fetchall()
        return {"freshness": {row["unique_id"].split(".", 2)[2]: row for row in rows}, "findings": found, "raw": raw}

    def make(folder: Path) -> None:
        project = copy_project("freshness", folder, engine.executable)
        dbt(project, "build", executable=engine.executable)
        seen = [look(project)]
        for sources in (["--exclude", "source:raw.missing"], ["--exclude", "source:raw.missing"], ["--select", "source:raw.missing"], ["--exclude", "source:raw.missing"]):
            dbt(project, "source", "freshness", *sources, check=False, executable=engine.executable)
            seen.append(look(project))
        (folder / "seen.json").write_text(json.dumps(seen, default=str))

    folder = shared_build(tmp_path_factory, worker, f"freshness_{engine.slug}", make)
    return json.loads((folder / "seen.json").read_text())


def state_of(seen: dict[str, Any]) -> dict[str, str]:
    return {name: row["freshness_state"] for name, row in seen["freshness"].items()}


@pytest.mark.case("F1")
def test_before_any_check_nothing_is_fresh_whatever_is_expected(measured):
    found = state_of(measured[0])
    assert {name for name, state in found.items() if state == "no policy"} == {"raw.without", "bare.of_utc"}
    assert {state for name, state in found.items() if name not in ("raw.without", "bare.of_utc")} == {"never observed"}
    assert not any(row["is_verified"] for row in measured[0]["freshness"].values())


@pytest.mark.case("F1")
def test_a_crashed_check_is_neither_fresh_nor_stale_and_takes_no_other_source_along(measured, engine):
    # dbt 2 tells its hooks nothing of a run in which a check crashed
    assert state_of(measured[3])["raw.missing"] == ("check failed" if engine.is_core else "never observed")
    assert state_of(measured[3])["raw.of_utc"] == "fresh"


@pytest.mark.case("F2")
def test_a_table_without_rows_has_no_data_and_no_age(measured):
    row = measured[-1]["freshness"]["raw.of_nothing"]
    assert (row["freshness_state"], row["max_loaded_at_utc"], row["age_seconds"], row["is_verified"]) == ("no data", None, None, False)


@pytest.mark.case("F3")
def test_the_effective_policy_is_the_one_that_dbt_measures_by(measured):
    last = measured[-1]
    expected = {name: (row["warn_after_count"], row["error_after_count"]) for name, row in last["freshness"].items()}
    assert {name for name, limits in expected.items() if limits == (None, None)} == {"raw.without", "bare.of_utc"}
    assert (expected["raw.more"], expected["raw.with_empty"], expected["raw.by_query"]) == ((2, 1), (None, 1), (None, 1))
    measured_by_dbt = {unique_id.split(".", 2)[2] for unique_id, _, _ in last["raw"]} | {"raw.missing"}
    assert measured_by_dbt == {name for name, limits in expected.items() if limits != (None, None)}
    assert {limit for _, _, limit in last["raw"]} == {1}


@pytest.mark.case("F3")
def test_each_observation_says_by_which_expression_it_was_made(measured):
    methods: dict[str, set[str]] = {}
    for unique_id, method, _ in measured[-1]["raw"]:
        methods.setdefault(unique_id.split(".", 2)[2], set()).add(method)
    assert methods.pop("raw.by_query") == {"loaded_at_query"}
    assert set.union(*methods.values()) == {"loaded_at_field"}
    shown = {name: row["expected_method"] for name, row in measured[-1]["freshness"].items()}
    assert (shown["raw.by_query"], shown["raw.of_utc"], shown["raw.without"]) == ("loaded_at_query", "loaded_at_field", None)


@pytest.mark.case("F3")
def test_a_clock_in_place_of_data_is_suspicious_from_the_third_check_on(measured):
    assert [state_of(seen)["raw.by_clock"] for seen in measured] == ["never observed", "fresh", "fresh", "fresh", CLOCK]
    assert [["source.freshness.raw.by_clock", "clock used as data"] in seen["findings"] for seen in measured] == [False, False, False, False, True]
    assert [row["freshness_state"] for row in measured[-1]["freshness"].values()].count(CLOCK) == 1


@pytest.mark.case("F3")
def test_when_to_build_a_model_again_is_no_expectation_of_data(measured):
    assert {row["unique_id"].split(".")[0] for seen in measured for row in seen["freshness"].values()} == {"source"}


@pytest.mark.case("F4")
def test_one_instant_written_in_four_ways_has_one_age(measured):
    rows = measured[-1]["freshness"]
    ages = {name: rows[f"raw.{name}"]["age_seconds"] for name in ("of_utc", "of_zone", "of_tokyo", "of_text")}
    assert {rows[f"raw.{name}"]["freshness_state"] for name in ages} == {"fresh"}
    assert max(ages.values()) - min(ages.values()) < 600 and min(ages.values()) > 3600


@pytest.mark.case("F4")
def test_a_local_time_that_nobody_declared_is_a_clock_error_and_not_fresh(measured):
    row = measured[-1]["freshness"]["raw.undeclared"]
    assert (row["freshness_state"], row["is_verified"]) == ("clock error", False)
    assert ["source.freshness.raw.undeclared", "load in the future"] in measured[-1]["findings"]


# in SQL: every state


@pytest.mark.case("F1")
def test_policy_without_observation_observation_too_old_and_no_policy_are_told_apart(warehouse):
    source(warehouse, "s1", **policy(error=(24, "hour")))
    old = source(warehouse, "s2", **policy(error=(24, "hour")))
    source(warehouse, "s3")
    at = warehouse.now() - 3 * DAY
    warehouse.measured(old, at - HOUR, at)
    found = states(warehouse.build())
    assert {name: row["freshness_state"] for name, row in found.items()} == {"s1": "never observed", "s2": "observation expired", "s3": "no policy"}
    assert (found["s2"]["max_loaded_at_utc"], found["s2"]["snapshotted_at_utc"], found["s2"]["age_seconds"]) == (at - HOUR, at, 3600)
    assert not any(row["is_verified"] for row in found.values())


@pytest.mark.case("F1")
def test_a_measurement_says_nothing_of_today_once_the_shorter_limit_has_passed(warehouse):
    both = source(warehouse, "both", **policy(warn=(1, "hour"), error=(36500, "day")))
    warehouse.measured(both, warehouse.now() - 2 * HOUR, warehouse.now() - 2 * HOUR)
    assert states(warehouse.build())["both"]["freshness_state"] == "observation expired"


@pytest.mark.case("F1")
def test_a_measurement_counts_of_this_target_and_of_runs_that_read_data(warehouse):
    for name in ("elsewhere", "empty"):
        source(warehouse, name, **policy(error=(24, "hour")))
        warehouse.measured(f"source.shop.raw.{name}", warehouse.now() - HOUR, warehouse.now(), invocation=name, **({"target_name": "ci"} if name == "elsewhere" else {}))
    warehouse.ran("source.shop.raw.empty", "pass", at=warehouse.now(), invocation="empty", is_empty=True)
    assert {row["freshness_state"] for row in states(warehouse.build()).values()} == {"never observed"}


@pytest.mark.case("F1")
def test_what_was_measured_before_a_gap_under_another_policy_is_hidden_with_it(warehouse):
    closed = {"meta": {"provenance_allow": "nobody"}}
    came_back = source(warehouse, "came_back", **policy(error=(24, "hour")), **closed)
    warehouse.measured(came_back, warehouse.now() - 2 * HOUR, warehouse.now() - HOUR, recorded_at_utc=warehouse.now())
    warehouse.state(came_back, None, at=warehouse.now() - 50 * dt.timedelta(minutes=1))
    warehouse.clock = warehouse.now() - 40 * dt.timedelta(minutes=1)
    source(warehouse, "came_back", **policy(error=(24, "hour")))
    assert states(warehouse.build())["came_back"]["freshness_state"] == "never observed"


@pytest.mark.case("F2")
def test_a_source_without_data_comes_first_in_no_order_by_age(warehouse):
    for name, loaded in (("empty", None), ("young", HOUR), ("old", 3 * HOUR)):
        source(warehouse, name, **policy(error=(24, "hour")))
        warehouse.measured(f"source.shop.raw.{name}", loaded and warehouse.now() - loaded, warehouse.now(), status="error" if loaded is None else "pass")
    found = states(warehouse.build())
    assert (found["empty"]["freshness_state"], found["empty"]["age_seconds"]) == ("no data", None)
    for order in ("asc", "desc"):
        ordered = warehouse.con.execute(f"select unique_id from provenance.freshness order by age_seconds {order}").fetchall()
        assert ordered[-1] == ("source.shop.raw.empty",)


@pytest.mark.case("F3")
@pytest.mark.parametrize(
    ("offsets", "state"),
    [((0, 0, 0), CLOCK), ((0, 0), "fresh"), ((0, 0, 1), "fresh"), ((1, 0, 0), "fresh"), ((0, 1, 0), "fresh"), ((1, 0, 0, 0), CLOCK), ((0, 0, 0, 1), "fresh"), ((0, 0, None, 0), "fresh")],
)
def test_three_checks_in_a_row_to_the_microsecond_make_a_clock_suspicious(warehouse, offsets, state):
    """Offsets of the newest load from the check in microseconds, oldest first."""
    source(warehouse, "s", **policy(error=(24, "hour")))
    for place, offset in enumerate(offsets):
        at = warehouse.now() - (len(offsets) - place) * HOUR
        warehouse.measured("source.shop.raw.s", None if offset is None else at - dt.timedelta(microseconds=offset), at)
    warehouse.build()
    assert states(warehouse)["s"]["freshness_state"] == state
    rules = [row["finding_rule"] for row in warehouse.view("findings", principal="analyst")]
    assert rules == (["clock used as data"] if state == CLOCK else [])
    assert warehouse.view("findings", principal="stranger") == []


@pytest.mark.case("F4")
def test_local_zoned_and_utc_texts_give_one_age_and_a_doubled_zone_is_a_finding_that_loses_nothing(warehouse, tmp_path):
    at = warehouse.now().replace(microsecond=0)
    loaded = at - 2 * HOUR
    tokyo = (loaded + 9 * HOUR).isoformat()
    texts = {"local": tokyo, "offset": f"{tokyo}+09:00", "zulu": f"{loaded.isoformat()}Z", "doubled": f"{loaded.isoformat()}+00:00Z"}
    results = [
        {"unique_id": f"source.shop.raw.{name}", "max_loaded_at": text, "snapshotted_at": f"{at.isoformat()}Z", "max_loaded_at_time_ago_in_s": 7200.0, "status": "pass", "criteria": {}}
        for name, text in texts.items()
    ]
    metadata = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/sources/v3.json", "dbt_version": "1.11.0", "invocation_id": "x"}
    (tmp_path / "sources.json").write_text(json.dumps({"metadata": metadata, "results": results, "elapsed_time": 1.0}))
    for row in read_artifacts(tmp_path).freshness_rows(naive_zone=ZoneInfo("Asia/Tokyo")):
        source(warehouse, row.unique_id.rsplit(".", 1)[1], **policy(error=(24, "hour")))
        warehouse.measured(row.unique_id, row.max_loaded_at_utc, row.snapshotted_at_utc, status=row.observed_status, error_text=row.error_text)
    found = states(warehouse.build())
    assert {name: (row["freshness_state"], row["age_seconds"]) for name, row in found.items()} == {
        "local": ("fresh", 7200), "offset": ("fresh", 7200), "zulu": ("fresh", 7200), "doubled": ("unreadable time", None),
    }  # fmt: skip
    (finding,) = warehouse.view("findings", principal="analyst")
    assert (finding["finding_rule"], finding["found_value"]) == ("unreadable time", f"max_loaded_at: {texts['doubled']}")


@pytest.mark.case("F4")
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_hook_reads_times_as_refresh_does_whatever_the_session_s_zone(zone):
    macros = jinja2.Environment().from_string((ROOT / "macros/warehouse/utc_from_text.sql").read_text(), globals={"return": lambda value: value})
    expression = macros.module.duckdb__utc_from_text("written")
    with duckdb.connect() as con:
        con.execute(f"set timezone = '{zone}'")
        for text in (
            "2025-06-01T09:00:00+09:00", "2025-06-01 09:00:00.123456+00:00", "2025-06-01T09:00:00.123456789Z", "2025-06-01T09:00:00", "2025-06-01 09:00", "2025-06-01",
            "2025-06-01T09:00:00-05:30", "2025-06-01 09:00:00+09", "2025-06-01T09:00:00+00:00Z", "2025-02-30T00:00:00", "soon", "None", "", None,
        ):  # fmt: skip
            try:
                expected = utc_from_text(text)
            except ValueError:
                expected = None
            assert con.execute(f"select {expression} from (select cast(? as varchar) as written)", [text]).fetchone() == (expected,), text


# the whole kind: random policies and measurements against the rules in plain Python


def expected_state(limits: dict[str, int], rows: list[dict[str, Any]], now: dt.datetime) -> str:
    """The state that the documentation promises, of one source with these limits in seconds and measurements, newest first."""
    if not limits:
        return "no policy"
    if not rows:
        return "never observed"
    last = rows[0]
    loaded, at, status = last["loaded"], last["at"], last["status"]
    if status in ("parse error", "runtime error"):
        return {"parse error": "unreadable time", "runtime error": "check failed"}[status]
    if loaded is None:
        return "no data"
    if loaded - at > 5 * dt.timedelta(minutes=1):
        return "clock error"
    if len(rows) >= 3 and all(row["loaded"] == row["at"] for row in rows[:3]):
        return CLOCK
    if (now - at).total_seconds() > min(limits.values()):
        return "observation expired"
    age = (at - loaded).total_seconds()
    if status == "error" or age > limits.get("error", age):
        return "stale"
    return "late" if status == "warn" or age > limits.get("warn", age) else "fresh"


def random_measurements(dice: random.Random, now: dt.datetime) -> Iterator[dict[str, Any]]:
    at = now - dice.choice([HOUR, 5 * HOUR, 3 * DAY])
    is_clock = dice.random() < 0.2
    for _ in range(dice.randint(0, 4)):
        status = dice.choice(["pass", "pass", "pass", "warn", "error", "runtime error", "parse error"])
        age = dice.choice([dt.timedelta(0), dt.timedelta(minutes=7), 3 * HOUR, 20 * HOUR, 9 * DAY, -dt.timedelta(minutes=4), -9 * HOUR])
        loaded = at if is_clock and status == "pass" else None if status in ("runtime error", "parse error") or dice.random() < 0.1 else at - age
        yield {"status": status, "at": at, "loaded": loaded}
        at -= 10 * HOUR


@pytest.mark.case("F1")
@pytest.mark.case("F2")
@pytest.mark.case("F3")
@pytest.mark.case("F4")
def test_every_state_follows_from_policy_and_measurements_and_only_what_was_measured_is_fresh(warehouse):
    dice, now, expected = random.Random(5), warehouse.now(), {}
    for place in range(400):
        limits = {level: (dice.choice([2, 30]), dice.choice(["minute", "hour", "day"])) for level in ("warn", "error") if dice.random() < 0.6}
        unique_id = source(warehouse, f"s{place}", **policy(**limits))
        rows = list(random_measurements(dice, now))
        for row in rows:
            crashed = row["status"] == "runtime error"
            warehouse.measured(unique_id, row["loaded"], None if crashed else row["at"], status=row["status"], recorded_at_utc=row["at"])
        expected[f"s{place}"] = expected_state({level: count * SECONDS[period] for level, (count, period) in limits.items()}, rows, now)
    found = states(warehouse.build())
    assert {name: row["freshness_state"] for name, row in found.items()} == expected
    assert len(set(expected.values())) == 11
    assert {row["freshness_state"] for row in found.values() if row["is_verified"]} == {"fresh", "late", "stale"}
    ranks = {row["freshness_state"]: row["severity_rank"] for row in found.values()}
    assert sorted(ranks.values()) == list(range(1, 12)) and ranks["fresh"] == 1 and ranks["stale"] == 11
    assert all(row["state_reason"] for row in found.values())


@pytest.mark.case("F1")
def test_as_known_earlier_the_policy_and_the_measurement_of_then_are_shown(warehouse):
    events = source(warehouse, "events", **policy(error=(1, "day")))
    warehouse.state("model.shop.orders", {"name": "orders", "depends_on": [events]})
    first, second = dt.datetime(2025, 3, 1, 6), dt.datetime(2025, 3, 10, 6)
    warehouse.measured(events, first - HOUR, first).measured(events, second - 2 * DAY, second, status="error")
    warehouse.ran("model.shop.orders", "success", at=first).ran("model.shop.orders", "error", at=second)
    warehouse.state(events, {"name": "events", "source_name": "raw"}, at="2025-04-01T12:00:00").build()
    shown = {}
    for known_at in ("2025-02-01", "2025-03-01 12:00", "2025-03-10 12:00", None):
        (row,) = warehouse.view("freshness", principal="analyst", known_at=known_at)
        (health,) = [one for one in warehouse.view("health", principal="analyst", known_at=known_at) if one["entity_id"] == "model.shop.orders"]
        shown[known_at] = (row["freshness_state"], row["error_after_count"], health["upstream_freshness"], health["last_run_status"])
    assert shown == {
        "2025-02-01": ("never observed", 1, "never observed", None),
        "2025-03-01 12:00": ("fresh", 1, "fresh", "success"),
        "2025-03-10 12:00": ("stale", 1, "stale", "error"),
        None: ("no policy", None, "no policy", "error"),
    }
