"""scikit-learn's own checks of decisions over a model."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import CostSensitiveClassifier, DecisionTreeClassifier, RejectOptionClassifier

_MODEL = DecisionTreeClassifier(max_depth=3)


def _expected_failures(estimator: Any) -> dict[str, str]:
    if getattr(estimator, "target_coverage", None) is not None:
        return {"check_classifiers_train": "some rows are rejected"}
    return {}


@parametrize_with_checks(
    [
        CostSensitiveClassifier(_MODEL),
        CostSensitiveClassifier(_MODEL, method="threshold", cv=3),
        RejectOptionClassifier(_MODEL, target_coverage=0.9, cv=3, reject_label=99),
    ],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
