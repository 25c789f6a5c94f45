"""What holds of the package's own files: bodies, documentation, defaults, lightness."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import ROOT

FUNCTIONS = yaml.safe_load((ROOT / "models/functions/functions.yml").read_text())["models"]
PUBLIC = yaml.safe_load((ROOT / "models/public/public.yml").read_text())["models"]
ARGUMENTS = {argument["name"] for function in FUNCTIONS for argument in function["config"]["meta"]["arguments"]}


def test_no_function_body_uses_an_arguments_name_for_something_else(package_models):
    """DuckDB puts the argument in place of a column, CTE or alias of its name; only the last select may name its columns so."""
    for model in package_models:
        if model.materialized != "provenance_function":
            continue
        own = {name for name, _ in model.arguments}
        body = re.sub(r"--[^\n]*|'(?:[^']|'')*'", " ", model.sql)
        before_last_select = body[: body.rindex("\nselect")]
        for name in own:
            taken = re.findall(rf"(?:\bas|\.)\s*{name}\b|\b{name}\s+as\s*(?:materialized\s*)?\(", before_last_select)
            assert not taken, f"{model.name}: {name} is an argument and is used as {taken}"


def test_every_public_relation_and_column_is_described(package_models):
    described = {model["name"]: {column["name"] for column in model.get("columns", ())} for model in PUBLIC + FUNCTIONS}
    for file in [*(ROOT / "models/public").glob("*.sql"), *(ROOT / "models/functions").glob("*.sql")]:
        assert described.get(file.stem), f"{file.stem} has no documented columns"


@pytest.mark.parametrize("model", [model["name"] for model in PUBLIC])
def test_the_columns_of_a_public_view_are_those_documented(warehouse, model):
    warehouse.build()
    documented = next(one for one in PUBLIC if one["name"] == model)
    columns = warehouse.con.execute(f"describe provenance.{model.removeprefix('provenance__')}").fetchall()
    assert [column[0] for column in columns] == [column["name"] for column in documented["columns"]]
    assert {column[1] for column in columns} <= {"VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP"}


def test_built_in_authority_equals_the_seed(warehouse):
    warehouse.build()
    built_in = warehouse.con.execute(
        "select rule_kind, subject, rule_rank, highest_status, may_govern, speaks_for_others from provenance_internal.prov_stg_authority"
    ).fetchall()
    with (ROOT / "seeds/provenance_authority.csv").open() as file:
        seed = [
            (row["rule_kind"], row["subject"], int(row["rule_rank"]), row["highest_status"] or None, *({"true": True, "false": False}.get(row[key]) for key in ("may_govern", "speaks_for_others")))
            for row in csv.DictReader(file)
        ]
    assert sorted(built_in, key=str) == sorted(seed, key=str)


def test_importing_the_python_package_imports_nothing_heavy():
    """dbt Core imports every installed module whose name begins with dbt_ at each start."""
    script = "import sys; before = set(sys.modules); import dbt_provenance; print(len(set(sys.modules) - before))"
    finished = subprocess.run([sys.executable, "-X", "frozen_modules", "-c", script], capture_output=True, text=True, check=True)
    assert int(finished.stdout) <= 2


def test_the_package_depends_on_no_other_and_has_no_tests_that_run_in_users_projects():
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text())
    assert project["test-paths"] == []
    assert not list(ROOT.glob("packages.yml")) and not list(ROOT.glob("dependencies.yml"))
    for file in [*(ROOT / "models").rglob("*.yml"), *(ROOT / "seeds").rglob("*.yml")]:
        text = file.read_text()
        # one is a check that a project switches on
        switched = text.count("config: {enabled: \"{{ var('provenance_fail_on', none) not in [none, false, '', []] }}\"}")
        held = re.findall(r"^\s*(?:data_tests|tests|unit_tests):", text, re.MULTILINE)
        assert len(held) == switched, f"{file.name} holds tests: they would run in users' projects"


def test_every_macro_call_inside_the_package_names_the_package():
    own = {name for file in (ROOT / "macros").rglob("*.sql") for name in re.findall(r"{%-?\s*macro (\w+)", file.read_text())}
    own = {name for name in own if not name.startswith(("duckdb__", "default__"))}
    for file in [*(ROOT / "macros").rglob("*.sql"), *(ROOT / "models").rglob("*.sql")]:
        for block in re.findall(r"{[{%].*?[%}]}", re.sub(r"{#.*?#}", "", file.read_text(), flags=re.DOTALL), re.DOTALL):
            for name in re.findall(r"(?<![\w.'])(\w+)\(", re.sub(r"^{%-?\s*macro .*", "", block)):
                assert name not in own, f"{file.relative_to(ROOT)} calls {name} without dbt_provenance. in front"


def test_the_manifest_of_a_users_project_stays_free_of_unversioned_names(package_models):
    names = [model.name for model in package_models]
    assert len(names) == len(set(names)) and all(name.startswith(("prov_", "provenance__")) for name in names), json.dumps(names)
    assert Path(ROOT / "LICENSE").exists()


def test_a_build_of_the_tables_is_marked_before_the_first_and_after_the_last_of_them():
    """Otherwise index_state would say current of tables of two builds."""
    reads = {
        file.stem: set(re.findall(r"'(prov_(?:int|stg)_\w+)'", file.read_text()))
        for folder in ("staging", "marts")
        for file in (ROOT / "models" / folder).glob("*.sql")
    }

    def upstream(name: str) -> set[str]:
        return {name}.union(*(upstream(one) for one in reads[name]))

    marts = {name for name in reads if name.startswith("prov_int_")}
    assert not marts - upstream("prov_int_build"), "prov_int_build.sql does not wait for these"
    assert not [name for name in marts if "prov_int_begun" not in upstream(name)], "these do not wait for prov_int_begun"
