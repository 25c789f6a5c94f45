"""The benchmark's questions run on generated evidence; what they cost is not judged here."""

import pytest
from conftest import ROOT  # noqa: F401  (puts nothing in the way of `bench`, which lies beside tests)


def test_the_benchmark_of_questions_runs_on_a_small_warehouse(package_models, tmp_path_factory, worker, engine):
    pytest.importorskip("bm25s", reason="the extra `bench` is not installed")
    import sys

    sys.path.insert(0, str(ROOT))
    from bench.questions import cpu_per_call, generated, queries, visible

    project = (tmp_path_factory.getbasetemp() if worker == "master" else tmp_path_factory.getbasetemp().parent) / f"rules_build_{engine.slug}" / "rules"
    warehouse = generated(project, 300)
    rows = visible(warehouse, "wide")
    assert 0 < len(rows) < 300
    name = f"m{rows[0][0] // 4}"
    assert warehouse.call("resolve", name, as_of="2026-01-01", principal="wide")[0]["outcome"] == "resolved"
    assert cpu_per_call(lambda text: warehouse.call("search", text, as_of="2026-01-01", principal="wide"), queries(3)) > 0
