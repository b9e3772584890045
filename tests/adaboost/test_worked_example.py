"""Ten rows and three given members: table 1.1 of Schapire and Freund (2012), "Boosting"."""

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from arboleda import AdaBoostClassifier

Floats = npt.NDArray[np.float64]

X = np.arange(1, 11, dtype=np.float64).reshape(-1, 1)
Y = np.array([-1, 1, 1, -1, 1, -1, 1, -1, -1, 1])  # any classes
WRONG = [{1, 2, 3}, {6, 7, 9}, {4, 5, 8}]
# D of each round, before it is normalized to sum to 1.
D = [
    [0.10, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10, 0.10],
    [0.17, 0.17, 0.17, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07, 0.07],
    [0.11, 0.11, 0.11, 0.05, 0.05, 0.17, 0.17, 0.05, 0.17, 0.05],
]


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Member t of the table, whatever the data; it stores the weights that `fit` received."""

    made: ClassVar[list["Given"]] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self.classes_ = np.unique(y)
        self.number_ = len(self.made)
        self.weight_ = np.array(sample_weight)
        self.made.append(self)
        return self

    def predict(self, X: Any) -> Any:
        numbers = X[:, 0].astype(int)
        wrong = np.isin(numbers, list(WRONG[self.number_]))
        return np.where(wrong, -Y[numbers - 1], Y[numbers - 1])


@pytest.fixture
def given() -> list[Given]:
    Given.made.clear()
    return Given.made


@pytest.mark.parametrize("algorithm", ["discrete", "M1", "SAMME", "M2", "MR", "MH"])
def test_the_rounds_match_the_published_table(algorithm: Any, given: list[Given]) -> None:
    model = AdaBoostClassifier(Given(), n_estimators=3, algorithm=algorithm).fit(X, Y)
    np.testing.assert_array_equal(np.round(model.estimator_errors_, 2), [0.30, 0.21, 0.14])
    # log(1 / beta) is twice as large, and votes so.
    scale = 2 if algorithm in {"M1", "SAMME", "M2"} else 1
    weights = model.estimator_weights_ / scale
    np.testing.assert_array_equal(np.round(weights, 2), [0.42, 0.65, 0.92])
    np.testing.assert_array_equal(np.round(model.normalizers_, 2), [0.92, 0.82, 0.69])
    np.testing.assert_array_equal(np.round([member.weight_ for member in given], 2), D)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_the_error_bounds_match_the_published_values(given: list[Given]) -> None:
    model = AdaBoostClassifier(Given(), n_estimators=3, algorithm="discrete").fit(X, Y)
    e = model.estimator_errors_
    np.testing.assert_allclose(model.edges_, 0.5 - e)
    np.testing.assert_allclose(model.normalizers_, 2 * np.sqrt(e * (1 - e)))
    np.testing.assert_allclose(model.training_error_bound_, np.cumprod(model.normalizers_))
    np.testing.assert_allclose(model.edge_bound_, np.exp(-2 * np.cumsum((0.5 - e) ** 2)))
    assert (model.training_error_bound_ <= model.edge_bound_).all()
    errors = [1 - score for score in model.staged_score(X, Y)]
    np.testing.assert_allclose(errors, [0.3, 0.3, 0.0], atol=1e-12)
    assert (np.array(errors) <= model.training_error_bound_).all()


def test_the_margins_match_the_published_values(given: list[Given]) -> None:
    model = AdaBoostClassifier(Given(), n_estimators=3, algorithm="discrete").fit(X, Y)
    a = model.estimator_weights_
    right = np.array([[1 if i not in wrong else -1 for wrong in WRONG] for i in range(1, 11)])
    np.testing.assert_allclose(model.margins(X, Y), right @ a / a.sum())
    np.testing.assert_allclose(model.decision_function(X), Y * (right @ a))
    assert model.margin_bound_term(X, Y, 0.0) == 0.0
    assert model.margin_bound_term(X, Y, 1.0) == 1.0
    # Rows 4, 5 and 8 are the nearest: 0.42 + 0.65 against 0.92.
    assert model.margin_bound_term(X, Y, 0.1) == pytest.approx(0.3)
    assert model.margin_bound_term(X, Y, 0.4) == pytest.approx(0.6)
    stages = list(model.staged_margins(X, Y))
    np.testing.assert_allclose(stages[0], right[:, 0])
    np.testing.assert_allclose(stages[-1], model.margins(X, Y))
