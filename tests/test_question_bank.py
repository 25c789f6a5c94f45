"""The question bank on the worked example and three loaded corpora; the figures are printed with -s and stand in docs/question_bank.md."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from conftest import ROOT, shared_build
from dbt_provenance.answer.ask import ask
from dbt_provenance.cli import main
from dbt_provenance.warehouse.duckdb_connection import open_warehouse
from question_bank import by_slice, judge, read_bank, report

CORPORA = {"tuva": "tuva", "fivetran_quickbooks": "fivetran_quickbooks", "dbt_bouncer": "dbt_bouncer/dbt_112"}
POLICIES = Path(__file__).parent / "data" / "question_bank_policy.yml"

pytestmark = pytest.mark.xdist_group("question_bank")


@pytest.fixture(scope="session")
def bank_files(shared_folder, net_revenue, tmp_path_factory, worker) -> dict[str, Path]:
    """Warehouse of the bank -> DuckDB file."""

    def make(folder: Path) -> None:
        for name, policy in yaml.safe_load(POLICIES.read_text()).items():
            (folder / f"{name}.yml").write_text(yaml.safe_dump(policy))
            arguments = ["load", str(shared_folder / "corpora" / CORPORA[name]), "--into", str(folder / f"{name}.duckdb"), "--policy", str(folder / f"{name}.yml")]
            finished = CliRunner().invoke(main, arguments)
            assert finished.exit_code == 0, finished.output

    folder = shared_build(tmp_path_factory, worker, "bank", make)
    return {name: folder / f"{name}.duckdb" for name in CORPORA} | {"example": net_revenue / "net_revenue.duckdb"}


@pytest.fixture(scope="session")
def judged(bank_files):
    answers = []
    for name, file in bank_files.items():
        with open_warehouse(file) as warehouse:
            for item in read_bank():
                if item["warehouse"] == name:
                    envelope = ask(item["question"], warehouse=warehouse, principal=item["principal"], as_of=item["as_of"])
                    answers.append(judge(item, envelope if isinstance(envelope, dict) else envelope.to_dict()))
    return answers


@pytest.mark.xdist_group("bank")
def test_nothing_forbidden_is_ever_shown(judged):
    assert [(one.item["id"], one.faults) for one in judged if any(fault.startswith("LEAK") for fault in one.faults)] == []


@pytest.mark.xdist_group("bank")
def test_outcomes_are_right_in_every_slice(judged):
    print("\n" + report(judged))
    for one in judged:
        if one.faults:
            print(f"{one.item['id']} {one.item['question'][:90]!r}: {'; '.join(one.faults)}")
    assert len(judged) >= 150
    for name, (right, total) in by_slice(judged, lambda one: one.envelope["outcome"] == one.item["expect"]["outcome"]).items():
        assert total >= 10 and right / total >= 0.8, f"{name}: {right} of {total}"


@pytest.mark.xdist_group("bank")
def test_the_documented_figures_are_those_of_this_run(judged):
    assert report(judged) in (ROOT / "docs/question_bank.md").read_text()
