"""The documentation says what is there."""

import re
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))


def test_the_reference_is_up_to_date():
    from generate_reference import reference

    assert (ROOT / "docs/reference.md").read_text(encoding="utf-8") == reference(), "run python tools/generate_reference.py"


def test_every_conformance_case_has_a_test_and_the_table_holds_all_of_them():
    from conformance_table import CASES, declared, table

    tests = declared()
    assert {case for case, _, _ in tests} == set(CASES)
    written = [line.rsplit(" | ", 4) for line in (ROOT / "docs/conformance.md").read_text(encoding="utf-8").splitlines()]
    now = [line.rsplit(" | ", 4) for line in table({}).splitlines()]
    assert [line[0] for line in written if len(line) == 5] == [line[0] for line in now if len(line) == 5], "run make test-matrix"
    words = {word.strip(" |").partition(" (")[0] for line in written[6:] if len(line) == 5 for word in line[1:]}
    assert words <= {"passes", "skipped", "not run", "---"}, "a case that does not pass on an engine"


def test_every_command_stands_in_the_readme():
    from dbt_provenance.cli import main

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [name for name in main.commands if f"`{name}" not in readme]


def test_every_variable_of_the_package_is_documented():
    documented = "".join(file.read_text(encoding="utf-8") for file in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    used = {
        name
        for file in [*(ROOT / "macros").rglob("*.sql"), *(ROOT / "models").rglob("*.sql")]
        for name in re.findall(r"var\('(provenance_\w*[a-z])'", file.read_text(encoding="utf-8"))
    }
    assert not [name for name in sorted(used) if name not in documented]


def test_links_between_documents_lead_somewhere():
    for file in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", file.read_text(encoding="utf-8")):
            assert (file.parent / target).exists(), f"{file.name} links to {target}"


def test_nothing_committed_names_a_machine():
    for folder in ("macros", "models", "python", "tests", "docs", "tools", "bench", "integration_tests"):
        for file in (ROOT / folder).rglob("*"):
            if file.is_file() and file.suffix in {".py", ".sql", ".md", ".yml", ".json"} and "dbt_packages" not in file.parts and "target" not in file.parts:
                text = file.read_text(encoding="utf-8", errors="replace")
                assert "/work/" + "main" not in text and "/tmp/" + "w/" not in text, file
