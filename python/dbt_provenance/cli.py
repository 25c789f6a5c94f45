"""The command line: reads options, calls one function, shows what it gives. Commands import what they need when they run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import __version__
from .errors import ProvenanceError, UsageError
from .options import (
    PATH,
    WAIT_TO_WRITE,
    CalendarDate,
    Place,
    Words,
    as_json_option,
    as_of_option,
    asked,
    dbt_option,
    known_at_option,
    placed,
    reason_option,
    wait_option,
)
from .terminal import progress, show_document, show_message, show_notes, show_rows

if TYPE_CHECKING:
    from .capture.append import Changes
    from .capture.dbt_command import DbtProject
    from .capture.load import LoadedProject
    from .capture.refresh import Refreshed

EPILOG = """
\b
Exit codes:
  0  answered; every outcome is an answer: resolved, clarify, conflict, not_found_or_not_authorized
  1  with --strict: the outcome is not resolved
  2  a question or an option that makes no sense
  3  a file that dbt wrote cannot be read
  4  profiles.yml, the profile or the target is missing
  5  the warehouse cannot be reached, or another process holds its file
  6  the package was not built there, or the ledger is gone
  7  dbt was run and ended with an error
"""

ENTITY_TYPES = (
    "metric", "semantic_model", "saved_query", "model", "seed", "snapshot", "source", "exposure", "function", "analysis", "doc", "page",
    "policy", "term", "group", "lineage", "freshness",
)
SHOWN_OF_SEARCH = ("lane", "rank", "score", "entity_id", "version", "status", "valid_from", "valid_to", "label", "title")
SHOWN_OF_LINEAGE = ("depth", "direction", "kind", "upstream_id", "downstream_id", "redacted")
SHOWN_OF_CANDIDATES = ("candidate_role", "entity_id", "version", "status", "valid_from", "valid_to", "title", "evidence_id")


class Commands(click.Group):
    """Commands whose errors end as one sentence on stderr and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click's, with this package's errors."""
        try:
            return super().main(*args, **kwargs)
        except ProvenanceError as error:
            click.echo(error.message, err=True)
            sys.exit(error.exit_code)


@click.group(cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dbt-provenance")
def main() -> None:
    """Which definition applied on that date, who says so, where does it come from, and may you see it."""


@main.command()
@click.argument("entity", type=Words())
@as_of_option
@click.option("--as-of-end", type=CalendarDate(), help="The last day of the period that begins with --as-of, inclusive.")
@click.option("--version", type=Words(), help="The version asked for.")
@known_at_option
@asked
@click.option("--candidates", is_flag=True, help="One row for each statement that was weighed.")
@click.option("--strict", is_flag=True, help="Exit code 1 unless resolved.")
@placed
def resolve(place: Place, entity: str, candidates: bool, strict: bool, as_json: bool, **given: Any) -> None:
    """The statement that governs ENTITY on a date."""
    if given["as_of_end"] and (not given["as_of"] or given["as_of_end"] < given["as_of"]):
        raise UsageError("--as-of-end is the last day of the period that begins with --as-of. Give --as-of, and no later day.")
    with place.warehouse() as warehouse:
        answer = warehouse.call("resolve", entity=entity, **given)[0]
        rows = warehouse.call("resolve_candidates", entity=entity, **given) if candidates else []
    if candidates:
        show_rows(rows, SHOWN_OF_CANDIDATES, as_json)
    else:
        show_document(answer, as_json)
        _hint(answer, as_json, is_period=bool(given["as_of_end"]))
    _end(answer, strict)


@main.command()
@click.argument("query", type=Words())
@as_of_option
@known_at_option
@asked
@click.option("--type", "entity_types", multiple=True, type=click.Choice(ENTITY_TYPES), metavar="TYPE", help="Only entities of this type; repeatable.")
@click.option("--max-rows", type=click.IntRange(1, 1000), help="Rows of a lane, at most.")
@click.option("--first-row", type=click.IntRange(1), help="The first row of a lane, to page on.")
@placed
def search(place: Place, query: str, entity_types: Sequence[str], as_json: bool, **given: Any) -> None:
    """Evidence that matches QUERY, best first: what may govern, and what says otherwise."""
    if not query.strip():
        raise UsageError("The query is empty. Name a word to look for.")
    with place.warehouse() as warehouse:
        rows = warehouse.call("search", query=query, entity_types=list(entity_types) or None, **given)
    show_rows(rows, SHOWN_OF_SEARCH, as_json)


@main.command()
@click.argument("entity", type=Words())
@click.option("--direction", type=click.Choice(["upstream", "downstream", "both"]), help="Where to walk; upstream otherwise.")
@click.option("--max-depth", type=click.IntRange(1), help="Steps, at most.")
@click.option("--kinds", multiple=True, type=click.Choice(["physical", "semantic", "documentation", "execution"]), help="Only edges of this kind; repeatable.")
@as_of_option
@known_at_option
@asked
@placed
def trace(place: Place, entity: str, kinds: Sequence[str], as_json: bool, **given: Any) -> None:
    """Where ENTITY comes from, one row an edge. What may not be seen is one redacted mark."""
    with place.warehouse() as warehouse:
        rows = warehouse.call("trace_lineage", entity=entity, kinds=list(kinds) or None, **given)
    show_rows(rows, SHOWN_OF_LINEAGE, as_json)


@main.command()
@click.argument("entity", type=Words())
@click.option("--max-depth", type=click.IntRange(1), help="Steps, at most.")
@as_of_option
@known_at_option
@asked
@placed
def impact(place: Place, entity: str, as_json: bool, **given: Any) -> None:
    """What is built on ENTITY, of every kind."""
    with place.warehouse() as warehouse:
        rows = warehouse.call("impact", entity=entity, **given)
    show_rows(rows, SHOWN_OF_LINEAGE, as_json)


@main.command()
@asked
@placed
def status(place: Place, principal: str | None, tenant: str | None, as_json: bool) -> None:
    """The three clocks: how fresh the data is, for when definitions apply, whether the index equals what was captured."""
    from .clocks import three_clocks

    with place.warehouse() as warehouse:
        warehouse.act_as(principal, tenant)
        show_document(three_clocks(warehouse, today=_now().date()), as_json)


@main.command()
@click.argument("question", type=Words())
@as_of_option
@known_at_option
@asked
@click.option("--strict", is_flag=True, help="Exit code 1 unless resolved.")
@placed
def ask(place: Place, question: str, strict: bool, as_json: bool, **given: Any) -> None:
    """Answers QUESTION in words with an evidence envelope: what governs, what says otherwise, where it comes from."""
    if not question.strip():
        raise UsageError("The question is empty. Ask for a metric, a model or a source by its name.")
    from .answer.ask import ask as answer_question

    with place.warehouse() as warehouse:
        envelope = answer_question(question, warehouse=warehouse, **given).to_dict()
    show_document(envelope, as_json)
    _end(envelope, strict)


@main.command()
@dbt_option
@click.argument("dbt_arguments", nargs=-1, type=click.UNPROCESSED)
@placed
def refresh(place: Place, program: str | None, dbt_arguments: tuple[str, ...], as_json: bool) -> None:
    """After dbt: adds docs blocks, pages, types and observations, and builds the package's models. After --: arguments for dbt."""
    from .capture.refresh import refresh as refreshed

    target = place.target()
    with place.dbt(program) as dbt, progress("building") as on_step:
        done = refreshed(target, dbt, now=_now(), extra=dbt_arguments, wait_seconds=place.wait_to_write, on_step=on_step)
    show_notes(done.notes)
    if as_json:
        show_document(_as_document(done), as_json)
    else:
        click.echo(_refreshed_line(done))


