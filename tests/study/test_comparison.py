"""Which models are distinguishable from the winner."""

from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

from arboleda.facts.best_model import RivalFacts, RowsTest
from arboleda.scoring.choice import find_metric
from arboleda.scoring.paired_tests import (
    LEVEL,
    McNemarTest,
    PairedTest,
    TTest,
    adjust_level,
    compare_on_rows,
)
from arboleda.scoring.scores import Predictions
from arboleda.study import Study
from arboleda.study.results.comparison import describe_rivals, write_sentence

pytestmark = pytest.mark.usefixtures("undrawn")

ACCURACY = find_metric("accuracy")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("compared")
    models = "most_frequent,cart,lda,naive_bayes"
    options = {"target": "target", "metric": "accuracy", "models": models}
    return Study("breast_cancer", output_dir=out, **options).run()


def test_each_model_is_compared_with_the_winner(found: Any) -> None:
    facts = found.facts
    comparison, models = facts["comparison"], facts["models"]
    assert comparison["against"] == models[0]["key"]
    assert [row["key"] for row in comparison["rows"]] == [m["key"] for m in models[1:]]
    best = np.array(models[0]["cv"]["fold_scores"])
    for row, model in zip(comparison["rows"], models[1:], strict=True):
        d = best - np.array(model["cv"]["fold_scores"])
        # Nadeau and Bengio (2003), section 4, written out.
        error = np.sqrt((1 / 5 + 1 / 4) * d.var(ddof=1))
        p = 2 * stats.t.sf(abs(d.mean() / error), 4)
        assert row["folds"]["difference"] == pytest.approx(d.mean())
        assert row["folds"]["p"] == pytest.approx(p, rel=0.01)
        gap = models[0]["test"]["metrics"]["accuracy"] - model["test"]["metrics"]["accuracy"]
        assert row["test"]["difference"] == pytest.approx(gap)
        assert row["test"]["method"] == "mcnemar"
        # Bonferroni's level of each interval, with two tests of each model.
        n_tests = 2 * len(models[1:])
        reach = stats.t.ppf(1 - 0.05 / n_tests / 2, 4) * error
        assert row["folds"]["high"] - row["folds"]["low"] == pytest.approx(2 * reach, rel=0.01)
        smaller = min(row["folds"]["p"], row["test"]["p"])
        assert row["p_adjusted"] == pytest.approx(min(1, n_tests * smaller))


def test_the_baseline_loses_to_a_model(found: Any) -> None:
    comparison = found.facts["comparison"]
    by_key = {row["key"]: row for row in comparison["rows"]}
    assert by_key["most_frequent"]["result"] == "worse"
    assert by_key["most_frequent"]["p_adjusted"] < 0.001
    assert comparison["against"] not in comparison["not_distinguishable"]
    assert "most_frequent" not in comparison["not_distinguishable"]
    equals = [r["key"] for r in comparison["rows"] if r["result"] == "not_distinguishable"]
    assert comparison["not_distinguishable"] == equals
    assert comparison["sentence"].endswith(("is better.", "are worse."))


def test_a_single_model_is_not_compared(tmp_path: Any) -> None:
    facts = Study("iris", target="target", models="lda", output_dir=tmp_path).run().facts
    assert facts["comparison"] is None


@pytest.mark.parametrize(
    ("n_worse", "sentence"),
    [
        (1, ": the other model is worse."),
        (2, ": both other models are worse."),
        (4, ": all four others are"),
    ],
)
def test_models_that_are_worse_are_counted(n_worse: int, sentence: str) -> None:
    rows = [
        RivalFacts(key=str(k), folds=None, test=None, p_adjusted=None, result="worse")
        for k in range(n_worse)
    ]
    names = {"best": "Best", **{row.key: row.key for row in rows}}
    assert sentence in write_sentence(names, "best", rows, ACCURACY)


