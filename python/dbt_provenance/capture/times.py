"""Times as dbt and its adapters write them."""

from __future__ import annotations

import re
from datetime import datetime, timezone, tzinfo
from typing import Any

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)? ?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)


def utc_from_text(text: Any, *, naive_zone: tzinfo = timezone.utc) -> datetime | None:
    """A time as dbt and its adapters write it, as naive UTC; None for null or blank.

    Raises ValueError for anything else: a date that is none, a doubled zone as in "+00:00Z", a number. Digits past the
    microsecond are cut.
    """
    if text is None or text == "":
        return None
    found = _TIME.fullmatch(text.strip()) if isinstance(text, str) else None
    if not found:
        raise ValueError(f"not a time: {text!r}")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    microsecond = (fraction or "0")[:6].ljust(6, "0")
    try:
        local = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
        zoned = local.replace(microsecond=int(microsecond), tzinfo=_zone(zone) or naive_zone)
        return zoned.astimezone(timezone.utc).replace(tzinfo=None)
    except OverflowError as error:
        raise ValueError(f"not a time in UTC: {text!r}") from error


def _zone(text: str | None) -> tzinfo | None:
    if not text:
        return None
    if text == "Z":
        return timezone.utc
    return datetime.strptime(text.replace(":", "").ljust(5, "0"), "%z").tzinfo
