"""Markdown pages with front matter under a project's docs paths, as rows for the raw relations.

A page is a .md file that begins with a line of three dashes and has a second one: YAML stands between them, the page's
body below, kept verbatim. Front matter that cannot be read makes no page fail: the row says front_matter_error, carries
no front matter, and the warehouse keeps it invisible. Bytes that are no UTF-8 are replaced, and the row says
encoding_error. A page of more than one piece (see pieces.py) has a row for each besides.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from .artifact_files import well_formed
from .artifacts import ResourceRow
from .canonical import canonical_text
from .pieces import cut, headings

LARGEST_PAGE = 5_000_000
"""Bytes; a larger file is passed over with a note."""

SKIPPED_FOLDERS = ("dbt_packages", "dbt_internal_packages", "node_modules")

_FRONT_MATTER = re.compile(r"---[ \t]*(?:\r\n|\r|\n)(.*?)(?:^)---[ \t]*(?:\r\n|\r|\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Pages:
    """Rows of pages and of their pieces; `notes` says which files were passed over, and why."""

    rows: tuple[ResourceRow, ...]
    notes: tuple[str, ...]


def read_pages(project_folder: Path, docs_paths: Sequence[str], *, project_name: str) -> Pages:
    """All pages under the docs paths (relative to the project's folder), sorted by unique_id. Raises nothing."""
    rows: dict[str, ResourceRow] = {}
    notes: list[str] = []
    for docs_path in docs_paths:
        for file in _markdown_files(project_folder / docs_path, notes):
            path = Path(os.path.relpath(file, project_folder)).as_posix().encode("utf-8", "replace").decode()
            content = _content(file, path, notes)
            found = page_rows(content, path=path, project_name=project_name)
            if content.startswith(b"---") and not found:
                notes.append(f"{path} begins with dashes that no second line of dashes closes: no page")
            rows |= {row.unique_id: row for row in found}
    return Pages(rows=tuple(rows[unique_id] for unique_id in sorted(rows)), notes=tuple(dict.fromkeys(notes)))


def page_rows(content: bytes, *, path: str, project_name: str) -> list[ResourceRow]:
    """The row of one page and of its pieces, none when it has no front matter. `path` is relative to the project."""
    page_id = f"page.{project_name}.{path}"
    location = canonical_text(
        {
            "package_name": project_name,
            "original_file_path": path,
            "checksum": hashlib.sha256(content).hexdigest(),
        }
    )
    return [
        ResourceRow(
            project_name=project_name,
            capture_source="pages",
            unique_id=unique_id,
            resource_type=document["resource_type"],
            document=canonical_text(document),
            location=location,
        )
        for unique_id, document in page_documents(content, page_id=page_id, name=Path(path).stem)
    ]


def page_documents(content: bytes, *, page_id: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The documents of one page and of its pieces with their unique_ids, none when it has no front matter."""
    text, encoding_error = _decoded(content)
    found = _FRONT_MATTER.match(text)
    if not found:
        return
    body = text[found.end() :]
    front_matter, front_matter_error = read_front_matter(found.group(1))
    page = {
        "resource_type": "page",
        "name": name,
        "title": _title(front_matter, body),
        "front_matter": front_matter,
        "front_matter_error": front_matter_error,
        "encoding_error": encoding_error,
        "body": body,
    }
    yield page_id, {key: value for key, value in page.items() if value}
    pieces = cut(body)
    lines_above = len(re.findall(r"\r\n|\r|\n", text[: found.end()]))
    for piece in pieces if len(pieces) > 1 else ():
        document = {
            "resource_type": "page_piece",
            "page": page_id,
            "heading": piece.heading,
            "heading_path": list(piece.heading_path),
            "text": piece.text,
            "line_from": piece.line_from + lines_above,
            "line_to": piece.line_to + lines_above,
        }
        yield f"{page_id}#{piece.slug_path}", {key: value for key, value in document.items() if value}


def read_front_matter(text: str) -> tuple[dict[str, Any], str | None]:
    """The mapping that the YAML says, with text keys and values that JSON can hold; or nothing, and what is wrong.

    Dates and times become ISO text. Refused: what is no mapping, an impossible date, a key given twice (of two deny
    lists one would be lost), anchors and aliases (a few lines of them can grow without bound).
    """
    try:
        loaded = yaml.load(text, Loader=_FrontMatterLoader)
    except yaml.YAMLError as error:
        return {}, _yaml_fault(error)
    except (ValueError, OverflowError, RecursionError) as error:
        return {}, f"a value cannot be read: {error}"
    if loaded is None:
        return {}, None
    if not isinstance(loaded, dict):
        return {}, f"front matter is a {type(loaded).__name__}, not a mapping of keys to values"
    return well_formed(_as_json(loaded)), None


class _FrontMatterLoader(yaml.SafeLoader):
    """Plain YAML: no anchors, no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.constructor.ConstructorError(None, None, "anchors and aliases are not read", event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        mapping: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _key(self.construct_object(key_node, deep=True))
            if key in mapping:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            mapping[key] = self.construct_object(value_node, deep=deep)
        return mapping


def _yaml_fault(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    return f"line {mark.line + 2}: {problem}" if mark else str(problem)


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(item) for key, item in value.items()}
    if isinstance(value, set):
        return sorted(str(_as_json(item)) for item in value)
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _key(key: Any) -> str:
    return key.isoformat() if isinstance(key, date) else str(key)


def _title(front_matter: dict[str, Any], body: str) -> str | None:
    """The title of the front matter, else the first heading of level 1."""
    title = front_matter.get("title")
    if title not in (None, "") and not isinstance(title, (dict, list)):
        return str(title)
    return next((heading for level, heading, _, _ in headings(body) if level == 1), None)


def _decoded(content: bytes) -> tuple[str, str | None]:
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        return content.decode("utf-8"), None
    except UnicodeDecodeError as error:
        return content.decode("utf-8", errors="replace"), f"byte {error.start} is no UTF-8; such bytes show as \ufffd"


def _markdown_files(folder: Path, notes: list[str]) -> Iterator[Path]:
    """The .md files below a folder, links followed; a folder that was seen already is passed over with a note."""
    seen: set[str] = set()
    for parent, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(parent)
        if real in seen:
            notes.append(f"{parent} leads to a folder that was read already: passed over")
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS)
        yield from (Path(parent, name) for name in sorted(files) if name.lower().endswith(".md"))


def _content(file: Path, path: str, notes: list[str]) -> bytes:
    """What the file holds; nothing, and a note, when it is too large or cannot be read."""
    try:
        size = file.stat().st_size
        if size <= LARGEST_PAGE:
            return file.read_bytes()
        notes.append(f"{path} has {size} bytes, more than {LARGEST_PAGE}: passed over")
    except OSError as error:
        notes.append(f"{path} cannot be read ({error.strerror}): passed over")
    return b""
