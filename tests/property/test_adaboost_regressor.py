"""AdaBoost.R on random problems: its theorem, whatever the table, the weights and the members."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from tests.property.strategies import checked

from arboleda import AdaBoostRegressor, DecisionTreeRegressor

MEMBERS = st.one_of(
    st.builds(DecisionTreeRegressor, max_depth=st.integers(1, 4)),
    st.builds(DecisionTreeRegressor, max_leaf_nodes=st.integers(2, 6)),
    st.builds(Ridge, alpha=st.floats(0.01, 10)),
    st.just(KNeighborsRegressor(2)),
)


@pytest.mark.filterwarnings("ignore:the error of the first:UserWarning")
@checked
@given(
    seed=st.integers(0, 2**31 - 1),
    n_rows=st.integers(4, 40),
    n_values=st.sampled_from([2, 3, 1000]),
    scale=st.sampled_from([1e-6, 1.0, 1e9]),
    learning_rate=st.sampled_from([1.0, 0.5, 0.1, 1.5]),
    member=MEMBERS,
    weighted=st.booleans(),
)
def test_the_training_error_is_within_its_bound(
    seed: int,
    n_rows: int,
    n_values: int,
    scale: float,
    learning_rate: float,
    member: Any,
    weighted: bool,
) -> None:
    random = np.random.default_rng(seed)
    X = random.integers(0, 10, (n_rows, 3)).astype(float)
    y = scale * (random.integers(0, n_values, n_rows) + 5.0)
    weight = random.integers(1, 4, n_rows) if weighted else np.ones(n_rows)
    model = AdaBoostRegressor(
        member, algorithm="R", n_estimators=12, learning_rate=learning_rate, random_state=seed
    )
    model.fit(X, y, weight)
    bounds = model.training_error_bound_
    stages = model.staged_predict(X)
    for bound, stage in zip(bounds, stages, strict=True):
        assert np.average((stage - y) ** 2, weights=weight) <= bound * (1 + 1e-9)
    if learning_rate == 1.0 and (model.estimator_errors_ > 1e-12).all():
        errors = model.estimator_errors_
        share = (y - y.min()) / (np.ptp(y) or 1.0)
        two_z = np.average(share**2 + (1 - share) ** 2, weights=weight)
        factors = np.cumprod(2 * np.sqrt(errors * (1 - errors)))
        np.testing.assert_allclose(bounds, np.ptp(y) ** 2 * two_z * factors)
        # Theorem 2.3 of the thesis: exp(-2 sum of squared edges) is no smaller.
        assert (factors <= np.exp(-2 * np.cumsum((0.5 - errors) ** 2)) * (1 + 1e-12)).all()


@checked
@given(seed=st.integers(0, 2**31 - 1), scale=st.sampled_from([0.25, 8.0]))
def test_targets_in_another_unit_give_the_same_rounds(seed: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(30, 2)), random.integers(0, 20, 30).astype(float)
    one, other = (
        AdaBoostRegressor(algorithm="R", n_estimators=6, random_state=0).fit(X, y * unit)
        for unit in (1.0, scale)
    )
    np.testing.assert_allclose(other.predict(X), scale * one.predict(X), rtol=1e-12)
    np.testing.assert_allclose(other.estimator_errors_, one.estimator_errors_, rtol=1e-9)
