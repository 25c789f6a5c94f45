"""The options that commands share: where to ask, who asks, dates and texts as they may be written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .errors import UsageError

if TYPE_CHECKING:
    from .capture.dbt_command import DbtProject
    from .warehouse.duckdb_connection import DuckDBWarehouse
    from .warehouse.profiles import Target

WAIT_TO_WRITE = 10.0
"""Seconds for which a command that writes waits, when nothing is said, until no other process holds the file."""

LONGEST_TEXT = 10_000
"""Characters of a question, a query or a name."""


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
    wait: float | None = None

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
        wait = 0.0 if read_only and self.wait is None else self.wait_to_write
        with open_warehouse(place, target_name=self.target_name, read_only=read_only, wait_seconds=wait) as warehouse:
            yield warehouse

    @property
    def wait_to_write(self) -> float:
        """Seconds for which what writes waits until no other process holds the file."""
        return WAIT_TO_WRITE if self.wait is None else self.wait

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
        project_dir: Path | None,
        profiles_dir: Path | None,
        target_name: str | None,
        database: Path | None,
        wait: float | None,
        **rest: Any,
    ) -> Any:
        place = Place(
            project_dir=project_dir, profiles_dir=profiles_dir, target_name=target_name, database=database, wait=wait
        )
        return command(place, **rest)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in (
        as_json_option,
        wait_option,
        click.option("--database", type=PATH, help="A DuckDB file, instead of a project."),
        click.option("--target", "-t", "target_name", help="The target of the profile; dbt's default otherwise."),
        click.option("--profiles-dir", type=PATH, help="The folder of profiles.yml; looked for as dbt does otherwise."),
        click.option("--project-dir", type=PATH, help="The folder of dbt_project.yml; here or above otherwise."),
    ):
        called = option(called)
    return called


as_json_option = click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
wait_option = click.option(
    "--wait",
    type=click.FloatRange(0, 3600),
    metavar="SECONDS",
    help="How long to try while another process holds the file; otherwise 10 for what writes, 0 for a question.",
)
dbt_option = click.option("--dbt", "program", help="The dbt to run; the one beside this Python otherwise.")
as_of_option = click.option("--as-of", type=CalendarDate(), help="The reporting date, YYYY-MM-DD.")
known_at_option = click.option(
    "--known-at", type=Instant(), help="As known then: YYYY-MM-DD (its first instant) or with a time; UTC."
)
reason_option = click.option("--reason", type=Words(), help="Why, for the ledger.")


def asked(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that say who asks."""
    command = click.option(
        "--tenant", envvar="DBT_PROVENANCE_TENANT", show_envvar=True, type=Words(), help="The tenant, when in several."
    )(command)
    return click.option(
        "--principal",
        envvar="DBT_PROVENANCE_PRINCIPAL",
        show_envvar=True,
        type=Words(),
        help="Who asks; without one nothing is visible.",
    )(command)
