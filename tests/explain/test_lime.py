"""LIME: explanations of models with known ones, and valid inputs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from arboleda import RandomForestClassifier, RandomForestRegressor
from arboleda.explain import lime
from arboleda.explain._lime_sampling import Sampler, view_columns
from arboleda.explain._rows import read_rows


class FunctionRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that is a function of the table."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def fit(self, X: Any, y: Any = None) -> FunctionRegressor:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(self.function(X), dtype=np.float64)


# Numbers: linear models are found as they are.

SCALES = np.array([1.0, 100.0, 1e-2, 1.0, 50.0])
COEFFICIENTS = np.array([2.0, -0.03, 400.0, 0.0, 0.5])


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        Ridge(1e-12),
        make_pipeline(StandardScaler(), LinearRegression()),
        make_pipeline(MinMaxScaler(), LinearRegression()),
    ],
    ids=["least squares", "ridge", "standardised", "squeezed"],
)
def test_the_slopes_of_a_linear_model_are_found(model: Any) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5)) * SCALES + [0.0, 500.0, 0.0, 9.0, -3.0]
    y = X @ COEFFICIENTS + 1.0
    model.fit(X, y)
    for row in (X[0], X[7] * 3):
        found = lime(model, X, discretize=None, n_samples=500, random_state=1).explain(row)
        assert set(found.features.tolist()) == {0, 1, 2, 4}  # 3 changes nothing
        slopes = found.weights / X.std(axis=0)[found.features]
        np.testing.assert_allclose(slopes, COEFFICIENTS[found.features], rtol=1e-6)
        assert found.fidelity == pytest.approx(1.0)
        assert found.intercept == pytest.approx(found.prediction)
        assert found.local_prediction == pytest.approx(float(model.predict(row[np.newaxis])[0]))
        assert found.standard_error is not None
        assert found.standard_error.max() < 1e-6


def test_a_few_columns_of_a_linear_model_are_found_within_sampling_error() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X, y)
    effects = model.coef_ * X.std(axis=0)
    found = lime(model, X, discretize=None, random_state=0).explain(X[5], n_features=4)
    assert set(found.features.tolist()) == set(np.argsort(-np.abs(effects))[:4].tolist())
    assert found.standard_error is not None
    assert np.all(np.abs(found.weights - effects[found.features]) < 5 * found.standard_error)
    assert np.all(found.standard_error < 0.02 * np.abs(effects).max())
    explained = (effects[found.features] ** 2).sum() / (effects**2).sum()
    assert found.fidelity == pytest.approx(explained, abs=0.02)


def test_margins_of_a_logistic_model_are_linear_in_its_log_odds() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    margin = FunctionRegressor(model.decision_function).fit(X)
    found = lime(margin, X, discretize=None, n_samples=500, random_state=0).explain(
        X[3], n_features=30
    )
    order = np.argsort(found.features)
    np.testing.assert_allclose(found.weights[order], model[-1].coef_[0], rtol=1e-6)


# Conditions: a model that depends on one condition has that weight and no other.


def test_a_model_of_one_condition_gets_its_weight() -> None:
    X = np.random.default_rng(0).normal(size=(400, 4))
    quarter = np.quantile(X[:, 2], 0.75, method="inverted_cdf")
    model = FunctionRegressor(lambda rows: 5.0 + 3.0 * (rows[:, 2] > quarter)).fit(X)
    row = X[X[:, 2].argmax()]
    found = lime(model, X, random_state=0).explain(row)
    assert found.conditions == [f"x[2] > {quarter:.6g}"]
    np.testing.assert_allclose(found.weights, [3.0])
    assert found.intercept == pytest.approx(5.0)
    assert found.local_prediction == pytest.approx(8.0)
    assert (found.fidelity, found.stability) == (pytest.approx(1.0), 1.0)


def mixed(n: int = 300) -> pd.DataFrame:
    """Numbers with gaps, whole numbers, text, categories with gaps, a boolean."""
    random = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.2, np.nan, random.uniform(18, 80, n)),
            "gain": np.where(random.random(n) < 0.9, 0, random.integers(1, 9, n)),
            "education": random.choice(["Bachelors", "Masters", "School"], n, p=[0.5, 0.2, 0.3]),
            "town": pd.Categorical(random.choice(["a, b", "c"], n)).set_categories(
                ["a, b", "c", "never"]
            ),
            "member": random.random(n) < 0.4,
        }
    ).assign(town=lambda t: t["town"].where(random.random(n) < 0.8))


def of_everything(table: pd.DataFrame) -> Any:
    """Additive in one condition of each column."""
    return (
        2.0 * table["age"].isna()
        + 3.0 * (table["gain"] > 0)
        + 5.0 * (table["education"] == "Bachelors")
        + 7.0 * (table["town"] == "a, b")
        - 1.0 * table["member"].astype(float)
    )


def test_conditions_of_every_kind_are_written_in_words() -> None:
    X = mixed()
    model = FunctionRegressor(of_everything).fit(X)
    row = X.iloc[[0]].assign(age=np.nan, gain=3, education="Bachelors", member=True)
    row["town"] = pd.Categorical(["a, b"], X["town"].cat.categories)
    found = lime(model, X, random_state=0).explain(row)
    weights = dict(zip(found.conditions, found.weights.round(6).tolist(), strict=True))
    assert weights == {
        'town = "a, b"': 7.0,
        "education = Bachelors": 5.0,
        "gain > 0": 3.0,
        "age is missing": 2.0,
        "member > 0": -1.0,
    }
    assert found.fidelity == pytest.approx(1.0)
    assert found.feature_names == ("town", "education", "gain", "age", "member")


def test_unseen_and_missing_categories_are_explained() -> None:
    X = mixed()
    model = FunctionRegressor(of_everything).fit(X)
    row = X.iloc[[0]].assign(
        education="Doctorate", town=pd.Categorical([None], X["town"].cat.categories)
    )
    found = lime(model, X, random_state=0).explain(row)
    assert "town is missing" in found.conditions
    assert "education" not in found.feature_names  # no sample has it


def test_missing_numbers_are_conditions_beside_slopes() -> None:
    X = mixed()
    model = FunctionRegressor(lambda t: 2.0 * t["age"].isna() + 0.5 * t["gain"]).fit(X)
    row = X[X["age"].isna()].iloc[[0]]
    found = lime(model, X, discretize=None, random_state=0).explain(row)
    weights = dict(zip(found.conditions, found.weights.tolist(), strict=True))
    assert weights.keys() == {"age is missing", f"gain higher by {X['gain'].std(ddof=0):.4g}"}
    assert weights["age is missing"] == pytest.approx(2.0)
    assert found.local_prediction == pytest.approx(found.prediction)


def test_samples_have_training_frequencies_and_independent_columns() -> None:
    X = mixed(2000)
    rows = read_rows(X)
    views = view_columns(rows, quartiles=True)
    values = np.array([np.nan, 0.0, 0.0, 1.0, 1.0])
    drawn = Sampler(rows, views, values).draw(20000, np.random.default_rng(0))
    table = drawn.table
    assert table.dtypes.equals(X.dtypes)
    assert abs(table["age"].isna().mean() - X["age"].isna().mean()) < 0.015
    assert abs((table["education"] == "Masters").mean() - 0.2) < 0.02
    assert set(table["gain"]) <= set(X["gain"])
    shares = drawn.columns.mean(axis=0)
    both = drawn.columns.T @ drawn.columns / len(drawn.columns)
    np.testing.assert_allclose(
        both[~np.eye(5, dtype=bool)], np.outer(shares, shares)[~np.eye(5, dtype=bool)], atol=0.015
    )
    np.testing.assert_array_equal(drawn.columns[:, 0], table["age"].isna())
    np.testing.assert_array_equal(drawn.columns[:, 1], table["gain"] == 0)
    np.testing.assert_array_equal(drawn.squared_distance, 5 - drawn.columns.sum(axis=1))


def test_quartiles_are_column_values_and_equal_ones_are_merged() -> None:
    X = np.column_stack([np.repeat([0, 0, 0, 7], 5), np.arange(20), np.full(20, 4)])
    views = view_columns(read_rows(X), quartiles=True)
    assert [view.edges.tolist() for view in views] == [[0], [4, 9, 14], []]
    assert views[1].bins(np.array([4.0, 5.0, 15.0, np.nan])).tolist() == [0, 1, 3, -1]


# Kernel, repeats, determinism


def test_the_explanation_is_the_weighted_least_squares_fit_of_its_samples() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    explainer = lime(forest, X, n_samples=300, kernel_width=0.8, random_state=3)
    found = explainer.explain(X[60], n_features=2, n_repeats=3)
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    rows = read_rows(X)
    sampler = Sampler(rows, view_columns(rows, quartiles=True), X[60])
    drawn = [sampler.draw(300, np.random.default_rng([seed, k])) for k in range(3)]
    columns = [sample.columns[:, found.features] for sample in drawn]
    target = [forest.predict_proba(sample.table)[:, 1] for sample in drawn]
    weight = [np.exp(-sample.squared_distance / (2 * 0.8**2)) for sample in drawn]
    joined = np.vstack(columns), np.concatenate(target), np.concatenate(weight)
    twin = LinearRegression().fit(*joined)
    np.testing.assert_allclose(found.weights, twin.coef_, rtol=1e-8)
    assert found.intercept == pytest.approx(twin.intercept_)
    assert found.fidelity == pytest.approx(twin.score(*joined))
    each = [LinearRegression().fit(*one).coef_ for one in zip(columns, target, weight, strict=True)]
    np.testing.assert_allclose(
        found.standard_error, np.std(each, axis=0, ddof=1) / np.sqrt(3), rtol=1e-6
    )


def test_stability_is_the_mean_share_of_columns_in_common() -> None:
    X = np.random.default_rng(0).normal(size=(200, 8))
    model = FunctionRegressor(lambda rows: rows.sum(axis=1)).fit(
        X
    )  # all columns alike: a choice is chance
    explainer = lime(model, X, n_samples=60, random_state=0)
    found = explainer.explain(X[0], n_features=3, n_repeats=4)
    chosen = []
    for repeat in range(4):
        rows = read_rows(X)
        sampler = Sampler(rows, view_columns(rows, quartiles=True), X[0])
        seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
        sample = sampler.draw(60, np.random.default_rng([seed, repeat]))
        weight = np.exp(-sample.squared_distance / (2 * 0.75**2 * 8))
        target = sample.table.sum(axis=1)
        best: list[int] = []
        for _ in range(3):
            scores = [
                -1.0
                if j in best
                else LinearRegression()
                .fit(sample.columns[:, [*best, j]], target, weight)
                .score(sample.columns[:, [*best, j]], target, weight)
                for j in range(8)
            ]
            best.append(int(np.argmax(scores)))
        chosen.append(set(best))
    shared = [len(a & b) / len(a | b) for a, b in combinations(chosen, 2)]
    assert found.stability == pytest.approx(np.mean(shared))
    assert 0.0 < np.mean(shared) < 1.0
    alone = explainer.explain(X[0], n_repeats=1)
    assert alone.stability is None
    assert alone.standard_error is None
    assert alone.to_frame()["standard_error"].isna().all()


def test_an_explanation_does_not_depend_on_earlier_ones() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    one, other = (lime(forest, X, n_samples=200, random_state=5) for _ in range(2))
    one.explain(X[99])
    a, b = one.explain(X[3]), other.explain(X[3])
    np.testing.assert_array_equal(a.weights, b.weights)
    assert a.conditions == b.conditions
    different = lime(forest, X, n_samples=200, random_state=6).explain(X[3])
    assert not np.array_equal(a.weights, different.weights)


def test_a_kernel_that_leaves_too_few_samples_is_refused() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="kernel_width=0.01 leaves an effective sample size of 0"):
        lime(model, X, kernel_width=0.01, random_state=0).explain(X[0])
    with pytest.raises(ValueError, match="too small for 10 columns: increase kernel_width"):
        lime(model, X, n_samples=10, random_state=0).explain(X[0], n_repeats=1)


# What goes in


def test_every_container_and_every_form_of_a_row_gives_the_same_explanation() -> None:
    X, y = load_iris(return_X_y=True)
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    forest = RandomForestClassifier(10, random_state=0)
    expected = lime(forest.fit(X, y), X, n_samples=200, random_state=0).explain(X[70])
    for row in (X[[70]], X[70].tolist(), {f"x[{j}]": X[70, j] for j in range(4)}):
        found = lime(forest, X, n_samples=200, random_state=0).explain(row)
        np.testing.assert_array_equal(found.weights, expected.weights)
    for table in (frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
        explainer = lime(forest.fit(table, y), table, n_samples=200, random_state=0)
        for row in (
            frame.iloc[[70]],
            frame.iloc[70],
            frame.iloc[70].to_dict(),
            X[70],
            dict(reversed(frame.iloc[70].to_dict().items())),
        ):
            found = explainer.explain(row)
            np.testing.assert_array_equal(found.weights, expected.weights)
            assert set(found.feature_names) <= set(names)


def test_a_row_of_a_mixed_frame_keeps_its_types() -> None:
    X = mixed()
    y = (X["education"] == "Bachelors").to_numpy()
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    explainer = lime(forest, X, n_samples=200, random_state=0)
    whole = explainer.explain(X.iloc[[1]])
    for row in (X.iloc[1], X.iloc[1].to_dict()):
        np.testing.assert_array_equal(explainer.explain(row).weights, whole.weights)
    polars = pl.from_pandas(X)
    forest.fit(polars, y)
    explainer = lime(forest, polars, n_samples=200, random_state=0)
    whole = explainer.explain(polars[1])
    np.testing.assert_array_equal(
        explainer.explain(polars.row(1, named=True)).weights, whole.weights
    )


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_missing_values_of_a_row_can_have_any_form(backend: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0] * 9, "kind": ["a", "b", None, "b"] * 9})
    X: Any = frame if backend == "pandas" else pl.from_pandas(frame)
    forest = RandomForestClassifier(10, random_state=0).fit(X, np.arange(36) % 4 > 1)
    explainer = lime(forest, X, n_samples=200, random_state=0)
    found = [
        explainer.explain({"x": nothing, "kind": nothing}).to_frame()
        for nothing in (None, np.nan, pd.NA)
    ]
    assert "kind is missing" in found[0]["condition"].tolist()
    for other in found[1:]:
        pd.testing.assert_frame_equal(other, found[0])


def test_the_explained_output_is_the_predicted_class_or_the_given_one() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = RandomForestClassifier(20, random_state=0).fit(X, names)
    explainer = lime(forest, X, n_samples=300, random_state=0)
    found = explainer.explain(X[120])
    assert found.output_name == "virginica"
    assert found.class_names == ("setosa", "versicolor", "virginica")
    assert found.probabilities is not None
    np.testing.assert_array_equal(found.probabilities, forest.predict_proba(X[[120]])[0])
    assert found.prediction == found.probabilities[2]
    assert explainer.explain(X[120], output="setosa").output_name == "setosa"
    with pytest.raises(
        ValueError, match="output='rose' is not an output of the estimator: give one of seto"
    ):
        explainer.explain(X[120], output="rose")
    numbered = lime(RandomForestClassifier(5, random_state=0).fit(X, y + 5), X, random_state=0)
    assert numbered.explain(X[0], output=7).output_name == "7"


def test_several_targets_and_classifiers_without_probabilities_are_explained() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X, np.column_stack([y, -y]))
    explainer = lime(model, X, random_state=0, n_samples=200)
    first, second = explainer.explain(X[0]), explainer.explain(X[0], output=1)
    assert (first.output_name, second.output_name) == ("value 0", "value 1")
    assert first.class_names is None
    assert first.probabilities is None
    np.testing.assert_allclose(first.weights, -second.weights)

    class Votes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Votes:
            self.classes_ = np.unique(y)
            return self

        def predict(self, X: Any) -> Any:
            return np.where(X[:, 0] > 0, self.classes_[1], self.classes_[0])

    voter = Votes().fit(X, y > 100)
    found = lime(voter, X, n_samples=300, random_state=0).explain(X[0])
    assert found.probabilities is not None
    assert sorted(found.probabilities.tolist()) == [0.0, 1.0]


def test_the_frame_holds_the_conditions_in_order() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = lime(
        RandomForestRegressor(10, random_state=0).fit(X, y), X, n_samples=300, random_state=0
    ).explain(X.iloc[[0]], n_features=3)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["condition", "weight", "standard_error", "feature"]
    assert frame["condition"].tolist() == found.conditions
    assert np.all(np.diff(np.abs(frame["weight"])) <= 0)
    assert [name.split(" ")[0] for name in frame["feature"]] == list(found.feature_names)


def test_an_explanation_can_be_plotted() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    found = lime(forest, X, n_samples=100, random_state=0).explain(X[70], n_features=2)
    axes = Figure().add_subplot()
    assert found.plot(axes, n_conditions=1) is axes
    assert axes.has_data()


# Signs that the `lime` package finds in the course's example, at its defaults: each of these
# columns has the same sign in all of its twenty random states.
_SIGNS = {
    100: {
        "worst texture": 1,
        "worst concave points": 1,
        "worst perimeter": 1,
        "mean concave points": 1,
        "worst area": 1,
        "worst concavity": 1,
        "mean texture": 1,
        "worst radius": 1,
        "worst smoothness": 1,
    },
    10: {
        "worst texture": 1,
        "area error": -1,
        "mean concave points": -1,
        "worst concavity": -1,
        "worst perimeter": -1,
        "mean texture": 1,
        "worst area": -1,
        "worst smoothness": 1,
    },
}


@pytest.mark.parametrize("row", [100, 10])
def test_signs_of_breast_cancer_rows_match_the_lime_package(row: int) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, random_state=0)
    model = GradientBoostingClassifier(random_state=0, max_depth=1).fit(X_train, y_train)
    found = lime(model, X_train, random_state=0).explain(X_test.iloc[[row]], output=1)
    signs = dict(zip(found.feature_names, np.sign(found.weights).astype(int), strict=True))
    assert _SIGNS[row].items() <= signs.items()
