from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier as SklearnBoosting
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import RandomForestClassifier, RandomForestRegressor
from arboleda.explain import Importance, importance, plot_importance
from arboleda.tree import DecisionTreeRegressor

X, Y = load_iris(return_X_y=True, as_frame=True)


def line(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    table = random.normal(size=(n, 3))
    return table, table @ [2.0, 1.0, 0.0] + random.normal(size=n)


@pytest.mark.parametrize("forest", [RandomForestClassifier, SklearnForest])
def test_impurity_has_the_standard_error_over_trees(forest: Any) -> None:
    model = forest(20, random_state=0).fit(X, Y)
    found = importance(model)
    each = np.array([tree.feature_importances_ for tree in model.estimators_])
    np.testing.assert_allclose(found.value, model.feature_importances_)
    np.testing.assert_allclose(found.standard_error, each.std(axis=0, ddof=1) / np.sqrt(20))
    assert found.kind == "impurity"
    assert found.feature_names == tuple(X.columns)


def test_boosting_has_no_standard_error_over_trees() -> None:
    found = importance(SklearnBoosting(n_estimators=3).fit(X, Y))
    assert np.isnan(found.standard_error).all()


def test_out_of_bag_importance_matches_the_forest() -> None:
    model = RandomForestRegressor(20, random_state=0).fit(X, Y)
    found = importance(model, X, Y, kind="oob_permutation")
    own = model.oob_permutation_importance(X, Y)
    np.testing.assert_array_equal(found.value, own.mean)
    np.testing.assert_array_equal(found.standard_error, own.standard_error)


def test_permutation_importance_is_the_drop_in_score() -> None:
    table, y = line(60, 0)
    model = LinearRegression().fit(table, y)
    found = importance(model, table, y, scoring="neg_mean_squared_error", random_state=3)
    random = np.random.RandomState(3)
    expected = np.zeros((3, 5))
    for column in range(3):
        for repeat in range(5):
            shuffled = table.copy()
            shuffled[:, column] = table[random.permutation(60), column]
            fall = np.mean((y - model.predict(shuffled)) ** 2 - (y - model.predict(table)) ** 2)
            expected[column, repeat] = fall
    np.testing.assert_allclose(found.value, expected.mean(axis=1), rtol=1e-10, atol=1e-12)
    assert found.scoring == "neg mean squared error"
    assert found.feature_names == ("x[0]", "x[1]", "x[2]")


class CountedRegression(LinearRegression):  # type: ignore[misc]
    """Counts the rows of each call of predict."""

    calls: list[int]

    def predict(self, X: Any) -> Any:
        self.calls.append(len(X))
        return super().predict(X)


def test_equal_rows_of_an_array_are_predicted_once() -> None:
    draw = np.random.default_rng(0)
    table = np.column_stack(
        [np.arange(50.0), draw.integers(0, 2, 50), np.full(50, np.pi), draw.integers(0, 2, 50)]
    )
    y = table @ [0.1, 1.0, 1.0, 2.0]
    model = CountedRegression().fit(table, y)
    options: Any = {"groups": [[1, 3]], "n_repeats": 20, "random_state": 0}
    results = []
    # The rows of a frame are not compared.
    for X in (table, pd.DataFrame(table)):
        model.calls = []
        results.append(importance(model, X, y, scoring="r2", **options))
        calls, model.calls = model.calls, []
        if X is table:
            whole, permuted = calls
            assert whole == 50
            # At most each row with each of 50, of 4 pairs of values, and of 1.
            assert permuted <= 20 * 50 + 4 * 50 + 50
        else:
            assert calls == [50, 1000, 1000, 1000]
    np.testing.assert_allclose(results[0].value, results[1].value, rtol=1e-12)
    np.testing.assert_allclose(results[0].standard_error, results[1].standard_error, rtol=1e-9)


def test_missing_values_are_equal() -> None:
    table = np.full((30, 2), np.nan)
    table[:, 1] = np.arange(30.0)
    y = np.arange(30.0)
    tree = DecisionTreeRegressor(max_depth=3).fit(table, y)
    found = importance(tree, table, y, kind="permutation", random_state=0)
    assert found.value[0] == 0.0
    assert found.value[1] > 0.5


def test_the_standard_error_covers_rows_and_shuffles() -> None:
    model = LinearRegression().fit(*line(500, 1))
    found = [
        importance(model, *line(150, seed), scoring="neg_mean_squared_error", random_state=seed)
        for seed in range(2, 32)
    ]
    spread = np.std([one.value[:2] for one in found], axis=0, ddof=1)
    errors = np.mean([one.standard_error[:2] for one in found], axis=0)
    assert (errors > 0.75 * spread).all()
    assert (errors < 1.7 * spread).all()


def test_a_copy_hides_a_column_and_a_group_reveals_it() -> None:
    random = np.random.default_rng(0)
    half = random.normal(size=400)
    table = pd.DataFrame({"one": half, "two": half + 0.01 * random.normal(size=400), "other": 0.0})
    table["other"] = random.normal(size=400)
    model = RandomForestRegressor(30, max_features=1, random_state=0).fit(table[:200], half[:200])
    held = table[200:], half[200:]
    alone = importance(model, *held, random_state=0)
    together = importance(model, *held, groups={"both": ["one", 1]}, random_state=0)
    assert isinstance(together, Importance)
    assert together.feature_names == ("both", "other")
    assert together.value[0] > 1.2 * alone.value[:2].max()
    unnamed = importance(model, *held, groups=[["two", "one"]], random_state=0)
    assert unnamed.feature_names == ("two + one", "other")
    np.testing.assert_array_equal(unnamed.value, together.value)


def test_containers_agree_and_pipelines_are_supported() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X.to_numpy(), Y)
    expected = importance(model, X.to_numpy(), Y, random_state=0, n_repeats=2)
    model.fit(X, Y)
    found = importance(model, X, Y, random_state=0, n_repeats=2)
    np.testing.assert_array_equal(found.value, expected.value)
    np.testing.assert_array_equal(found.standard_error, expected.standard_error)
    other = importance(model, pl.from_pandas(X), Y.to_numpy(), random_state=0, n_repeats=2)
    np.testing.assert_array_equal(other.value, expected.value)
    assert other.feature_names == tuple(X.columns)


