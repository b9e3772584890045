"""Outputs of any estimator as one table of numbers with names."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_regression
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from arboleda import RandomForestClassifier, RandomForestRegressor
from arboleda.explain._outputs import make_output_reader

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["forest", "pipeline"],
)
def test_classifiers_give_probabilities_of_named_classes(model: Any) -> None:
    outputs = make_output_reader(model.fit(X, NAMES))(X)
    assert outputs.kind == "probability"
    assert outputs.names == ("setosa", "versicolor", "virginica")
    np.testing.assert_array_equal(outputs.values, model.predict_proba(X))


def test_margins_are_used_if_requested_or_the_only_output() -> None:
    model = Perceptron(random_state=0).fit(X, NAMES)
    np.testing.assert_array_equal(make_output_reader(model)(X).values, model.decision_function(X))
    binary = LogisticRegression().fit(X[:100], NAMES[:100])
    outputs = make_output_reader(binary, ("decision_function",))(X[:100])
    assert (outputs.kind, outputs.names) == ("decision", ("versicolor",))
    np.testing.assert_array_equal(outputs.values[:, 0], binary.decision_function(X[:100]))


def test_a_classifier_without_probabilities_gives_votes() -> None:
    model = Perceptron(random_state=0).fit(X, NAMES)
    outputs = make_output_reader(model, ("predict_proba", "predict"))(X)
    assert outputs.kind == "vote"
    np.testing.assert_array_equal(outputs.values.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[outputs.values.argmax(axis=1)], model.predict(X))


def test_regressors_give_values_of_one_target_or_several() -> None:
    rows, y = load_diabetes(return_X_y=True)
    outputs = make_output_reader(RandomForestRegressor(3, random_state=0).fit(rows, y))(rows[:5])
    assert (outputs.kind, outputs.names, outputs.values.shape) == ("value", ("value",), (5, 1))
    rows, y = make_regression(50, 3, n_targets=2, random_state=0)
    outputs = make_output_reader(LinearRegression().fit(rows, y))(rows)
    assert outputs.names == ("value 0", "value 1")
    assert outputs.values.shape == (50, 2)


def test_detectors_of_outliers_give_their_decision() -> None:
    model = IsolationForest(n_estimators=5, random_state=0).fit(X)
    outputs = make_output_reader(model)(X)
    assert outputs.kind == "decision"
    np.testing.assert_array_equal(outputs.values[:, 0], model.decision_function(X))


def test_the_estimator_checks_its_columns_itself() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    read = make_output_reader(RandomForestClassifier(2, random_state=0).fit(frame, Y))
    with pytest.raises(ValueError, match="lacks 'd'"):
        read(frame.drop(columns="d"))


class NoFinite(LinearRegression):  # type: ignore[misc]
    def predict(self, X: Any) -> Any:
        return np.where(np.arange(len(X)) == 1, np.nan, 0.0)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (
            lambda: make_output_reader(LogisticRegression()),
            NotFittedError,
            "LogisticRegression is not",
        ),
        (
            lambda: make_output_reader(RandomForestClassifier()),
            NotFittedError,
            "call fit first",
        ),
        (lambda: make_output_reader(LogisticRegression), TypeError, "is a class"),
        (lambda: make_output_reader("model"), TypeError, "is not an estimator"),
        (
            lambda: make_output_reader(StandardScaler().fit(X)),
            TypeError,
            "has no predict_proba and no",
        ),
        (
            lambda: make_output_reader(Perceptron().fit(X, Y), ("predict_proba",)),
            TypeError,
            "has no predict_proba",
        ),
        (
            lambda: make_output_reader(DecisionTreeClassifier().fit(X, np.column_stack([Y, Y]))),
            ValueError,
            "2 targets",
        ),
        (lambda: make_output_reader(NoFinite().fit(X, Y))(X), ValueError, "row 1"),
    ],
)
def test_invalid_arguments_are_refused(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()
