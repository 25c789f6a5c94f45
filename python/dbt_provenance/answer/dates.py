"""Dates and periods that a question names: ISO, 31 March 2025, March 31st, 2025, 31.03.2025, 2025/03/31, March 2025, 2025-03, Q1 2025.

Today is never assumed: `today`, `last month`, a month without a year and a bare year are no dates. A form with two readings
(03/04/2025), a date that does not exist (31 April 2025) and half of a range (January to March 2025) are mentions without a
period: whoever asks must say it again. Why not dateparser: docs/decisions/0003-own-date-forms.md.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache

__all__ = ["MONTHS", "Mention", "Period", "mentions", "one_period", "period_of"]


@dataclass(frozen=True, order=True)
class Period:
    """A day, or the days from `first` to `last`, both inclusive."""

    first: date
    last: date

    def __str__(self) -> str:
        """ISO 8601: 2025-03-31, or 2025-01-01/2025-03-31."""
        return str(self.first) if self.first == self.last else f"{self.first}/{self.last}"


@dataclass(frozen=True)
class Mention:
    """Where a date stands in a text (characters, half-open) and what it says; None when it cannot be one period."""

    start: int
    end: int
    period: Period | None


def mentions(text: str) -> list[Mention]:
    """The dates and periods in a text, in order; of overlapping readings the first and longest."""
    text = text[:LONGEST_TEXT]
    found = sorted(
        (
            Mention(match.start(), match.end(), _read(reader, match))
            for form, reader in _forms_in(text)
            for match in form.finditer(text)
        ),
        key=lambda mention: (mention.start, -mention.end),
    )
    kept: list[Mention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def one_period(found: Iterable[Mention]) -> tuple[Period | None, bool]:
    """The one period that all mentions say, and whether that is certain: (None, True) without any, (None, False) when they differ."""
    periods = {mention.period for mention in found}
    if not periods:
        return None, True
    only = next(iter(periods))
    return (only, True) if len(periods) == 1 and only is not None else (None, False)


def period_of(text: str) -> Period | None:
    """The period that a text says which is nothing but a date; None when it is none."""
    found = mentions(text.strip())
    is_whole = len(found) == 1 and found[0].end - found[0].start == len(text.strip())
    return found[0].period if is_whole else None


LONGEST_TEXT = 20_000
"""Characters that are read; what stands behind them is left alone."""

_Reader = Callable[[re.Match[str]], "Period | None"]

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?)"
_YEAR = r"(?P<year>[0-9]{4})"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4, "one": 1, "two": 2, "three": 3, "four": 4}
_ORDINAL = r"(?P<number>first|second|third|fourth|last|one|two|three|four|[0-9]{1,2})(?:st|nd|rd|th)?"
_OF = r"(?:\s+|\s*,\s*|\s+of\s+(?:the\s+)?)"
_GAP = r"(?:\s*[-/]\s*|\s*,\s*|\s+(?:of\s+)?)"

# no part of a longer number, name or version
_BEFORE = r"(?<![A-Za-z0-9_])(?<![0-9][-./])(?<!version )(?<!version)(?<!\bv )"
_AFTER = r"(?![A-Za-z0-9_])(?![-./][0-9])"

# half of a range: what stands before it is the other half
_RANGE = (
    r"(?P<range>(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?|[qh][1-4]|[0-9]{1,2}(?:st|nd|rd|th)?)"
    r"\s*(?:to|through|thru|until|till|and|or|vs\.?|versus|[-–—&/,])\s*)?"
)
_EDGE = r"(?P<edge>(?:the\s+)?(?:end|close|last\s+day|start|beginning|first\s+day)\s+of\s+(?:the\s+)?)?"


def _forms_in(text: str) -> Iterator[tuple[re.Pattern[str], _Reader]]:
    """The forms that the text can hold at all: compiling them all would take longer than the rest of a question."""
    if not re.search("[0-9]", text):
        return
    lowered = text.lower()
    if any(name[:3] in lowered for name in MONTHS):
        yield from _compiled(_MONTH_FORMS)
    if re.search(r"q|h\s*[12]|half", lowered):
        yield from _compiled(_PART_FORMS)
    yield from _compiled(_NUMBER_FORMS)


@cache
def _compiled(forms: tuple[tuple[str, _Reader], ...]) -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    return tuple((re.compile(f"{_BEFORE}{form}{_AFTER}", re.IGNORECASE), reader) for form, reader in forms)


def _read(reader: _Reader, match: re.Match[str]) -> Period | None:
    if match.groupdict().get("range"):
        return None
    try:
        period = reader(match)
    except ValueError:
        return None
    edge = (match.groupdict().get("edge") or "").lower()
    if period is None or not edge:
        return period
    day = period.last if re.search(r"end|close|last", edge) else period.first
    return Period(day, day)


def _month_number(match: re.Match[str]) -> int:
    """From a name or from digits."""
    name = match.groupdict().get("month")
    if name is None:
        return int(match["number"])
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _day(match: re.Match[str]) -> Period:
    return _one_day(int(match["year"]), _month_number(match), int(match["day"]))


def _dotted(match: re.Match[str]) -> Period | None:
    """31.03.2025 has its day first; 12.31.2025 can only be meant the other way round."""
    return _readable(match["year"], match["two"], match["one"]) or _readable(match["year"], match["one"], match["two"])


def _either(match: re.Match[str]) -> Period | None:
    """03/04/2025 has two readings; 31/03/2025 and 03/31/2025 have one."""
    one, two = _readable(match["year"], match["one"], match["two"]), _readable(match["year"], match["two"], match["one"])
    return one or two if one is None or two is None or one == two else None


def _month(match: re.Match[str]) -> Period:
    return _months(int(match["year"]), _month_number(match), 1)


def _quarter(match: re.Match[str]) -> Period:
    return _months(int(match["year"]), 3 * _ordinal(match, 4) - 2, 3)


def _half(match: re.Match[str]) -> Period:
    return _months(int(match["year"]), 6 * _ordinal(match, 2) - 5, 6)


def _nothing(match: re.Match[str]) -> None:
    return None


def _ordinal(match: re.Match[str], highest: int) -> int:
    word = match["number"].lower()
    number = min(highest, _QUARTERS[word]) if word == "last" else int(_QUARTERS.get(word, word))
    if not 1 <= number <= highest:
        raise ValueError(word)
    return number


def _months(year: int, month: int, count: int) -> Period:
    last_month = month + count - 1
    return Period(date(year, month, 1), date(year, last_month, monthrange(year, last_month)[1]))


def _one_day(year: int, month: int, day: int) -> Period:
    return Period(date(year, month, day), date(year, month, day))


def _readable(year: str, month: str, day: str) -> Period | None:
    try:
        return _one_day(int(year), int(month), int(day))
    except ValueError:
        return None


_NUMBER_FORMS: tuple[tuple[str, _Reader], ...] = (
    (rf"{_YEAR}(?P<mark>[-/.‐‑])(?P<number>[0-9]{{1,2}})(?P=mark)(?P<day>[0-9]{{1,2}})(?:[T ][0-9]{{2}}:[0-9]{{2}}\S*)?", _day),
    (rf"(?P<one>[0-9]{{1,2}})\.\s?(?P<two>[0-9]{{1,2}})\.\s?{_YEAR}", _dotted),
    (rf"(?P<one>[0-9]{{1,2}})(?P<mark>[-/])(?P<two>[0-9]{{1,2}})(?P=mark){_YEAR}", _either),
    (r"[0-9]{1,2}/[0-9]{1,2}/[0-9]{2}", _nothing),
    (rf"{_EDGE}{_YEAR}[-/‐‑](?P<number>[0-9]{{1,2}})", _month),
    (rf"{_EDGE}(?P<number>[0-9]{{1,2}})/{_YEAR}", _month),
)
_MONTH_FORMS: tuple[tuple[str, _Reader], ...] = (
    (rf"{_RANGE}(?:the\s+)?{_DAY}{_GAP}{_MONTH}{_GAP}{_YEAR}", _day),
    (rf"{_MONTH}{_GAP}(?:the\s+)?{_DAY}{_GAP}{_YEAR}", _day),
    (rf"{_YEAR}{_GAP}{_MONTH}{_GAP}(?:the\s+)?{_DAY}", _day),
    (rf"{_MONTH}\s+[0-9]{{1,2}}\s*(?:-|–|to|and)\s*[0-9]{{1,2}}{_GAP}{_YEAR}", _nothing),
    (rf"{_EDGE}{_RANGE}{_MONTH}{_GAP}{_YEAR}", _month),
    (rf"{_EDGE}{_YEAR}{_GAP}{_MONTH}", _month),
)
_PART_FORMS: tuple[tuple[str, _Reader], ...] = (
    (rf"{_EDGE}{_RANGE}q(?:uarter\s+)?{_ORDINAL}{_GAP}{_YEAR}", _quarter),
    (rf"{_EDGE}{_YEAR}[-/\s]*q(?:uarter\s+)?{_ORDINAL}", _quarter),
    (rf"{_EDGE}(?:the\s+)?{_ORDINAL}\s+quarter{_OF}{_YEAR}", _quarter),
    (rf"{_EDGE}{_RANGE}h(?P<number>[0-9]){_GAP}{_YEAR}", _half),
    (rf"{_EDGE}{_YEAR}[-/\s]*h(?P<number>[0-9])", _half),
    (rf"{_EDGE}(?:the\s+)?{_ORDINAL}\s+half{_OF}{_YEAR}", _half),
    (r"(?:[qh][0-9]|quarter\s+[0-9]|(?:first|second|third|fourth)\s+quarter)\s*(?:of\s+)?fy\s?'?(?:[0-9]{4}|[0-9]{2})", _nothing),
)
