"""Ensembles of any estimator: bagging, random subspaces, class switching."""

from arboleda._out_of_bag import OobCurve
from arboleda.bagging._bagging_classifier import BaggingClassifier
from arboleda.bagging._bagging_regressor import BaggingRegressor
from arboleda.bagging._class_switching_classifier import ClassSwitchingClassifier
from arboleda.bagging._pasting_classifier import PastingClassifier
from arboleda.bagging._pasting_regressor import PastingRegressor
from arboleda.bagging._random_patches_classifier import RandomPatchesClassifier
from arboleda.bagging._random_patches_regressor import RandomPatchesRegressor
from arboleda.bagging._random_subspace_classifier import RandomSubspaceClassifier
from arboleda.bagging._random_subspace_regressor import RandomSubspaceRegressor

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "ClassSwitchingClassifier",
    "OobCurve",
    "PastingClassifier",
    "PastingRegressor",
    "RandomPatchesClassifier",
    "RandomPatchesRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
]
