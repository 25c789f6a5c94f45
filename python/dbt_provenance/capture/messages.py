"""What is kept of dbt's words on a result: their first line, and of an error its kind alone.

What the warehouse or the project says to an error can repeat values of --vars and of the environment, which are never stored; so can the
limit of a test. The twin in Jinja is the macro kept_message (macros/capture/insert_results.sql).
"""

from __future__ import annotations

_LONGEST = 40
"""Characters of the kind of an error."""


def kept_message(status: str | None, message: str | None) -> str | None:
    """Of a message of dbt what holds no value of a variable; None for none."""
    if not message:
        return None
    first, _, rest = message.strip().partition("\n")
    if "error" not in (status or "").lower():
        return first.partition(", configured to ")[0]
    if first.startswith("Failed to render SQL"):
        return "Compilation Error"
    kind = first.partition(":")[0].partition(" in ")[0].partition(" for ")[0]
    if not _is_kind(kind):
        return "Error"
    of_warehouse = rest.partition("\n")[0].strip().partition(":")[0]
    return f"{kind}: {of_warehouse}" if kind in ("Database Error", "Runtime Error") and _is_kind(of_warehouse) else kind


def _is_kind(text: str) -> bool:
    return text.endswith(" Error") and len(text) <= _LONGEST
