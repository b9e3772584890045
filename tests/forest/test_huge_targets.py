"""Targets near the float64 limits: the prediction for scaled ones, or a clear error."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsRegressor

from arboleda import (
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)

pytestmark = pytest.mark.filterwarnings("error")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
# Powers of two scale without rounding.
y = np.sign(X[:, 1]) * RNG.integers(1, 9, 40)
N = 16
MEANS = [
    RandomForestRegressor(N, keep_rows=True, random_state=0),
    RandomForestRegressor(N, criterion="absolute_error", random_state=0),
    ExtraTreesRegressor(N, random_state=0),
    BaggingRegressor(n_estimators=N, random_state=0),
    BaggingRegressor(KNeighborsRegressor(1), n_estimators=N, random_state=0),
    RandomSubspaceRegressor(n_estimators=N, max_features=1, random_state=0),
]
SCORED = [
    RandomForestRegressor(N, oob_score=True, random_state=0),
    BaggingRegressor(n_estimators=N, oob_score=True, random_state=0),
]


def scaled(exponent: int) -> Any:
    return np.ldexp(y, exponent)


@pytest.mark.parametrize("exponent", [-900, 900, 1020])
def test_a_tree_predicts_like_one_of_scaled_targets(exponent: int) -> None:
    plain = DecisionTreeRegressor(max_depth=2).fit(X, y)
    tree = DecisionTreeRegressor(max_depth=2).fit(X, scaled(exponent))
    np.testing.assert_array_equal(tree.predict(X), np.ldexp(plain.predict(X), exponent))


@pytest.mark.parametrize("exponent", [-900, 900, 1016])  # 2^1016 * 8 * 16 is 2^1023
@pytest.mark.parametrize("model", MEANS, ids=str)
def test_means_match_those_of_scaled_targets(model: Any, exponent: int) -> None:
    plain = clone(model).fit(X, y).predict(X)
    found = clone(model).fit(X, scaled(exponent)).predict(X)
    np.testing.assert_allclose(np.ldexp(found, -exponent), plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("model", MEANS, ids=str)
def test_sums_beyond_float64_are_refused(model: Any, several: bool) -> None:
    large = scaled(1020) / 8
    target = np.column_stack([y, large]) if several else large
    row = int(np.abs(large).argmax())
    message = rf"y is {large[row]} in row {row}: the sum of 16 such predictions.*multiply it by"
    fitted = clone(model).fit(X, y)
    before = fitted.predict(X)
    with pytest.raises(ValueError, match=message.replace("+", r"\+")):
        fitted.fit(X, target)
    np.testing.assert_array_equal(fitted.predict(X), before)


@pytest.mark.parametrize("model", MEANS[:4], ids=str)
def test_rows_of_weight_0_can_have_any_target(model: Any) -> None:
    target, weight = y.copy(), np.ones(40)
    target[7], weight[7] = 1.7e308, 0.0
    fitted = clone(model).fit(X, target, weight)
    assert np.abs(fitted.predict(X)).max() <= 8


@pytest.mark.parametrize("exponent", [-600, 600])
@pytest.mark.parametrize("model", SCORED, ids=str)
def test_errors_whose_squares_exceed_float64_are_refused(model: Any, exponent: int) -> None:
    target = scaled(exponent)
    with pytest.raises(
        ValueError, match="squared differences of y overflow or underflow float64: multiply it by"
    ):
        clone(model).fit(X, target)
    unscored = clone(model).set_params(oob_score=False).fit(X, target)
    if isinstance(unscored, RandomForestRegressor):
        for ask in (unscored.oob_curve, unscored.oob_permutation_importance):
            with pytest.raises(
                ValueError, match="squared differences of y overflow or underflow float64"
            ):
                ask(X, target)
    # A constant has no differences, however large.
    constant = clone(model).fit(X, np.full(40, float(target[0])))
    np.testing.assert_array_equal(constant.oob_prediction_, target[0])


@pytest.mark.parametrize("model", SCORED, ids=str)
def test_scores_do_not_depend_on_the_scale(model: Any) -> None:
    model = clone(model).set_params(n_estimators=60)
    plain = clone(model).fit(X, y).oob_score_
    for exponent in (-400, 400):
        assert clone(model).fit(X, scaled(exponent)).oob_score_ == pytest.approx(plain, rel=1e-9)
