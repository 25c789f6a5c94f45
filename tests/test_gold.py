"""The gold of the worked example: 11 questions, from the question alone and through SQL with the entity given."""

import json
from pathlib import Path

import pytest
from dbt_provenance.answer.ask import ask
from dbt_provenance.warehouse.duckdb_connection import open_warehouse

CASES = json.loads((Path(__file__).parent / "data" / "gold_cases.json").read_text())
DOCUMENTS = CASES["documents"]
QUESTIONS = [f"Q{number}" for number in range(1, 12)]


@pytest.fixture(scope="module")
def gold(shared_folder) -> dict:
    return {case["id"]: case for case in json.loads((shared_folder / "corpora" / "net_revenue_gold.json").read_text())["gold"]}


@pytest.fixture(scope="module")
def example(net_revenue):
    with open_warehouse(net_revenue / "net_revenue.duckdb") as warehouse:
        yield warehouse


def ids(documents) -> set:
    return {DOCUMENTS[document] for document in documents}


def test_the_gold_is_these_questions(gold):
    assert list(gold) == QUESTIONS


@pytest.mark.parametrize("number", QUESTIONS)
def test_the_question_alone_gives_the_gold_answer(gold, example, number):
    case = gold[number]
    envelope = ask(case["query"], warehouse=example, principal=case["role"], as_of=case["as_of"]).to_dict()
    cited = {evidence["evidence_id"]: evidence["role"] for evidence in envelope.get("evidence", [])}
    assert envelope["outcome"] == CASES["outcomes"][case["behavior"]]
    assert [evidence_id for evidence_id, role in cited.items() if role == "governing"] == (
        [DOCUMENTS[case["selected"]]] if case["selected"] else []
    )
    assert ids(case["required"]) <= set(cited)
    assert not ids(case.get("forbidden", [])) & set(cited)
    if case["behavior"] == "conflict":
        said = {conflict["evidence_id"]: conflict for conflict in envelope["conflicts"]}
        named = ids(case["required"]) - {DOCUMENTS[case["selected"]]}
        assert named and all(
            not said[evidence_id]["authoritative"] and cited[evidence_id] == "conflicting" for evidence_id in named
        )


@pytest.mark.parametrize("number", QUESTIONS)
def test_sql_with_the_entity_given_gives_the_gold_answer(gold, example, number):
    case = gold[number]
    asked = {"as_of": case["as_of"], "principal": case["role"]}
    row = example.call("resolve", entity=CASES["targets"].get(number, case["target"]), **asked)[0]
    found = {row["evidence_id"]} - {None}
    assert row["outcome"] == CASES["outcomes"][case["behavior"]]
    assert found == ({DOCUMENTS[case["selected"]]} if case["selected"] else set())
    if number in CASES["also_required"]:
        also = CASES["also_required"][number]
        rows = example.call(also["function"], **also["arguments"], **asked)
        found |= {row["evidence_id"] for row in rows if row.get("lane") == also.get("lane")}
    assert ids(case["required"]) <= found
    assert not ids(case.get("forbidden", [])) & found


def test_a_question_of_another_role_gets_what_that_role_may_see(gold, example):
    case = gold["Q9"]
    envelope = ask(case["query"], warehouse=example, principal="finance", as_of=case["as_of"]).to_dict()
    assert envelope["outcome"] == "resolved"
    assert [evidence["evidence_id"] for evidence in envelope["evidence"] if evidence["role"] == "governing"] == [
        DOCUMENTS["finance.board_revenue.private"]
    ]
