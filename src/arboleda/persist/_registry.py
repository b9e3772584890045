"""Registry of the classes that model files may refer to."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arboleda._errors import ModelFormatError

# Imported on first use, because the estimators depend on this package.
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


def get_class_name(model: object) -> str:
    """Return the name of a model's class in files.

    Raises
    ------
    TypeError
        If it is not a class of this library, for example a subclass of one.
    """
    name = type(model).__name__
    if name not in _MODULES or find_class(name) is not type(model):
        raise TypeError(
            f"{type(model).__module__}.{name} cannot be saved: model files support the classes of "
            "arboleda, not their subclasses"
        )
    return name


def find_class(name: object) -> Any:
    """Return the class of a name.

    Raises
    ------
    ModelFormatError
        If the name is not registered.
    """
    if not isinstance(name, str) or name not in _MODULES:
        raise ModelFormatError("the header names a class that is unknown to this version")
    return getattr(import_module(_MODULES[name]), name)