def make_rival(
    key: str,
    difference: float,
    p: float,
    result: Literal["worse", "not_distinguishable", "better"],
) -> RivalFacts:
    test = RowsTest(
        difference=difference,
        low=difference - 0.02,
        high=difference + 0.02,
        p=p,
        method="mcnemar",
    )
    return RivalFacts(key=key, folds=None, test=test, p_adjusted=p, result=result)


def test_models_that_do_not_differ_are_named_with_the_interval_of_the_difference() -> None:
    rows = [
        make_rival("a", 0.01, 0.4, "not_distinguishable"),
        make_rival("b", 0.2, 0.0, "worse"),
        make_rival("c", -0.1, 0.01, "better"),
    ]
    sentence = write_sentence(
        {"best": "Best", "a": "A", "b": "B", "c": "C"}, "best", rows, ACCURACY
    )
    assert sentence.replace("\N{NO-BREAK SPACE}", " ") == (
        "Not distinguishable from Best on these rows: A (difference 0.0100, simultaneous 95 % "
        "interval −0.0100 to 0.0300); one other model is worse; one other model is better "
        "(corrected for three comparisons). A difference in accuracy on the test rows is above 0 "
        "if Best is better."
    )
    assert "as good" not in sentence


def test_a_model_that_beats_the_winner_on_the_test_rows_is_better() -> None:
    rows = [make_rival("a", -0.1, 0.01, "better")]
    sentence = write_sentence({"best": "Best", "a": "A"}, "best", rows, ACCURACY)
    assert sentence == "Compared with Best: one other model is better (one comparison)."


def test_mcnemars_test_matches_the_exact_binomial() -> None:
    y = np.zeros(40, dtype=int)
    first, second = y.copy(), y.copy()
    second[:9] = 1
    first[9] = 1
    got = compare_on_rows(
        find_metric("accuracy"), y, Predictions(first, None), Predictions(second, None), 2
    )
    assert got is not None
    assert got.difference == pytest.approx(8 / 40)
    assert got.p == pytest.approx(2 * stats.binom.cdf(1, 10, 0.5))


def test_equal_predictions_do_not_differ() -> None:
    y = np.arange(30.0)
    same = Predictions(y + 1, None)
    got = compare_on_rows(find_metric("rmse"), y, same, same, 0)
    assert got is not None
    assert (got.difference, got.p) == (0, 1)


def test_an_undefined_metric_gives_no_test() -> None:
    y = np.zeros(5, dtype=int)
    predictions = Predictions(y, np.full((5, 2), 0.5))
    assert compare_on_rows(find_metric("roc_auc"), y, predictions, predictions, 2) is None


@pytest.mark.parametrize("metric", ["rmse", "accuracy"])
def test_rows_of_a_group_count_as_one(metric: str) -> None:
    draw = np.random.default_rng(3)
    y = draw.integers(2, size=60)
    predictions = [np.where(draw.random(60) < share, y, 1 - y) for share in (0.8, 0.6)]
    n_classes = 2 if metric == "accuracy" else 0

    def compared(times: int, groups: Any) -> Any:
        first, second = (Predictions(one.repeat(times), None) for one in predictions)
        return compare_on_rows(
            find_metric(metric), y.repeat(times), first, second, n_classes, groups
        )

    rows = compared(1, np.arange(60))
    copies = compared(9, np.arange(60).repeat(9))
    assert copies.difference == pytest.approx(rows.difference)
    assert copies.p == pytest.approx(rows.p)
    assert copies.compute_interval(LEVEL) == pytest.approx(rows.compute_interval(LEVEL))
    assert copies.method == "influence"
    assert compared(9, None).p < 0.1 * copies.p
    assert compared(9, np.zeros(540, dtype=int)) is None


def test_one_in_twenty_equally_good_models_differs() -> None:
    draw = np.random.default_rng(0)
    n, times, alarms = 200, 400, 0
    for _ in range(times):
        y = draw.normal(size=n)
        first, second = (Predictions(y + draw.normal(size=n), None) for _ in range(2))
        got = compare_on_rows(find_metric("rmse"), y, first, second, 0)
        assert got is not None
        alarms += got.p < 0.05
    assert 0.025 < alarms / times < 0.085