@main.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--into", "file", required=True, type=PATH, help="The DuckDB file; made when it is not there.")
@click.option("--policy", "policy_file", type=PATH, help="Who may see what: YAML with principals, groups and policies.")
@click.option(
    "--allow", "groups", multiple=True, type=Words(), help="A group that may see everything; repeatable, with --principal."
)
@click.option("--principal", "principals", multiple=True, type=Words(), help="Who is in the groups of --allow; repeatable.")
@click.option("--history", is_flag=True, help="Record what manifests say as of when dbt wrote them, oldest first.")
@dbt_option
@wait_option
@as_json_option
def load(
    paths: tuple[Path, ...],
    file: Path,
    policy_file: Path | None,
    groups: tuple[str, ...],
    principals: tuple[str, ...],
    history: bool,
    program: str | None,
    wait: float | None,
    as_json: bool,
) -> None:
    """Loads what dbt wrote for projects that are not at hand: target folders, or files in them, also gzipped.

    A policy holds for later loads into the same file until another is given.
    """
    from .capture.dbt_command import dbt_program
    from .capture.load import load as loaded
    from .capture.load import require_dbt_duckdb
    from .capture.load_policy import open_policy, read_policy

    if policy_file and (groups or principals):
        raise UsageError("--policy says it all; leave --allow and --principal out, or write them into the file.")
    policy = read_policy(policy_file) if policy_file else open_policy(groups, principals) if groups or principals else None
    if program is None:
        require_dbt_duckdb()
    with progress("building") as on_step:
        done = loaded(
            paths,
            file,
            policy=policy,
            history=history,
            program=dbt_program(program),
            now=_now(),
            wait_seconds=WAIT_TO_WRITE if wait is None else wait,
            on_step=on_step,
        )
    for project in done.projects:
        show_notes(project.notes)
    if as_json:
        show_document({"projects": [_as_document(project) for project in done.projects], "closed": done.is_closed}, as_json)
        return
    for project in done.projects:
        click.echo(_loaded_line(project))
    if done.is_closed:
        click.echo("Nobody may see anything of it yet: load again with --allow GROUP --principal P, or with --policy FILE.")


