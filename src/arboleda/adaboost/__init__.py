"""AdaBoost and its family."""

from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._adaboost_regressor import AdaBoostRegressor
from arboleda.adaboost._schapire_boosting_classifier import SchapireBoostingClassifier

__all__ = ["AdaBoostClassifier", "AdaBoostRegressor", "SchapireBoostingClassifier"]
