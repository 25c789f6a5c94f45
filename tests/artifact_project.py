"""The small project with hostile text, policies in every place where dbt takes meta, and twelve metrics in the form that the engine reads."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from conftest import ROOT, copy_project, dbt, shared_build
from dbt_provenance.capture.artifact_files import resources
from engines import Engine

INTERNAL = "main_provenance_internal"
HOSTILE = "O'Reilly \"x\" \\U0001 C:\\Users\\w5 80% %s {{ x }} 😀"
TOLD, TOLD_BY_ENV = "told_4f1c " + HOSTILE, "told_b29e " + HOSTILE
"""What is said on the command line, and in the environment."""
METRICS = 12
RAW_TEXT = "{% raw %}" + HOSTILE + "{% endraw %}"
"""dbt renders what stands in YAML: so the text is given to it as what is not to be rendered."""


@dataclass(frozen=True)
class Built:
    """A project, and the engine that built it."""

    engine: Engine
    folder: Path

    def copy(self, to: Path) -> Built:
        folder = Path(shutil.copytree(self.folder, to / self.folder.name, symlinks=True))
        # dbt 2 names a local package by its way from the project, which is another from here.
        installed = folder / "dbt_packages/dbt_provenance"
        installed.unlink()
        installed.symlink_to(ROOT, target_is_directory=True)
        lock = folder / "package-lock.yml"
        lock.write_text(re.sub("local: .*", f"local: {ROOT}", lock.read_text()))
        return Built(self.engine, folder)

    def dbt(self, *arguments: str, check: bool = True, told: str = TOLD, told_by_env: str = TOLD_BY_ENV, **env: str) -> subprocess.CompletedProcess[str]:
        """Runs dbt with a value on the command line and one in the environment."""
        return dbt(self.folder, *arguments, "--vars", json.dumps({"told": told}, ensure_ascii=False), check=check, executable=self.engine.executable, ARTIFACTS_TOLD=told_by_env, **env)

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.folder / "small.duckdb"), read_only=True) as con:
            return con.execute(statement, values).fetchall()

    def open_documents(self) -> dict[str, dict[str, Any]]:
        """unique_id -> document of what is open."""
        return {uid: json.loads(document) for uid, (_, document, _) in open_rows(self.folder / "small.duckdb", INTERNAL).items()}

    def changes(self, after: int = 0) -> list[tuple[str, str]]:
        """Every change of a resource of the project that was written after a raw_id."""
        found = self.rows(f"select unique_id, change_kind from {INTERNAL}.prov_raw_resources where raw_id > ? order by raw_id", after)
        return [row for row in found if row[0].split(".")[1] != "dbt_provenance"]

    def newest(self) -> int:
        return self.rows(f"select max(raw_id) from {INTERNAL}.prov_raw_resources")[0][0]


def artifact_build(tmp_path_factory, worker: str, engine: Engine) -> Built:
    folder = shared_build(tmp_path_factory, worker, f"artifacts_{engine.slug}", lambda to: make_artifact_project(to, engine))
    return Built(engine, folder / "small")


@pytest.fixture(scope="session")
def built(tmp_path_factory, worker, engine) -> Built:
    """One build of each engine; read-only."""
    return artifact_build(tmp_path_factory, worker, engine)


@pytest.fixture
def project(built, tmp_path: Path) -> Built:
    """A copy of it, to be changed."""
    return built.copy(tmp_path)


def open_rows(database: Path, schema: str, source: str = "graph") -> dict[str, tuple[str, str, str]]:
    """unique_id -> type, document and hash of what is open."""
    with duckdb.connect(str(database), read_only=True) as con:
        found = con.execute(
            f"""select unique_id, resource_type, document, document_hash from {schema}.prov_raw_resources where capture_source = ?
            qualify row_number() over (partition by unique_id order by raw_id desc) = 1 and change_kind = 'open'""",
            [source],
        ).fetchall()
    return {row[0]: row[1:] for row in found}


def said(finished: subprocess.CompletedProcess[str]) -> list[str]:
    """What the package said."""
    return [line.split("dbt_provenance: ", 1)[1] for line in finished.stdout.splitlines() if "dbt_provenance: " in line]


def manifest(project: Path) -> dict[str, dict[str, Any]]:
    """Every resource by unique_id, as it is read from manifest.json."""
    return {uid: dict(resource) for uid, resource in resources(json.loads((project / "target/manifest.json").read_text()))}


def make_artifact_project(to: Path, engine: Engine) -> None:
    project = copy_project("small", to, engine.executable)
    odd = project / "models" / HOSTILE
    odd.mkdir()
    (odd / "in_odd_folder.sql").write_text("select 1 as id")
    (project / "models/secretive.sql").write_text("""select '{{ var("told") | replace("'", "''") }}' as a, '{{ env_var("ARTIFACTS_TOLD") | replace("'", "''") }}' as b""")
    (project / "docs/hostile.md").write_text("{% docs hostile %}" + RAW_TEXT + "{% enddocs %}\n{% docs shared_words %}The words before.{% enddocs %}\n")
    (project / "models/hostile.yml").write_text(yaml.safe_dump(hostile_models(), allow_unicode=True))
    (project / "models/meta.yml").write_text(yaml.safe_dump(meta_models(engine.is_core)))
    for model in meta_models(engine.is_core)["models"]:
        (project / f"models/{model['name']}.sql").write_text("select 1 as id")
    (project / "models/by_folder").mkdir()
    (project / "models/by_folder/meta_by_folder.sql").write_text("select 1 as id")
    settings = yaml.safe_load((project / "dbt_project.yml").read_text())
    settings["models"]["small"]["by_folder"] = {"+meta": POLICY}
    settings["vars"] |= WHO_SEES_WHAT
    (project / "dbt_project.yml").write_text(yaml.safe_dump(settings))
    (project / "semantic/semantic.yml").write_text(yaml.safe_dump(semantics(engine.semantic_folder.endswith("legacy"))))
    (project / "semantic/stg_paid_events.sql").write_text("select * from {{ ref('stg_events') }}")
    Built(engine, project).dbt("build")


def hostile_models() -> dict[str, Any]:
    return {
        "models": [
            {"name": "hostile", "description": RAW_TEXT, "config": {"tags": [RAW_TEXT], "meta": {"key " + HOSTILE: RAW_TEXT, "list": [RAW_TEXT]}}, "columns": [{"name": "id", "description": RAW_TEXT}]},
            {"name": "in_odd_folder", "description": "{{ doc('hostile') }}"},
            {"name": "sources", "description": "{{ doc('shared_words') }}"},
            {"name": "metrics", "description": "Also: {{ doc('shared_words') }}"},
            {"name": "secretive", "description": "Said by {{ env_var('ARTIFACTS_SWITCH', 'nobody') }}."},
        ]
    }


WHO_SEES_WHAT = {
    "provenance_principals": [
        {"principal": "analyst", "group_name": "analyst"},
        {"principal": "reader", "group_name": "reader"},
        {"principal": "steward", "group_name": "steward", "principal_role": "service"},
    ],
    "provenance_policies": [
        {"policy_name": name, "applies_to": "path", "pattern": pattern, "allow": ["reader"]}
        for name, pattern in (("hostile", "models/hostile.sql"), ("odd", "models/O*"), ("words", "models/sources.sql"), ("metrics", "semantic/*"))
    ],
}
"""What has no policy of its own is seen by nobody."""
POLICY = {"provenance_allow": ["analyst"], "provenance_status": "approved"}


def meta_models(is_core: bool) -> dict[str, Any]:
    """dbt 2 refuses a model's meta outside its config."""
    other = {"provenance_allow": ["steward"], "provenance_status": "draft"}
    at_top = [
        {"name": "meta_at_top", "meta": POLICY},
        {"name": "meta_in_both", "meta": POLICY, "config": {"meta": POLICY}},
        {"name": "meta_that_differs", "meta": POLICY, "config": {"meta": other}},
    ]
    return {
        "models": [
            {"name": "meta_in_config", "config": {"meta": POLICY}},
            {"name": "meta_without", "config": {"meta": {"provenance_owner": "nobody"}}},
            *(at_top[:1] if is_core else []),
        ]
    }


