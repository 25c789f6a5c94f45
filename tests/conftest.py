import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import engines
import pytest
from engines import Engine, dbt2_executable
from filelock import FileLock
from package_sql import Model, Warehouse, read_models
from permission_model import World
from permission_worlds import write

ROOT = Path(__file__).resolve().parents[1]
DBT = Path(sys.executable).with_name("dbt")

pytest_plugins = ["conformance_table", "artifact_project"]


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of shared test material: PROVENANCE_SHARED, else `shared` beside the repository. Skips when absent."""
    beside = ROOT.parent / "shared"
    folder = Path(os.environ.get("PROVENANCE_SHARED") or beside)
    if not folder.is_dir():
        pytest.skip(f"no shared test material at {folder}; set PROVENANCE_SHARED to its folder")
    return folder


def dbt(project: Path, *arguments: str, check: bool = True, executable: Path = DBT, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs dbt in a project, with the project's own profiles; output is captured."""
    command = [str(executable), "--no-version-check", *arguments, "--project-dir", str(project), "--profiles-dir", str(project)]
    finished = subprocess.run(
        command, cwd=project, capture_output=True, text=True, env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "NO_COLOR": "1"} | env
    )
    if check and finished.returncode != 0:
        raise AssertionError(f"dbt {' '.join(arguments)} ended with {finished.returncode}\n{finished.stdout}\n{finished.stderr}")
    return finished


def copy_project(name: str, to: Path, executable: Path = DBT) -> Path:
    """A copy of one of integration_tests/, with the package as a local dependency, installed."""
    project = to / name
    shutil.copytree(
        ROOT / "integration_tests" / name, project, ignore=shutil.ignore_patterns("target", "dbt_packages", "logs", "*.duckdb*", "package-lock.yml")
    )
    (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT}\n")
    dbt(project, "deps", executable=executable)
    return project


def shared_build(tmp_path_factory, worker_id: str, name: str, make) -> Path:
    """One folder a test run, also with several workers: made by the first, used by all."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent
    folder = base / name
    with FileLock(str(base / f"{name}.lock")):
        if not (folder / ".made").exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            (folder / ".made").touch()
    return folder


@pytest.fixture(scope="session")
def worker(request) -> str:
    return getattr(request.config, "workerinput", {}).get("workerid", "master")


@pytest.fixture(scope="session")
def all_engines() -> bool:
    """Whether this is `make test-matrix`, which has time for what is large."""
    return set(engines.CHOSEN) == set(engines.NAMES)


@pytest.fixture(scope="session")
def engine(request) -> Engine:
    """Core 1.11; the conformance cases run on each of the chosen engines."""
    return engines.engine(getattr(request, "param", "Core 1.11"))


def rules_build(tmp_path_factory, worker: str, engine: Engine) -> Path:
    """The project without resources of its own, as that engine built it."""

    def make(folder: Path) -> None:
        project = copy_project("rules", folder, engine.executable)
        dbt(project, "seed", "--select", "package:rules", executable=engine.executable)
        dbt(project, "run", executable=engine.executable)

    return shared_build(tmp_path_factory, worker, f"rules_build_{engine.slug}", make) / "rules"


@pytest.fixture(scope="session")
def package_models(tmp_path_factory, worker, engine) -> list[Model]:
    """The package's SQL in build order, as the engine compiled it."""
    return read_models(rules_build(tmp_path_factory, worker, engine))


@pytest.fixture
def warehouse(package_models) -> Warehouse:
    """An empty warehouse in which analyst is in the group analyst, and everything is allowed to that group."""
    made = Warehouse(package_models)
    made.policy("rules_principals", ("analyst", None, "analyst", None), ("stranger", None, None, None), ("steward", None, "analyst", "service"))
    made.policy("rules_policies", ("all", None, "project", "*", "allow", "analyst"))
    yield made
    made.con.close()


@pytest.fixture(scope="session")
def dbt2() -> Path:
    """The executable of dbt 2, fetched once into the user's cache; skips where it cannot be had."""
    return dbt2_executable()


@pytest.fixture(scope="session")
def net_revenue(tmp_path_factory, worker) -> Path:
    """The worked example, built and refreshed: read-only for tests; copy it to change it."""

    def make(folder: Path) -> None:
        project = copy_project("net_revenue", folder)
        dbt(project, "seed")
        dbt(project, "build")
        from click.testing import CliRunner
        from dbt_provenance.cli import main

        finished = CliRunner().invoke(main, ["refresh", "--project-dir", str(project), "--profiles-dir", str(project)])
        assert finished.exit_code == 0, finished.output

    return shared_build(tmp_path_factory, worker, "net_revenue_build", make) / "net_revenue"


@pytest.fixture
def make(package_models) -> Iterable[Callable[[World], Warehouse]]:
    """Builds worlds in warehouses of their own."""
    made: list[Warehouse] = []

    def build(world: World) -> Warehouse:
        made.append(write(Warehouse(package_models), world))
        return made[-1]

    yield build
    for warehouse in made:
        warehouse.con.close()
