"""The command line: reads options, calls one function, shows what it gives. Commands import what they need when they run."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import __version__
from .errors import ProvenanceError, UsageError

if TYPE_CHECKING:
    from .capture.dbt_command import DbtProject
    from .capture.load import LoadedProject
    from .capture.refresh import Refreshed
    from .warehouse.duckdb_connection import DuckDBWarehouse
    from .warehouse.profiles import Target

LONGEST_TEXT = 10_000
"""Characters of a question, a query or a name."""

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


class Words(click.ParamType):
    """A text of bounded length that can be written as UTF-8."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it is. Raises UsageError."""
        text = str(value)
        if len(text) > LONGEST_TEXT:
            raise UsageError(f"The text has {len(text)} characters; at most {LONGEST_TEXT} are read. Shorten it.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{text!r} is not UTF-8 text. Set the terminal's encoding to UTF-8.") from None
        return text


class CalendarDate(click.ParamType):
    """A date."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """The date. Raises UsageError for one that does not exist."""
        try:
            return date.fromisoformat(str(value))
        except ValueError:
            raise UsageError(f"{value!r} is no date of the calendar. Write it as YYYY-MM-DD, as in 2025-03-31.") from None


class Instant(click.ParamType):
    """An instant; without a zone it is UTC, a date alone is its first instant."""

    name = "instant"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The instant as naive UTC. Raises UsageError."""
        try:
            instant = datetime.fromisoformat(str(value).replace("Z", "+00:00"))
        except ValueError:
            raise UsageError(f"{value!r} is no instant. Write it as YYYY-MM-DD or YYYY-MM-DDTHH:MM:SSZ.") from None
        return instant.astimezone(timezone.utc).replace(tzinfo=None) if instant.tzinfo else instant


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where to ask: a dbt project's target, or a DuckDB file."""

    project_dir: Path | None
    profiles_dir: Path | None
    target_name: str | None
    database: Path | None

    def target(self) -> Target:
        """The project's target. Raises ProfileError; UsageError when a file was named instead."""
        from .warehouse.profiles import read_target

        if self.database:
            raise UsageError("This needs the dbt project, not --database. Name the project with --project-dir.")
        return read_target(self.project_dir, self.profiles_dir, self.target_name)

    @contextmanager
    def warehouse(self, *, read_only: bool = True) -> Iterator[DuckDBWarehouse]:
        """The open warehouse. Raises ProfileError, WarehouseError, SurfaceError."""
        from .warehouse.duckdb_connection import open_warehouse

        if self.database and (self.project_dir or self.profiles_dir):
            raise UsageError("--database names a file by itself; leave --project-dir and --profiles-dir out.")
        place = self.database or self.target()
        with open_warehouse(place, target_name=self.target_name, read_only=read_only) as warehouse:
            yield warehouse

    @contextmanager
    def dbt(self, program: str | None) -> Iterator[DbtProject]:
        """dbt for the project; for a file that `load` made, the project that the package carries. Raises UsageError for another."""
        from .capture.carrier import carrier_project
        from .capture.dbt_command import DbtProject, dbt_program
        from .capture.load import loaded_policy
        from .capture.load_policy import policy_variables

        if self.database:
            policy = loaded_policy(self.database)
            if policy is None:
                raise UsageError(f"{self.database} is the warehouse of a dbt project. Name the project with --project-dir.")
            with carrier_project(self.database, policy_variables(policy), program=dbt_program(program)) as project:
                yield project
            return
        target = self.target()
        yield DbtProject(
            program=dbt_program(program),
            project_folder=target.project_folder,
            profiles_folder=target.profiles_folder,
            target_name=target.target_name,
            working_folder=target.working_folder,
            environment=os.environ,
        )


PATH = click.Path(path_type=Path)


