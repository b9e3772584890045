"""Small models that imitate large ones: fits, measures, and valid inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboleda.explain import surrogate_rules, surrogate_tree

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
NAMES = np.array(["malignant", "benign"])[Y]
TRAIN, TEST = slice(0, 380), slice(380, None)
BOTH = pytest.mark.parametrize("imitate", [surrogate_tree, surrogate_rules])


@pytest.fixture(scope="module")
def forest() -> RandomForestClassifier:
    """A forest with out-of-bag predictions."""
    return RandomForestClassifier(60, oob_score=True, random_state=0).fit(X[TRAIN], NAMES[TRAIN])


@BOTH
def test_a_small_tree_is_reproduced_exactly(imitate: Any) -> None:
    tree = DecisionTreeClassifier(max_leaf_nodes=4).fit(X[TRAIN], NAMES[TRAIN])
    assert imitate(tree, X, X_test=X).fidelity == 1.0
    rows, y = load_diabetes(return_X_y=True)
    values = DecisionTreeRegressor(max_leaf_nodes=4).fit(rows, y)
    if imitate is surrogate_tree:
        found = imitate(values, rows, X_test=rows)
        assert found.fidelity == pytest.approx(1.0)
        assert found.model.get_n_leaves() == 4


@BOTH
def test_the_curve_is_measured_on_held_out_rows(
    imitate: Any, forest: RandomForestClassifier
) -> None:
    found = imitate(forest, X[TRAIN], NAMES[TRAIN], X_test=X[TEST], y_test=NAMES[TEST])
    predictions, own = forest.predict(X[TEST]), found.model.predict(X[TEST])
    curve = found.curve
    assert found.fidelity == curve.fidelity[-1] == np.mean(own == predictions)
    assert curve.error[-1] == np.mean(own != NAMES[TEST])
    assert curve.ensemble_error.tolist() == [np.mean(predictions != NAMES[TEST])] * len(curve.size)
    assert np.isfinite(curve.cart_error).all()
    assert curve.size[0] == 1
    assert curve.fidelity[0] == np.mean(predictions == "benign")
    assert np.all(np.diff(curve.size) > 0)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["size", "fidelity", "error", "ensemble_error", "cart_error"]
    np.testing.assert_array_equal(frame["fidelity"], curve.fidelity)


def test_the_tree_that_learns_y_is_the_best_pruning_of_cart(
    forest: RandomForestClassifier,
) -> None:
    found = surrogate_tree(
        forest, X[TRAIN], NAMES[TRAIN], X_test=X[TEST], y_test=NAMES[TEST], max_leaves=5
    )
    # A surrogate of predictions equal to y is a tree fitted to y.
    predictions = np.eye(2)[(NAMES[TRAIN] == "malignant").astype(int)]
    own = surrogate_tree(
        forest,
        X[TRAIN],
        NAMES[TRAIN],
        X_test=X[TEST],
        y_test=NAMES[TEST],
        max_leaves=5,
        answers=predictions,
    )
    shared = np.isin(found.curve.size, own.curve.size)
    np.testing.assert_array_equal(
        found.curve.cart_error[shared], own.curve.error[np.isin(own.curve.size, found.curve.size)]
    )


@BOTH
def test_given_predictions_are_used_and_missing_ones_are_ignored(
    imitate: Any, forest: RandomForestClassifier
) -> None:
    oob = forest.oob_decision_function_.copy()
    found = imitate(forest, X[TRAIN], answers=oob, X_test=X[TEST])
    recomputed = imitate(forest, X[TRAIN], X_test=X[TEST])
    assert str(found.model) != str(recomputed.model) or found.fidelity != recomputed.fidelity
    gaps = oob.copy()
    gaps[:300] = np.nan
    few = imitate(forest, X[TRAIN], answers=gaps, X_test=X[TEST])
    same = imitate(forest, X[300:380], answers=oob[300:], X_test=X[TEST])
    np.testing.assert_array_equal(few.curve.fidelity, same.curve.fidelity)
    assert np.isnan(found.curve.error).all()
    assert np.isnan(found.curve.cart_error).all()


def test_uncertain_rows_weigh_less() -> None:
    random = np.random.default_rng(0)
    rows = random.uniform(size=(400, 2))
    clear = (rows[:, 0] > 0.5).astype(float)
    predictions = np.where(
        rows[:, 1] > 0.55, 0.5 + 0.001 * (2 * (random.random(400) > 0.4) - 1), clear
    )
    model = LogisticRegression().fit(rows, clear)
    found = surrogate_tree(
        model,
        rows,
        answers=np.column_stack([1 - predictions, predictions]),
        X_test=rows,
        max_leaves=2,
    )
    assert found.model.tree_.feature[0] == 0


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        Perceptron(random_state=0),
        RandomForestClassifier(10, random_state=0),
    ],
    ids=["pipeline", "margins", "forest"],
)
@BOTH
def test_classifiers_of_every_type_are_imitated(imitate: Any, model: Any) -> None:
    rows, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"])[y]
    for used in (slice(None), slice(0, 100)):  # three classes and two
        found = imitate(model.fit(rows[used], labels[used]), rows[used], random_state=0)
        assert found.fidelity > 0.8
        assert set(found.model.predict(rows[used])) <= {"a", "b", "c"}


class Votes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with votes only."""

    def fit(self, X: Any, y: Any) -> Votes:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.where(np.asarray(X)[:, 0] > 14, self.classes_[0], self.classes_[-1])


