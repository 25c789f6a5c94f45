"""A question in words, answered with an evidence envelope.

    read_question   words, dates, versions                        questions.py, dates.py
    find_entities   the visible entities that it names            SQL
    choose          its kind, and which of them it is about       subjects.py
    govern          what governs, by the kind of question         governing.py, SQL
    Envelope        that, with lineage, freshness and conflicts   envelope.py

Who may see what, which version applies and how evidence ranks is decided in the warehouse. Nothing here compares dates of
definitions or filters rows by permission.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime
from threading import Thread
from typing import Any

from .choices import choices_among
from .dates import Period, one_period, period_of
from .envelope import Conflict, Envelope, Evidence, Finding, Freshness, Observation, compiled_checks, validate
from .governing import Asking, Governed, Row, Warehouse, govern, has_policy, sources_in
from .questions import Question, kind_of, read_question
from .subjects import Choice, Hit, accepted_hits, choose, telling_words

__all__ = ["ask"]

MOST_SUGGESTIONS = 5
SHORT_LINEAGE = 2
"""Depth of the edges that an answer on something else than lineage shows."""


def ask(
    question: str,
    *,
    warehouse: Warehouse,
    principal: str | None,
    as_of: date | str | None = None,
    tenant: str | None = None,
    known_at: datetime | str | None = None,
) -> Envelope:
    """The answer to a question, for the principal alone. `as_of` wins over a date in the text; `known_at` is UTC.

    Any text has an answer: an empty one and one that names nothing are not found. Raises what the warehouse raises.
    """
    # the schema's checks are compiled while the warehouse works
    checks = Thread(target=compiled_checks, daemon=True)
    checks.start()
    read = read_question(question)
    asking = Asking(warehouse=warehouse, principal=principal, tenant=tenant, known_at=known_at)
    day = _reporting_period(as_of, read, ())[0]
    rows = asking.call("find_entities", question=read.text, as_of=day and day.first)
    hits = accepted_hits(read, [Hit.from_row(row) for row in rows if row["entity_id"] is not None])
    kind = kind_of(read, [hit.span for hit in hits], {hit.entity_type for hit in hits})
    choice = choose(read, hits, kind)
    if choice.subject and choice.subject.entity_type in ("lineage", "freshness") and kind.name == "definition":
        kind = replace(kind, name=choice.subject.entity_type)
    period, is_certain = _reporting_period(as_of, read, hits)
    blank = Envelope(
        question=question,
        principal=principal,
        reporting_date=str(period) if period else None,
        question_kind=kind.name,
        outcome="not_found_or_not_authorized",
        reason="nothing_visible",
    )
    if rows and (rows[0]["tenant_count"] or 0) > 1:
        envelope = replace(blank, outcome="clarify", reason="missing_tenant", missing="tenant")
    elif choice.subject is None:
        envelope = _without_subject(blank, replace(asking, period=period), read, choice)
    elif not is_certain:
        envelope = replace(
            blank, outcome="clarify", reason="missing_as_of", missing="as_of", suggestions=(choice.subject.entity_id,)
        )
    else:
        governed = govern(replace(asking, period=period), choice, kind)
        envelope = _with_subject(blank, asking, choice, governed)
    checks.join()
    validate(envelope.to_dict())
    return envelope


def _reporting_period(as_of: date | str | None, question: Question, hits: Sequence[Hit]) -> tuple[Period | None, bool]:
    """The period asked for, and whether that is certain. A date inside a name (a page called 2025-02 memo) is none."""
    if isinstance(as_of, str):
        period = period_of(as_of)
        return period, period is not None
    if as_of is not None:
        day = as_of.date() if isinstance(as_of, datetime) else as_of
        return Period(day, day), True
    return one_period(mention for mention, span in question.dates if not any(hit.span.holds(span) for hit in hits))


def _without_subject(blank: Envelope, asking: Asking, question: Question, choice: Choice) -> Envelope:
    """Rivals to choose from; else what one visible row suggests that holds more than half of what the question tells; else nothing."""
    suggestions = choice.rivals or _suggested(asking, telling_words(question))
    if not suggestions:
        return blank
    choices = choices_among(asking, suggestions)
    return replace(blank, outcome="clarify", reason="missing_entity", missing="entity", suggestions=suggestions, choices=choices)


def _suggested(asking: Asking, terms: Sequence[str]) -> tuple[str, ...]:
    """The entities of rows that hold more than half of the terms; first those that hold them in more than running text, of these metrics."""
    if not terms:
        return ()
    rows = [row for row in asking.call("search", query=" ".join(terms)) if row["evidence_type"] in ("definition", "page_piece")]
    covering = [row for row in rows if 2 * len(set(terms) & set((row["matched_terms"] or "").split(", "))) > len(terms)]
    covering.sort(key=lambda row: (row["matched_field"] == "text", row["entity_type"] != "metric"))
    return tuple(dict.fromkeys(row["entity_id"] for row in covering))[:MOST_SUGGESTIONS]


def _with_subject(blank: Envelope, asking: Asking, choice: Choice, governed: Governed) -> Envelope:
    row = governed.decision.row
    assert choice.subject is not None
    decided = replace(blank, outcome=row["outcome"], reason=row["reason"], missing=row["missing"])
    if row["outcome"] == "clarify":
        return replace(decided, suggestions=governed.suggestions or (choice.subject.entity_id,))
    if row["outcome"] not in ("resolved", "conflict"):
        return decided
    return replace(decided, finding=_finding(blank.question_kind, asking, choice, governed))


def _finding(kind: str, asking: Asking, choice: Choice, governed: Governed) -> Finding:
    row = governed.decision.row
    governing_id = row["evidence_id"]
    candidates = asking.candidates(governed.decision)
    named = [page for page in _named_pages(asking, choice, candidates) if page["evidence_id"] != governing_id]
    against = list({found["evidence_id"]: found for found in _conflicting(row, candidates) + named}.values())
    against_ids = {found["evidence_id"] for found in against}
    beside = [
        found for found in candidates if found["evidence_id"] not in against_ids | {governing_id} and _supports(kind, found)
    ]
    own = next((found for found in candidates if found["evidence_id"] == governing_id), None)
    evidence = [
        *([Evidence.from_row(row, "governing", *_more_limitations(kind, row, own, governed))] if governing_id else []),
        *(Evidence.from_row(supporting.row, "supporting") for supporting in governed.supporting),
        *(Evidence.from_row(found, "supporting") for found in beside),
        *(Evidence.from_row(found, "conflicting") for found in against),
    ]
    edges = [edge for edge in governed.edges if kind == "lineage" or edge["depth"] <= SHORT_LINEAGE]
    return Finding(
        entity_id=row["entity_id"],
        definition_version=row["version"],
        definition_source=row["source_uri"],
        status=row["status"],
        formula=row["formula"],
        filter=row["filter_text"],
        grain=row["grain"],
        owner=own["owner_name"] if own else None,
        superseded_by=row["superseded_by"],
        scheduled_from=row["scheduled_from"],
        model=governed.model,
        lineage=tuple({tuple(shown.items()): shown for shown in map(_edge, edges)}.values()),
        freshness=_freshness(asking, choice, governed),
        conflicts=tuple(
            Conflict(
                evidence_id=found["evidence_id"],
                status=found["status"],
                authoritative=found["status"] == "authoritative",
                text=found["definition_text"],
                formula=found["formula"],
                filter=found["filter_text"],
            )
            for found in against
        ),
        evidence=tuple(evidence),
    )


def _conflicting(row: Row, candidates: Sequence[Row]) -> list[Row]:
    """What says otherwise: drafts, superseded pages, another formula that holds as well; without a decision, all sides."""
    group = next((found["candidate_group"] for found in candidates if found["evidence_id"] == row["evidence_id"]), None)
    return [
        found
        for found in candidates
        if found["candidate_role"] == "conflicting"
        or (found["candidate_role"] == "non_governing" and found["status"] in ("draft", "superseded", "archived"))
        or (
            found["candidate_role"] == "candidate"
            and found["holds_on_date"]
            and row["formula"] is not None
            and found["formula"] is not None
            and found["candidate_group"] != group
        )
    ]


def _named_pages(asking: Asking, choice: Choice, candidates: Sequence[Row]) -> list[Row]:
    """The pages that the question names, whatever their dates."""
    pages = []
    for page_entity_id, page_evidence_id in choice.pages:
        page = next((found for found in candidates if found["evidence_id"] == page_evidence_id), None)
        if page is None:
            weighed = asking.call("resolve_candidates", entity=page_entity_id)
            page = next((found for found in weighed if found["evidence_id"] == page_evidence_id), None)
        if page is not None:
            pages.append(page)
    return pages


def _supports(kind: str, found: Row) -> bool:
    """Prose about the entity; when asked what changed, its definitions of other periods, too."""
    if found["candidate_role"] == "supporting":
        return True
    return kind == "change" and found["candidate_role"] in ("candidate", "other_period", "governing")


def _more_limitations(kind: str, row: Row, own: Row | None, governed: Governed) -> list[str]:
    said: dict[str, Any] = {
        "no grain is declared": kind == "grain" and row["grain"] is None,
        "no owner is declared": kind == "owner" and (own is None or own["owner_name"] is None),
    }
    return [text for text, holds in said.items() if holds] + ([governed.limitation] if governed.limitation else [])


def _edge(edge: Row) -> dict[str, Any]:
    """One mark without a word more for what may not be seen."""
    if edge["redacted"]:
        return {"redacted": True}
    return {
        "depth": edge["depth"],
        "direction": edge["direction"],
        "kind": edge["kind"],
        "upstream_id": edge["upstream_entity_id"],
        "upstream_version": edge["upstream_version"],
        "downstream_id": edge["downstream_entity_id"],
        "downstream_version": edge["downstream_version"],
        "redacted": False,
    }


def _freshness(asking: Asking, choice: Choice, governed: Governed) -> Freshness:
    """Of the source asked for, else of all sources that the shown lineage comes from."""
    row = governed.decision.row
    entity_id = row["entity_id"]
    if entity_id.startswith(("freshness.", "source.")):
        source_ids = [f"source.{entity_id.split('.', 1)[1]}"]
    else:
        source_ids = sources_in(governed.edges)
    found = asking.freshness_of(source_ids)
    if not found:
        return Freshness()
    policies = [_policy_text(one) for one in sorted(found, key=_source_id) if has_policy(one)]
    policy = row["definition_text"] if entity_id.startswith("freshness.") else "; ".join(policies) or None
    verified = all(one["is_verified"] for one in found)
    return Freshness(policy=policy, observation=_worst(found), verified=verified)


def _source_id(freshness: Row) -> str:
    return str(freshness["entity_id"])


def _policy_text(freshness: Row) -> str:
    limits = [
        f"{level} after {count} {freshness[f'{level}_after_period']}{'' if count == 1 else 's'}"
        for level in ("warn", "error")
        if (count := freshness[f"{level}_after_count"]) is not None
    ]
    return f"{freshness['entity_id'].split('.', 2)[2]}: {', '.join(limits)}"


def _worst(found: Collection[Row]) -> Observation | None:
    """The measurement of the source that is worst off; none when a source was never measured."""
    if any(one["observed_status"] is None for one in found):
        return None
    worst = max(found, key=lambda one: (one["severity_rank"], one["age_seconds"] or 0.0, one["entity_id"]))
    return Observation(
        source_id=worst["entity_id"],
        state=worst["freshness_state"],
        max_loaded_at_utc=worst["max_loaded_at_utc"],
        observed_at_utc=worst["snapshotted_at_utc"],
    )
