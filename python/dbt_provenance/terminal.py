"""What the command line shows: tables and colours on a terminal, plain text elsewhere, JSON when asked for.

Texts come from projects and are data: no markup in them is read, and characters that would steer a terminal are shown escaped.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

Row = Mapping[str, Any]


def show_message(message: str, as_json: bool) -> None:
    """A sentence."""
    if as_json:
        show_document({"message": message}, as_json)
    else:
        click.echo(message)


def show_document(document: Row, as_json: bool) -> None:
    """Names and values."""
    if as_json:
        click.echo(to_json(document))
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(rich_document(document))
    else:
        click.echo(plain_document(document))


def show_rows(rows: Sequence[Row], columns: Sequence[str], as_json: bool) -> None:
    """Rows; a terminal shows the columns named, a file all."""
    if as_json:
        click.echo(to_json(rows))
    elif not rows:
        click.echo("Nothing that matches is visible.", err=True)
    elif sys.stdout.isatty():
        from rich.console import Console

        Console().print(rich_table(rows, columns))
    else:
        click.echo(plain_table(rows))


def show_notes(notes: Sequence[str]) -> None:
    """What was passed over, on stderr."""
    for note in notes:
        click.echo(f"note: {_shown(note)}", err=True)


def to_json(value: Any) -> str:
    """JSON with dates in ISO form, and with what would steer a terminal escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_as_json)
    return _STEERING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def plain_document(document: Row, indent: int = 0) -> str:
    """Names and values, one a line; what is empty is left out, what is nested is indented."""
    lines = []
    for name, value in document.items():
        if value in (None, "", [], {}):
            continue
        lead = " " * indent + f"{name}:"
        if isinstance(value, Mapping):
            lines.append(f"{lead}\n{plain_document(value, indent + 2)}")
        elif isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
            items = (plain_document(item, indent + 4)[indent + 4 :] for item in value)
            lines += [lead, *(f"{' ' * (indent + 2)}- {item}" for item in items)]
        else:
            lines.append(f"{lead} {_indented(_shown(value), indent + 2)}")
    return "\n".join(lines)


def plain_table(rows: Sequence[Row]) -> str:
    """A line of names and one line a row, tabs between; tabs and line ends inside a value are escaped."""
    cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    return "\n".join("\t".join(line) for line in cells)


def rich_document(document: Row) -> RenderableType:
    """The same as `plain_document`, with coloured names."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for name, value in document.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, Mapping):
            parts += [Text(name, style="bold cyan"), Padding(rich_document(value), (0, 0, 0, 2))]
        elif isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
            parts.append(Text(name, style="bold cyan"))
            parts += [Padding(rich_document(item), (0, 0, 1, 2)) for item in value]
        else:
            line = Table.grid(padding=(0, 2))
            line.add_column(min_width=18, no_wrap=True)
            line.add_row(Text(name, style="cyan"), Text(_shown(value)))
            parts.append(line)
    return Group(*parts)


def rich_table(rows: Sequence[Row], columns: Sequence[str]) -> RenderableType:
    """A table of the columns named."""
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, header_style="bold cyan")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_shown(row.get(column))) for column in columns))
    return table


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A function that hears how much is done, and of how much. A bar appears after a second, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task(label, total=None)
    timer = threading.Timer(1.0, bar.start)
    timer.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(_shown(item) for item in value)
    text = value.isoformat(sep=" ") if hasattr(value, "hour") else str(value)
    return _STEERING.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def _indented(text: str, indent: int) -> str:
    return text.replace("\n", "\n" + " " * indent)


def _cell(value: Any) -> str:
    return _shown(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def _as_json(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else str(value)
