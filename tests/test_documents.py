"""Pages: front matter as written, bodies verbatim, a formula in one piece with its grain, filter and period."""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from dbt_provenance.capture.documents import LARGEST_PAGE, Pages, page_documents, read_front_matter, read_pages
from dbt_provenance.capture.pieces import LONG, TOP_SLUG, cut
from hypothesis import given, settings
from hypothesis import strategies as st

PAGE = "page.shop.docs/p.md"
LONG_TEXT = "Prose that says nothing about any number, only how the team works. " * 4


def documents(content: str | bytes) -> dict[str, dict[str, Any]]:
    encoded = content.encode() if isinstance(content, str) else content
    return dict(page_documents(encoded, page_id=PAGE, name="p"))


def written(project: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return project


def pages(project: Path, *docs_paths: str) -> Pages:
    return read_pages(project, docs_paths or ("docs",), project_name="shop")


# --- pages ----------------------------------------------------------------------------------------------------------


def test_a_page_is_its_front_matter_and_its_body_verbatim() -> None:
    body = "\n  indented {{ x }} {% docs %} \t\r\n# Revenue\n\nlast line without end"
    text = (
        "---\r\ntitle: T\nallow: [finance]\nvalid_from: 2025-04-01\nseen: 2025-04-01 10:00:00\nvalid_to: null\n"
        "version: 2024-02\nempty: ''\n---  \n" + body
    )
    (page,) = documents(text).values()
    assert page == {
        "resource_type": "page",
        "name": "p",
        "title": "T",
        "front_matter": {
            "title": "T",
            "allow": ["finance"],
            "valid_from": "2025-04-01",
            "seen": "2025-04-01T10:00:00",
            "valid_to": None,
            "version": "2024-02",
            "empty": "",
        },
        "body": body,
    }


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 2024\n---\n# H", "2024"),
        ("---\na: 1\n---\ntext\n\n# The *first* `one`\n# Second", "The first one"),
        ("---\na: 1\n---\n```\n# code\n```\n## Two", None),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_heading(text: str, title: str | None) -> None:
    assert documents(text)[PAGE].get("title") == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# no front matter",
        "text\n---\na: 1\n---\n",
        "---\na: 1\nnever closed",
        "----\na: 1\n----\n",
        " ---\na: 1\n---\n",
    ],
)
def test_without_front_matter_it_is_no_page(text: str) -> None:
    assert documents(text) == {}


def test_empty_front_matter_is_a_page() -> None:
    assert documents("---\n---\ntext")[PAGE] == {"resource_type": "page", "name": "p", "body": "text"}


BAD_FRONT_MATTER = [
    ("bad YAML", "allow: [finance", "line 3: expected"),
    ("a list", "- allow", "not a mapping"),
    ("a text", "just text", "not a mapping"),
    ("an impossible date", "valid_from: 2025-02-30", "day is out of range"),
    ("a key twice", "deny: [a]\ndeny: [b]", "line 3: key 'deny' is given twice"),
    ("a key twice in two types", "1: a\n'1': b", "given twice"),
    ("an alias", "a: &x [1]\nb: *x", "anchors and aliases"),
    ("an alias of itself", "a: &x [*x]", "anchors and aliases"),
    ("an object", "a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
    ("a control character", "a: \x07", "special characters"),
    ("nested without end", "a: " + "[" * 5000, "recursion"),
]


@pytest.mark.parametrize(
    ("yaml_text", "says"), [case[1:] for case in BAD_FRONT_MATTER], ids=[case[0] for case in BAD_FRONT_MATTER]
)
def test_front_matter_that_cannot_be_read_makes_a_page_that_says_so(yaml_text: str, says: str) -> None:
    page = documents(f"---\n{yaml_text}\n---\nbody\n")[PAGE]
    assert says in page["front_matter_error"]
    assert "front_matter" not in page
    assert page["body"] == "body\n"


def test_values_of_front_matter_stay_what_they_are() -> None:
    text = 'a: 1\nb: 1.5\nc: true\nd: .nan\ne: [x, 2]\nf: {g: 2025-01-02}\n3: h\ni: !!set {z, y}\nj: "\\ud800"'
    values, error = read_front_matter(text)
    assert error is None
    assert values == {
        "a": 1, "b": 1.5, "c": True, "d": "nan", "e": ["x", 2], "f": {"g": "2025-01-02"}, "3": "h", "i": ["y", "z"],
        "j": "\ufffd",
    }  # fmt: skip


def test_bytes_that_are_no_utf_8_are_replaced_and_told() -> None:
    page = documents(b"\xef\xbb\xbf---\ntitle: T\n---\nca\xe9 body")[PAGE]
    assert page["body"] == "ca\ufffd body"
    assert page["encoding_error"].startswith("byte 19 is no UTF-8")
    assert "front_matter_error" not in page


yaml_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")).map(
    lambda text: text.replace("\x85", "")
)


