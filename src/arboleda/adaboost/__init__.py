"""AdaBoost and its family."""

from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._adaboost_regressor import AdaBoostRegressor

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor"]
