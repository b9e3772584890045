"""scikit-learn's own checks of the forests; every failure that is expected has its reason."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

# Few trees: the checks fit a thousand times.
_CONFIGURATIONS = [
    RandomForestClassifier(10),
    RandomForestClassifier(7, bootstrap="balanced", voting="laplace", n_jobs=2),
    RandomForestClassifier(7, voting="hard", class_weight="balanced_subsample", ccp_alpha=0.01),
    RandomForestRegressor(10),
    RandomForestRegressor(7, max_features=1 / 3, max_samples=0.7, keep_rows=True, n_jobs=2),
    RandomForestRegressor(5, criterion="absolute_error"),
    ExtraTreesClassifier(10),
    ExtraTreesClassifier(7, bootstrap=True, max_leaf_nodes=6, criterion="entropy"),
    ExtraTreesRegressor(10),
    ExtraTreesRegressor(7, criterion="poisson", min_weight_fraction_leaf=0.05),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    failures = {}
    if estimator.criterion == "poisson":
        failures["check_regressor_multioutput"] = "its targets are negative, whatever the tags say"
    if estimator.bootstrap:
        reason = "a row written twice is drawn twice as often, a row of weight 2 counts twice"
        for kind in ("dense", "sparse"):
            failures[f"check_sample_weight_equivalence_on_{kind}_data"] = reason
    return failures


@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
