"""The evidence envelope: the answer to one question, with everything that it stands on.

    outcome                          fields
    clarify, not_found_or_...        the question's own, reason, missing, suggestions, choices
    resolved, conflict               these and `Finding`

An envelope that is not found holds nothing that a warehouse said but outcome and reason, so that what is hidden and what is
absent give the same bytes. envelope.schema.json says the shape in JSON; each envelope is checked against it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

__all__ = [
    "Conflict",
    "Envelope",
    "Evidence",
    "Finding",
    "Freshness",
    "Observation",
    "compiled_checks",
    "limitations_of",
    "schema",
    "validate",
]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One cited statement. The text is the author's, verbatim, and untrusted; `text_derived` when it was composed from metadata."""

    evidence_id: str
    revision: int
    role: str
    entity_id: str
    version: str | None
    status: str | None
    text: str | None
    text_derived: bool
    text_untrusted: bool = True
    content_hash: str | None
    source_uri: str | None
    valid_from: date | None
    valid_to: date | None
    limitations: tuple[str, ...] = ()

    @staticmethod
    def from_row(row: Mapping[str, Any], role: str, *more_limitations: str) -> Evidence:
        """From a row of resolve or resolve_candidates."""
        return Evidence(
            evidence_id=row["evidence_id"],
            revision=row["revision"],
            role=role,
            entity_id=row["entity_id"],
            version=row["version"],
            status=row["status"],
            text=row["definition_text"],
            text_derived=bool(row["text_derived"]),
            content_hash=row["content_hash"],
            source_uri=row["source_uri"],
            valid_from=row["valid_from"],
            valid_to=row["valid_to"],
            limitations=(*limitations_of(row), *more_limitations),
        )


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """Evidence on or about the entity that says otherwise."""

    evidence_id: str
    role: str = "conflicting"
    status: str | None
    authoritative: bool
    text: str | None
    formula: str | None = None
    filter: str | None = None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """A measurement of a source's data, with naive UTC times."""

    source_id: str
    state: str
    max_loaded_at_utc: datetime | None
    observed_at_utc: datetime | None


@dataclass(frozen=True, kw_only=True)
class Freshness:
    """What is expected of the data, and what was last measured; verified only while the measurement may be relied on."""

    policy: str | None = None
    observation: Observation | None = None
    verified: bool = False


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an envelope that is resolved or in conflict says. `model` and `lineage` are mappings as the schema has them."""

    entity_id: str
    definition_version: str | None = None
    definition_source: str | None = None
    status: str | None = None
    formula: str | None = None
    filter: str | None = None
    grain: str | None = None
    owner: str | None = None
    superseded_by: str | None = None
    scheduled_from: date | None = None
    model: Mapping[str, str | None] | None = None
    lineage: tuple[Mapping[str, Any], ...] = ()
    freshness: Freshness = Freshness()
    conflicts: tuple[Conflict, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """The answer to a question. `finding` is there when the outcome is resolved or conflict, and only then."""

    question: str
    principal: str | None
    reporting_date: str | None
    question_kind: str
    outcome: str
    reason: str
    missing: str | None = None
    suggestions: tuple[str, ...] = ()
    choices: tuple[Mapping[str, Any], ...] = ()
    finding: Finding | None = field(default=None)

    def to_dict(self) -> dict[str, Any]:
        """The envelope as JSON values: dates and times as ISO text."""
        own = {name: value for name, value in vars(self).items() if name != "finding"}
        verified = self.finding is not None and self.finding.freshness.verified
        found = asdict(self.finding) if self.finding else {}
        document: dict[str, Any] = _as_json(
            {**own, "calculation_executed": False, "current_data_freshness_verified": verified, **found}
        )
        return document


def limitations_of(row: Mapping[str, Any]) -> list[str]:
    """What the reader of a cited row must know."""
    said = {
        "text composed from metadata or inherited, not written about this": row["text_derived"],
        "redacted: a field names something that may not be shown": row["redacted"],
        "validity observed, not declared": row["validity_basis"] == "observed",
        "draft: governs nothing": row["status"] == "draft",
        "superseded": row["status"] == "superseded",
        "archived": row["status"] == "archived",
        "deprecated": row["status"] == "deprecated",
        "status not declared": row["status"] == "unspecified",
        "an expectation, not a measurement: freshness not verified by it": row["evidence_type"] == "freshness_policy",
        "the index lags behind what was captured": row.get("index_state") == "behind",
    }
    limitations = [text for text, holds in said.items() if holds]
    if row.get("scheduled_from"):
        limitations.append(f"superseding version scheduled {row['scheduled_from']}")
    return limitations


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema (draft-07) of an envelope."""
    read: dict[str, Any] = json.loads(Path(__file__).with_name("envelope.schema.json").read_text(encoding="utf-8"))
    return read


def validate(envelope: Mapping[str, Any]) -> None:
    """Raises fastjsonschema.JsonSchemaException when the envelope is not of the schema's shape."""
    compiled_checks()(envelope)


@cache
def compiled_checks() -> Callable[[Mapping[str, Any]], Any]:
    """The schema as a function that raises; compiled once, which takes longer than all checks of a process."""
    import fastjsonschema

    # with detailed exceptions, compiling takes three times as long
    return fastjsonschema.compile(schema(), detailed_exceptions=False)


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_json(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_json(part) for part in value]
    return value.isoformat() if isinstance(value, date) else value