def test_categories_missing_values_and_weights_are_supported() -> None:
    table = pd.DataFrame({"hue": ["red", "blue", None, "red"] * 20, "size": [1.0, np.nan] * 40})
    y = (table["hue"] == "red").to_numpy().astype(int)
    model = RandomForestClassifier(10, random_state=0).fit(table, y)
    weight = np.repeat([1.0, 0.0], 40)
    found = importance(model, table, y, sample_weight=weight, random_state=0)
    assert found.value[0] > 0.2
    assert found.value[1] == 0.0
    assert found.standard_error[1] == 0.0


def test_several_scores_and_callables_are_supported() -> None:
    model = LogisticRegression(max_iter=500).fit(X, Y)
    found = importance(
        model, X, Y, scoring=["accuracy", "neg_log_loss"], random_state=0, n_repeats=2
    )
    assert list(found) == ["accuracy", "neg_log_loss"]
    one = importance(model, X, Y, random_state=0, n_repeats=2)
    np.testing.assert_array_equal(found["accuracy"].value, one.value)
    made = importance(model, X, Y, scoring=make_scorer(accuracy_score), random_state=0, n_repeats=2)
    np.testing.assert_array_equal(made.standard_error, one.standard_error)

    def score(estimator: Any, table: Any, y: Any) -> float:
        assert list(table.columns) == list(X.columns)
        return float(estimator.score(table, y))

    plain = importance(model, X, Y, scoring=score, random_state=0, n_repeats=2)
    np.testing.assert_array_equal(plain.value, one.value)
    assert plain.scoring == "score"
    once = importance(model, X, Y, scoring=score, random_state=0, n_repeats=1)
    assert np.isnan(once.standard_error).all()


