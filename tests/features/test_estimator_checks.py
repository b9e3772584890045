"""scikit-learn's own checks of the selectors."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import ForestSelector, JMISelector, MRMRSelector, RandomForestClassifier

_CONFIGURATIONS = [
    MRMRSelector(),
    MRMRSelector(2, preselect=1.0),
    MRMRSelector(2, scheme="quotient", n_bins=3),
    MRMRSelector(2, continuous="neighbors", random_state=0),
    JMISelector(),
    JMISelector(2, continuous="neighbors", random_state=0),
    # At any other level nothing is selected of the checks that give noise.
    ForestSelector(n_permutations=1, alpha=1.0),
    ForestSelector(RandomForestClassifier(3), n_permutations=2, alpha=1.0, mode="fpr"),
]


@parametrize_with_checks(_CONFIGURATIONS)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