@main.command()
@click.argument("subject", type=Words())
@reason_option
@click.option("--rebuild", is_flag=True, help="Builds the package's models at once, without the erased text.")
@dbt_option
@placed
def erase(place: Place, subject: str, reason: str | None, rebuild: bool, program: str | None, as_json: bool) -> None:
    """Removes the text of SUBJECT from the tables for ever, and keeps it from being captured again: an evidence_id, an entity, or its name."""
    from .capture import ledger

    _strike(place, program, lambda dbt: ledger.erase(dbt, subject, reason=reason), as_json, rebuild=rebuild)


@main.command()
@click.argument("subject", type=Words())
@click.option("--group", "group_name", type=Words(), help="Only from the members of this group; from everyone otherwise.")
@click.option("--tenant", type=Words(), help="Only in this tenant.")
@reason_option
@dbt_option
@placed
def revoke(
    place: Place, subject: str, group_name: str | None, tenant: str | None, reason: str | None, program: str | None, as_json: bool
) -> None:
    """Hides SUBJECT from now on: an evidence_id, an entity, or its name."""
    from .capture import ledger

    _strike(place, program, lambda dbt: ledger.revoke(dbt, subject, group_name=group_name, tenant=tenant, reason=reason), as_json)


@main.command()
@click.option("--apply", "is_applied", is_flag=True, help="Removes it; otherwise it is only counted.")
@dbt_option
@placed
def prune(place: Place, is_applied: bool, program: str | None, as_json: bool) -> None:
    """Removes runs, results and observations that are older than the project's variable provenance_retention_days says."""
    place.target()
    _strike(place, program, lambda dbt: dbt.operate("prune", apply=is_applied), as_json)


