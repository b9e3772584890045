"""Sets equal the papers' formulas, and change as expected."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier as TheirBagging
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from arboleda import BaggingClassifier, RandomForestClassifier
from arboleda.explain import prediction_set
from arboleda.explain._conformal import compute_adaptive_scores

_draw = np.random.default_rng(0)
X = _draw.normal(size=(400, 3))
NAMES = np.array(["ant", "bee", "cat", "dog"])
_places = np.digitize(X[:, 0] + _draw.normal(size=400), [-1.5, 0, 0.7])
Y = NAMES[_places]
FIT, CAL, NEW = slice(0, 150), slice(150, 300), slice(300, 400)
CALIBRATION = (X[CAL], Y[CAL])


@pytest.fixture(scope="module")
def model() -> GaussianNB:
    return GaussianNB().fit(X[FIT], Y[FIT])


class Given(ClassifierMixin, BaseEstimator):
    """Predict the probabilities in the table."""

    def fit(self, X: Any, y: Any) -> Given:
        self.classes_ = np.arange(np.asarray(X).shape[1])
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.asarray(X, dtype=float)


def kth(scores: Any, coverage: float) -> float:
    scores = sorted(scores)
    k = math.ceil((len(scores) + 1) * coverage - 1e-9)
    return scores[k - 1]


def naive_adaptive(probabilities: Any, label: int, u: float) -> float:
    """Romano, Sesia and Candes (2020), equation (5): the least tau whose set holds the label."""
    order = sorted(range(len(probabilities)), key=lambda k: -probabilities[k])
    before = 0.0
    for k in order:
        if k == label:
            break
        before += probabilities[k]
    return before + (1 - u) * probabilities[label]


def test_least_ambiguous_sets_match_their_definition(model: GaussianNB) -> None:
    found = prediction_set(model, calibration=CALIBRATION).predict(X[NEW])
    probabilities = model.predict_proba(X[CAL])
    codes = np.searchsorted(NAMES, Y[CAL])
    q = kth([1 - probabilities[i, code] for i, code in enumerate(codes)], 0.9)
    assert np.array_equal(found.contains, 1 - model.predict_proba(X[NEW]) <= q)
    assert found.classes.tolist() == NAMES.tolist()
    assert found.coverage == 0.9


def test_adaptive_sets_always_hold_the_most_probable_class(model: GaussianNB) -> None:
    calibrated = prediction_set(
        model, calibration=CALIBRATION, method="aps", coverage=0.6, randomized=False
    )
    found = calibrated.predict(X[NEW])
    codes = np.searchsorted(NAMES, Y[CAL])
    probabilities = model.predict_proba(X[CAL])
    q = kth(
        [naive_adaptive(p, code, 0.0) for p, code in zip(probabilities, codes, strict=True)], 0.6
    )
    assert calibrated.limits() == pytest.approx([q] * 4)
    for row, p in zip(found.contains, model.predict_proba(X[NEW]), strict=True):
        scores = [naive_adaptive(p, k, 0.0) for k in range(4)]
        wanted = [score <= q or k == p.argmax() for k, score in enumerate(scores)]
        assert row.tolist() == wanted
    assert found.size.min() == 1


def test_randomized_adaptive_sets_match_their_definition(model: GaussianNB) -> None:
    calibrated = prediction_set(model, calibration=CALIBRATION, method="aps", random_state=4)
    seed = np.random.RandomState(4).randint(2**31 - 1)
    u = np.random.RandomState(seed).random_sample(150)
    codes = np.searchsorted(NAMES, Y[CAL])
    probabilities = model.predict_proba(X[CAL])
    q = kth([naive_adaptive(*row) for row in zip(probabilities, codes, u, strict=True)], 0.9)
    assert calibrated.limits() == pytest.approx([q] * 4)
    found = calibrated.predict(X[NEW])
    u = np.random.RandomState(seed + 1).random_sample(100)
    for row, p, part in zip(found.contains, model.predict_proba(X[NEW]), u, strict=True):
        assert row.tolist() == [naive_adaptive(p, k, part) <= q for k in range(4)]
    assert np.array_equal(found.contains, calibrated.predict(X[NEW]).contains)


def test_sets_of_the_paper_match_the_scores() -> None:
    # Equation (4) with (3): the classes up to the first whose sum reaches tau, without the last of
    # them where u <= V.
    draw = np.random.default_rng(3)
    for _ in range(300):
        p, tau, u = draw.dirichlet(np.ones(5)), draw.uniform(0.05, 0.99), draw.random()
        order = np.argsort(-p)
        sums = np.cumsum(p[order])
        last = int(np.argmax(sums >= tau))
        v = (sums[last] - tau) / p[order[last]]
        wanted = set(order[: last if u <= v else last + 1].tolist())
        scores = compute_adaptive_scores(p[np.newaxis], np.array([u]))[0]
        assert set(np.flatnonzero(scores <= tau).tolist()) == wanted


def test_equal_probabilities_count_in_the_order_of_the_classes() -> None:
    scores = compute_adaptive_scores(np.full((1, 4), 0.25), np.zeros(1))
    assert scores.tolist() == [[0.25, 0.5, 0.75, 1.0]]


@pytest.mark.parametrize("method", ["lac", "aps"])
def test_every_class_has_its_own_limit(model: GaussianNB, method: Any) -> None:
    calibrated = prediction_set(
        model, calibration=CALIBRATION, method=method, by_class=True, coverage=0.8,
        randomized=False,
    )  # fmt: skip
    codes, probabilities = np.searchsorted(NAMES, Y[CAL]), model.predict_proba(X[CAL])
    for k, limit in enumerate(calibrated.limits()):
        own = [p for p, code in zip(probabilities, codes, strict=True) if code == k]
        scores = [1 - p[k] if method == "lac" else naive_adaptive(p, k, 0.0) for p in own]
        assert limit == pytest.approx(kth(scores, 0.8))
    inside = calibrated.predict(X[NEW])
    if method == "lac":
        scores = 1 - model.predict_proba(X[NEW])
        assert np.array_equal(inside.contains, scores <= calibrated.limits())


def test_a_class_of_few_rows_is_in_every_set(model: GaussianNB) -> None:
    rows = np.concatenate([np.flatnonzero(Y[CAL] != "bee"), np.flatnonzero(Y[CAL] == "bee")[:8]])
    pair = (X[CAL][rows], Y[CAL][rows])
    with pytest.warns(UserWarning, match=r"in every set: 'bee' \(8\); give more"):
        calibrated = prediction_set(model, calibration=pair, by_class=True)
    assert calibrated.limits()[1] == math.inf
    assert np.isfinite(calibrated.limits()[[0, 2, 3]]).all()
    assert calibrated.predict(X[NEW]).contains[:, 1].all()


OPTIONS: dict[str, dict[str, Any]] = {
    "lac": {},
    "aps": {"method": "aps", "randomized": False},
    "aps, randomized": {"method": "aps", "random_state": 0},
    "by class": {"by_class": True},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_more_coverage_never_loses_a_class(model: GaussianNB, name: str) -> None:
    calibrated = prediction_set(model, calibration=CALIBRATION, coverage=0.8, **OPTIONS[name])
    found = [calibrated.predict(X[NEW], coverage=c) for c in (0.2, 0.5, 0.7, 0.8, 0.9)]
    for small, large in pairwise(found):
        assert (small.contains <= large.contains).all()


@pytest.mark.parametrize("name", OPTIONS)
def test_the_curve_matches_the_coverage_of_predict(model: GaussianNB, name: str) -> None:
    calibrated = prediction_set(model, calibration=CALIBRATION, coverage=0.8, **OPTIONS[name])
    curve = calibrated.coverage_curve(X[NEW], Y[NEW], coverages=(0.5, 0.9))
    for point, coverage in enumerate(curve.promised):
        found = calibrated.predict(X[NEW], coverage=coverage)
        assert curve.covered[point] == found.covers(Y[NEW]).mean()
        assert curve.size[point] == found.size.mean()
    assert (curve.name, curve.size_name) == (calibrated.method, "mean number of classes")


def test_labels_are_sorted_by_probability() -> None:
    P = np.array([[0.1, 0.6, 0.3], [0.5, 0.5, 0.0], [0.3, 0.3, 0.4]])
    rows, y = np.repeat(P, 5, axis=0), [2] * 5 + [0] * 5 + [1] * 5
    calibrated = prediction_set(Given().fit(P, [0, 1, 2]), calibration=(rows, y))
    found = calibrated.predict(P)
    assert calibrated.limits().tolist() == [0.7, 0.7, 0.7]
    assert [labels.tolist() for labels in found.labels()] == [[1, 2], [0, 1], [2, 0, 1]]
    assert found.to_frame().to_dict("list") == {
        "labels": [(1, 2), (0, 1), (2, 0, 1)],
        "size": [2, 2, 3],
    }
    assert found.covers([2, 2, 7]).tolist() == [True, False, False]


def test_a_set_can_be_empty() -> None:
    P = np.full((20, 2), 0.5)
    certain = np.array([[1.0, 0.0]] * 20)
    calibrated = prediction_set(Given().fit(P, [0, 1]), calibration=(certain, [0] * 20))
    assert calibrated.predict(P).size.tolist() == [0] * 20
    assert calibrated.predict(P).labels()[0].tolist() == []


ENSEMBLES: dict[str, Any] = {
    "forest": RandomForestClassifier(40, random_state=0),
    "hard votes": RandomForestClassifier(40, voting="hard", random_state=0),
    "forest in a pipeline": make_pipeline(
        StandardScaler(), RandomForestClassifier(40, random_state=0)
    ),
    "bagging": BaggingClassifier(n_estimators=40, oob_score=True, random_state=0),
    "their forest": TheirForest(40, oob_score=True, random_state=0),
    "their bagging": TheirBagging(n_estimators=40, oob_score=True, random_state=0),
}


@pytest.mark.parametrize("name", ENSEMBLES)
def test_out_of_bag_scores_use_only_members_without_the_row(name: str) -> None:
    model = ENSEMBLES[name].fit(X[FIT], Y[FIT])
    calibrated = prediction_set(model, training=(X[FIT], Y[FIT]))
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(last, "oob_decision_function_"):
        shares = last.oob_decision_function_
    else:
        again = type(last)(**{**last.get_params(), "oob_score": True})
        table = model[:-1].transform(X[FIT]) if hasattr(model, "steps") else X[FIT]
        shares = again.fit(table, Y[FIT]).oob_decision_function_
    codes = np.searchsorted(NAMES, Y[FIT])
    q = kth(1 - shares[np.arange(150), codes], 0.9)
    assert calibrated.limits() == pytest.approx([q] * 4)
    assert calibrated.out_of_bag
    assert calibrated.guaranteed_coverage is None
    assert calibrated.n_rows == 150
    found = calibrated.predict(X[NEW])
    assert np.array_equal(found.contains, 1 - model.predict_proba(X[NEW]) <= calibrated.limits())


def test_rows_in_every_bag_do_not_calibrate() -> None:
    forest = RandomForestClassifier(3, random_state=0).fit(X[FIT], Y[FIT])
    with pytest.warns(UserWarning, match="left out by no member") as warned:
        calibrated = prediction_set(forest, training=(X[FIT], Y[FIT]))
    assert calibrated.n_rows == 150 - int(
        re.search(r"(\d+) of 150 rows", str(warned[0].message))[1]
    )


def test_labels_of_any_type_are_supported() -> None:
    for labels in (np.array([False, True]), np.array([1.0, 2.0]), np.array([3, 9], dtype="int8")):
        y = labels[(X[:, 0] > 0).astype(int)]
        model = GaussianNB().fit(X[FIT], y[FIT])
        calibrated = prediction_set(model, calibration=(X[CAL], y[CAL]), coverage=0.9)
        found = calibrated.predict(X[NEW])
        assert found.classes.dtype == labels.dtype
        assert np.array_equal(found.covers(y[NEW]), found.covers(pd.Series(y[NEW])))
        assert found.covers(y[NEW]).mean() > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give exactly one of calibration"),
        ({"calibration": CALIBRATION, "training": CALIBRATION}, "give exactly one of calibration"),
        ({"calibration": CALIBRATION, "method": "best"}, "'lac' or 'aps'"),
        ({"calibration": CALIBRATION, "coverage": 1.0}, "between 0 and 1"),
        ({"calibration": (X[CAL], Y[FIT][:100])}, "has 150 rows, but y has 100"),
        ({"calibration": (X[CAL], np.where(Y[CAL] == "bee", "eel", Y[CAL]))}, "'eel' in row"),
        ({"training": (X[FIT], Y[FIT])}, "oob_score=True"),
    ],
)
def test_invalid_arguments_are_refused(
    model: GaussianNB, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        prediction_set(model, **options)


def test_other_training_rows_are_refused() -> None:
    for name in ("forest", "bagging", "their forest"):
        model = ENSEMBLES[name].fit(X[FIT], Y[FIT])
        with pytest.raises(ValueError, match="training rows,? in their( original)? order"):
            prediction_set(model, training=(X[:140], Y[:140]))


def test_a_regressor_is_referred_to_prediction_intervals() -> None:
    model = LinearRegression().fit(X[FIT], X[FIT][:, 0])
    with pytest.raises(ValueError, match="prediction_interval"):
        prediction_set(model, calibration=CALIBRATION)


def test_a_classifier_without_probabilities_is_refused() -> None:
    with pytest.raises(TypeError, match="no predict_proba"):
        prediction_set(LinearSVC().fit(X[FIT], Y[FIT]), calibration=CALIBRATION)
