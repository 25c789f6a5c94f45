"""The conformance cases, and the table of what showed them: a pytest plugin.

A test says which case it shows by `@pytest.mark.case("A1")`. `pytest tests/conformance --conformance-table docs/conformance.md` writes the
table: each case, its tests, and the result of each on each engine.
"""

from __future__ import annotations

import ast
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from engines import CHOSEN, CORES, DBT2

FOLDER = Path(__file__).with_name("conformance")
CASES = {
    "A1": "Of two dated versions the one of the reporting date governs, and never the nearest",
    "A2": "A moved latest_version changes what applies although no SQL changed",
    "A3": "A deprecated version still answers for its own period",
    "A4": "Overlapping intervals are a conflict, and every mark of an open end means open",
    "A5": "A definition may take effect later than it was written",
    "B1": "A second project does not overwrite the owner's definition",
    "B2": "A later edit replaces the text before, which keeps its period",
    "B3": "Deprecated and archived are two states, and none is lost",
    "B4": "One name with several formulas is asked back, never picked from",
    "F1": "A policy is no observation, and an old observation has expired",
    "F2": "An empty table has no data: neither stale nor an error",
    "F3": "The policy that dbt applies is shown, and which expression was used",
    "F4": "Zones do not shift an age, and what is in the future is a clock error",
    "G1": "Size: many nodes and long texts arrive whole, in bounded statements",
    "G2": "Hostile text comes back byte for byte, and is never rendered",
    "G3": "Concurrent and many small builds write nothing twice",
    "G4": "Every command records what it did, and only that",
    "G5": "Nothing grows when nothing changed",
    "G6": "The hook is harmless",
    "G7": "What an engine does not provide is unavailable, not empty",
    "G8": "New keys of a known artifact version load, an unknown version changes nothing",
    "G9": "Wide graphs: every closure once a pair, cycles end",
    "G10": "What is stored follows the files, also under partial parsing",
    "G11": "meta in two places is read once, and what differs closes",
    "J1": "Public relations have flat columns of plain types and export empty, too",
    "J2": "Every column can be named without quotes, in either case",
    "J3": "Dates do not shift with the client's zone",
    "J4": "Reading goes on while dbt writes",
    "J5": "The package and a project with the same names live together",
}
ENGINES = {f"Core {minor}": f"dbt Core {release}" for minor, release in CORES.items()} | {"dbt 2": f"dbt {DBT2}"}
MANY_BUILDS = {"test_g_commands", "test_g_cost", "test_g_engines", "test_g_partial_parsing", "test_g_size", "test_j_locks", "test_projects"}
"""Files of many dbt builds: unless engines are chosen they run on dbt 2 alone, the quicker one; the suite tries the same on dbt Core
(test_runs, test_capture, test_engines)."""
HEAD = """# Conformance

Cases that users of related tools reported, and the test that shows each here, on each engine. Written by `make test-matrix`; a test fails
when a case or a test is missing. "passes" is the result of all of a test's variants; what an engine cannot be tried on says why below.
"""


def declared() -> list[tuple[str, str, str]]:
    """(case, file, test) of every test that is marked, in the order of CASES."""
    found = []
    for file in sorted(FOLDER.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found += [(case, file.name, node.name) for one in node.decorator_list for case in _cases_of(one)]
    return sorted(found, key=lambda row: (list(CASES).index(row[0]), *row[1:]))


def _cases_of(decorator: ast.expr) -> Iterator[str]:
    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.case":
        yield from (argument.value for argument in decorator.args)


def table(results: dict[tuple[str, str, str], str]) -> str:
    """The document, from results by (file, test, engine)."""
    lines = [HEAD, f"| case | claim | test | {' | '.join(ENGINES.values())} |", f"| --- | --- | --- | {' | '.join('---' for _ in ENGINES)} |"]
    reasons: list[str] = []
    for case, file, test in declared():
        cells = []
        for engine in ENGINES:
            result = results.get((file, test, engine), "not run")
            word, _, reason = result.partition(": ")
            if reason and reason not in reasons:
                reasons.append(reason)
            cells.append(f"{word} ({reasons.index(reason) + 1})" if reason else word)
        lines.append(f"| {case} | {CASES[case]} | [{test.removeprefix('test_').replace('_', ' ')}](../tests/conformance/{file}) | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"{place}. {reason}" for place, reason in enumerate(reasons, 1))]).rstrip() + "\n"


class Results:
    """What each marked test came to on each engine; of several variants the worst counts."""

    def __init__(self, path: Path):
        self.path = path
        self.found: dict[tuple[str, str, str], list[str]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        engine = dict(report.user_properties).get("engine")
        if engine is None or (report.when != "call" and report.passed):
            return
        file, test = report.location[0], report.location[2].partition("[")[0]
        reason = report.longrepr[2].removeprefix("Skipped: ") if report.skipped and isinstance(report.longrepr, tuple) else ""
        word = "passes" if report.passed else f"skipped: {reason}" if report.skipped else "fails"
        self.found[Path(file).name, test, engine].append(word)

    def pytest_sessionfinish(self) -> None:
        results = {key: max(words, key=lambda word: ("passes", "skipped", "fails").index(word.partition(":")[0])) for key, words in self.found.items()}
        self.path.write_text(table(written(self.path) | results), encoding="utf-8")


def written(path: Path) -> dict[tuple[str, str, str], str]:
    """The results that a table holds, of the releases that are tried now: a run on some engines keeps those of the others."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    reasons = dict(re.findall(r"^(\d+)\. (.*)$", "\n".join(lines), re.MULTILINE))
    engines = [next((name for name, release in ENGINES.items() if release == one), None) for one in next(line for line in lines if line.startswith("| case")).strip("| ").split(" | ")[3:]]
    results = {}
    for line in lines:
        if found := re.match(r"\| \w\d+ \| .*? \| \[(.*?)\]\(\.\./tests/conformance/(.*?)\) \| (.*) \|$", line):
            for engine, cell in zip(engines, found[3].split(" | ")):
                word, number = re.fullmatch(r"([a-z ]+?)(?: \((\d+)\))?", cell).groups()
                if engine:
                    results[found[2], f"test_{found[1].replace(' ', '_')}", engine] = f"{word}: {reasons[number]}" if number else word
    return results


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--conformance-table", metavar="FILE", help="write the table of conformance cases and results there")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "case(name): the conformance case that the test shows")
    path = config.getoption("--conformance-table")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(Path(path)))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames and FOLDER in metafunc.definition.path.parents:
        quick = metafunc.definition.path.stem in MANY_BUILDS and "PROVENANCE_ENGINES" not in os.environ
        metafunc.parametrize("engine", ["dbt 2"] if quick else CHOSEN, indirect=True, scope="session")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    callspec = getattr(item, "callspec", None)
    if callspec and "engine" in callspec.params and FOLDER in item.path.parents and ("engine", callspec.params["engine"]) not in item.user_properties:
        item.user_properties.append(("engine", callspec.params["engine"]))
    yield
