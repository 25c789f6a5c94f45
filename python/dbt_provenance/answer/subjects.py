"""Which of the things that a question names it is about.

The warehouse says which visible entities a span of the question names in full (find_entities). Here spans are weighed as
language: the longest wins, a name may not be cut out of a longer identifier, and of entities of which one is built on the
other the kind of question takes one. Whoever asks sees every entity that comes here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .questions import Kind, Question, Span, kind_of, loaded_cues

__all__ = ["Choice", "Hit", "Subject", "accepted_hits", "choose", "telling_words"]

_NAME_TIER = 2  # id, type.name and name are an entity's own; synonyms and titles come after
_BUILT_FIRST = {
    "lineage": ("lineage", "model", "snapshot", "source", "seed"),
    "grain": ("model", "snapshot", "source", "seed"),
    "supporting_model": ("model", "snapshot", "source", "seed"),
    "freshness": ("freshness", "source", "model", "snapshot", "seed"),
}
_SYNONYM_TIER = 3
_WIDEST_VERSION_GAP = 6
_RANK_OF_A_PAGES_ENTITY = 3
_ARTICLES = ("a", "an", "the", "our", "their", "this", "that")


@dataclass(frozen=True)
class Hit:
    """A span that names an entity, or a page that is about it. `built_on` lists the other named entities beneath it."""

    span: Span
    tier: int
    entity_id: str
    kind_rank: int
    built_on: frozenset[str]
    pinned_version: str | None = None
    page_evidence_id: str | None = None
    page_entity_id: str | None = None

    @property
    def entity_type(self) -> str:
        return self.entity_id.split(".", 1)[0]

    @staticmethod
    def from_row(row: Mapping[str, Any]) -> Hit:
        return Hit(
            span=Span(row["first_word"], row["first_word"] + row["word_count"]),
            tier=row["tier"],
            entity_id=row["about_entity_id"] or row["entity_id"],
            kind_rank=_RANK_OF_A_PAGES_ENTITY if row["about_entity_id"] else row["kind_rank"],
            built_on=frozenset(row["built_on"] or ()),
            pinned_version=row["pinned_version"],
            page_evidence_id=row["page_evidence_id"],
            page_entity_id=row["entity_id"] if row["page_evidence_id"] else None,
        )


@dataclass(frozen=True)
class Subject:
    """The entity a question is about and the versions of it that the question names."""

    entity_id: str
    versions: tuple[str, ...] = ()

    @property
    def entity_type(self) -> str:
        return self.entity_id.split(".", 1)[0]


@dataclass(frozen=True)
class Choice:
    """One subject, or none: then `rivals` are the entities that the question could be about, if it names any.

    `others` are the named entities that were not taken; `pages` the (entity, evidence) ids of the pages that it names.
    """

    subject: Subject | None
    rivals: tuple[str, ...] = ()
    others: tuple[Subject, ...] = ()
    pages: tuple[tuple[str, str], ...] = ()


def accepted_hits(question: Question, hits: Iterable[Hit]) -> list[Hit]:
    """The hits that name something, the longest at each place, of equal ones the entity's own name before another's synonym or title."""
    generic, cues = _generic_words(question), kind_of(question, (), None).cue_words
    whole = [hit for hit in hits if not _is_cut_out(question, hit.span)]
    known = generic | cues | {word for hit in whole for word in hit.span.words}
    named = [hit for hit in whole if not _is_part_of_a_phrase(question, hit.span, known)]
    # `model` in a question about something else names no entity called model, nor `contact` in `the contact for orders`
    telling = set(range(len(question.words))) - generic - cues
    named = [hit for hit in named if not generic.issuperset(hit.span.words) or telling.issubset(hit.span.words)]
    named = _kept(named, lambda hit: not cues.issuperset(hit.span.words))
    named = [hit for hit in named if not any(_adds_nothing(hit, own, generic | cues) for own in named)]
    longest = [
        hit for hit in named if not any(len(other.span) > len(hit.span) and other.span.overlaps(hit.span) for other in named)
    ]
    return [hit for hit in longest if hit.tier == min(other.tier for other in longest if other.span == hit.span)]


def telling_words(question: Question) -> list[str]:
    """The words that tell what is asked about, each once, in order: without stop words, words for types, cues, numbers, dates and versions."""
    plain = _generic_words(question) | kind_of(question, (), None).cue_words
    return list(dict.fromkeys(word for number, word in enumerate(question.words) if number not in plain))


def choose(question: Question, hits: Sequence[Hit], kind: Kind) -> Choice:
    """The subject of a question that names these entities (accepted hits)."""
    pages = tuple(
        dict.fromkeys((hit.page_entity_id, hit.page_evidence_id) for hit in hits if hit.page_entity_id and hit.page_evidence_id)
    )
    versions = _versions(question, hits)
    subjects = {hit.entity_id: Subject(hit.entity_id, tuple(versions.get(hit.entity_id, ()))) for hit in hits}
    chosen = _chosen(question, hits, kind, subjects)
    if len({hit.entity_id for hit in chosen}) != 1:
        return Choice(None, rivals=tuple(dict.fromkeys(hit.entity_id for hit in chosen)), pages=pages)
    subject = subjects.pop(chosen[0].entity_id)
    return Choice(subject, others=tuple(subjects.values()), pages=pages)


def _chosen(question: Question, hits: Sequence[Hit], kind: Kind, subjects: Mapping[str, Subject]) -> list[Hit]:
    """The hits on the subject; on several entities when it stays open which."""
    coherent = _under_one_top(hits)
    left = list(hits) if coherent else _longest(question, hits)
    if not coherent and not _under_one_top(left):
        left = _kept(left, lambda hit: hit.page_evidence_id is None)
    left = [
        hit
        for span in {hit.span: None for hit in left}
        for hit in _kept([one for one in left if one.span == span], partial(_has_its_type_beside, question))
    ]
    if not _under_one_top(left):
        return left
    if kind.name in _BUILT_FIRST:
        versioned = [hit for hit in left if subjects[hit.entity_id].versions]
        if len({hit.entity_id for hit in versioned}) == 1:
            return versioned
        for entity_type in _BUILT_FIRST[kind.name]:
            if of_type := [hit for hit in left if hit.entity_type == entity_type]:
                return _top(_longest(question, of_type))
    if metrics := [hit for hit in left if hit.entity_type == "metric"]:
        return _top(_longest(question, metrics))
    best = min((hit.kind_rank for hit in left), default=0)
    return _top(_longest(question, [hit for hit in left if hit.kind_rank == best]))


def _longest(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The hits of the most words. Of a title, which is prose, only those count that tell something."""
    plain = _generic_words(question) | kind_of(question, (), None).cue_words
    lengths = [len(set(hit.span.words) - plain) if hit.tier > _SYNONYM_TIER else len(hit.span) for hit in hits]
    return [hit for hit, length in zip(hits, lengths, strict=True) if length == max(lengths)]


