"""The corrected resampled t test beside its formula and scipy; Holm's adjustment by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    KFold,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda.diagnose import bias_variance, compare
from arboleda.diagnose._comparison import corrected_t_test, holm

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
y = X[:, 0] + RNG.normal(scale=0.5, size=200)
LABELS = np.where(X[:, 0] + RNG.normal(size=200) > 0, "yes", "no")


def test_three_differences_match_values_by_hand() -> None:
    mean, error, t, p = corrected_t_test(np.array([[1.0, 2.0, 3.0]]), 0.5)
    assert mean[0] == 2
    assert error[0] == pytest.approx(np.sqrt((1 / 3 + 1 / 2) * 1))
    assert t[0] == pytest.approx(2 / np.sqrt(5 / 6))
    assert p[0] == pytest.approx(2 * stats.t(2).sf(2 / np.sqrt(5 / 6)))


def test_without_test_rows_it_is_the_paired_t_test() -> None:
    differences = RNG.normal(0.3, 1, size=(4, 12))
    _, _, t, p = corrected_t_test(differences, 0.0)
    usual = stats.ttest_1samp(differences, 0, axis=1)
    np.testing.assert_allclose(t, usual.statistic)
    np.testing.assert_allclose(p, usual.pvalue)


def test_constant_differences_give_p_values_of_0_or_1() -> None:
    mean, _, t, p = corrected_t_test(np.array([[0.0] * 5, [0.25] * 5]), 0.1)
    assert mean.tolist() == [0, 0.25]
    assert t.tolist() == [0, np.inf]
    assert p.tolist() == [1, 0]


def test_splits_that_share_rows_raise_few_false_alarms() -> None:
    # Scores of a split are the mean of its test rows: two models that guess are equally good. The
    # usual t test finds a difference far too often, the corrected one about as often as its level.
    random = np.random.default_rng(1)
    alarms = {"usual": 0, "corrected": 0}
    for _ in range(300):
        per_row = random.normal(size=100)
        scores = [per_row[random.permutation(100)[:20]].mean() for _ in range(30)]
        for name, share in (("usual", 0.0), ("corrected", 20 / 80)):
            alarms[name] += corrected_t_test(np.array([scores]), share)[3][0] < 0.05
    assert alarms["usual"] > 90
    assert alarms["corrected"] < 30


def test_holm_adjustment_matches_values_by_hand() -> None:
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.6, 0.5])), [1, 1])
    assert holm(np.array([0.02])).tolist() == [0.02]


def test_classifiers_are_compared_on_the_splits_of_scikit_learn() -> None:
    models = [
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("neighbours", KNeighborsClassifier(9)),
        ("guess", DummyClassifier()),
    ]
    found = compare(models, X, LABELS, random_state=3)
    splits = StratifiedShuffleSplit(15, test_size=0.1, random_state=3)
    for (_, model), errors in zip(models, found.errors, strict=True):
        np.testing.assert_allclose(errors, 1 - cross_val_score(model, X, LABELS, cv=splits))
    assert found.pairs.tolist() == [[0, 1], [0, 2], [1, 2]]
    for pair, (i, j) in enumerate(found.pairs):
        d = found.errors[i] - found.errors[j]
        error = np.sqrt((1 / 15 + 20 / 180) * d.var(ddof=1))
        assert found.difference[pair] == pytest.approx(d.mean())
        assert found.t[pair] == pytest.approx(d.mean() / error)
        assert found.p_value[pair] == pytest.approx(2 * stats.t(14).sf(abs(d.mean() / error)))
    np.testing.assert_allclose(found.p_adjusted, holm(found.p_value))
    frame = found.to_frame()
    assert frame["first"].tolist() == ["tree", "tree", "neighbours"]
    assert frame["p_value"].tolist() == found.p_value.tolist()
    axes = found.plot()
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "tree – neighbours", "tree – guess", "neighbours – guess"
    ]  # fmt: skip
    (_, _, (bars,)) = axes.containers[0]
    reach = stats.t(14).ppf(1 - 0.05 / (2 * 3)) * found.standard_error
    intervals = np.array(bars.get_segments())[:, :, 0]
    np.testing.assert_allclose(intervals[:, 0], found.difference - reach)
    np.testing.assert_allclose(intervals[:, 1], found.difference + reach)
    assert "simultaneous" in axes.get_xlabel()
    plt.close(axes.figure)


def test_regressors_repeated_folds_and_custom_losses_are_supported() -> None:
    models = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(random_state=0))]
    folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
    found = compare(models, X, y, cv=folds, loss=lambda y, p: np.abs(y - p))
    naive = -cross_val_score(models[0][1], X, y, cv=folds, scoring="neg_mean_absolute_error")
    np.testing.assert_allclose(found.errors[0], naive)
    d = found.errors[0] - found.errors[1]
    assert found.standard_error[0] == pytest.approx(np.sqrt((1 / 10 + 1 / 4) * d.var(ddof=1)))
    assert found.t[0] < -3


def test_a_shuffling_splitter_gives_all_models_the_same_rows() -> None:
    models = [("one", DummyRegressor()), ("two", DummyRegressor())]
    for cv in (KFold(4, shuffle=True), ShuffleSplit(4)):
        found = compare(models, X, y, cv=cv)
        np.testing.assert_array_equal(found.errors[0], found.errors[1])
        assert found.p_value[0] == 1


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([("one", DummyRegressor())], {}, "at least two models"),
        (
            [("one", DummyRegressor()), ("two", DummyClassifier())], {},
            "all must be classifiers, or all regressors",
        ),
        (
            [("one", DummyRegressor()), ("two", LinearRegression())],
            {"cv": [(np.arange(100), np.arange(100, 200))]}, "cv makes one split",
        ),
    ],
)  # fmt: skip
def test_studies_that_cannot_be_compared_are_refused(
    models: list, options: dict, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        compare(models, X, y, **options)


def test_models_can_be_a_dict() -> None:
    models = {"one": DecisionTreeClassifier(max_depth=1), "two": DecisionTreeClassifier()}
    X, y = load_breast_cancer(return_X_y=True)
    found = compare(models, X, y, cv=3)
    listed = compare(list(models.items()), X, y, cv=3)
    assert found.names == ("one", "two")
    np.testing.assert_array_equal(found.errors, listed.errors)
    parts = bias_variance(models, X[:300], y[:300], X[300:], y[300:], n_sets=2, random_state=0)
    assert parts.names == ("one", "two")
    with pytest.raises(ValueError, match="estimators must hold at least one model"):
        compare({}, X, y)
