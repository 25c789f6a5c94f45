"""What parts the entities that a question could mean: those whose formula is the same are one choice, and each choice says its formula.

Only formulas part them: an entity without one (a model, a page) is suggested and makes no choice of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .governing import Asking, Row

__all__ = ["choices_among"]

_WEIGHED = ("governing", "candidate", "conflicting")


def choices_among(asking: Asking, entity_ids: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """The groups of equal formulas among entities that may be seen, in their order; none where fewer than two entities have one."""
    groups: dict[str, list[Row]] = {}
    for entity_id in entity_ids:
        decision = asking.decide(entity_id)
        for row in asking.candidates(decision):
            if row["candidate_role"] in _WEIGHED and row["holds_on_date"] is not False and row["formula"] is not None:
                groups.setdefault(row["candidate_group"], []).append(row)
    if len({row["entity_id"] for rows in groups.values() for row in rows}) < 2:
        return ()
    return tuple(_choice(rows) for rows in groups.values())


def _choice(rows: Sequence[Row]) -> dict[str, Any]:
    said = rows[0]
    return {
        "entities": list(dict.fromkeys(row["entity_id"] for row in rows)),
        "formula": said["formula"],
        "filter": said["filter_text"],
        "grain": said["grain"],
        "unit": said["unit"],
        "backing_model": said["backing_model"],
    }