@BOTH
def test_votes_are_imitated(imitate: Any) -> None:
    found = imitate(Votes().fit(X, NAMES), X.to_numpy(), random_state=0)
    assert found.fidelity == 1.0


@BOTH
def test_values_of_regressors_are_imitated(imitate: Any) -> None:
    rows, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(30, random_state=0).fit(rows[:250], y[:250])
    found = imitate(forest, rows[:250], y[:250], X_test=rows[250:], y_test=y[250:])
    predictions, own = forest.predict(rows[250:]), found.model.predict(rows[250:])
    expected = (
        1 - ((predictions - own) ** 2).sum() / ((predictions - predictions.mean()) ** 2).sum()
    )
    assert found.fidelity == pytest.approx(expected)
    assert found.curve.error[-1] == pytest.approx(np.sqrt(((own - y[250:]) ** 2).mean()))
    assert found.fidelity > 0.6


def test_a_surrogate_can_be_plotted(forest: RandomForestClassifier) -> None:
    found = surrogate_tree(forest, X[TRAIN], NAMES[TRAIN], random_state=0)
    panels = np.array(Figure().subplots(1, 3))
    assert found.plot(panels) is panels
    assert all(panel.has_data() or panel.texts for panel in panels)


# Rules


def test_the_first_rule_whose_conditions_hold_applies(forest: RandomForestClassifier) -> None:
    found = surrogate_rules(forest, X[TRAIN], X_test=X[TEST], max_rules=6)
    model = found.model
    predictions = model.predict(X[TEST])
    for row, prediction in zip(X[TEST].to_dict("records"), predictions, strict=True):
        rule = next(
            rule
            for rule in model.rules
            if all(c.low < row[c.name] <= c.high for c in rule.conditions)
        )
        assert rule.prediction == prediction
    assert model.rules[-1].conditions == ()
    assert sum(rule.coverage for rule in model.rules) == pytest.approx(1.0)
    lines = str(model).splitlines()
    assert len(lines) == len(model.rules) == found.curve.size[-1]
    assert lines[-1].startswith("otherwise ")
    assert lines[0].startswith("if ")
    shares = np.array([rule.agreement for rule in model.rules])
    assert np.all((shares >= 0) & (shares <= 1))


def test_coverage_and_agreement_refer_to_the_training_rows(
    forest: RandomForestClassifier,
) -> None:
    model = surrogate_rules(forest, X[TRAIN], X_test=X[TEST], max_rules=5).model
    node, predictions = model.apply(X[TRAIN]), forest.predict(X[TRAIN])
    for rule, own in zip(model.rules, model.nodes, strict=True):
        assert rule.coverage == pytest.approx(np.mean(node == own))
        assert rule.agreement == pytest.approx(np.mean(predictions[node == own] == rule.prediction))


