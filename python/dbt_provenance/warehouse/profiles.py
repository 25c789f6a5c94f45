"""Where dbt writes to: the target of a project, read from dbt_project.yml and profiles.yml without importing dbt.

As dbt does it: the project is the folder named, else DBT_PROJECT_DIR, else the nearest one upwards from here. profiles.yml
is looked for in the folder named, else DBT_PROFILES_DIR, else here, else in the project (dbt does not look there), else in
~/.dbt. Text is rendered with Jinja: env_var, its default, and Jinja's own filters. Only the target that is used is rendered.
A relative path to a DuckDB file starts where dbt is called; when no file is there, at the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import ProfileError

_SOURCE_PATHS = {
    "model-paths": "models",
    "seed-paths": "seeds",
    "snapshot-paths": "snapshots",
    "analysis-paths": "analyses",
    "macro-paths": "macros",
    "test-paths": "tests",
    "function-paths": "functions",
}
"""dbt's keys for the folders of a project, each with its default. Docs are looked for in all of them unless docs-paths is set."""


_ENV_VAR = re.compile(r"""\{\{\s*env_var\(\s*(["'])(?P<name>\w+)\1\s*(?:,\s*(["'])(?P<default>[^"'\\{}]*)\3\s*)?\)\s*\}\}""")
"""The commonest Jinja of a profile: rendered without Jinja, whose import would take longer than an answer."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """One target of one project. Paths are absolute."""

    project_name: str
    project_folder: Path
    profiles_folder: Path
    target_name: str
    adapter_type: str
    schema: str | None
    database: str
    artifacts_folder: Path
    docs_paths: tuple[str, ...]
    model_paths: tuple[str, ...]
    working_folder: Path
    """Where dbt must be called for a relative path in the profile to mean the same file."""

    @property
    def database_file(self) -> Path:
        """The DuckDB file. Raises ProfileError for a target that is none."""
        if self.adapter_type != "duckdb":
            raise ProfileError(
                f"Target {self.target_name!r} is of type {self.adapter_type!r}; this release answers on DuckDB. "
                "Name a duckdb target with --target, or a file with --database."
            )
        if self.database.startswith((":memory:", "md:", "motherduck:")) or "://" in self.database:
            raise ProfileError(
                f"Target {self.target_name!r} writes to {self.database.partition('?')[0]!r}, which is no file that can be opened from here. "
                "Set `path` in profiles.yml to a DuckDB file."
            )
        return self.working_folder / Path(self.database).expanduser()


def read_target(
    project_dir: Path | None = None,
    profiles_dir: Path | None = None,
    target: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    here: Path | None = None,
) -> Target:
    """The target that dbt would use. Raises ProfileError when the project, the profile or the target is not there."""
    environ, here = os.environ if environ is None else environ, here or Path.cwd()
    project_folder = _project_folder(project_dir, environ, here)
    project = _read_mapping(project_folder / "dbt_project.yml")
    profiles_folder = _profiles_folder(profiles_dir, environ, here, project_folder)
    profile_name, profile = _profile(project, profiles_folder / "profiles.yml", environ)
    target_name, output = _output(profile, profile_name, target, profiles_folder / "profiles.yml", environ)
    database = str(output.get("path") or ":memory:")
    artifacts = environ.get("DBT_TARGET_PATH") or _rendered(project.get("target-path"), environ) or "target"
    return Target(
        project_name=str(_rendered(project.get("name"), environ)),
        project_folder=project_folder,
        profiles_folder=profiles_folder,
        target_name=target_name,
        adapter_type=str(output.get("type")),
        schema=_text_or_none(output.get("schema")) or "main",
        database=database,
        artifacts_folder=project_folder / str(artifacts),
        docs_paths=_docs_paths(project, environ),
        model_paths=tuple(_texts(project.get("model-paths", ["models"]), environ)),
        working_folder=_working_folder(database, here, project_folder),
    )


def _project_folder(named: Path | None, environ: Mapping[str, str], here: Path) -> Path:
    if named is None and environ.get("DBT_PROJECT_DIR"):
        named = Path(environ["DBT_PROJECT_DIR"])
    folders = [here / named] if named else [here, *here.parents]
    for folder in folders:
        if (folder / "dbt_project.yml").is_file():
            return folder.resolve()
    where = f"in {folders[0]}" if named else f"in {here} or above it"
    raise ProfileError(
        f"There is no dbt_project.yml {where}. Name the project with --project-dir, or a DuckDB file with --database."
    )


def _profiles_folder(named: Path | None, environ: Mapping[str, str], here: Path, project_folder: Path) -> Path:
    if named is None and environ.get("DBT_PROFILES_DIR"):
        named = Path(environ["DBT_PROFILES_DIR"])
    home = Path(environ.get("HOME") or Path.home()) / ".dbt"
    folders = [here / named.expanduser()] if named else [here, project_folder, home]
    for folder in folders:
        if (folder / "profiles.yml").is_file():
            return folder.resolve()
    looked = ", ".join(str(folder) for folder in dict.fromkeys(folders))
    raise ProfileError(f"There is no profiles.yml (looked in {looked}). Name its folder with --profiles-dir.")


def _profile(project: Mapping[str, Any], file: Path, environ: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
    name = environ.get("DBT_PROFILE") or _rendered(project.get("profile"), environ)
    if not name:
        raise ProfileError("dbt_project.yml names no profile. Add `profile: <name>`, or set DBT_PROFILE.")
    profiles = _read_mapping(file)
    profile = profiles.get(str(name))
    if not isinstance(profile, Mapping):
        there = ", ".join(sorted(str(key) for key in profiles if key != "config")) or "none"
        raise ProfileError(f"{file} has no profile {str(name)!r} (there: {there}). Correct `profile` in dbt_project.yml.")
    return str(name), profile


def _output(
    profile: Mapping[str, Any], profile_name: str, target: str | None, file: Path, environ: Mapping[str, str]
) -> tuple[str, Mapping[str, Any]]:
    name = str(target or environ.get("DBT_TARGET") or _rendered(profile.get("target"), environ) or "default")
    outputs = profile.get("outputs")
    output = outputs.get(name) if isinstance(outputs, Mapping) else None
    if not isinstance(output, Mapping):
        there = ", ".join(map(str, outputs)) if isinstance(outputs, Mapping) else "none"
        raise ProfileError(
            f"Profile {profile_name!r} in {file} has no target {name!r} (there: {there}). Choose one with --target."
        )
    return name, {key: _rendered(value, environ) for key, value in output.items() if key in ("type", "path", "schema")}


def _docs_paths(project: Mapping[str, Any], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The folders in which dbt looks for docs, as written; without docs-paths those of all kinds of source."""
    if project.get("docs-paths") is not None:
        return tuple(_texts(project["docs-paths"], environ))
    folders = (_texts(project.get(key, [default]), environ) for key, default in _SOURCE_PATHS.items())
    return tuple(dict.fromkeys(folder.rstrip("/") for group in folders for folder in group))