def _top(hits: Sequence[Hit]) -> list[Hit]:
    """The hits on the entity that is built on all others; all hits when there is none."""
    ids = {hit.entity_id for hit in hits}
    tops = [hit for hit in hits if ids <= hit.built_on | {hit.entity_id}]
    # on a cycle each is built on the other: the first by id
    return [hit for hit in tops if hit.entity_id == min(top.entity_id for top in tops)] or list(hits)


def _under_one_top(hits: Sequence[Hit]) -> bool:
    return len({hit.entity_id for hit in _top(hits)}) <= 1


def _kept(hits: list[Hit], wanted: Callable[[Hit], bool]) -> list[Hit]:
    """The wanted hits, or all when none is."""
    return [hit for hit in hits if wanted(hit)] or hits


def _is_cut_out(question: Question, span: Span) -> bool:
    """`fct_orders` in fct_orders_daily, `orders` in raw_app.orders: a part of an identifier is not its name. A version behind it is none of its parts."""
    before, behind = question.runs[span.first], question.runs[span.end - 1]
    if before.first < span.first and not _is_unspaced_script(question, before):
        return True
    tail = question.words[span.end : behind.end]
    return bool(tail) and not all(_is_version(word) for word in tail) and not _is_unspaced_script(question, behind)


def _is_unspaced_script(question: Question, run: Span) -> bool:
    """Whether Chinese, Japanese or Korean stands in a run, where no blank parts a name from what follows."""
    return any(char >= "\u2e80" for word in run.words for char in question.words[word])


