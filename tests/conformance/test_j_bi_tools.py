"""BI tools on the public relations (DESIGN 3.9)."""

import datetime as dt
import json
import re

import duckdb
import pyarrow.csv
import pytest
from conftest import ROOT, copy_project, dbt
from package_sql import INTERNAL, Warehouse
from permission_worlds import ASKERS, random_world, strike, write

FLAT = {"VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "INTEGER", "BIGINT", "DOUBLE"}
RESERVED = json.loads((ROOT / "tests/data/reserved_words.json").read_text(encoding="utf-8"))
MEASURED = re.compile(r"_(count|seconds|results|documents|entities|distance|affected)$|^(revision|previous_revision|failures|depth|total_visible|visible_\w+|ledger_id)$")


@pytest.fixture(scope="module")
def full(package_models):
    """A warehouse with rows in the public views."""
    made = write(Warehouse(package_models), random_world(3))
    made.con.execute(f"insert into {INTERNAL}.prov_raw_runs by name select distinct invocation_id, project_name, 'build' as command, false as is_empty from {INTERNAL}.prov_raw_run_results")
    strike(made, {"ledger_id": 1, "ledger_action": "revoke", "entity_id": "metric.shop.gone", "tenant_id": "default"})
    yield made
    made.con.close()


@pytest.fixture(scope="module")
def bare(package_models):
    """A warehouse without a single row."""
    made = Warehouse(package_models).build()
    yield made
    made.con.close()


def views(warehouse: Warehouse) -> list[str]:
    return [row[0] for row in warehouse.con.execute("select view_name from duckdb_views() where schema_name = 'provenance' order by 1").fetchall()]


def functions(warehouse: Warehouse) -> dict[str, list[str]]:
    found = warehouse.con.execute("select function_name, parameters from duckdb_functions() where schema_name = 'provenance' order by 1").fetchall()
    return dict(found)


def columns(warehouse: Warehouse, name: str) -> dict[str, str]:
    """Name -> type of the columns of a view, or of a function that is asked for nothing."""
    called = f"{name}('nothing')" if name in functions(warehouse) else name
    return dict(warehouse.con.execute(f"select column_name, column_type from (describe select * from provenance.{called})").fetchall())


def all_columns(warehouse: Warehouse) -> dict[tuple[str, str], str]:
    return {(name, column): kind for name in [*views(warehouse), *functions(warehouse)] for column, kind in columns(warehouse, name).items()}


@pytest.mark.case("J1")
def test_every_column_is_flat_and_of_the_type_that_its_name_says_also_where_all_is_null(bare):
    typed = all_columns(bare)
    assert len(typed) > 200 and set(typed.values()) <= FLAT
    for (name, column), kind in typed.items():
        said = (
            {"TIMESTAMP"} if column.endswith("_utc")
            else {"DATE"} if column.endswith(("valid_from", "valid_to", "overlaps_from", "overlaps_to", "scheduled_from", "deprecation_date", "recorded_date"))
            else {"BOOLEAN"} if column.startswith(("is_", "may_", "has_")) or column.endswith(("_changed", "_derived", "_untrusted")) or column == "redacted"
            else {"INTEGER", "BIGINT", "DOUBLE"} if MEASURED.search(column)
            else FLAT - {"TIMESTAMP", "DATE"}
        )  # fmt: skip
        assert kind in said, (name, column, kind)


@pytest.mark.case("J1")
def test_every_view_exports_to_arrow_and_csv_with_rows_and_without(full, bare, tmp_path):
    filled = set()
    askers = [("full", principal, tenant) for principal, tenant in ASKERS]
    for source, principal, tenant in [*askers, ("bare", "bot", "default")]:
        warehouse = {"full": full, "bare": bare}[source]
        warehouse.con.execute(f"set variable provenance_principal = '{principal}'; set variable provenance_tenant = {repr(tenant) if tenant else 'null'}")
        for view in views(warehouse):
            count = warehouse.con.execute(f"select count(*) from provenance.{view}").fetchall()[0][0]
            table = warehouse.con.sql(f"select * from provenance.{view}").to_arrow_table()
            assert table.num_rows == count and not any(str(one.type).startswith(("list", "struct", "null")) for one in table.schema)
            file = tmp_path / f"{view}.csv"
            warehouse.con.execute(f"copy (select * from provenance.{view}) to '{file}' (header)")
            read = pyarrow.csv.read_csv(file, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))
            assert (read.num_rows, read.column_names) == (count, table.column_names)
            filled |= {view} if count else set()
    assert set(views(full)) - filled <= {name for name in views(full) if name in functions(full)}, "a view without a row shows nothing"