@main.command()
@click.option("--dump", "dump_file", type=PATH, help="Writes the ledger into a file, to be kept elsewhere.")
@click.option("--restore", "restore_file", type=PATH, help="Brings a lost ledger back from such a file.")
@click.option("--start-empty", is_flag=True, help="Begins a new ledger where the old one was lost.")
@placed
def ledger(place: Place, dump_file: Path | None, restore_file: Path | None, start_empty: bool, as_json: bool) -> None:
    """Keeps, or brings back, the ledger of erasures and revocations."""
    from .capture import ledger as ledgers

    if [bool(dump_file), bool(restore_file), start_empty].count(True) != 1:
        raise UsageError("Say one of --dump FILE, --restore FILE and --start-empty.")
    dumped = _read(restore_file) if restore_file else ""
    with place.warehouse(read_only=dump_file is not None) as warehouse:
        if dump_file:
            _write(dump_file, ledgers.dump(warehouse))
            done = f"The ledger is in {dump_file}."
        elif restore_file:
            done = f"{ledgers.restore(warehouse, dumped)} entries restored; the ledger is open."
        else:
            ledgers.start_empty(warehouse)
            done = "The ledger is open, and empty: what was erased or revoked before may be seen again."
    show_message(done, as_json)


def _strike(
    place: Place,
    program: str | None,
    operation: Callable[[DbtProject], Sequence[str]],
    as_json: bool,
    *,
    rebuild: bool = False,
) -> None:
    """Runs an operation of the package; a held file and a missing ledger are said before dbt is started."""
    from .capture.refresh import BUILD

    with place.warehouse(read_only=False) as warehouse:
        warehouse.rows(f"select 1 from {warehouse.surface.name_of('prov_ledger')} limit 1")
    with place.dbt(program) as dbt, progress("running dbt") as on_step:
        said = operation(dbt)
        if rebuild:
            dbt.run(*BUILD, on_step=on_step).require()
    show_message("\n".join([*said, *(["rebuilt"] if rebuild else [])]), as_json)


MISSING = {
    "as_of": "Give the reporting date with --as-of.",
    "entity": "Several answer to that name: give one by its id (--candidates lists them).",
    "tenant": "You are in several tenants: give one with --tenant.",
    "governing_definition": "Only drafts, or statements that may not govern, are there (--candidates lists them).",
    "decision": "Statements of equal rank contradict each other: a person must decide (--candidates lists them).",
}


def _hint(answer: Mapping[str, Any], as_json: bool, *, is_period: bool = False) -> None:
    """What to do next, on stderr; of nothing visible it says the same whatever the cause."""
    if as_json or answer.get("missing") not in MISSING:
        return
    if is_period and answer["missing"] == "as_of":
        click.echo("Not one definition governs on every day of that period. Ask for a shorter one.", err=True)
    else:
        click.echo(MISSING[answer["missing"]], err=True)


def _end(answer: Mapping[str, Any], strict: bool) -> None:
    if strict and answer["outcome"] != "resolved":
        sys.exit(1)


def _as_document(done: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(done)


def _counted(changes: Changes) -> str:
    counts = [f"{count} {kind}" for kind, count in sorted(changes.opened.items())]
    counts += [f"{count} {kind} gone" for kind, count in sorted(changes.closed.items())]
    return ", ".join(counts) or "nothing changed"


def _refreshed_line(done: Refreshed) -> str:
    observations = f"; {done.observations} observations of freshness" if done.observations else ""
    built = "the package's models are built" if done.rebuilt else "the package's models stand as they are"
    return f"{_counted(done.changes)}{observations}; {built}"


def _loaded_line(project: LoadedProject) -> str:
    what = (
        "older than what was loaded, so nothing changed (--history records it)" if project.is_older else _counted(project.changes)
    )
    return f"{project.project_name}: {what}; {project.run_results} results, {project.observations} observations of freshness"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}.") from None


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error}.") from None


def _now() -> datetime:
    return datetime.now(timezone.utc).replace(tzinfo=None)
