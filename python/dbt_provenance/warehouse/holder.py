"""Which process holds a DuckDB file, from the words in which DuckDB refuses to open it."""

from __future__ import annotations

import re
from pathlib import Path

_HOLDER = re.compile(r"Conflicting lock is held in (.+?) \(PID (\d+)\)")
_LOCKED = ("could not set lock", "different configuration", "used by another process")


def held_by(words: str) -> str | None:
    """Half a sentence that names the process when DuckDB knows it; None when the words speak of something else."""
    holder = _HOLDER.search(words)
    if holder:
        return f"the file is in use by {Path(holder.group(1)).name} (process {holder.group(2)})"
    return "the file is in use by another process" if any(words_of in words.lower() for words_of in _LOCKED) else None