def test_rounding_differences_are_not_differences() -> None:
    y = np.arange(40) % 7 * 0.01
    predictions = y + 0.0249
    other = Predictions(predictions * (1 + 2.0**-52), None)
    got = compare_on_rows(find_metric("rmse"), y, Predictions(predictions, None), other, 0)
    assert got is not None
    assert (got.difference, got.p) == (0.0, 1.0)


def draw_test(draw: np.random.Generator) -> PairedTest:
    """Return a test whose p-value is small about as often as not."""
    if draw.random() < 0.5:
        scale = float(10 ** draw.uniform(-9, 6))
        return TTest(
            scale * draw.normal() * 4, scale * draw.exponential(), int(draw.integers(2, 200))
        )
    n = int(draw.integers(1, 60))
    only_first = int(draw.binomial(n, draw.random()))
    return McNemarTest(only_first, n - only_first, n + int(draw.integers(1000)))


def test_intervals_exclude_zero_if_and_only_if_models_differ() -> None:
    """The decision, the intervals and the adjusted p-value agree whatever the tests are."""
    draw, results = np.random.default_rng(0), set()
    for _ in range(80):
        n = int(draw.integers(1, 30))
        tests = [
            (
                TTest(draw.normal(), draw.exponential(0.3), 5) if draw.random() < 0.8 else None,
                draw_test(draw) if draw.random() < 0.8 else None,
            )
            for _ in range(n)
        ]
        for row in describe_rivals([str(k) for k in range(n)], tests):
            given = [test for test in (row.folds, row.test) if test is not None]
            above = any(test.low > 0 for test in given)
            below = any(test.high < 0 for test in given)
            results.add(row.result)
            if row.p_adjusted is None:
                assert row.result is None
                assert not given
                continue
            assert (above or below) == (row.p_adjusted < 0.05)
            assert (above or below) == (row.result != "not_distinguishable")
            assert row.result != "worse" or above
            assert row.result != "better" or below
    assert results == {"worse", "better", "not_distinguishable", None}


@pytest.mark.parametrize("level", [0.9, 0.95, adjust_level(40)])
def test_intervals_agree_with_p_values_at_every_level(level: float) -> None:
    draw = np.random.default_rng(1)
    for _ in range(300):
        test = draw_test(draw)
        low, high = test.compute_interval(level)
        assert low <= test.difference <= high
        assert (not low <= 0 <= high) == (test.p < 1 - level)


def test_a_difference_without_spread_has_an_interval_without_width() -> None:
    assert TTest(0.2, 0.0, 5).compute_interval(LEVEL) == (0.2, 0.2)
    assert TTest(0.2, 0.0, 5).p == 0.0
    assert McNemarTest(0, 0, 50).compute_interval(LEVEL) == (0.0, 0.0)
    assert McNemarTest(0, 0, 50).p == 1.0


def test_the_interval_of_accuracies_is_that_of_clopper_and_pearson() -> None:
    low, high = McNemarTest(9, 3, 100).compute_interval(0.95)
    share = stats.binomtest(9, 12).proportion_ci(0.95, method="exact")
    assert low == pytest.approx((2 * share.low - 1) * 0.12)
    assert high == pytest.approx((2 * share.high - 1) * 0.12)


def test_all_intervals_hold_at_once() -> None:
    """Ten differences are within their intervals in 95 % of studies, all at once."""
    draw, n_tests, times, held = np.random.default_rng(2), 10, 400, 0
    for _ in range(times):
        sample = draw.normal(1.0, size=(n_tests, 20))
        errors = sample.std(axis=1, ddof=1) / np.sqrt(20)
        ends = [
            TTest(float(m), float(e), 20).compute_interval(adjust_level(n_tests))
            for m, e in zip(sample.mean(axis=1), errors, strict=True)
        ]
        held += all(low <= 1.0 <= high for low, high in ends)
    assert 0.92 < held / times < 0.98
