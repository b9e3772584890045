"""scikit-learn's own checks of an estimator; every failure that is expected has its reason."""

from collections.abc import Callable
from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)

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
    DecisionTreeRegressor(criterion="absolute_error"),
    DecisionTreeRegressor(criterion="poisson", max_leaf_nodes=9),
    PrunedTreeClassifier(),
    PrunedTreeClassifier(rule="min", cv=3, n_jobs=2),
    PrunedTreeClassifier(pruning="reduced_error"),
    PrunedTreeClassifier(pruning="validation"),
    PrunedTreeRegressor(),
    PrunedTreeRegressor(criterion="absolute_error", pruning="reduced_error"),
    PrunedTreeRegressor(pruning="validation"),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    if getattr(estimator, "criterion", None) == "poisson":
        return {"check_regressor_multioutput": "its targets are negative, whatever the tags say"}
    if getattr(estimator, "pruning", "cost_complexity") == "cost_complexity":
        return {}
    reason = (
        "whole rows are set aside: of a row written twice one copy may be, of a row of weight 2 "
        "both or neither"
    )
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


@parametrize_with_checks(
    _CONFIGURATIONS, expected_failed_checks=expected_failures, xfail_strict=True
)
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
