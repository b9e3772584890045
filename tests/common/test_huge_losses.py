"""Losses of values near the end of float64 are right numbers, or errors that state the remedy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arboleda import (
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    bootstrap_error,
    diagnose,
    explain,
    metrics,
)

X = np.random.default_rng(0).random((200, 2))
Y = 2.0 * (X[:, 0] - 0.5)
TREE = DecisionTreeRegressor(max_depth=2)
FOREST = RandomForestRegressor(3, random_state=0)


def test_metrics_of_huge_numbers_are_those_of_small_ones() -> None:
    """Errors scale with the unit, and shares do not depend on it."""
    guess = 0.9 * Y
    small = metrics.regression_table(Y, guess).metrics
    huge = metrics.regression_table(Y * 2.0**1015, guess * 2.0**1015).metrics
    assert huge["mse"] is None
    for name in ("rmse", "mae"):
        assert huge[name] == pytest.approx(small[name] * 2.0**1015, rel=1e-12)
    for name in ("r2", "nmse", "mape"):
        assert huge[name] == pytest.approx(small[name], rel=1e-12)


def test_a_comparison_does_not_square_squared_errors() -> None:
    """Squared errors of 1e140 are numbers; the squares of their differences would not be."""
    small = diagnose.compare({"tree": TREE, "forest": FOREST}, X, Y, cv=3)
    large = diagnose.compare({"tree": TREE, "forest": FOREST}, X, Y * 2.0**465, cv=3)
    np.testing.assert_allclose(large.p_value, small.p_value, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e200, 1e306])
@pytest.mark.parametrize(
    "compute",
    [
        lambda y: HistGradientBoostingRegressor(early_stopping=True).fit(X, y),
        lambda y: GradientBoostingRegressor(n_iter_no_change=2).fit(X, y),
        lambda y: diagnose.compare({"tree": TREE, "forest": FOREST}, X, y, cv=3),
        lambda y: diagnose.learning_curve(TREE, X, y, cv=3, train_sizes=[50]),
        lambda y: diagnose.bias_variance([("tree", TREE)], X, y, X, y, n_sets=2, random_state=0),
        lambda y: bootstrap_error(TREE, X, y, n_splits=20, random_state=0),
        lambda y: explain.importance(FOREST.fit(X, y), X, y, random_state=0),
    ],
    ids=["hist", "exact", "compare", "learning", "bias", "bootstrap", "importance"],
)
def test_losses_that_overflow_are_errors(compute: Callable[[Any], Any], scale: float) -> None:
    """Boosting used to fail with an empty argmax, or to keep no tree."""
    with pytest.raises(ValueError, match="divide y by a constant"):
        compute(Y * scale)
