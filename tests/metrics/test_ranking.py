"""Metrics of rankings: naive twin over orders of ties, scikit-learn, queries without relevance."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from arboleda.metrics import ranking_table

_RANDOM = np.random.default_rng(0)


def metrics_of_order(y: Any, best: Any, largest: int) -> dict[str, float]:
    """The definitions, for relevance in the order of the ranks."""
    metrics = {}
    for k in (1, 3, 10):
        dcg, ideal = (
            sum((2.0**v - 1) / np.log2(i + 2) for i, v in enumerate(part[:k])) for part in (y, best)
        )
        metrics[f"ndcg@{k}"] = dcg / ideal
        metrics[f"precision@{k}"] = sum(v > 0 for v in y[:k]) / k
    relevant = [i for i, v in enumerate(y) if v > 0]
    metrics["map"] = np.mean([sum(v > 0 for v in y[: i + 1]) / (i + 1) for i in relevant])
    metrics["mrr"] = 1 / (relevant[0] + 1)
    reads, metrics["err"] = 1.0, 0.0
    for i, v in enumerate(y):
        stops = (2.0**v - 1) / 2.0**largest
        metrics["err"] += reads * stops / (i + 1)
        reads *= 1 - stops
    return metrics


def naive_metrics(y: Any, scores: Any, largest: int) -> dict[str, float]:
    """The mean over all orders of rows with equal scores."""
    orders = [
        list(order)
        for order in itertools.permutations(range(len(y)))
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]
    each = [metrics_of_order(y[order], np.sort(y)[::-1], largest) for order in orders]
    return {name: float(np.mean([metrics[name] for metrics in each])) for name in each[0]}


def test_metrics_are_means_of_their_definitions_over_orders_of_ties() -> None:
    for _ in range(10):
        query = _RANDOM.permutation([0] * 6 + [1] * 5 + [2] * 2)
        y, scores = _RANDOM.integers(0, 4, 13), np.round(_RANDOM.normal(size=13))
        table = ranking_table(y, scores, qid=query, at=(1, 3, 10))
        kept = [q for q in range(3) if y[query == q].any()]
        each = [naive_metrics(y[query == q], scores[query == q], y.max()) for q in kept]
        assert table.n_without_relevant == 3 - len(kept)
        for name, value in table.metrics.items():
            values = [metrics[name] for metrics in each]
            assert value == pytest.approx(np.mean(values))
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else math.nan
            assert table.standard_errors[name] == pytest.approx(error, nan_ok=True)


def test_metrics_match_scikit_learn() -> None:
    y, scores = _RANDOM.integers(0, 4, 200), _RANDOM.normal(size=200)
    table = ranking_table(y, scores, qid=np.zeros(200), at=[7])
    assert table.metrics["ndcg@7"] == pytest.approx(ndcg_score([2.0**y - 1], [scores], k=7))
    assert table.metrics["map"] == pytest.approx(average_precision_score(y > 0, scores))
    tied = np.round(scores)
    table = ranking_table(y, tied, qid=np.zeros(200), at=[7])
    assert table.metrics["ndcg@7"] == pytest.approx(ndcg_score([2.0**y - 1], [tied], k=7))
    linear = ranking_table(y, scores, qid=np.zeros(200), at=[7], label_gain=[0, 1, 2, 3])
    assert linear.metrics["ndcg@7"] == pytest.approx(ndcg_score([y], [scores], k=7))


def test_queries_without_a_relevant_row() -> None:
    y, scores, qid = [0, 1, 0, 0], [2.0, 1.0, 1.0, 2.0], ["b", "b", "a", "a"]
    left_out = ranking_table(y, scores, qid=qid)
    assert (left_out.n_queries, left_out.n_without_relevant) == (2, 1)
    assert left_out.metrics["mrr"] == 0.5
    assert np.isnan(left_out.by_query["mrr"]).tolist() == [False, True]
    counted = ranking_table(y, scores, qid=qid, no_relevant="one")
    assert counted.metrics["mrr"] == 0.75
    assert counted.to_frame().loc["mrr", "standard_error"] == pytest.approx(0.25)
    nothing = ranking_table([0, 0], [1, 2], qid=[1, 1])
    assert math.isnan(nothing.metrics["ndcg@1"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [0, -1, 1]}, r"is -1\.0 in row 1"),
        ({"y": [0, 0.5, 1]}, r"is 0\.5 in row 1"),
        ({"y": [0, 1]}, "y has 2 rows and scores 3"),
        ({"scores": [0, np.nan, 1]}, "scores is NaN in row 1"),
        ({"qid": [0, 0, None]}, "missing value None in row 2"),
        ({"at": [0]}, "at holds 0"),
        ({"no_relevant": "zero"}, "must be 'exclude' or 'one'"),
        ({"label_gain": [0]}, "label_gain has gains for relevance 0 to 0"),
    ],
)
def test_invalid_arguments(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"y": [0, 1, 1], "scores": [1, 2, 3], "qid": [0, 0, 1]} | change
    with pytest.raises(ValueError, match=message):
        ranking_table(given.pop("y"), given.pop("scores"), **given)