def _working_folder(database: str, here: Path, project_folder: Path) -> Path:
    path = Path(database).expanduser()
    if not (here / path).exists() and (project_folder / path).exists():
        return project_folder
    return here


def _texts(value: Any, environ: Mapping[str, str]) -> list[str]:
    entries = value if isinstance(value, list) else [value]
    return [str(_rendered(entry, environ)) for entry in entries if entry is not None]


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _read_mapping(file: Path) -> Mapping[str, Any]:
    try:
        parsed = yaml.load(file.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise ProfileError(f"{file} cannot be read: {reason}. Correct it; `dbt debug` says more.") from None
    if not isinstance(parsed, Mapping):
        raise ProfileError(f"{file} holds no mapping of keys to values. Correct it; `dbt debug` says more.")
    return parsed


def _rendered(value: Any, environ: Mapping[str, str]) -> Any:
    """A text with its Jinja rendered; anything else as it is."""
    if not isinstance(value, str) or "{" not in value:
        return value

    def env_var(name: str, default: Any = None) -> Any:
        if name not in environ and default is None:
            raise ProfileError(f"The environment variable {name} is not set, but {value!r} asks for it. Set it.")
        return environ.get(name, default)

    if not re.search(r"{[{%#]", _ENV_VAR.sub("", value)):
        return _ENV_VAR.sub(lambda found: env_var(found["name"], found["default"]), value)
    return _rendered_by_jinja(value, env_var)


def _rendered_by_jinja(text: str, env_var: Callable[..., Any]) -> str:
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    environment.filters.update(as_text=str, as_bool=str, as_native=str, as_number=str)
    try:
        return environment.from_string(text).render(env_var=env_var)
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise ProfileError(f"{text!r} cannot be rendered: {error}. Correct it; `dbt debug` says more.") from None
