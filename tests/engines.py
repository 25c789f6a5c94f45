"""The engines that run the package: dbt Core 1.10, 1.11 and 1.12, and dbt 2; and an adapter that the package does not know.

What the tests' own environment does not have is fetched once into the user's cache (XDG_CACHE_HOME, else ~/.cache) and kept there.
What cannot be had here is a skip that says why.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

import pytest
from filelock import FileLock

CORES = {"1.10": "1.10.23", "1.11": version("dbt-core"), "1.12": "1.12.6"}

DBT2 = "2.0.0rc196"
DUCKDB_FOR_DBT2 = "1.5.4-r.1"
DUCKDB_SHA256 = "056c0ea133e54e1c74b21a09f1cf3fe1f6c497644e2c7dd6ecac4ae612fa0b5c"
POSTGRES_ADAPTER = ("dbt-postgres==1.11.0", "psycopg2-binary")

NAMES = (*(f"Core {minor}" for minor in CORES), "dbt 2")
CHOSEN = [name.strip() for name in os.environ.get("PROVENANCE_ENGINES", "Core 1.11, dbt 2").split(",")]
"""The engines on which the conformance cases run: a list of NAMES."""


@dataclass(frozen=True)
class Engine:
    """One of NAMES, ready to run in a process of its own."""

    name: str
    executable: Path

    @property
    def slug(self) -> str:
        return self.name.replace(" ", "_").lower()

    @property
    def is_core(self) -> bool:
        return self.name != "dbt 2"

    @property
    def semantic_folder(self) -> str:
        """Which of the worked example's two semantic folders it reads: dbt 2 refuses the older form, Core before 1.12 the newer."""
        return "semantic/legacy" if self.name in ("Core 1.10", "Core 1.11") else "semantic/current"


def engine(name: str) -> Engine:
    """Skips where it cannot be had."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is no engine; PROVENANCE_ENGINES is a list of {', '.join(NAMES)}")
    return Engine(name, dbt2_executable() if name == "dbt 2" else core_executable(name.removeprefix("Core ")))


def core_executable(minor: str) -> Path:
    """dbt of that minor version: this environment's own, else of an environment made for it with the same DuckDB."""
    release = CORES[minor]
    if version("dbt-core") == release:
        return Path(sys.executable).with_name("dbt")
    packages = [f"dbt-core=={release}", f"dbt-duckdb=={version('dbt-duckdb')}"]
    folder = _cache() / f"dbt-core-{release}-{version('dbt-duckdb')}-{version('duckdb')}-python{sys.version_info.major}.{sys.version_info.minor}"
    with FileLock(f"{folder}.lock"):
        if not (folder / ".made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            python = folder / "bin/python"
            # Not with their dependencies: 1.12 asks for a second parser that the index has no file for, and the adapter for the newest Core.
            _pip("install", "--no-deps", *packages, python=python)
            asked = "import importlib.metadata as m; print('\\n'.join(one for name in ('dbt-core', 'dbt-duckdb') for one in m.requires(name)))"
            wanted = subprocess.run([str(python), "-c", asked], check=True, capture_output=True, text=True).stdout.splitlines()
            _pip("install", f"duckdb=={version('duckdb')}", *(one for one in wanted if not one.startswith(("dbt-core", "duckdb")) and "extra ==" not in one), python=python)
            (folder / ".made").touch()
    return folder / "bin/dbt"


def dbt2_executable() -> Path:
    """The executable of dbt 2, with the library of DuckDB where it looks for it."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip(f"dbt 2 is fetched for linux on x86_64 only, this is {sys.platform} on {platform.machine()}")
    folder = _cache() / f"dbt-{DBT2}-duckdb-{DUCKDB_FOR_DBT2}"
    executable, library = folder / "bin/dbt", folder / "lib/libduckdb.so"
    with FileLock(f"{folder}.lock"):
        if not library.exists():
            _write(library, _duckdb_library())
        if not executable.exists():
            _write(executable, _dbt2_program(folder))
        executable.chmod(0o755)
    return executable


def postgres_adapter() -> Path:
    """A folder that holds dbt-postgres, for PYTHONPATH beside this environment's dbt Core."""
    folder = _cache() / POSTGRES_ADAPTER[0]
    with FileLock(f"{folder}.lock"):
        if not (folder / "dbt/adapters/postgres").is_dir():
            _pip("install", "--no-deps", "--target", str(folder), *POSTGRES_ADAPTER)
    return folder


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dbt_provenance_tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _dbt2_program(folder: Path) -> bytes:
    _pip("download", "--no-deps", "--no-cache-dir", "--dest", str(folder), f"dbt=={DBT2}")
    wheel = next(folder.glob("dbt-*.whl"))
    with zipfile.ZipFile(wheel) as file:
        program = file.read(f"dbt-{DBT2}.data/scripts/dbt")
    wheel.unlink()
    return program


def _duckdb_library() -> bytes:
    registry = os.environ.get("NPM_CONFIG_REGISTRY") or os.environ.get("npm_config_registry") or "https://registry.npmjs.org"
    address = f"{registry.rstrip('/')}/@duckdb/node-bindings-linux-x64/-/node-bindings-linux-x64-{DUCKDB_FOR_DBT2}.tgz"
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            packed = answer.read()
    except (urllib.error.URLError, TimeoutError) as error:
        pytest.skip(f"the library of DuckDB for dbt 2 cannot be fetched from {address}: {error}")
    assert hashlib.sha256(packed).hexdigest() == DUCKDB_SHA256, f"{address} is not the file that was tried"
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        return archive.extractfile("package/libduckdb.so").read()


def _pip(*arguments: str, python: Path = Path(sys.executable)) -> None:
    finished = subprocess.run([str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], capture_output=True, text=True)
    if finished.returncode != 0:
        pytest.skip(f"pip {' '.join(arguments)} found nothing: {(finished.stderr.strip().splitlines() or ['no message'])[-1]}")


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all: an interrupted run leaves nothing that looks like the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)
