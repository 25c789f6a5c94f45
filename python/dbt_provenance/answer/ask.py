"""A question in words, answered with an evidence envelope.

    read_question   words, dates, versions, kind                  questions.py, dates.py
    find_entities   the visible entities that it names            SQL
    choose          which of them it is about                     subjects.py
    resolve         what governs, by the kind of question         SQL
    Envelope        that, with lineage, freshness and conflicts   envelope.py

Who may see what, which version applies and how evidence ranks is decided in the warehouse. Nothing here compares dates of
definitions or filters rows by permission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Protocol

from .answers import Answer, Asking, answer_of, finding_of
from .dates import Period, one_period, period_of
from .envelope import Envelope, validate
from .questions import Kind, Question, kind_of, read_question
from .subjects import Choice, Hit, accepted_hits, choose, telling_words

__all__ = ["ask"]

MOST_SUGGESTIONS = 5


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