@settings(max_examples=200, deadline=None)
@given(body=st.text(st.characters(exclude_categories=["Cs"])), value=yaml_texts)
def test_hostile_text_of_a_page_comes_back_from_the_warehouse_byte_for_byte(body: str, value: str) -> None:
    content = f"---\ntitle: {json.dumps(value)}\n---\n{body}"
    page = documents(content)[PAGE]
    text = json.dumps(page, ensure_ascii=False)
    back, read = duckdb_reads(text)
    assert json.loads(back) == page
    assert page.get("body", "") == (read or "") == body
    assert page["front_matter"]["title"] == value


DUCKDB = duckdb.connect()


def duckdb_reads(text: str) -> tuple[str, str | None]:
    return DUCKDB.execute("select json(?)::varchar, json(?) ->> 'body'", [text, text]).fetchone()  # type: ignore[return-value]


# --- files ----------------------------------------------------------------------------------------------------------

GOOD = "---\nallow: [a]\n---\ntext\n"


def test_pages_are_found_below_the_docs_paths_and_named_by_their_path(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        {
            "docs/a.md": GOOD,
            "docs/sub dir/b.MD": GOOD,
            "docs/plain.md": "# plain",
            "docs/c.txt": GOOD,
            "docs/.hidden/d.md": GOOD,
            "docs/dbt_packages/x/e.md": GOOD,
            "models/f.md": GOOD,
            "elsewhere/g.md": GOOD,
        },
    )
    found = pages(project, "docs", "models", "docs/sub dir", "not_there")
    assert [row.unique_id for row in found.rows] == [
        "page.shop.docs/a.md",
        "page.shop.docs/sub dir/b.MD",
        "page.shop.models/f.md",
    ]
    assert found.notes == ()
    row = found.rows[0]
    assert (row.capture_source, row.resource_type, row.project_name) == ("pages", "page", "shop")
    assert json.loads(row.location)["original_file_path"] == "docs/a.md"
    assert re.fullmatch(r"[0-9a-f]{64}", json.loads(row.location)["checksum"])


def test_what_is_passed_over_is_told(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        {"docs/a.md": GOOD, "docs/big.md": b"---\na: 1\n---\n" + b"x" * LARGEST_PAGE, "docs/open.md": "---\na: 1\n"},
    )
    os.symlink(project / "docs", project / "docs" / "loop")
    os.symlink(project / "nowhere.md", project / "docs" / "broken.md")
    found = pages(project)
    assert [row.unique_id for row in found.rows] == ["page.shop.docs/a.md"]
    for name, what in (
        ("loop", "read already"),
        ("broken.md", "cannot be read"),
        ("big.md", "more than"),
        ("open.md", "no page"),
    ):
        assert [note for note in found.notes if name in note and what in note], name


def test_a_file_name_that_is_no_utf_8_does_not_crash(tmp_path: Path) -> None:
    written(tmp_path, {"docs/a.md": GOOD})
    (tmp_path / "docs" / os.fsdecode(b"b\xff.md")).write_text(GOOD)
    assert [row.unique_id.encode() for row in pages(tmp_path).rows][1] == b"page.shop.docs/b?.md"


# --- pieces ---------------------------------------------------------------------------------------------------------


def test_a_page_of_one_piece_has_no_rows_of_pieces() -> None:
    assert list(documents(f"---\na: 1\n---\n# Only\n{LONG_TEXT}")) == [PAGE]


def test_pieces_have_paths_lines_and_verbatim_text() -> None:
    parts = ("intro", "# One\r", "## A b!", "## A b!", "# One")
    text = "---\na: 1\n---\n" + "\n".join(f"{part}\n{LONG_TEXT}\n" for part in parts)
    found = documents(text)
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    pieces = {unique_id.removeprefix(PAGE): piece for unique_id, piece in found.items() if unique_id != PAGE}
    assert list(pieces) == [f"#{TOP_SLUG}", "#one", "#one/a-b", "#one/a-b~2", "#one~2"]
    for piece in pieces.values():
        assert piece["text"] == "".join(lines[piece["line_from"] - 1 : piece["line_to"]])
        assert piece["page"] == PAGE
    assert pieces["#one/a-b~2"]["heading_path"] == ["One", "A b!"]
    assert "".join(piece["text"] for piece in pieces.values()) == found[PAGE]["body"]


def slugs(markdown: str) -> list[str]:
    return [piece.slug_path for piece in cut(markdown)]


