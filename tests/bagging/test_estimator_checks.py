"""scikit-learn's own checks of an estimator; every failure that is expected has its reason."""

from collections.abc import Callable
from typing import Any

from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)

_CONFIGURATIONS = [
    BaggingClassifier(n_estimators=5),
    BaggingClassifier(n_estimators=4, voting="hard", max_features=0.5, max_samples=0.8),
    BaggingRegressor(n_estimators=5),
    BaggingRegressor(KNeighborsRegressor(), n_estimators=3, random_state=0),
    RandomSubspaceClassifier(n_estimators=5),
    RandomSubspaceRegressor(n_estimators=5, random_n_features=True),
    ClassSwitchingClassifier(n_estimators=15),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, RandomSubspaceClassifier | RandomSubspaceRegressor):
        return {}
    reason = "another number of rows, or other rows, is another draw: alike on average alone"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
