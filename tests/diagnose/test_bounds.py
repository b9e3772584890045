"""Bounds of the test error of boosted votes: worked numbers, limits, and what is refused."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from arboleda import AdaBoostClassifier
from arboleda.diagnose import margin_bound, vc_bound


def test_bounds_match_worked_numbers() -> None:
    # sqrt(3 * 12 / 400) = 0.3
    assert vc_bound(0.05, n_samples=400, n_rounds=12, vc_dimension=3) == pytest.approx(0.35)
    # log(e^2) = 2, so the first term of the root is 1 * 4 / 0.25 = 16; log(1 / e^-9) = 9.
    n = 1000
    found = margin_bound(0.1, theta=0.5, n_samples=n, vc_dimension=1, delta=math.exp(-9))
    assert found == pytest.approx(0.1 + math.sqrt((4 * math.log(n) ** 2 + 9) / n))
    assert margin_bound(
        0.0, theta=1.0, n_samples=7, vc_dimension=7, delta=math.exp(-7)
    ) == pytest.approx(1.0)


def test_bounds_move_in_the_documented_directions() -> None:
    usual: dict[str, Any] = {"n_samples": 500, "n_rounds": 20, "vc_dimension": 2}
    base = vc_bound(0.1, **usual)
    assert vc_bound(0.2, **usual) == pytest.approx(base + 0.1)
    assert vc_bound(0.1, **usual | {"n_rounds": 21}) > base
    assert vc_bound(0.1, **usual | {"vc_dimension": 3}) > base
    assert vc_bound(0.1, **usual | {"n_samples": 501}) < base
    usual = {"theta": 0.2, "n_samples": 500, "vc_dimension": 2, "delta": 0.05}
    base = margin_bound(0.1, **usual)
    assert margin_bound(0.1, **usual | {"theta": 0.3}) < base
    assert margin_bound(0.1, **usual | {"delta": 0.01}) > base
    assert margin_bound(0.1, **usual | {"vc_dimension": 3}) > base
    assert margin_bound(0.1, **usual | {"n_samples": 5000}) < base
    assert margin_bound(0.1, **usual | {"n_samples": 10**15}) == pytest.approx(0.1, abs=1e-4)


def test_more_rounds_raise_only_the_vc_bound() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(algorithm="discrete", n_estimators=200, random_state=0).fit(X, y)
    margins = list(model.staged_margins(X, y))
    sizes: dict[str, Any] = {"n_samples": len(y), "vc_dimension": 2}
    few, many = (
        (
            vc_bound(float(np.mean(margins[t - 1] <= 0)), n_rounds=t, **sizes),
            margin_bound(float(np.mean(margins[t - 1] <= 0.1)), theta=0.1, **sizes),
        )
        for t in (20, 200)
    )
    assert many[0] > few[0]
    assert many[1] < few[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: vc_bound(1.5, n_samples=9, n_rounds=1, vc_dimension=1), "from 0 to 1, got 1.5"),
        (lambda: vc_bound(0, n_samples=0, n_rounds=1, vc_dimension=1), "n_samples must be a posi"),
        (lambda: vc_bound(0, n_samples=9, n_rounds=1.5, vc_dimension=1), "n_rounds .* got 1.5"),
        (lambda: margin_bound(0, theta=0, n_samples=9, vc_dimension=1), "theta .* got 0"),
        (lambda: margin_bound(0, theta=1, n_samples=9, vc_dimension=10), ">= vc_dimension=10"),
        (lambda: margin_bound(0, theta=1, n_samples=9, vc_dimension=1, delta=1), "delta .* got 1"),
        (lambda: margin_bound(float("nan"), theta=1, n_samples=9, vc_dimension=1), "got nan"),
    ],
)
def test_invalid_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