CUTS = [
    ("headings to level 3 cut", "# A\n{long}\n## B\n{long}\n### C\n{long}\n#### D\n{long}", ["a", "a/b", "a/b/c"]),
    ("code, quotes and lists do not cut", "# A\n{long}\n```\n# B\n```\n> # C\n\n- # D\n", ["a"]),
    ("underlined headings cut", "A\n===\n{long}\n\nB\n---\n{long}", ["a", "a/b"]),
    ("grain stays with the formula above", "# A\nSUM(x) - SUM(y)\n## Grain\n{long}\n## More\n{long}", ["a", "a/more"]),
    ("so does what stands between", "# A\nSUM(x)\n## Why\n{long}\n## Filter\n{long}\n## More\n{long}", ["a", "a/more"]),
    (
        "bold first words count",
        "# A\nSUM(x)\n## Why\n{long}\n## How\n**Period:** {long}\n## More\n{long}",
        ["a", "a/more"],
    ),
    (
        "siblings of level 2 share the page's head",
        "# A\n{long}\n## Formula\nSUM(x) {long}\n## Valid from\n2025 {long}\n## History\n{long}",
        ["a", "a/history"],
    ),
    (
        "two definitions with their own formulas part",
        "# M\n{long}\n## Net\nSUM(x) {long}\n### Grain\n{long}\n## Gross\nSUM(y) {long}\n### Grain\n{long}",
        ["m", "m/net", "m/gross"],
    ),
    (
        "a grain below a section without formula belongs to the formula above",
        "# A\nSUM(x)\n{long}\n## Details\n{long}\n### Grain\n{long}\n## More\n{long}",
        ["a", "a/more"],
    ),
    ("United is not Unit", "# A\n{long}\n## United States\n{long}", ["a", "a/united-states"]),
    ("a short section joins the one before", "# A\n{long}\n## See also\nlinks\n## B\n{long}", ["a", "a/b"]),
    ("not when it holds a formula", "# A\n{long}\n## Net\nSUM(x)\n## Gross\nSUM(y)", ["a", "a/net", "a/gross"]),
    ("not across parents", "# A\n{long}\n## B\n{long}\n# C\nshort", ["a", "a/b", "c"]),
    ("a heading alone is no piece", "# A\n## B\n{long}\n## C\n{long}", ["a/b", "a/c"]),
    ("headings without letters have a slug", "# !!!\n{long}\n# 😀\n{long}", ["section", "section~2"]),
    ("letters of every script stay", "# Чистая выручка\n{long}\n# 売上\n{long}", ["чистая-выручка", "売上"]),
    ("nothing is no piece", "", []),
]


@pytest.mark.parametrize(("markdown", "expected"), [case[1:] for case in CUTS], ids=[case[0] for case in CUTS])
def test_cut(markdown: str, expected: list[str]) -> None:
    assert slugs(markdown.replace("{long}", LONG_TEXT)) == expected


def test_short_sections_join_up_to_a_length() -> None:
    markdown = f"# A\n{LONG_TEXT}\n" + "".join(f"## S{n}\n{'x' * 100}\n" for n in range(60))
    found = cut(markdown)
    assert len(found) > 2
    assert all(len(piece.text) < LONG + 1000 for piece in found)


sections = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from(["Net revenue", "Formula", "Grain", "Filter", "Period", "History", "See also", "Scope"]),
        st.sampled_from(["", "short", LONG_TEXT, f"SUM(a) - SUM(b) {LONG_TEXT}", f"Grain: one row {LONG_TEXT}"]),
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(sections=sections, preamble=st.sampled_from(["", LONG_TEXT]))
def test_pieces_are_runs_of_lines_with_ids_of_their_own(sections: list[tuple[int, str, str]], preamble: str) -> None:
    markdown = preamble + "\n" + "".join(f"{'#' * level} {name}\n{text}\n" for level, name, text in sections)
    found = cut(markdown)
    assert len({piece.slug_path for piece in found}) == len(found)
    for before, after in pairwise(found):
        assert before.line_to < after.line_from
    lines = markdown.splitlines(keepends=True)
    kept = {line for piece in found for line in range(piece.line_from, piece.line_to + 1)}
    assert all(line in kept or text.startswith("#") or not text.strip() for line, text in enumerate(lines, 1))


@settings(max_examples=200, deadline=None)
@given(
    between=st.lists(st.sampled_from(["History", "Owners", "Notes"]), max_size=3),
    part=st.sampled_from(
        ["Grain", "Filters", "Reporting period", "Period", "Currency", "Valid from", "Scope", "Units"]
    ),
    level=st.integers(2, 3),
    prose=st.sampled_from(["", "short", LONG_TEXT]),
)
def test_a_formula_is_never_cut_from_a_part_of_its_definition(
    between: list[str], part: str, level: int, prose: str
) -> None:
    part = "Period" if part == "Reporting period" else part
    markdown = f"# Net revenue\nNet revenue is SUM(a) - SUM(b).\n{prose}\n"
    markdown += "".join(f"{'#' * level} {name}\n{LONG_TEXT}\n" for name in between)
    markdown += f"{'#' * level} {part}\nthe part\n# Other\n{LONG_TEXT}"
    (piece,) = [piece for piece in cut(markdown) if "SUM(a)" in piece.text]
    assert "the part" in piece.text
    assert "# Other" not in piece.text