def test_a_score_undefined_without_a_block_has_no_standard_error() -> None:
    y = np.array([1] + [0] * 49)
    model = LogisticRegression().fit(X[:50], y)
    found = importance(model, X[:50], y, scoring="roc_auc", random_state=0, n_repeats=1)
    assert np.isfinite(found.value).all()
    assert np.isnan(found.standard_error).all()
    # The log-loss of rows is defined whatever their classes.
    found = importance(model, X[:50], y, scoring="neg_log_loss", random_state=0, n_repeats=1)
    assert np.isfinite(found.standard_error).all()


def test_degenerate_tables_are_supported() -> None:
    table, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(table[:, :1], y)
    assert importance(model, table[:2, :1], y[:2], random_state=0).value.shape == (1,)
    flat = importance(model, table[:20, :1], np.full(20, 3.0), random_state=0)
    assert np.isfinite(flat.value).all()
    constant = np.zeros((20, 1))
    assert importance(model, constant, y[:20], random_state=0).value.tolist() == [0.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "shap"}, "kind must be 'auto'"),
        ({"n_repeats": 0}, "n_repeats"),
        ({"groups": [["no such"]]}, "no such"),
        ({"groups": [[]]}, "empty group"),
        ({"groups": [[0, 1], [1]]}, "twice"),
        ({"scoring": []}, "scoring is empty"),
        ({"scoring": "no such"}, "no such"),
        ({"sample_weight": [1.0]}, "sample_weight has 1"),
        ({"sample_weight": -np.ones(len(Y))}, "Negative values"),
        ({"y": [None] * len(Y)}, "y has a missing value in row 0"),
        ({"kind": "impurity", "groups": [[0, 1]]}, "only valid for kind='permutation'"),
        ({"kind": "impurity"}, "no feature_importances_"),
        ({"kind": "oob_permutation"}, "no oob_permutation_importance"),
    ],
)
def test_unsupported_measures_are_refused(options: dict[str, Any], message: str) -> None:
    model = LogisticRegression(max_iter=500).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        importance(model, X, **{"y": Y, **options})


def test_missing_arguments_are_named() -> None:
    model = LogisticRegression(max_iter=500).fit(X, Y)
    with pytest.raises(ValueError, match="needs X and y"):
        importance(model, X)
    with pytest.raises(ValueError, match="1 row"):
        importance(model, X[:1], Y[:1])
    with pytest.raises(ValueError, match="y has 3 rows"):
        importance(model, X, Y[:3])
    with pytest.raises(NotFittedError, match="call fit"):
        importance(LogisticRegression(), X, Y)
    with pytest.raises(TypeError, match="list of columns"):
        importance(model, X, Y, groups=["petal"])


def test_importances_give_a_frame_and_a_plot() -> None:
    found = importance(RandomForestClassifier(5, random_state=0).fit(X, Y))
    frame = found.to_frame()
    assert frame["value"].is_monotonic_decreasing
    assert set(frame["feature"]) == set(X.columns)
    assert len(found.plot(n_features=2).patches) == 2


def test_plot_importance_accepts_a_model_or_a_result() -> None:
    model = RandomForestClassifier(5, random_state=0).fit(X, Y)
    measured = importance(model)
    drawn, same = plot_importance(model, n_features=2), plot_importance(measured, n_features=2)
    widths = [bar.get_width() for bar in drawn.patches]
    assert widths == sorted(measured.value, reverse=True)[:2]
    assert widths == [bar.get_width() for bar in same.patches]
    with pytest.raises(ValueError, match="no feature_importances_"):
        plot_importance(LogisticRegression(max_iter=1000).fit(X, Y))
