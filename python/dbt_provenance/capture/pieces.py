"""A Markdown page cut into pieces at its headings, so that a formula stays with its grain, filter and period.

1. A heading of level 1 to 3 outside lists and quotes begins a section; a deeper one, or a line in a code block, cuts
   nothing. Sections nest by level. The text before the first heading is a section too.
2. A qualifier is a section whose heading or text begins with a word for a part of a definition (Grain, Filter, Period,
   Currency, Formula, Scope, Valid from, ...), or one that holds such a section and nothing like a formula. It belongs
   to what its parent says: from the beginning of the parent to its last qualifier all is one piece, whatever stands
   between.
3. A section of fewer than SHORT characters, without a formula and without sections of its own, joins the piece before
   it under the same parent, unless the two would come to LONG.
4. A section of a heading alone is no piece; its heading stays in the path of those below it.

A piece is a run of whole lines, verbatim.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

CUT_LEVELS = range(1, 4)
SHORT = 120
LONG = 2000

TOP_SLUG = "~top"
"""The slug of the text before the first heading; no heading's slug begins with a tilde."""

_QUALIFIER = re.compile(
    r"\W*(?:assumptions?|calculation|conditions?|currency|currencies|definition|effective|exceptions?|exclu\w*|filter\w*"
    r"|formulae?|formulas|grain|granularity|inclu\w*|periods?|scope|units?|valid\w*)\b",
    re.IGNORECASE,
)
_FORMULA = re.compile(
    r"=|\w\(|[\u00d7\u00f7\u2211]|\b(?:formula|defined as|calculated|equals|minus|plus|divided by)\b", re.IGNORECASE
)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NO_WORD = re.compile(r"\W+")


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Whole lines of a page; line numbers count from 1 in the text that was cut, both inclusive."""

    slug_path: str
    heading: str
    heading_path: tuple[str, ...]
    text: str
    line_from: int
    line_to: int


@dataclass
class _Section:
    """A heading and its text, without the sections below it. Lines count from 0."""

    level: int
    heading: str
    heading_path: tuple[str, ...]
    slug_path: str
    begin: int
    body_begin: int
    end: int = 0
    body: str = ""
    below: list[_Section] = field(default_factory=list)

    @property
    def says_part(self) -> bool:
        return bool(_QUALIFIER.match(self.heading) or _QUALIFIER.match(self.body))

    @property
    def has_formula(self) -> bool:
        return bool(_FORMULA.search(self.body))


@dataclass(frozen=True)
class _Run:
    """Adjoining sections, named after the first. `size` counts the characters below headings."""

    first: _Section
    end: int
    size: int

    def joined(self, other: _Run) -> _Run:
        nothing_yet = self.first.level == 0 and not self.size
        return _Run(other.first if nothing_yet else self.first, other.end, self.size + other.size)


def cut(markdown: str) -> list[Piece]:
    """The pieces of a page, in reading order."""
    lines = _LINE.findall(markdown)
    return [_piece(run, lines) for run in _runs(_tree(markdown, lines)) if run.size]


def headings(markdown: str) -> Iterator[tuple[int, str, int, int]]:
    """Level, plain text and lines [from, to), counted from 0, of each heading outside lists and quotes."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            yield int(opening.tag[1]), _plain(inline), opening.map[0], opening.map[1]


def _plain(inline: Token) -> str:
    return "".join(" " if token.type == "softbreak" else token.content for token in inline.children or ()).strip()


def _tree(markdown: str, lines: list[str]) -> _Section:
    root = _Section(0, "", (), TOP_SLUG, 0, 0)
    path, sections, slugs = [root], [root], Counter[str]()
    for level, heading, begin, body_begin in headings(markdown):
        if level not in CUT_LEVELS:
            continue
        while path[-1].level >= level:
            path.pop()
        parent = path[-1]
        slug_path = _slug_path(parent, heading, slugs)
        section = _Section(level, heading, (*parent.heading_path, heading), slug_path, begin, body_begin)
        parent.below.append(section)
        path.append(section)
        sections.append(section)
    for section, end in zip(sections, [*(one.begin for one in sections[1:]), len(lines)], strict=True):
        section.end = end
        section.body = "".join(lines[section.body_begin : end])
    return root


def _slug_path(parent: _Section, heading: str, slugs: Counter[str]) -> str:
    """Slugs down to this heading; the second of one path ends in ~2."""
    slug = _NO_WORD.sub("-", heading.lower()).strip("-") or "section"
    path = f"{parent.slug_path}/{slug}" if parent.level else slug
    slugs[path] += 1
    return path if slugs[path] == 1 else f"{path}~{slugs[path]}"


def _runs(section: _Section) -> list[_Run]:
    """The section and all below it as runs, the first of which begins with the section itself."""
    runs = [_Run(section, section.end, len(section.body.strip()))]
    last_qualifier = max((place for place, child in enumerate(section.below) if _qualifies(child)), default=-1)
    joinable = True
    for place, child in enumerate(section.below):
        added = _runs(child)
        if place <= last_qualifier:
            for run in added:
                runs[0] = runs[0].joined(run)
        elif joinable and _joins(child, runs[-1]):
            runs[-1] = runs[-1].joined(added[0])
        else:
            runs += added
            joinable = len(added) == 1
    return runs


def _qualifies(section: _Section) -> bool:
    below = list(_all_below(section))
    says_part_below = any(one.says_part for one in below)
    return section.says_part or (says_part_below and not any(one.has_formula for one in (section, *below)))


def _joins(section: _Section, before: _Run) -> bool:
    size = len(section.body.strip())
    is_short = size < SHORT and not section.below and not section.has_formula
    return is_short and 0 < before.size < LONG - size


def _all_below(section: _Section) -> Iterator[_Section]:
    for child in section.below:
        yield child
        yield from _all_below(child)


def _piece(run: _Run, lines: list[str]) -> Piece:
    return Piece(
        slug_path=run.first.slug_path,
        heading=run.first.heading,
        heading_path=run.first.heading_path,
        text="".join(lines[run.first.begin : run.end]),
        line_from=run.first.begin + 1,
        line_to=run.end,
    )
