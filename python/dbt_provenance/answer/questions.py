"""What a question says before any warehouse is asked: its words and where they stand, dates, versions, and its kind.

Kinds of question, stop words and the words for types are data: cues.json. A cue is matched against the words of the question
in which each thing that it names has become one @.
"""

from __future__ import annotations

import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .dates import LONGEST_TEXT, Mention, mentions
from .tokens import words as split_words

__all__ = ["Kind", "Question", "Span", "VersionMention", "kind_of", "loaded_cues", "read_question"]

ENTITY = "@"
_WIDEST_GAP = 5
MOST_WORDS = 200
"""As many words of a question as find_entities reads."""


@dataclass(frozen=True, order=True)
class Span:
    """Words of a question by number, half-open."""

    first: int
    end: int

    def __len__(self) -> int:
        return self.end - self.first

    @property
    def words(self) -> range:
        return range(self.first, self.end)

    def overlaps(self, other: Span) -> bool:
        return self.first < other.end and other.first < self.end

    def holds(self, other: Span) -> bool:
        return self.first <= other.first and other.end <= self.end


@dataclass(frozen=True)
class VersionMention:
    """`version 2`, `v2`, `2nd version`: the version as text and the words that say it."""

    version: str
    span: Span


@dataclass(frozen=True)
class Question:
    """A question as read. `runs` gives for each word the words of the unbroken run (`fct_orders`, `raw_app.orders`) that it is part of."""

    text: str
    words: tuple[str, ...]
    runs: tuple[Span, ...]
    dates: tuple[tuple[Mention, Span], ...]
    versions: tuple[VersionMention, ...]
    sentence_ends: frozenset[int]

    @cached_property
    def taken(self) -> frozenset[int]:
        """The words that say a date or a version."""
        spans = [span for _, span in self.dates] + [mention.span for mention in self.versions]
        return frozenset(word for span in spans for word in span.words)


@dataclass(frozen=True)
class Kind:
    """What is asked, in which direction of lineage, and the words that say so."""

    name: str
    direction: str
    cue_words: frozenset[int]


@cache
def loaded_cues() -> dict[str, Any]:
    """The table of cues with the word lists as sets; each cue as a list of sets of words."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name("cues.json").read_text(encoding="utf-8"))
    for group in table["groups"]:
        group["cues"] = [tuple(_alternatives(token) for token in cue.split()) for cue in group["cues"]]
        group["when"] = frozenset(group.get("when", ()))
    for name in ("stop_words", "page_words", "modifier_openers"):
        table[name] = frozenset(table[name])
    table["generic_words"] = table["stop_words"].union(*table["type_words"].values())
    table["filler_words"] = table["generic_words"] - table["page_words"]
    return table


def _alternatives(token: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The words and the beginnings of words that a token of a cue stands for."""
    parts = token.split("|")
    return frozenset(part for part in parts if not part.endswith("*")), tuple(part[:-1] for part in parts if part.endswith("*"))


def read_question(text: str) -> Question:
    """Words, dates and versions of a question, of its first LONGEST_TEXT characters. Never fails."""
    text = text[:LONGEST_TEXT]
    chunks = list(_chunks(text))
    words = tuple(word for _, _, parts in chunks for word in parts)
    if list(words) != split_words(text):  # a letter that the running Python does not know: no identifiers, then
        words = tuple(split_words(text))
        chunks = [(0, 0, [word]) for word in words]
    starts = [start for start, _, _ in chunks]
    firsts = [0]
    for _, _, parts in chunks:
        firsts.append(firsts[-1] + len(parts))

    def words_before(offset: int) -> int:
        """How many words begin before a character."""
        number = bisect_left(starts, offset) - 1
        if number < 0:
            return 0
        start, end, parts = chunks[number]
        return firsts[number] + (len(parts) if end <= offset else len(split_words(text[start:offset])))

    def span_of(start: int, end: int) -> Span:
        return Span(words_before(start), words_before(end))

    return Question(
        text=text,
        words=words,
        runs=tuple(Span(first, first + len(parts)) for (_, _, parts), first in zip(chunks, firsts, strict=False) for _ in parts),
        dates=tuple((mention, span_of(mention.start, mention.end)) for mention in mentions(text)),
        versions=tuple(VersionMention(version, span_of(start, end)) for version, start, end in _versions(text)),
        sentence_ends=frozenset(words_before(match.start()) for match in re.finditer(r"[.!?;:,](?=\s|$)|[()\n]", text)),
    )


