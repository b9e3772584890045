"""scikit-learn's own checks, with its numbers as times; every expected failure has its reason."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.survival.times import (
    BoosterOfNumbers,
    ExtraTreesOfNumbers,
    ForestOfNumbers,
    TreeOfNumbers,
)

_QUICK = {"max_iter": 5, "min_samples_leaf": 1, "n_jobs": 1}
_CONFIGURATIONS = [
    TreeOfNumbers(min_samples_split=2, min_samples_leaf=1),
    ForestOfNumbers(5, min_samples_split=2, min_samples_leaf=1),
    ExtraTreesOfNumbers(5, criterion="logrank_score", min_samples_split=2, min_samples_leaf=1),
    BoosterOfNumbers(ties="breslow", **_QUICK),
    BoosterOfNumbers("aft", **_QUICK),
    BoosterOfNumbers("discrete_time", periods=3, **_QUICK),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    failures = {"check_dtype_object": "labels are no times: the message says what y must be"}
    if getattr(estimator, "bootstrap", False):
        reason = "a row written twice is drawn twice as often, a row of weight 2 counts twice"
        for kind in ("dense", "sparse"):
            failures[f"check_sample_weight_equivalence_on_{kind}_data"] = reason
    return failures


@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
