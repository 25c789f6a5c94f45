"""dbt parses only what changed; what is stored follows in the same run, and is what a clean parse gives."""

from __future__ import annotations

import json

import pytest
from artifact_project import Built, manifest

FROM_THE_FILES = ["--no-partial-parse"]
"""dbt Core does not note a variable of the environment that a description reads (tried on 1.11: "no changes found"), so its cache keeps the
old text and nothing after dbt can know better."""


def description(project: Built, model: str) -> str:
    return project.open_documents()[f"model.small.{model}"]["description"]


@pytest.mark.case("G10")
def test_a_doc_block_an_environment_variable_and_a_new_file_are_followed_in_the_same_run(project: Built):
    assert description(project, "sources") == "The words before." and description(project, "secretive") == "Said by nobody."
    assert (project.folder / "target/partial_parse.msgpack").exists() or not project.engine.is_core, "partial parsing is on"
    docs = project.folder / "docs/hostile.md"
    docs.write_text(docs.read_text().replace("The words before.", "The words after."))
    project.dbt("run", "--select", "stg_events")
    assert (description(project, "sources"), description(project, "metrics")) == ("The words after.", "Also: The words after.")
    project.dbt("run", "--select", "stg_events", *(FROM_THE_FILES if project.engine.is_core else []), ARTIFACTS_SWITCH="somebody")
    assert description(project, "secretive") == manifest(project.folder)["model.small.secretive"]["description"] == "Said by somebody."
    (project.folder / "models/arrived.sql").write_text("select 1 as id")
    (project.folder / "models/hostile.sql").write_text("select 2 as id")
    project.dbt("run", "--select", "stg_events", ARTIFACTS_SWITCH="somebody")
    stored = {uid for uid in project.open_documents() if uid.startswith(("model.", "seed.", "snapshot.", "test."))}
    assert "model.small.arrived" in stored
    project.dbt("parse", "--no-partial-parse", ARTIFACTS_SWITCH="somebody")
    clean = {uid for uid in manifest(project.folder) if uid.startswith(("model.", "seed.", "snapshot.", "test."))}
    assert stored == clean


@pytest.mark.case("G10")
def test_a_manifest_that_lacks_a_model_file_is_said_by_refresh(project: Built):
    """Should a warm parse pass over a new file, nothing inside dbt can know it: the hook in Python looks at the files."""
    from click.testing import CliRunner
    from dbt_provenance.cli import main

    (project.folder / "models/arrived.sql").write_text("select 1 as id")
    (project.folder / "models/switched_off.sql").write_text("{{ config(enabled=false) }} select 1 as id")
    written = json.loads((project.folder / "target/manifest.json").read_text())
    known = {"unique_id": "model.small.switched_off", "original_file_path": "models/switched_off.sql", "resource_type": "model"}
    written["disabled"]["model.small.switched_off"] = [known]
    (project.folder / "target/manifest.json").write_text(json.dumps(written))
    command = ["refresh", "--project-dir", str(project.folder), "--profiles-dir", str(project.folder), "--dbt", str(project.engine.executable), "--json"]
    finished = CliRunner().invoke(main, [*command, "--", "--vars", json.dumps({"told": "x"})], env={"ARTIFACTS_TOLD": "x"})
    assert finished.exit_code == 0, finished.output
    (note,) = [note for note in json.loads(finished.stdout)["notes"] if "manifest.json: " in note]
    assert "models/arrived.sql" in note and "switched_off" not in note and "--no-partial-parse" in note
