"""scikit-learn's own checks of Bayesian networks."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import BayesianNetworkClassifier

_CONFIGURATIONS = [
    BayesianNetworkClassifier(),
    BayesianNetworkClassifier("naive", alpha=0.0),
    BayesianNetworkClassifier("tan"),
    BayesianNetworkClassifier(n_bins=5, alpha=0.5),
]


@parametrize_with_checks(_CONFIGURATIONS)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
