"""Gradient boosting."""

from arboleda.boosting._gradient_boosting_classifier import GradientBoostingClassifier
from arboleda.boosting._gradient_boosting_regressor import GradientBoostingRegressor
from arboleda.boosting._hist_gradient_boosting_classifier import HistGradientBoostingClassifier
from arboleda.boosting._hist_gradient_boosting_regressor import HistGradientBoostingRegressor
from arboleda.boosting._round_monitor import BoostingRound
from arboleda.boosting._shape_functions import ShapeFunction, ShapeFunctions

__all__ = [
    "BoostingRound",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "ShapeFunction",
    "ShapeFunctions",
]
