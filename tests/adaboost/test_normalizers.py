"""Normalizers with members of any type: the weight of a round's votes minimizes Z."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import scale
from tests.property.strategies import checked

from arboleda import AdaBoostClassifier
from arboleda.adaboost._algorithms._pair_algorithms import MOST, minimize_normalizer

Floats = npt.NDArray[np.float64]

# The most that a rounding error may take a sum of weights beyond 1.
ROUNDING = 1e-12

MEMBERS = {
    "naive Bayes": GaussianNB(),
    "logistic": LogisticRegression(),
    "neighbours": KNeighborsClassifier(9),
    "network": MLPClassifier(
        (6,), max_iter=40, n_iter_no_change=40, tol=0.0, learning_rate_init=0.02
    ),
}
TABLES = {
    "breast cancer": (load_breast_cancer, 2),
    "iris": (load_iris, 1),
    "digits": (load_digits, 5),
}


def rows_of(table: str) -> tuple[Floats, Any]:
    load, step = TABLES[table]
    X, y = load(return_X_y=True)
    return scale(X[::step]), y[::step]


def iter_predictions(model: AdaBoostClassifier, X: Floats) -> list[Floats]:
    """h(x, k) of each round: half the logarithm of the odds of class k, from clipped shares."""
    found = []
    for members in np.array(model.estimators_, dtype=object).reshape(len(model), -1):
        columns = []
        for member in members:
            p = np.clip(member.predict_proba(X)[:, 1], 1e-5, 1 - 1e-5)
            columns.append(np.log(p / (1 - p)) / 2)
        found.append(np.column_stack(columns if len(members) > 1 else [-columns[0], columns[0]]))
    return found


@pytest.mark.filterwarnings("ignore:.*iterations:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("member", MEMBERS)
def test_mh_uses_the_weight_that_minimizes_the_normalizer(member: str, table: str) -> None:
    """Schapire and Singer (1999), figure 3 and section 3.2, by the book."""
    X, y = rows_of(table)
    model = AdaBoostClassifier(MEMBERS[member], n_estimators=6, algorithm="MH", random_state=0)
    model.fit(X, y)
    n_classes = len(model.classes_)
    Y = np.where(y[:, np.newaxis] == model.classes_, 1, -1)
    D = np.full(Y.shape, 1 / Y.size)
    for h, a, z in zip(
        iter_predictions(model, X), model.estimator_weights_, model.normalizers_, strict=True
    ):
        assert abs(a) * np.abs(h).max() <= MOST * (1 + 1e-12)
        assert z <= 1 + ROUNDING
        for nearby in (0.99 * a, 1.01 * a, a - 1e-3, a + 1e-3):
            if abs(nearby) * np.abs(h).max() <= MOST:
                assert z <= (D * np.exp(-nearby * Y * h)).sum() + ROUNDING
        D = D * np.exp(-a * Y * h)
        assert D.sum() == pytest.approx(z, rel=1e-9)
        D /= D.sum()
    errors = np.array([1 - score for score in model.staged_score(X, y)])
    bound = model.training_error_bound_
    np.testing.assert_allclose(bound, n_classes / 2 * np.cumprod(model.normalizers_))
    assert (errors <= bound + ROUNDING).all()
    assert errors[-1] <= errors[0]
    assert bound[-1] < bound[0]
    assert (np.abs(model.margins(X, y)) <= 1 + ROUNDING).all()


@pytest.mark.filterwarnings("ignore:.*iterations:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("algorithm", ["MR", "M2"])
@pytest.mark.parametrize("member", MEMBERS)
def test_normalizers_of_pairs_are_at_most_one(member: str, algorithm: Any) -> None:
    X, y = rows_of("iris")
    model = AdaBoostClassifier(MEMBERS[member], n_estimators=6, algorithm=algorithm, random_state=0)
    model.fit(X, y)
    assert (model.normalizers_ <= 1 + ROUNDING).all()
    errors = np.array([1 - score for score in model.staged_score(X, y)])
    assert (errors <= model.training_error_bound_ + ROUNDING).all()
    assert (model.training_error_bound_ <= model.edge_bound_ + ROUNDING).all()


class Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the probability of the second class that the first column holds."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Given":
        self.classes_ = np.unique(y)
        self.feature_importances_ = np.array([1.0])
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, 0] > 0.5).astype(int)]

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_votes_that_are_all_correct_have_a_finite_weight() -> None:
    """Z has no minimum: the largest vote gets the weight of a vote of 1 without error."""
    p, y = np.array([[0.1], [0.3], [0.6], [0.8]]), [0, 0, 1, 1]
    model = AdaBoostClassifier(Given(), n_estimators=2, algorithm="MH").fit(p, y)
    largest = np.log(9) / 2
    np.testing.assert_allclose(model.estimator_weights_, MOST / largest)
    assert model.score(p, y) == 1.0
    assert np.isfinite(model.decision_function(p)).all()


def test_wrong_votes_are_reversed() -> None:
    p, y = np.array([[0.1], [0.2], [0.3], [0.4], [0.9]]), [1, 1, 1, 0, 0]
    model = AdaBoostClassifier(Given(), n_estimators=1, algorithm="MH").fit(p, y)
    assert model.estimator_weights_[0] < 0
    assert model.normalizers_[0] < 1
    assert model.estimator_errors_[0] == pytest.approx(0.8)
    assert model.score(p, y) == 0.8
    margins = model.margins(p, y)
    assert ((margins > 0) == (model.predict(p) == y)).all()
    assert np.abs(margins).max() == pytest.approx(1.0)
    assert model.feature_importances_.tolist() == [1.0]


def test_votes_of_0_have_weight_0() -> None:
    p, y = np.full((4, 1), 0.5), [0, 0, 1, 1]
    model = AdaBoostClassifier(Given(), n_estimators=3, algorithm="MH").fit(p, y)
    assert model.estimator_weights_.tolist() == [0.0] * 3
    assert model.normalizers_.tolist() == [1.0] * 3
    assert model.margins(p, y).tolist() == [0.0] * 4
    assert model.predict_proba(p).tolist() == [[0.5, 0.5]] * 4
    assert model.feature_importances_.tolist() == [0.0]


def test_leaves_of_the_engine_with_votes_of_0_have_no_margin() -> None:
    model = AdaBoostClassifier(n_estimators=2, algorithm="MH").fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert model.margins(np.zeros((4, 1)), [0, 0, 1, 1]).tolist() == [0.0] * 4


def test_rows_of_weight_0_do_not_affect_the_weight_of_votes() -> None:
    """Also where theirs is the largest vote."""
    p = np.array([[0.4], [0.45], [0.6], [0.55], [1.0], [0.0]])
    y = np.array([0, 0, 1, 1, 0, 1])
    weight = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    models = [
        AdaBoostClassifier(Given(), n_estimators=3, algorithm="MH").fit(*rows)
        for rows in ((p, y, weight), (p[:4], y[:4]))
    ]
    np.testing.assert_allclose(models[0].estimator_weights_, models[1].estimator_weights_)


def test_shrinkage_multiplies_the_weight_of_the_first_round() -> None:
    X, y = rows_of("iris")
    whole, half = (
        AdaBoostClassifier(GaussianNB(), n_estimators=1, algorithm="MH", learning_rate=rate)
        for rate in (1.0, 0.5)
    )
    weights = [model.fit(X, y).estimator_weights_[0] for model in (whole, half)]
    assert weights[1] == pytest.approx(weights[0] / 2)
    assert whole.normalizers_[0] < half.normalizers_[0] < 1


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 12), spread=st.floats(1e-3, 1e3))
@checked
def test_the_line_search_finds_the_minimum(seed: int, size: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    weights = random.dirichlet(np.ones(size))
    agreement = spread * random.normal(size=size)
    most = MOST / np.abs(agreement).max()

    def z(a: float) -> float:
        return float((weights * np.exp(-a * agreement)).sum())

    a = minimize_normalizer(weights, agreement, -most, most)
    assert -most <= a <= most
    other = minimize_scalar(
        z, bounds=(-most, most), method="bounded", options={"xatol": 1e-12 * most}
    )
    assert z(a) <= min(z(0.0), z(other.x), z(most), z(-most)) * (1 + 1e-12)
    if (agreement > 0).all():
        assert a == most
    if (agreement < 0).all():
        assert a == -most