def _chunks(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Unbroken runs of letters, digits, marks, _ and . with their words."""
    start = None
    for offset, char in enumerate(text + " "):
        inside = char.isalnum() or char in "_." if char.isascii() else unicodedata.category(char) in _LETTERS
        if inside and start is None:
            start = offset
        elif not inside and start is not None:
            if parts := split_words(text[start:offset]):
                yield start, offset, parts
            start = None


_LETTERS = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Cf")
_LABEL = r"[0-9][A-Za-z0-9]*(?:[.\-][0-9]+)*"
_VERSION_FORMS = tuple(
    re.compile(rf"(?<![A-Za-z0-9_.]){form}(?![A-Za-z0-9_])", re.IGNORECASE)
    for form in (
        rf"(?<!dbt )(?:version|ver\.?|v\.?)(?:\s*(?:no\.?|number|[#:=\-])\s*|\s*)({_LABEL})",
        rf"versions\s+({_LABEL})(?:\s*(?:and|or|to|vs\.?|versus|,|&|/)\s*v?({_LABEL}))?",
        r"([0-9]{1,3})(?:st|nd|rd|th)\s+version",
        r"(first|second|third|fourth|fifth)\s+version",
        r"version\s+(one|two|three|four|five)",
    )
)
_NUMBER_WORDS = {"first": "1", "one": "1", "second": "2", "two": "2", "third": "3", "three": "3"}
_NUMBER_WORDS |= {"fourth": "4", "four": "4", "fifth": "5", "five": "5"}


def _versions(text: str) -> Iterator[tuple[str, int, int]]:
    for form in _VERSION_FORMS:
        for match in form.finditer(text):
            for label in filter(None, match.groups()):
                yield _NUMBER_WORDS.get(label.lower(), label), match.start(), match.end()


def kind_of(question: Question, named: Collection[Span], types: Collection[str] | None) -> Kind:
    """The kind of a question that names things of these types (None: any) at these spans: the first cue that matches says it."""
    words, numbers = _masked(question, named)
    kind: tuple[str, str] | None = None
    cue_words: set[int] = set()
    for group in loaded_cues()["groups"]:
        if types is not None and group["when"] and group["when"].isdisjoint(types):
            continue
        for cue in group["cues"]:
            matched = _matched(cue, words)
            if matched is None:
                continue
            kind = kind or (group["kind"], group.get("direction", "upstream"))
            cue_words |= {numbers[place] for place in matched if words[place] != ENTITY}
    name, direction = kind or ("definition", "upstream")
    return Kind(name, direction, frozenset(cue_words))


def _masked(question: Question, named: Iterable[Span]) -> tuple[list[str], list[int]]:
    """The words with one @ for each span, and the number of the word that each stands for."""
    inside = {word: span for span in named for word in span.words}
    numbers = [word for word in range(min(len(question.words), MOST_WORDS)) if word not in inside or inside[word].first == word]
    return [ENTITY if word in inside else question.words[word] for word in numbers], numbers


_Cue = tuple[tuple[frozenset[str], tuple[str, ...]], ...]


def _matched(cue: _Cue, words: list[str]) -> list[int] | None:
    """The places that the cue's words take, of the first place where all of them stand in order."""
    for start in range(len(words)):
        if (places := _matched_from(cue, words, start)) is not None:
            return places
    return None


def _matched_from(cue: _Cue, words: list[str], at: int) -> list[int] | None:
    if not cue:
        return []
    if cue[0][0] == {".."}:
        for gap in range(_WIDEST_GAP + 1):
            if (rest := _matched_from(cue[1:], words, at + gap)) is not None:
                return rest
        return None
    if at >= len(words) or not (words[at] in cue[0][0] or words[at].startswith(cue[0][1] or ("\0",))):
        return None
    rest = _matched_from(cue[1:], words, at + 1)
    return None if rest is None else [at, *rest]