@pytest.mark.case("J2")
def test_every_column_is_selected_without_quotes_in_upper_and_in_lower_case(full):
    for name in [*views(full), *functions(full)]:
        called = f"{name}('nothing')" if name in functions(full) else name
        for case in (str.upper, str.lower):
            names = ", ".join(case(column) for column in columns(full, name))
            full.con.execute(f"select {names} from {case(f'provenance.{called}')} limit 1")


@pytest.mark.case("J2")
def test_no_public_name_is_a_reserved_word_of_a_warehouse(full):
    names = {column for _, column in all_columns(full)} | {*views(full), *functions(full)} | {one for parameters in functions(full).values() for one in parameters}
    assert {name for name in names if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name)} == set()
    reserved = {warehouse: set(words.split()) for warehouse, words in RESERVED.items() if warehouse != "sources"}
    assert len(reserved) == 6 and all(len(words) > 50 for words in reserved.values())
    assert {warehouse: sorted(words & names) for warehouse, words in reserved.items() if words & names} == {}


@pytest.mark.case("J3")
def test_clients_in_other_zones_read_the_same_dates_and_instants(full):
    read = {}
    full.con.execute(f"set variable provenance_principal = '{ASKERS[0][0]}'; set variable provenance_tenant = null")
    for zone in ("UTC", "Etc/GMT+8", "America/Los_Angeles", "Asia/Tokyo", "Etc/GMT-9"):
        full.con.execute(f"set timezone = '{zone}'")
        read[zone] = {view: sorted(full.con.execute(f"select * from provenance.{view}").fetchall(), key=repr) for view in views(full) if view != "index_status"}
    full.con.execute("set timezone = 'UTC'")
    assert all(rows == read["UTC"] for rows in read.values())


@pytest.mark.case("J3")
def test_the_first_of_april_is_in_april_in_every_zone(warehouse):
    warehouse.metric("net_revenue", formula="a", status="approved", valid_from="2025-04-01", valid_to="2026-04-01").build()
    for zone in ("America/Los_Angeles", "UTC", "Asia/Tokyo"):
        warehouse.con.execute(f"set timezone = '{zone}'")
        warehouse.con.execute("set variable provenance_principal = 'analyst'")
        read = warehouse.con.execute("select valid_from, cast(date_trunc('month', valid_from) as date), valid_to from provenance.definitions").fetchall()
        assert read == [(dt.date(2025, 4, 1), dt.date(2025, 4, 1), dt.date(2026, 4, 1))]
        (row,) = warehouse.call("resolve", "net_revenue", as_of=dt.date(2025, 4, 1), principal="analyst")
        assert (row["outcome"], row["valid_from"]) == ("resolved", dt.date(2025, 4, 1))
        assert warehouse.call("resolve", "net_revenue", as_of=dt.date(2025, 3, 31), principal="analyst")[0]["outcome"] == "not_found_or_not_authorized"


@pytest.mark.case("J3", "J5")
def test_a_build_in_another_zone_among_macros_of_the_same_names_writes_utc_and_calls_its_own(engine, tmp_path):
    """Every macro of the package has a namesake in the project that ends the run when it is called."""
    project = copy_project("small", tmp_path, engine.executable)
    own = {name for file in (ROOT / "macros").rglob("*.sql") for name in re.findall(r"{%-?\s*macro\s+(\w+)\(", file.read_text(encoding="utf-8"))}
    there = {name for file in (project / "macros").glob("*.sql") for name in re.findall(r"{%-?\s*macro\s+(\w+)\(", file.read_text(encoding="utf-8"))}
    names = sorted(name for name in own | {"get_node", "escape", "run_hook"} if name not in there and not name.startswith(("default__", "duckdb__")))
    assert len(names) > 80
    (project / "macros/namesakes.sql").write_text("\n".join(f"{{% macro {name}() %}}{{{{ exceptions.raise_compiler_error('the project\\'s {name}') }}}}{{% endmacro %}}" for name in names))
    before = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    dbt(project, "build", executable=engine.executable, TZ="Asia/Tokyo")
    after = dt.datetime.now(dt.timezone.utc).replace(tzinfo=None)
    with duckdb.connect(str(project / "small.duckdb"), read_only=True) as con:
        con.execute("set variable provenance_principal = 'steward'")
        assert con.execute("select word from main.lineage_edges union all select word from main.metrics").fetchall() == [("small",), ("small",)]
        ((started, finished, recorded),) = con.execute(
            """select started_at_utc, finished_at_utc, (select max(recorded_from_utc) from main_provenance.evidence) from main_provenance.runs"""
        ).fetchall()
        assert before <= started <= finished <= after and before <= recorded <= after
        assert con.execute("select count(*) from main_provenance.lineage_edges").fetchall()[0][0] > 10
        assert con.execute("select outcome from main_provenance.resolve('model.stg_events', principal => 'analyst')").fetchall() == [("resolved",)]