def test_rules_imitate_classes_no_worse_than_a_tree_of_that_size(
    forest: RandomForestClassifier,
) -> None:
    # With equal sizes, fitted to and evaluated on the same rows.
    options: dict[str, Any] = {"X_test": X[TRAIN]}
    tree = surrogate_tree(forest, X[TRAIN], max_leaves=8, **options)
    rules = surrogate_rules(forest, X[TRAIN], max_rules=8, **options)
    assert rules.fidelity >= tree.fidelity


# What goes in


def mixed() -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(1)
    n = 400
    table = pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, random.uniform(18, 80, n)),
            "job": random.choice(["clerk", "smith", "cook"], n),
            "town": pd.Categorical(random.choice(["a", "b"], n)),
        }
    )
    return table, np.where((table["job"] == "cook") | (table["age"] > 60), "yes", "no")


@BOTH
def test_frames_of_every_library_give_the_same_surrogate(imitate: Any) -> None:
    table, y = mixed()
    tables = [table, pl.from_pandas(table), pl.from_pandas(table).to_arrow()]
    results = []
    for X_ in tables:
        forest = RandomForestClassifier(20, random_state=0).fit(X_, y)
        found = imitate(forest, X_, y, random_state=3, n_jobs=len(results) + 1)
        assert found.fidelity > 0.9
        text = str(found.model) if imitate is surrogate_rules else str(found.model.rules())
        results.append((text, found.curve.fidelity.tolist()))
    assert results[0] == results[1] == results[2]
    assert "job" in results[0][0]
    assert "cook" in results[0][0]


def test_categorical_columns_of_the_estimator_are_categorical_in_the_tree() -> None:
    random = np.random.default_rng(0)
    rows = random.integers(0, 6, size=(300, 2)).astype(float)
    y = np.isin(rows[:, 0], [0, 2, 5])
    tree = DecisionTreeClassifier(categorical_features=[0]).fit(rows, y)
    found = surrogate_tree(tree, rows, max_leaves=2, random_state=0)
    assert found.fidelity == 1.0
    assert "x[0] in {" in str(found.model.rules())


_DRAW = np.random.default_rng(0)
_X = _DRAW.normal(size=(40, 3))
_TABLES: dict[str, Any] = {
    "two rows": _X[:2],
    "one column": _X[:, :1],
    "constant columns": _X * 0,
    "a column of NaN": np.where([False, True, False], np.nan, _X),
    "all NaN": _X * np.nan,
    "huge": np.sign(_X) * 1e308,
    "denormal": _X * 1e-310,
}


@pytest.mark.parametrize("table", _TABLES)
@BOTH
def test_degenerate_tables_are_supported(imitate: Any, table: str) -> None:
    rows = _TABLES[table]
    y = np.arange(len(rows)) % 2
    for model in (DecisionTreeClassifier(max_depth=3), DecisionTreeRegressor(max_depth=3)):
        found = imitate(model.fit(rows, y), rows, y, test_size=0.5, random_state=0)
        assert np.isfinite(found.curve.fidelity).all()
        assert np.isfinite(found.curve.error).all()
        assert found.model.predict(rows).shape == (len(rows),)


@BOTH
def test_a_constant_model_needs_one_leaf(imitate: Any) -> None:
    for model, prediction in (
        (DummyClassifier(strategy="constant", constant=1), 1),
        (DummyRegressor(strategy="constant", constant=2.5), 2.5),
    ):
        y = np.arange(40) % 2
        found = imitate(model.fit(_X, y), _X, y, random_state=0)
        assert found.curve.size.tolist() == [1]
        assert found.fidelity == 1.0
        assert set(found.model.predict(_X)) == {prediction}
    one = DecisionTreeClassifier().fit(_X, np.full(40, "a"))
    assert imitate(one, _X, random_state=0).fidelity == 1.0


@BOTH
def test_very_many_and_absent_classes_are_supported(imitate: Any) -> None:
    y = np.arange(40) % 10
    forest = RandomForestClassifier(3, random_state=0).fit(_X, y)
    assert 0.0 <= imitate(forest, _X, y, random_state=0).fidelity <= 1.0
    part = _X[forest.predict(_X) < 3]
    assert imitate(forest, part, X_test=_X).curve.size[0] == 1


