"""The classes that a model file may name, and where they are. A file adds nothing to them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arboleda._errors import ModelFormatError

# Imported when first asked for: the estimators stand on this part.
_MODULES = {
    "AdaBoostClassifier": "arboleda.adaboost",
    "AdaBoostM1": "arboleda.adaboost",
    "AdaBoostM2": "arboleda.adaboost",
    "AdaBoostMH": "arboleda.adaboost",
    "AdaBoostMR": "arboleda.adaboost",
    "AdaBoostR": "arboleda.adaboost",
    "AdaBoostR2": "arboleda.adaboost",
    "AdaBoostRegressor": "arboleda.adaboost",
    "BARTClassifier": "arboleda.bart",
    "BARTRegressor": "arboleda.bart",
    "BaggingClassifier": "arboleda.bagging",
    "BaggingRegressor": "arboleda.bagging",
    "BalancedRandomForestClassifier": "arboleda.forest",
    "BayesianModelAveragingClassifier": "arboleda.combine",
    "BayesianModelAveragingRegressor": "arboleda.combine",
    "ClassSwitchingClassifier": "arboleda.bagging",
    "DecisionTreeClassifier": "arboleda.tree",
    "DecisionTreeRegressor": "arboleda.tree",
    "EnsembleSelectionClassifier": "arboleda.combine",
    "EnsembleSelectionRegressor": "arboleda.combine",
    "ExtraTreesClassifier": "arboleda.forest",
    "ExtraTreesRegressor": "arboleda.forest",
    "GentleBoost": "arboleda.adaboost",
    "GradientBoostingClassifier": "arboleda.boosting",
    "GradientBoostingRegressor": "arboleda.boosting",
    "HistGradientBoostingClassifier": "arboleda.boosting",
    "HistGradientBoostingRegressor": "arboleda.boosting",
    "LogitBoost": "arboleda.adaboost",
    "MajorityVoteWithReject": "arboleda.combine",
    "MedianRule": "arboleda.combine",
    "NaiveBayesCombiner": "arboleda.combine",
    "PastingClassifier": "arboleda.bagging",
    "PastingRegressor": "arboleda.bagging",
    "ProductRule": "arboleda.combine",
    "PrunedTreeClassifier": "arboleda.tree",
    "PrunedTreeRegressor": "arboleda.tree",
    "QuantileRegressionForest": "arboleda.forest",
    "RandomForestClassifier": "arboleda.forest",
    "RandomForestRegressor": "arboleda.forest",
    "RandomPatchesClassifier": "arboleda.bagging",
    "RandomPatchesRegressor": "arboleda.bagging",
    "RandomSubspaceClassifier": "arboleda.bagging",
    "RandomSubspaceRegressor": "arboleda.bagging",
    "RealAdaBoost": "arboleda.adaboost",
    "SAMME": "arboleda.adaboost",
    "StackingClassifier": "arboleda.combine",
    "StackingRegressor": "arboleda.combine",
    "VotingClassifier": "arboleda.combine",
    "VotingRegressor": "arboleda.combine",
    "WeightedMajorityVote": "arboleda.combine",
}


def class_name(model: object) -> str:
    """Name that a model's class has in files.

    Raises
    ------
    TypeError
        If it is none of our classes, but, for one, derived from them.
    """
    name = type(model).__name__
    if name not in _MODULES or class_named(name) is not type(model):
        raise TypeError(
            f"{type(model).__module__}.{name} cannot be saved: a model file holds the classes of "
            "arboleda, not those derived from them"
        )
    return name


def class_named(name: object) -> Any:
    """Class of that name.

    Raises
    ------
    ModelFormatError
        If a file may not name it.
    """
    if not isinstance(name, str) or name not in _MODULES:
        raise ModelFormatError("the header names a class that this version does not have")
    return getattr(import_module(_MODULES[name]), name)