def _is_version(word: str) -> bool:
    return word[:1] == "v" and word[1:].isdigit()


def _generic_words(question: Question) -> set[int]:
    """Stop words, words for types, numbers, and what says a date or a version."""
    generic = loaded_cues()["generic_words"]
    return {number for number, word in enumerate(question.words) if word in generic or word.isdigit()} | question.taken


def _is_part_of_a_phrase(question: Question, span: Span, known: Collection[int]) -> bool:
    """`orders` in `the unpaid orders`, `amount` in `the amount of tax`: beside a name of one word, an unknown word makes another thing of it.

    Unless a word for its type is beside it, too: `the orders model`.
    """
    if len(span) > 1 or _types_beside(question, span):
        return False
    opener = span.first - 1
    while opener >= 0 and opener not in known and opener + 1 not in question.sentence_ends and span.first - opener < 4:
        opener -= 1
    is_modified = opener < span.first - 1 and opener + 1 not in question.sentence_ends
    if is_modified and opener >= 0 and question.words[opener] in loaded_cues()["modifier_openers"]:
        return True
    after = span.end + 1
    while after < len(question.words) and question.words[after] in _ARTICLES:
        after += 1
    return question.words[span.end : span.end + 1] == ("of",) and after < len(question.words) and after not in known


def _adds_nothing(hit: Hit, own: Hit, plain: Collection[int]) -> bool:
    """Whether a synonym or title is another entity's own name with nothing but plain words around it."""
    if hit.tier <= _NAME_TIER or own.tier > _NAME_TIER or own.entity_id == hit.entity_id or not hit.span.holds(own.span):
        return False
    around = set(hit.span.words) - set(own.span.words)
    return bool(around) and around <= set(plain)


def _has_its_type_beside(question: Question, hit: Hit) -> bool:
    return hit.entity_type in _types_beside(question, hit.span)


def _types_beside(question: Question, span: Span) -> frozenset[str]:
    """The types that the word before or after a span names: `the orders model`, `source orders`."""
    beside = [word for word in (span.first - 1, span.end) if 0 <= word < len(question.words)]
    return frozenset(
        entity_type
        for entity_type, type_words in loaded_cues()["type_words"].items()
        if entity_type and any(question.words[word] in type_words for word in beside)
    )


def _versions(question: Question, hits: Sequence[Hit]) -> dict[str, list[str]]:
    """The versions that the question names of each entity: those pinned by a name, and each mention beside the nearest span."""
    versions: dict[str, list[str]] = {}
    for hit in hits:
        if hit.pinned_version is not None:
            versions.setdefault(hit.entity_id, []).append(hit.pinned_version)
        for word in range(hit.span.end, question.runs[hit.span.end - 1].end):
            versions.setdefault(hit.entity_id, []).append(question.words[word][1:])
    for mention in question.versions:
        if any(hit.span.overlaps(mention.span) for hit in hits):
            continue
        near = [
            (gap, hit.span.first > mention.span.first, hit)
            for hit in hits
            if (gap := _gap(question, hit.span, mention.span)) is not None
        ]
        nearest = [hit for gap, is_behind, hit in near if (gap, is_behind) == min(entry[:2] for entry in near)]
        for hit in nearest:
            versions.setdefault(hit.entity_id, []).append(mention.version)
    return {entity_id: list(dict.fromkeys(found)) for entity_id, found in versions.items()}


def _gap(question: Question, span: Span, version: Span) -> int | None:
    """How many words part a version from a span; None when they are too many, or any of them speaks of something else."""
    between = range(span.end, version.first) if span.end <= version.first else range(version.end, span.first)
    is_filler = all(question.words[word] in loaded_cues()["filler_words"] or word in question.taken for word in between)
    return len(between) if len(between) <= _WIDEST_VERSION_GAP and is_filler else None