@BOTH
def test_invalid_arguments_are_refused(imitate: Any) -> None:
    y = (_X[:, 0] > 0).astype(int)
    tree = DecisionTreeClassifier().fit(_X, y)
    size = "max_leaves" if imitate is surrogate_tree else "max_rules"
    values = DecisionTreeRegressor().fit(_X, _X[:, 0])
    several = LinearRegression().fit(_X, np.column_stack([y, y]))
    wrong: list[tuple[Any, type[Exception], str]] = [
        (lambda: imitate(DecisionTreeClassifier(), _X), NotFittedError, "not fitted yet"),
        (lambda: imitate(DecisionTreeClassifier, _X), TypeError, "is a class"),
        (lambda: imitate(several, _X), ValueError, "predicts 2 targets"),
        (lambda: imitate(tree, _X[:1]), ValueError, "leaves no row to fit on"),
        (lambda: imitate(tree, _X[:0]), ValueError, "0 sample"),
        (lambda: imitate(tree, _X[:, :2]), ValueError, "2 features|2 columns"),
        (lambda: imitate(tree, np.where(_X > 2, np.inf, _X)), ValueError, "inf"),
        (lambda: imitate(tree, _X, y[:9]), ValueError, r"y has shape \(9,\), but X has 40"),
        (lambda: imitate(tree, _X, y_test=y), ValueError, "y_test is given without X_test"),
        (
            lambda: imitate(tree, _X, test_size=1.0),
            ValueError,
            "test_size must be a number between 0 and 1, got 1.0",
        ),
        (lambda: imitate(tree, _X, answers=y[:9]), ValueError, r"answers has shape \(9, 1\)"),
        (lambda: imitate(tree, _X, answers=np.full((40, 2), np.nan)), ValueError, "NaN in all"),
        (
            lambda: imitate(tree, _X, answers=np.full((40, 2), np.inf)),
            ValueError,
            "contains infinity",
        ),
        (
            lambda: imitate(tree, _X, answers=_X[:, 0]),
            ValueError,
            r"answers has shape \(40, 1",
        ),
        (
            lambda: imitate(tree, _X, **{size: 1}),
            ValueError,
            f"{size} must be an integer of at least 2, got 1",
        ),
        (
            lambda: imitate(tree, _X, test_size=None),
            ValueError,
            "test_size must be a number between 0 and 1, got None",
        ),
        (lambda: imitate(tree, _X, categorical_features="a"), ValueError, r"give \['a'\]"),
        (
            lambda: imitate(tree, _X, np.where(y == 1, "a", "b")),
            ValueError,
            "no class that the est",
        ),
        (lambda: imitate(tree, _X, np.where(y == 1, np.nan, 0.0)), ValueError, "y contains NaN"),
        (lambda: imitate(values, _X, np.full(40, "a")), ValueError, "requires numbers"),
        (
            lambda: imitate(values, _X[:30], X_test=_X, y_test=np.where(y == 1, np.inf, 0.0)),
            ValueError,
            "infinity",
        ),
    ]
    for call, error, message in wrong:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("size", [1e307, 1e-310])
@BOTH
def test_values_near_the_float64_limits_are_supported(imitate: Any, size: float) -> None:
    y = np.clip(np.round(_X[:, 0] * 4) / 4, -2, 2)
    found = imitate(DecisionTreeRegressor().fit(_X, y), _X, y, X_test=_X, y_test=y)
    scaled = imitate(
        DecisionTreeRegressor().fit(_X, y * size), _X, y * size, X_test=_X, y_test=y * size
    )
    assert len(found.curve.size) > 2
    assert scaled.curve.size.tolist() == found.curve.size.tolist()
    np.testing.assert_allclose(scaled.curve.fidelity, found.curve.fidelity, atol=1e-3)


@BOTH
def test_margins_require_two_classes(imitate: Any) -> None:
    two = (_X[:, 0] > 0).astype(int)
    model = Perceptron().fit(_X, two)
    given = {"X_test": _X, "answers": model.decision_function(_X)}
    assert imitate(model, _X, **given).fidelity == imitate(model, _X, X_test=_X).fidelity
    three = Perceptron().fit(_X, np.digitize(_X[:, 0], [-0.5, 0.5]))
    with pytest.raises(ValueError, match="each of the 3 outputs"):
        imitate(three, _X, **given)
