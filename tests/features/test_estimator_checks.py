"""scikit-learn's own checks of the selectors."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    AnnealingSelector,
    DecisionTreeClassifier,
    ForestSelector,
    GeneticSelector,
    JMISelector,
    MRMRSelector,
    RandomForestClassifier,
)

_TREE = DecisionTreeClassifier(max_depth=2, random_state=0)

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
    GeneticSelector(_TREE, population_size=3, n_generations=1, cv=2, random_state=0),
    AnnealingSelector(_TREE, n_iter=2, cv=2, random_state=0),
]


@parametrize_with_checks(_CONFIGURATIONS)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
