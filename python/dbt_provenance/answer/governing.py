"""Which evidence governs an answer, by the kind of question (RULES, "from words to an entity").

    definition, grain, owner, change, still_right   the entity's definition
    supporting_model                                the definition of its backing model at that version
    lineage                                         lineage.<model>
    freshness                                       freshness.<source>

What has no such evidence of its own, but lineage that may be seen (a dashboard, a source downstream), is answered by its
definition and the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any, Protocol

from .dates import Period
from .questions import Kind
from .subjects import Choice, Subject

__all__ = ["Asking", "Decision", "Governed", "Warehouse", "govern"]

Row = Mapping[str, Any]

_BUILT_TYPES = ("model", "snapshot")
_DEFINED_ON_MODELS = ("metric", "semantic_model", "saved_query")
NOT_FOUND: Row = {"outcome": "not_found_or_not_authorized", "reason": "nothing_visible", "missing": None}


class Surface(Protocol):
    """What the package's relations and functions are called."""

    def name_of(self, name: str) -> str:
        """The quoted name."""


class Warehouse(Protocol):
    """Where the package's functions and public views are; values are bound."""

    surface: Surface

    def call(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        """The rows of a function. None leaves an argument out."""

    def act_as(self, principal: str | None, tenant: str | None = None) -> None:
        """Who asks, for the public views."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """The rows of a statement."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What resolve says of an entity (one row), and the arguments with which it was asked."""

    row: Row
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_resolved(self) -> bool:
        return bool(self.row["outcome"] == "resolved")


@dataclass(frozen=True, kw_only=True)
class Governed:
    """The decision that answers, decisions that support it, the model behind it, and the edges to show.

    `suggestions` are the entities to choose from when the decision is to clarify.
    """

    decision: Decision
    supporting: tuple[Decision, ...] = ()
    model: Mapping[str, str | None] | None = None
    edges: Sequence[Row] = ()
    limitation: str | None = None
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Who asks, for which period, known when: the arguments that every function takes."""

    warehouse: Warehouse
    principal: str | None
    tenant: str | None
    known_at: datetime | str | None
    period: Period | None = None

    def call(self, function: str, **arguments: Any) -> list[dict[str, Any]]:
        return self.warehouse.call(function, principal=self.principal, tenant=self.tenant, known_at=self.known_at, **arguments)

    def decide(self, entity_id: str, version: str | None = None, *, dated: bool = True) -> Decision:
        """What resolve says of an entity on the period asked for."""
        period = self.period if dated else None
        arguments = {
            "entity": entity_id,
            "version": version,
            "as_of": period and period.first,
            "as_of_end": period.last if period and period.last != period.first else None,
        }
        return Decision(row=self.call("resolve", **arguments)[0], arguments=arguments)

    def candidates(self, decision: Decision) -> Sequence[Row]:
        """What was weighed for a decision, and the pages about the entity; nothing speaks against lineage or an expectation."""
        if decision.row["entity_type"] in ("lineage", "freshness"):
            return ()
        return self.call("resolve_candidates", **decision.arguments)

    def edges(self, subject: Subject, governing: Row, direction: str = "upstream") -> Sequence[Row]:
        """The lineage of the subject as it was on the date, or at the version that governs. Pages are no part of it."""
        day = self.period.first if self.period else _day_of(governing)
        if len(subject.versions) == 1 and subject.entity_type in _BUILT_TYPES:
            pinned = self._edges(f"{subject.entity_id}.v{subject.versions[0].removeprefix('v')}", None, direction)
            if pinned:
                return pinned
        return self._edges(subject.entity_id, day, direction)

    def _edges(self, entity: str, day: date | None, direction: str) -> Sequence[Row]:
        kinds = None if _type_of(entity) == "exposure" else "physical, semantic"
        above = self.call("trace_lineage", entity=entity, as_of=day, kinds=kinds) if direction != "downstream" else []
        return above + (self.call("impact", entity=entity, as_of=day) if direction != "upstream" else [])

    def freshness_of(self, source_ids: Sequence[str]) -> list[Row]:
        """What is expected of and was measured on each source that the asker may see."""
        if not source_ids:
            return []
        self.warehouse.act_as(self.principal, self.tenant)
        relation, listed = self.warehouse.surface.name_of("freshness"), ", ".join("?" for _ in source_ids)
        return list(self.warehouse.rows(f"select * from {relation} where entity_id in ({listed})", source_ids))


def govern(asking: Asking, choice: Choice, kind: Kind) -> Governed:
    """What governs the answer to a question of this kind about the chosen subject."""
    subject = choice.subject
    assert subject is not None
    if subject.entity_type in ("lineage", "freshness"):
        return _definition(asking, choice, kind)
    by_kind: dict[str, Callable[[Asking, Choice, Kind], Governed]] = {
        "supporting_model": _supporting_model,
        "lineage": _lineage,
        "freshness": _freshness,
    }
    return by_kind.get(kind.name, _definition)(asking, choice, kind)


def _definition(asking: Asking, choice: Choice, kind: Kind) -> Governed:
    subject = _subject(choice)
    decision = asking.decide(subject.entity_id, _version(subject, kind))
    edges = asking.edges(subject, decision.row) if decision.is_resolved else ()
    return Governed(decision=decision, model=_model(decision.row), edges=edges)


def _supporting_model(asking: Asking, choice: Choice, kind: Kind) -> Governed:
    """The model that backs a metric, where the metric may be named beside the model."""
    subject = _subject(choice)
    if subject.entity_type in (*_BUILT_TYPES, "seed", "source"):
        metric = next((other for other in choice.others if other.entity_type in _DEFINED_ON_MODELS), None)
        supported = asking.decide(metric.entity_id, _version(metric, kind)) if metric else None
        is_backed = supported is not None and supported.row.get("backing_model") == subject.entity_id
        version = _version(subject, kind) or (supported.row["backing_model_version"] if is_backed and supported else None)
        governed = _of_model(asking, subject.entity_id, version, subject)
        return replace(governed, supporting=(supported,) if supported and supported.is_resolved else ())
    supported = asking.decide(subject.entity_id, _version(subject, kind))
    if not supported.is_resolved:
        return Governed(decision=supported)
    backing = supported.row["backing_model"]
    if backing is None:
        return _by_its_edges(asking, subject, supported, "upstream", "no single model that may be seen backs it")
    governed = _of_model(asking, backing, supported.row["backing_model_version"], subject, supported.row)
    return replace(governed, supporting=(supported,))


def _of_model(asking: Asking, model_id: str, version: str | None, subject: Subject, subject_row: Row | None = None) -> Governed:
    decision = asking.decide(model_id, version)
    limitation = None
    if decision.row["reason"] == "no_version_on_date" and version is not None and subject_row is not None:
        # the metric that governs on the date names this version, whatever the model says of its own validity
        decision, limitation = asking.decide(model_id, version, dated=False), "its own validity does not cover the reporting date"
    edges = asking.edges(subject, subject_row or decision.row) if decision.is_resolved else ()
    return Governed(decision=decision, model=_model(decision.row), edges=edges, limitation=limitation)


def _lineage(asking: Asking, choice: Choice, kind: Kind) -> Governed:
    subject = _subject(choice)
    version = _version(subject, kind)
    if subject.entity_type in _BUILT_TYPES:
        decision = asking.decide(_of_type("lineage", subject.entity_id), version)
        if decision.row["reason"] == "nothing_visible":
            return _by_its_edges(asking, subject, asking.decide(subject.entity_id, version), kind.direction)
        edges = asking.edges(subject, decision.row, kind.direction) if decision.is_resolved else ()
        return Governed(decision=decision, model=_lineage_model(subject.entity_id, decision.row), edges=edges)
    defined = asking.decide(subject.entity_id, version)
    backing = defined.row.get("backing_model") if defined.is_resolved else None
    if backing is None or _type_of(backing) not in _BUILT_TYPES:
        return _by_its_edges(asking, subject, defined, kind.direction)
    decision = asking.decide(_of_type("lineage", backing), defined.row["backing_model_version"])
    if not decision.is_resolved:
        return _by_its_edges(asking, subject, defined, kind.direction)
    edges = asking.edges(subject, defined.row, kind.direction)
    return Governed(decision=decision, supporting=(defined,), model=_lineage_model(backing, decision.row), edges=edges)


def _by_its_edges(asking: Asking, subject: Subject, defined: Decision, direction: str, limitation: str | None = None) -> Governed:
    """The definition, when there are edges that may be seen to answer with; else nothing."""
    if not defined.is_resolved:
        return Governed(decision=defined)
    edges = asking.edges(subject, defined.row, direction)
    if all(edge["redacted"] for edge in edges):
        return Governed(decision=Decision(row=NOT_FOUND))
    return Governed(decision=defined, model=_model(defined.row), edges=edges, limitation=limitation)


def _freshness(asking: Asking, choice: Choice, kind: Kind) -> Governed:
    """The policy of the source; of anything else, that of the one source beneath it that has one."""
    subject = _subject(choice)
    version = _version(subject, kind)
    if subject.entity_type == "source":
        return Governed(decision=asking.decide(_of_type("freshness", subject.entity_id), version))
    defined = asking.decide(subject.entity_id, version)
    if not defined.is_resolved:
        return Governed(decision=defined)
    edges = asking.edges(subject, defined.row)
    policies = [row for row in asking.freshness_of(sources_in(edges)) if has_policy(row)]
    if not policies:
        return Governed(decision=Decision(row=NOT_FOUND))
    source_ids = tuple(sorted({row["entity_id"] for row in policies}))
    if len(source_ids) > 1:
        missing = {"outcome": "clarify", "reason": "missing_entity", "missing": "entity"}
        return Governed(decision=Decision(row=missing), suggestions=source_ids)
    decision = asking.decide(_of_type("freshness", source_ids[0]))
    return Governed(decision=decision, supporting=(defined,), model=_model(defined.row), edges=edges)


def has_policy(freshness: Row) -> bool:
    return freshness["warn_after_count"] is not None or freshness["error_after_count"] is not None


def sources_in(edges: Sequence[Row]) -> list[str]:
    """The sources from which edges come."""
    return sorted({edge["upstream_entity_id"] for edge in edges if not edge["redacted"] and edge["upstream_type"] == "source"})


def _subject(choice: Choice) -> Subject:
    assert choice.subject is not None
    return choice.subject


def _version(subject: Subject, kind: Kind) -> str | None:
    """The version that the question pins: the one it names; of several, when it asks what changed, the highest."""
    if len(subject.versions) > 1 and kind.name == "change":
        return max(subject.versions, key=lambda version: (len(version), version))
    return subject.versions[0] if len(subject.versions) == 1 else None


def _model(row: Row) -> dict[str, str | None] | None:
    """The model behind a definition: itself, or the one that backs it."""
    if row.get("entity_type") in (*_BUILT_TYPES, "seed"):
        return {"id": row["entity_id"], "version": row["version"], "source": row["source_uri"]}
    if row.get("backing_model"):
        return {"id": row["backing_model"], "version": row["backing_model_version"], "source": row.get("backing_model_source")}
    return None


def _lineage_model(model_id: str, row: Row) -> dict[str, str | None] | None:
    return {"id": model_id, "version": row["version"], "source": row["source_uri"]} if row["outcome"] == "resolved" else None


def _of_type(entity_type: str, entity_id: str) -> str:
    return f"{entity_type}.{entity_id.split('.', 1)[1]}"


def _type_of(entity_id: str) -> str:
    return entity_id.split(".", 1)[0]


def _day_of(row: Row) -> date | None:
    """A day on which a row holds; None when any is."""
    first, end = row.get("valid_from"), row.get("valid_to")
    day: date | None = first or (end - timedelta(days=1) if end else None)
    return day
