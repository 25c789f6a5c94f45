import pytest
from baseline import Figures, bm25, fused, fused_with_bonuses, lsa, measure, rank, read_gold


@pytest.fixture(scope="module")
def gold(shared_folder):
    return read_gold(shared_folder / "corpora" / "net_revenue_gold.json")


@pytest.mark.parametrize(
    ("score", "published"),
    [
        (bm25, Figures(0.375, 0.750)),
        (lsa, Figures(0.375, 0.938)),
        (fused, Figures(0.375, 0.875)),
        (fused_with_bonuses, Figures(0.625, 0.875)),
    ],
)
def test_baseline_gives_the_published_figures(gold, score, published):
    measured = measure(gold, rank(gold, score))
    rounded = Figures(round(measured.right_source_first, 3), round(measured.required_in_first_three, 3))
    assert rounded == published
