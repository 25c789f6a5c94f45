"""Model files that the manifest does not have: written since, or passed over by a parse from dbt's cache.

Nothing inside dbt can know it; so `refresh` looks at the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .canonical import as_mapping

NAMED = 5
"""Files that the note names at most."""


def unparsed_note(manifest: Mapping[str, Any], project_folder: Path, model_paths: tuple[str, ...]) -> str | None:
    """One sentence about the files, None when the manifest has all. A project with a .dbtignore is not looked at."""
    if (project_folder / ".dbtignore").exists():
        return None
    known = set(_paths(manifest))
    files = (file for folder in model_paths for ending in ("*.sql", "*.py") for file in (project_folder / folder).rglob(ending))
    missing = sorted(path for file in files if (path := file.relative_to(project_folder).as_posix()) not in known)
    if not missing:
        return None
    named = ", ".join(missing[:NAMED]) + (f" and {len(missing) - NAMED} more" if len(missing) > NAMED else "")
    return f"not in manifest.json: {named}; run dbt again, and with --no-partial-parse when it still passes over them"


def _paths(manifest: Mapping[str, Any]) -> Iterator[str]:
    disabled = (one for listed in as_mapping(manifest.get("disabled")).values() if isinstance(listed, list) for one in listed)
    for node in (*as_mapping(manifest.get("nodes")).values(), *disabled):
        path = str(as_mapping(node).get("original_file_path"))
        yield path
        yield path.replace("\\", "/")