def placed(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say where to ask, and --json."""

    def called(
        project_dir: Path | None, profiles_dir: Path | None, target_name: str | None, database: Path | None, **rest: Any
    ) -> Any:
        place = Place(project_dir=project_dir, profiles_dir=profiles_dir, target_name=target_name, database=database)
        return command(place, **rest)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in (
        as_json,
        click.option("--database", type=PATH, help="A DuckDB file, instead of a project."),
        click.option("--target", "-t", "target_name", help="The target of the profile; dbt's default otherwise."),
        click.option("--profiles-dir", type=PATH, help="The folder of profiles.yml; looked for as dbt does otherwise."),
        click.option("--project-dir", type=PATH, help="The folder of dbt_project.yml; here or above otherwise."),
    ):
        called = option(called)
    return called


as_json = click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
dbt_option = click.option("--dbt", "program", help="The dbt to run; the one beside this Python otherwise.")
as_of_option = click.option("--as-of", type=CalendarDate(), help="The reporting date, YYYY-MM-DD.")
known_at_option = click.option("--known-at", type=Instant(), help="As known then: YYYY-MM-DD (its first instant) or with a time; UTC.")
reason_option = click.option("--reason", type=Words(), help="Why, for the ledger.")


def asked(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say who asks."""
    command = click.option("--tenant", envvar="DBT_PROVENANCE_TENANT", show_envvar=True, type=Words(), help="The tenant, when in several.")(command)
    return click.option(
        "--principal", envvar="DBT_PROVENANCE_PRINCIPAL", show_envvar=True, type=Words(), help="Who asks; without one nothing is visible."
    )(command)


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
    with place.warehouse() as warehouse:
        answer = warehouse.call("resolve", entity=entity, **given)[0]
        rows = warehouse.call("resolve_candidates", entity=entity, **given) if candidates else []
    if candidates:
        _show_rows(rows, SHOWN_OF_CANDIDATES, as_json)
    else:
        _show_document(answer, as_json)
        _hint(answer, as_json)
    _end(answer, strict)


@main.command()
@click.argument("query", type=Words())
@as_of_option
@known_at_option
@asked
@click.option("--type", "entity_types", multiple=True, type=Words(), help="Only entities of this type; repeatable.")
@click.option("--max-rows", type=click.IntRange(1, 1000), help="Rows of a lane, at most.")
@click.option("--first-row", type=click.IntRange(1), help="The first row of a lane, to page on.")
@placed
def search(place: Place, query: str, entity_types: Sequence[str], as_json: bool, **given: Any) -> None:
    """Evidence that matches QUERY, best first: what may govern, and what says otherwise."""
    if not query.strip():
        raise UsageError("The query is empty. Name a word to look for.")
    with place.warehouse() as warehouse:
        rows = warehouse.call("search", query=query, entity_types=list(entity_types) or None, **given)
    _show_rows(rows, SHOWN_OF_SEARCH, as_json)


@main.command()
@click.argument("entity", type=Words())
@click.option("--direction", type=click.Choice(["upstream", "downstream", "both"]), help="Where to walk; upstream otherwise.")
@click.option("--max-depth", type=click.IntRange(1), help="Steps, at most.")
@click.option("--kinds", multiple=True, type=Words(), help="physical, semantic, documentation or execution; repeatable.")
@as_of_option
@known_at_option
@asked
@placed
def trace(place: Place, entity: str, kinds: Sequence[str], as_json: bool, **given: Any) -> None:
    """Where ENTITY comes from, one row an edge. What may not be seen is one redacted mark."""
    with place.warehouse() as warehouse:
        rows = warehouse.call("trace_lineage", entity=entity, kinds=list(kinds) or None, **given)
    _show_rows(rows, SHOWN_OF_LINEAGE, as_json)


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
    _show_rows(rows, SHOWN_OF_LINEAGE, as_json)


@main.command()
@asked
@placed
def status(place: Place, principal: str | None, tenant: str | None, as_json: bool) -> None:
    """The three clocks: how fresh the data is, for when definitions apply, whether the index equals what was captured."""
    from .clocks import three_clocks

    with place.warehouse() as warehouse:
        warehouse.act_as(principal, tenant)
        _show_document(three_clocks(warehouse, today=_now().date()), as_json)


@main.command()
@click.argument("question", type=Words())
@as_of_option
@known_at_option
@asked
@click.option("--strict", is_flag=True, help="Exit code 1 unless resolved.")
@placed
def ask(place: Place, question: str, strict: bool, as_json: bool, **given: Any) -> None:
    """Answers QUESTION in words with an evidence envelope: what governs, what says otherwise, where it comes from."""
    from .answer.ask import ask as answer_question

    if not question.strip():
        raise UsageError("The question is empty. Ask for a metric, a model or a source by its name.")
    with place.warehouse() as warehouse:
        envelope = answer_question(question, warehouse=warehouse, **given)
    _show_document(envelope, as_json)
    _end(envelope, strict)


@main.command()
@dbt_option
@click.argument("dbt_arguments", nargs=-1, type=click.UNPROCESSED)
@placed
def refresh(place: Place, program: str | None, dbt_arguments: tuple[str, ...], as_json: bool) -> None:
    """After dbt: adds docs blocks, pages, types and observations, and builds the package's models. After --: arguments for dbt."""
    from .capture.refresh import refresh as refreshed
    from .terminal import progress

    target = place.target()
    with place.dbt(program) as dbt, progress("building") as on_step:
        done = refreshed(target, dbt, now=_now(), extra=dbt_arguments, on_step=on_step)
    _note(done.notes)
    if as_json:
        _show_document(_as_document(done), as_json)
    else:
        click.echo(_refreshed_line(done))


@main.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--into", "file", required=True, type=PATH, help="The DuckDB file; made when it is not there.")
@click.option("--policy", "policy_file", type=PATH, help="Who may see what: YAML with principals, groups and policies.")
@click.option("--allow", "groups", multiple=True, type=Words(), help="A group that may see everything; repeatable, with --principal.")
@click.option("--principal", "principals", multiple=True, type=Words(), help="Who is in the groups of --allow; repeatable.")
@click.option("--history", is_flag=True, help="Record what manifests say as of when dbt wrote them, oldest first.")
@dbt_option
@as_json
def load(
    paths: tuple[Path, ...],
    file: Path,
    policy_file: Path | None,
    groups: tuple[str, ...],
    principals: tuple[str, ...],
    history: bool,
    program: str | None,
    as_json: bool,
) -> None:
    """Loads what dbt wrote for projects that are not at hand: target folders, or files in them, also gzipped.

    A policy holds for later loads into the same file until another is given.
    """
    from .capture.dbt_command import dbt_program
    from .capture.load import load as loaded
    from .capture.load import require_dbt_duckdb
    from .capture.load_policy import open_policy, read_policy
    from .terminal import progress

    if policy_file and (groups or principals):
        raise UsageError("--policy says it all; leave --allow and --principal out, or write them into the file.")
    policy = read_policy(policy_file) if policy_file else open_policy(groups, principals) if groups or principals else None
    if program is None:
        require_dbt_duckdb()
    with progress("building") as on_step:
        done = loaded(
            paths, file, policy=policy, history=history, program=dbt_program(program), now=_now(), on_step=on_step
        )
    for project in done.projects:
        _note(project.notes)
    if as_json:
        _show_document({"projects": [_as_document(project) for project in done.projects], "closed": done.is_closed}, as_json)
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
    """Removes the text of SUBJECT for ever, and keeps it from being captured again: an evidence_id, an entity, or its name."""
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

    _strike(
        place, program, lambda dbt: ledger.revoke(dbt, subject, group_name=group_name, tenant=tenant, reason=reason), as_json
    )


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
    _show_message(done, as_json)


def _strike(
    place: Place,
    program: str | None,
    operation: Callable[[DbtProject], Sequence[str]],
    as_json: bool,
    *,
    rebuild: bool = False,
) -> None:
    """Runs an operation on the ledger; a held file and a missing ledger are said before dbt is started."""
    from .capture.refresh import BUILD
    from .terminal import progress

    with place.warehouse(read_only=False) as warehouse:
        warehouse.rows(f"select 1 from {warehouse.surface.name_of('prov_ledger')} limit 1")
    with place.dbt(program) as dbt, progress("running dbt") as on_step:
        said = operation(dbt)
        if rebuild:
            dbt.run(*BUILD, on_step=on_step).require()
    _show_message("\n".join([*said, *(["rebuilt"] if rebuild else [])]), as_json)


def _show_message(message: str, as_json: bool) -> None:
    if as_json:
        _show_document({"message": message}, as_json)
    else:
        click.echo(message)


def _show_document(document: Mapping[str, Any], as_json: bool) -> None:
    from . import terminal

    if as_json:
        click.echo(terminal.to_json(document))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(terminal.rich_document(document))
    else:
        click.echo(terminal.plain_document(document))


def _show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    from . import terminal

    if as_json:
        click.echo(terminal.to_json(rows))
    elif not rows:
        click.echo("Nothing that matches is visible.", err=True)
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(terminal.rich_table(rows, columns))
    else:
        click.echo(terminal.plain_table(rows))


MISSING = {
    "as_of": "Give the reporting date with --as-of.",
    "entity": "Several answer to that name: give one by its id (--candidates lists them).",
    "tenant": "You are in several tenants: give one with --tenant.",
    "governing_definition": "Only drafts, or statements that may not govern, are there (--candidates lists them).",
    "decision": "Statements of equal rank contradict each other: a person must decide (--candidates lists them).",
}


def _hint(answer: Mapping[str, Any], as_json: bool) -> None:
    """What to do next, on stderr; of nothing visible it says the same whatever the cause."""
    if not as_json and answer.get("missing") in MISSING:
        click.echo(MISSING[answer["missing"]], err=True)


def _end(answer: Mapping[str, Any], strict: bool) -> None:
    if strict and answer["outcome"] != "resolved":
        sys.exit(1)


def _note(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _as_document(done: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(done)


def _counted(changes: Any) -> str:
    counts = [f"{count} {kind}" for kind, count in sorted(changes.opened.items())]
    counts += [f"{count} {kind} gone" for kind, count in sorted(changes.closed.items())]
    return ", ".join(counts) or "nothing changed"


def _refreshed_line(done: Refreshed) -> str:
    observations = f"; {done.observations} observations of freshness" if done.observations else ""
    built = "the package's models are built" if done.rebuilt else "the package's models stand as they are"
    return f"{_counted(done.changes)}{observations}; {built}"


def _loaded_line(project: LoadedProject) -> str:
    what = "older than what was loaded, so nothing changed (--history records it)" if project.is_older else _counted(project.changes)
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