def semantics(is_legacy: bool) -> dict[str, Any]:
    """A time spine, a semantic model, METRICS metrics on it, a saved query and an exposure."""
    spine = {"name": "time_spine", "time_spine": {"standard_granularity_column": "date_day"}, "columns": [{"name": "date_day", "granularity": "day"}]}
    simple = [{"name": f"paid_{number}", "label": f"Paid {number}", "description": "What was paid.", "type": "simple"} for number in range(METRICS - 2)]
    share, total = {"name": "paid_share", "label": "Share", "type": "ratio"}, {"name": "paid_total", "label": "Total", "type": "cumulative"}
    others = {
        "saved_queries": [{"name": "paid_by_day", "description": "By day.", "query_params": {"metrics": ["paid_0"], "group_by": ["TimeDimension('event__occurred_at', 'day')"]}}],
        "exposures": [{"name": "paid_page", "type": "dashboard", "owner": {"name": "Ada"}, "depends_on": ["metric('paid_0')", "ref('stg_paid_events')"]}],
    }
    if not is_legacy:
        columns = [{"name": "event_id", "entity": {"name": "event", "type": "primary"}}, {"name": "occurred_at", "granularity": "day", "dimension": {"type": "time"}}]
        paid = {
            "name": "stg_paid_events", "semantic_model": {"enabled": True, "name": "paid_events"}, "agg_time_dimension": "occurred_at", "columns": columns,
            "metrics": [one | {"agg": "sum", "expr": "amount"} for one in simple],
        }  # fmt: skip
        derived = [share | {"numerator": "paid_0", "denominator": "paid_1"}, total | {"input_metric": "paid_0", "window": "7 days"}]
        return {"models": [spine, paid], "metrics": derived} | others
    model = {
        "name": "paid_events", "model": "ref('stg_paid_events')", "defaults": {"agg_time_dimension": "occurred_at"},
        "entities": [{"name": "event", "type": "primary", "expr": "event_id"}],
        "dimensions": [{"name": "occurred_at", "type": "time", "type_params": {"time_granularity": "day"}}],
        "measures": [{"name": f"amount_{number}", "agg": "sum", "expr": "amount"} for number in range(METRICS - 2)],
    }  # fmt: skip
    metrics = [one | {"type_params": {"measure": f"amount_{number}"}} for number, one in enumerate(simple)]
    derived = [share | {"type_params": {"numerator": "paid_0", "denominator": "paid_1"}}, total | {"type_params": {"measure": "amount_0", "cumulative_type_params": {"window": "7 days"}}}]
    return {"models": [spine], "semantic_models": [model], "metrics": metrics + derived} | others
