"""Lower bounds of the time to an event: worked numbers, coverage by simulation, bad input."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from arboleda import HistGradientBoostingSurvival, RandomSurvivalForest
from arboleda.explain import SurvivalBounds, survival_interval


class Constant:
    """A model whose quantiles are the same number for all rows."""

    def __init__(self, quantile: float) -> None:
        self.quantile = quantile

    def predict_quantile(self, X: Any, q: float) -> Any:
        return np.full(len(X), self.quantile)


class TrueProbability(BaseEstimator):  # type: ignore[misc]
    """P(C >= 0.6) of exponential censoring times with the rate exp(x)."""

    classes_ = np.array([False, True])

    def fit(self, X: Any, y: Any) -> "TrueProbability":
        return self

    def predict_proba(self, X: Any) -> Any:
        late = np.exp(-0.6 * np.exp(X[:, 0]))
        return np.column_stack([1.0 - late, late])


def make_target(event_time: Any, censoring: Any) -> Any:
    y = np.empty(len(event_time), dtype=[("event", bool), ("time", float)])
    y["event"] = event_time <= censoring
    y["time"] = np.minimum(event_time, censoring)
    return y


def test_worked_numbers() -> None:
    # Ten rows, of which eight are observed to the horizon 8: times 1, .., 7, 8, scores 5 - t.
    event_time = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 20.0, 1.0, 9.0])
    censoring = np.array([10.0] * 8 + [5.0, 5.0])
    X = np.zeros((10, 1))
    found = survival_interval(
        Constant(5.0),
        calibration=(X, make_target(event_time, censoring)),
        censoring=censoring,
        coverage=0.7,
        horizon=8.0,
    )
    assert found.n_rows == 8
    np.testing.assert_array_equal(found.scores, [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    # ceil(0.7 * 9) = 7: the bound is 5 - 3.
    bounds = found.predict(X[:3])
    assert isinstance(bounds, SurvivalBounds)
    np.testing.assert_array_equal(bounds.lower, [2.0, 2.0, 2.0])
    assert bounds.to_frame().columns.tolist() == ["lower"]
    assert (bounds.coverage, bounds.horizon) == (0.7, 8.0)
    # A quantile that is missing or above the horizon counts as it: scores 8 - t, the bound 8 - 6.
    for quantile in (math.nan, 100.0):
        late = survival_interval(
            Constant(quantile),
            calibration=(X, make_target(event_time, censoring)),
            censoring=censoring,
            coverage=0.7,
            horizon=8.0,
        )
        np.testing.assert_array_equal(late.predict(X[:1]).lower, [2.0])


def test_weights_are_those_of_the_censoring_model() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 1))
    event_time = random.exponential(np.exp(X[:, 0]))
    censoring = random.exponential(np.exp(-X[:, 0]))
    y = make_target(event_time, censoring)
    found = survival_interval(
        Constant(0.3),
        calibration=(X, y),
        censoring=censoring,
        coverage=0.8,
        horizon=0.5,
        censoring_model=LogisticRegression(),
    )
    is_late = censoring >= 0.5
    model = LogisticRegression().fit(X, is_late)
    weight = 1.0 / model.predict_proba(X)[:, 1]
    scores = 0.3 - np.minimum(y["time"][is_late], 0.5)
    new = np.array([[-2.0], [0.0], [2.0]])
    for row, bound in zip(new, found.predict(new).lower, strict=True):
        own = 1.0 / model.predict_proba([row])[0, 1]
        total = weight[is_late].sum() + own
        shares = [(weight[is_late][scores <= v].sum() / total, v) for v in np.sort(scores)]
        shift = min((v for share, v in shares if share >= 0.8), default=math.inf)
        assert bound == pytest.approx(min(max(0.3 - shift, 0.0), 0.5))


@pytest.mark.parametrize("depends", [False, True])
def test_coverage_by_simulation(depends: bool) -> None:
    """The event comes at the bound or later with the nominal probability, for a wrong model."""
    random = np.random.default_rng(1)
    shares: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(60):
        X = random.normal(size=(500, 1))
        event_time = random.exponential(np.exp(X[:, 0]))
        censoring = random.exponential(np.exp(-X[:, 0] if depends else 0.0), size=500)
        new = random.normal(size=(2000, 1))
        new_time = random.exponential(np.exp(new[:, 0]))
        for weighted in (False, True) if depends else (False,):
            found = survival_interval(
                Constant(0.5),
                calibration=(X, make_target(event_time, censoring)),
                censoring=censoring,
                coverage=0.8,
                horizon=0.6,
                censoring_model=TrueProbability() if weighted else None,
            )
            shares[weighted].append(float((new_time >= found.predict(new).lower).mean()))
    means = {weighted: float(np.mean(each)) for weighted, each in shares.items() if each}
    # A standard error is about 0.003.
    if depends:
        assert means[True] == pytest.approx(0.8, abs=0.015)
        assert abs(means[False] - 0.8) > 0.05  # late censoring selects other rows
    else:
        assert means[False] == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize(
    "model",
    [RandomSurvivalForest(n_estimators=20, random_state=0), HistGradientBoostingSurvival()],
)
def test_models_of_the_library_in_frames(model: Any) -> None:
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"x": random.normal(size=500), "group": pd.Categorical(["a", "b"] * 250)})
    event_time = random.exponential(np.exp(frame["x"] + (frame["group"] == "a")))
    censoring = random.uniform(0.5, 3.0, size=500)
    y = make_target(event_time, censoring)
    model.fit(frame[:200], y[:200])
    found = survival_interval(
        model, calibration=(frame[200:400], y[200:400]), censoring=censoring[200:400]
    )
    assert found.horizon == np.median(censoring[200:400])
    lower = found.predict(frame[400:]).lower
    assert ((lower >= 0.0) & (lower <= found.horizon)).all()
    assert np.unique(lower).size > 10
    assert (event_time[400:] >= lower).mean() > 0.8
    assert "coverage" in repr(found)
    assert "lower" in found.predict(frame[400:])._repr_html_()


def test_few_rows_have_no_bound() -> None:
    y = make_target(np.array([1.0, 2.0]), np.array([3.0, 3.0]))
    with pytest.warns(UserWarning, match="at least 9 calibration rows"):
        found = survival_interval(
            Constant(1.0), calibration=(np.zeros((2, 1)), y), censoring=[3.0, 3.0]
        )
    np.testing.assert_array_equal(found.predict(np.zeros((1, 1))).lower, [0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"censoring": [3.0, 3.0]}, "shape"),
        ({"censoring": [3.0, 1.5, 2.0]}, "before its event at 2.0"),
        ({"censoring": [3.0, 3.0, 4.0]}, "the row was censored at 2.0"),
        ({"censoring": [3.0, np.nan, 2.0]}, "row 1"),
        ({"coverage": 1.0}, "coverage"),
        ({"horizon": 0.0}, "horizon"),
        ({"horizon": 5.0}, "later than all censoring times"),
        ({"calibration": (np.zeros((3, 1)), None)}, "y"),
    ],
)
def test_bad_input(options: dict[str, Any], message: str) -> None:
    y = make_target(np.array([1.0, 2.0, 9.0]), np.array([3.0, 3.0, 2.0]))
    arguments: dict[str, Any] = {
        "calibration": (np.zeros((3, 1)), y),
        "censoring": [3.0, 3.0, 2.0],
        **options,
    }
    with pytest.raises((ValueError, TypeError), match=message):
        survival_interval(Constant(1.0), **arguments)


def test_other_models_are_refused() -> None:
    y = make_target(np.array([1.0]), np.array([3.0]))
    with pytest.raises(TypeError, match="predict_quantile"):
        survival_interval(LogisticRegression(), calibration=(np.zeros((1, 1)), y), censoring=[3.0])
    with pytest.raises(TypeError, match="pair"):
        survival_interval(Constant(1.0), calibration=np.zeros((1, 1)), censoring=[3.0])
