"""Forests of randomised trees."""

from arboleda._out_of_bag import OobCurve
from arboleda.forest._balanced_random_forest_classifier import BalancedRandomForestClassifier
from arboleda.forest._extra_trees_classifier import ExtraTreesClassifier
from arboleda.forest._extra_trees_regressor import ExtraTreesRegressor
from arboleda.forest._permutation_importance import PermutationImportance
from arboleda.forest._quantile_regression_forest import QuantileRegressionForest
from arboleda.forest._random_forest_classifier import RandomForestClassifier
from arboleda.forest._random_forest_regressor import RandomForestRegressor

__all__ = [
    "BalancedRandomForestClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "OobCurve",
    "PermutationImportance",
    "QuantileRegressionForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
