"""scikit-learn's own checks of AdaBoost; every failure that is expected has its reason."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import AdaBoostClassifier

_CONFIGURATIONS = [
    AdaBoostClassifier(n_estimators=5),
    AdaBoostClassifier(n_estimators=5, algorithm="discrete", learning_rate=0.5),
    AdaBoostClassifier(n_estimators=4, algorithm="MR", weight_trimming=0.05),
    AdaBoostClassifier(n_estimators=3, algorithm="gentle"),
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=3, algorithm="M1"),
    AdaBoostClassifier(LogisticRegression(), n_estimators=2, algorithm="MH"),
    AdaBoostClassifier(KNeighborsClassifier(), n_estimators=2, algorithm="M2", random_state=0),
    AdaBoostClassifier(Ridge(), n_estimators=3, algorithm="logit"),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    if not isinstance(estimator.estimator, KNeighborsClassifier):
        return {}
    reason = "rows are drawn by weight: another number of rows is another draw"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@pytest.mark.filterwarnings("ignore:boosting ended after")
@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
