"""Properties of every boosting on random problems: rounds against naive twins, bounds."""

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.property.strategies import checked

from arboleda import AdaBoostClassifier

Floats = npt.NDArray[np.float64]

SEEDS = st.integers(0, 2**32 - 1)
ALGORITHMS = ["discrete", "M1", "M2", "MH", "MR", "SAMME", "real", "gentle", "logit"]
BOUNDED = [*ALGORITHMS[:-3], "gentle", "logit"]
BY_VOTES = ["discrete", "M1", "SAMME"]

# A boosting is some dozen trees: fewer examples in a run, unless ARBOLEDA_EXAMPLES sets a number.
few = settings(checked, max_examples=max(10, checked.max_examples // 4))

pytestmark = pytest.mark.filterwarnings("ignore:boosting ended after")


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree in an unrecognized class that records its sample weights."""

    given: ClassVar[list[Floats]] = []

    def __init__(self, max_depth: int = 1, soft: bool = False) -> None:
        self.max_depth = max_depth
        self.soft = soft

    def fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self.given.append(np.array(sample_weight))
        self.tree_ = DecisionTreeClassifier(max_depth=self.max_depth, random_state=0)
        self.tree_.fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)

    def __getattr__(self, name: str) -> Any:
        if name == "predict_proba" and self.__dict__.get("soft"):
            return self.tree_.predict_proba
        raise AttributeError(name)


def problem(seed: int, algorithm: str, n_rows: int = 40) -> tuple[Floats, Any, Floats]:
    """Rows with a noisy structure, classes, and weights without ties."""
    random = np.random.default_rng(seed)
    n_classes = 2 if algorithm == "discrete" else int(random.integers(2, 5))
    X = random.normal(size=(n_rows, 3))
    score = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(scale=0.5, size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, y, random.uniform(0.5, 2.0, n_rows)


def boosted(algorithm: Any, X: Floats, y: Any, weight: Any = None, **options: Any) -> Any:
    """Boost trees of depth 2, or return the error."""
    tree = DecisionTreeRegressor if algorithm in {"gentle", "logit"} else DecisionTreeClassifier
    member = options.pop("estimator", tree(max_depth=2, random_state=0))
    model = AdaBoostClassifier(
        member, n_estimators=8, algorithm=algorithm, random_state=0, **options
    )
    try:
        return model.fit(X, y, sample_weight=weight)
    except ValueError as error:
        if "no better than guessing" not in str(error):
            raise
        return None


@pytest.mark.parametrize("algorithm", BOUNDED)
@pytest.mark.parametrize("rate", [1.0, 0.3])
@given(seed=SEEDS)
@few
def test_the_training_error_is_within_its_bound(algorithm: str, rate: float, seed: int) -> None:
    X, y, weight = problem(seed, algorithm)
    model = boosted(algorithm, X, y, weight, learning_rate=rate)
    if model is None:
        return
    errors = [1 - score for score in model.staged_score(X, y, sample_weight=weight)]
    assert (np.array(errors) <= model.training_error_bound_ + 1e-9).all()
    if rate == 1.0 and algorithm in {"discrete", "M1", "M2", "MR"}:
        assert (model.training_error_bound_ <= model.edge_bound_ + 1e-9).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@given(seed=SEEDS)
@few
def test_the_sign_of_the_margin_gives_correctness(algorithm: str, seed: int) -> None:
    X, y, weight = problem(seed, algorithm)
    model = boosted(algorithm, X, y, weight)
    if model is None:
        return
    margins = model.margins(X, y)
    assert (np.abs(margins) <= 1 + 1e-12).all()
    clear = np.abs(margins) > 1e-12
    assert ((margins > 0) == (model.predict(X) == y))[clear].all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("algorithm", BY_VOTES)
@given(seed=SEEDS)
@few
def test_votes_match_the_paper(algorithm: str, seed: int) -> None:
    """D, e, a and Z by the book; under the next weights a member is no better than guessing."""
    X, y, weight = problem(seed, algorithm)
    Recorder.given.clear()
    model = boosted(algorithm, X, y, weight, estimator=Recorder())
    if model is None:
        return
    n_classes = len(np.unique(y))
    D = weight / weight.sum()
    for t, member in enumerate(model.estimators_):
        np.testing.assert_allclose(Recorder.given[t].sum(), 1.0)
        np.testing.assert_allclose(Recorder.given[t], D, rtol=1e-9)
        wrong = member.predict(X) != y
        e = sum(D[i] for i in range(len(y)) if wrong[i])
        assert model.estimator_errors_[t] == pytest.approx(e)
        if e == 0.0:
            break
        a = math.log((1 - e) / e) / 2
        if algorithm == "SAMME":
            a += math.log(n_classes - 1) / 2
        vote = a if algorithm == "discrete" else 2 * a
        assert model.estimator_weights_[t] == pytest.approx(vote)
        D = np.array([D[i] * math.exp(a if wrong[i] else -a) for i in range(len(y))])
        assert model.normalizers_[t] == pytest.approx(D.sum())
        D /= D.sum()
        guessing = 1 - 1 / n_classes if algorithm == "SAMME" else 0.5
        assert D[wrong].sum() == pytest.approx(guessing)


def naive_pairs(y: Any, weight: Floats, n_classes: int) -> dict[tuple[int, int], float]:
    total = weight.sum() * (n_classes - 1)
    pairs = [(i, k) for i in range(len(y)) for k in range(n_classes) if k != y[i]]
    return {(i, k): weight[i] / total for i, k in pairs}


@pytest.mark.parametrize("soft", [False, True])
@given(seed=SEEDS)
@few
def test_m2_matches_the_paper(soft: bool, seed: int) -> None:
    """Freund and Schapire (1997), figure 5."""
    X, y, weight = problem(seed, "M2")
    Recorder.given.clear()
    model = boosted("M2", X, y, weight, estimator=Recorder(2, soft=soft))
    if model is None:
        return
    n_classes = len(np.unique(y))
    D = naive_pairs(y, weight, n_classes)
    for t, member in enumerate(model.estimators_):
        rows = [sum(D[i, k] for k in range(n_classes) if k != y[i]) for i in range(len(y))]
        np.testing.assert_allclose(Recorder.given[t], rows, rtol=1e-9)
        h = member.predict_proba(X) if soft else np.eye(n_classes)[member.predict(X)]
        e = sum(d * (1 - h[i, y[i]] + h[i, k]) for (i, k), d in D.items()) / 2
        assert model.estimator_errors_[t] == pytest.approx(e, abs=1e-12)
        if e < 1e-9:
            break
        beta = e / (1 - e)
        assert model.estimator_weights_[t] == pytest.approx(math.log(1 / beta))
        D = {(i, k): d * beta ** ((1 + h[i, y[i]] - h[i, k]) / 2) for (i, k), d in D.items()}
        z = sum(D.values())
        assert model.normalizers_[t] == pytest.approx(z / math.sqrt(beta))
        D = {pair: d / z for pair, d in D.items()}
        if not soft and n_classes == 2:
            again = sum(d * (1 - h[i, y[i]] + h[i, k]) for (i, k), d in D.items()) / 2
            assert again == pytest.approx(0.5)


@pytest.mark.parametrize("soft", [False, True])
@given(seed=SEEDS)
@few
def test_mr_matches_the_paper(soft: bool, seed: int) -> None:
    """Schapire and Singer (1999), figure 4; with the weight of least Z no pair is preferred."""
    X, y, weight = problem(seed, "MR")
    Recorder.given.clear()
    model = boosted("MR", X, y, weight, estimator=Recorder(1, soft=soft))
    if model is None:
        return
    n_classes = len(np.unique(y))
    D = naive_pairs(y, weight, n_classes)
    for t, member in enumerate(model.estimators_):
        rows = [sum(D[i, k] for k in range(n_classes) if k != y[i]) for i in range(len(y))]
        np.testing.assert_allclose(Recorder.given[t], rows, rtol=1e-9)
        h = 2 * (member.predict_proba(X) if soft else np.eye(n_classes)[member.predict(X)]) - 1
        a = model.estimator_weights_[t]
        if a > 11:
            break  # hardly a pair is wrong
        before = D
        D = {(i, k): d * math.exp(a * (h[i, k] - h[i, y[i]]) / 2) for (i, k), d in D.items()}
        z = sum(D.values())
        assert model.normalizers_[t] == pytest.approx(z)
        for other in (a - 1e-3, a + 1e-3):
            assert z <= sum(
                d * math.exp(other * (h[i, k] - h[i, y[i]]) / 2) for (i, k), d in before.items()
            )
        D = {pair: d / z for pair, d in D.items()}
        preferred = sum(d * (h[i, y[i]] - h[i, k]) / 2 for (i, k), d in D.items())
        assert preferred == pytest.approx(0.0, abs=1e-9)


@given(seed=SEEDS)
@few
def test_mh_with_votes_matches_the_paper(seed: int) -> None:
    """Schapire and Singer (1999), figure 3, with predictions of 1 and -1."""
    X, y, weight = problem(seed, "MH")
    Recorder.given.clear()
    model = boosted("MH", X, y, weight, estimator=Recorder(1))
    n_classes = len(np.unique(y))
    Y = np.where(y[:, np.newaxis] == np.arange(n_classes), 1, -1)
    D = np.repeat(weight[:, np.newaxis], n_classes, axis=1)
    D /= D.sum()
    for t in range(len(model)):
        members = np.atleast_1d(np.array(model.estimators_, dtype=object)[t])
        h = np.column_stack([2 * member.predict(X) - 1 for member in members])
        class_range = range(n_classes)
        if n_classes == 2:
            h, class_range = np.column_stack([-h, h]), range(1, 2)
        for k, weights in zip(class_range, Recorder.given[t * len(members) :], strict=False):
            np.testing.assert_allclose(weights, D[:, k] / D[:, k].sum(), rtol=1e-9)
        e = D[h != Y].sum()
        assert model.estimator_errors_[t] == pytest.approx(e, abs=1e-12)
        if e < 1e-9:
            break
        a = math.log((1 - e) / e) / 2
        assert model.estimator_weights_[t] == pytest.approx(a)
        D = D * np.exp(-a * Y * h)
        assert model.normalizers_[t] == pytest.approx(D.sum())
        D /= D.sum()
        assert D[h != Y].sum() == pytest.approx(0.5)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_weights_count_rows(algorithm: str, seed: int) -> None:
    """An integer weight is a repetition, 0 a deletion; the unit of weights has no meaning."""
    X, y, weight = problem(seed, algorithm)
    counts = np.random.default_rng(seed).integers(0, 4, len(y))
    counts[[np.flatnonzero(y == k)[0] for k in np.unique(y)]] = 1  # no class is lost
    rows = np.repeat(np.arange(len(y)), counts)
    weighted = boosted(algorithm, X, y, weight * counts)
    repeated = boosted(algorithm, X[rows], y[rows], weight[rows])
    tripled = boosted(algorithm, X, y, 3.0 * weight * counts)
    if weighted is None:
        assert repeated is None
        assert tripled is None
        return
    counted = X[counts > 0]  # scikit-learn's thresholds lie midway to rows of weight 0 too
    expected = weighted.predict_proba(counted)
    for other in (repeated, tripled):
        np.testing.assert_allclose(other.predict_proba(counted), expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(
            other.estimator_errors_, weighted.estimator_errors_, rtol=1e-6, atol=1e-12
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_unit_weights_change_nothing(algorithm: str) -> None:
    X, y, _ = problem(7, algorithm, n_rows=80)
    plain, weighted = boosted(algorithm, X, y), boosted(algorithm, X, y, np.ones(len(y)))
    np.testing.assert_array_equal(plain.predict_proba(X), weighted.predict_proba(X))
