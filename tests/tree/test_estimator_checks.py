"""scikit-learn's own checks of an estimator, with no failure expected."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

# Leaves are limited by weight or impurity, not by min_samples_leaf: that one counts rows, so a row
# of weight 2 is not two rows, by definition.
_CONFIGURATIONS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(max_leaf_nodes=6),
    DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=0.05),
    DecisionTreeClassifier(criterion="misclassification", min_impurity_decrease=0.001, n_jobs=2),
    DecisionTreeClassifier(max_features="sqrt", random_state=3),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(max_leaf_nodes=6),
    DecisionTreeRegressor(min_weight_fraction_leaf=0.05, n_jobs=2),
    DecisionTreeRegressor(max_features="sqrt", random_state=3),
]


@parametrize_with_checks(_CONFIGURATIONS, xfail_strict=True)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
