"""scikit-learn's own checks of boosted regressors; expected failures have their reason."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import AdaBoostRegressor

_CONFIGURATIONS = [
    AdaBoostRegressor(n_estimators=5),
    AdaBoostRegressor(algorithm="R", n_estimators=5),
    AdaBoostRegressor(Ridge(), algorithm="R", n_estimators=3),
    AdaBoostRegressor(KNeighborsRegressor(), n_estimators=3),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    if estimator.algorithm == "R":
        return {}
    reason = "another number of rows is another draw: alike on average alone"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@pytest.mark.filterwarnings("ignore:the error of the first:UserWarning")
@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
