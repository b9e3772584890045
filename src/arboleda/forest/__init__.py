"""Forests of randomised trees.

``_random_forest``, ``_extra_trees``, ``_balanced_random_forest_classifier`` and
``_quantile_regression_forest`` hold the estimators; ``_base_forest`` holds `fit`, and
``_forest_model`` what a fitted forest computes. ``_out_of_bag``, ``_neighborhood`` and
``_proximity`` are what forests offer beyond predictions. ``_isolation_forest`` stands alone.
"""

from arboleda._base.held_out import OobCurve
from arboleda.forest._balanced_random_forest_classifier import BalancedRandomForestClassifier
from arboleda.forest._base_forest import BaseForest as BaseForest
from arboleda.forest._extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from arboleda.forest._forest_model import ForestModel as ForestModel
from arboleda.forest._isolation_forest import IsolationForest
from arboleda.forest._out_of_bag import PermutationImportance
from arboleda.forest._quantile_regression_forest import QuantileRegressionForest
from arboleda.forest._random_forest import RandomForestClassifier, RandomForestRegressor

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = [
    "BalancedRandomForestClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "IsolationForest",
    "OobCurve",
    "PermutationImportance",
    "QuantileRegressionForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
