"""scikit-learn's own checks where posteriors are calibrated, which fits many models, and others."""

from collections.abc import Callable
from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import CostSensitiveClassifier, RejectOptionClassifier

_MODEL = LogisticRegression()


@pytest.mark.slow
@parametrize_with_checks(
    [
        CostSensitiveClassifier(_MODEL, calibration="sigmoid", cv=3),
        RejectOptionClassifier(_MODEL, threshold=0.3, reject_label=99),
    ]
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
