"""Ensemble learning on tables: every textbook method over one native engine.

Public names are loaded when first used, so that ``import arboleda`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
_PUBLIC = {
    "AdaBoostClassifier": "arboleda.adaboost",
    "AdaBoostRegressor": "arboleda.adaboost",
    "BARTClassifier": "arboleda.bart",
    "BARTRegressor": "arboleda.bart",
    "BaggingClassifier": "arboleda.bagging",
    "BaggingRegressor": "arboleda.bagging",
    "BayesianModelAveragingClassifier": "arboleda.combine",
    "BayesianModelAveragingRegressor": "arboleda.combine",
    "BayesianNetworkClassifier": "arboleda.learners",
    "ClassSwitchingClassifier": "arboleda.bagging",
    "CostSensitiveClassifier": "arboleda.decide",
    "DecisionTreeClassifier": "arboleda.tree",
    "DecisionTreeRegressor": "arboleda.tree",
    "DiagonalLDA": "arboleda.learners",
    "DirectedGraph": "arboleda.learners",
    "DynamicSelectionClassifier": "arboleda.combine",
    "DynamicSelectionRegressor": "arboleda.combine",
    "EnsembleSelectionClassifier": "arboleda.combine",
    "EnsembleSelectionRegressor": "arboleda.combine",
    "ExtraTreesClassifier": "arboleda.forest",
    "ExtraTreesRegressor": "arboleda.forest",
    "ForestSelector": "arboleda.features",
    "GradientBoostingClassifier": "arboleda.boosting",
    "GradientBoostingRegressor": "arboleda.boosting",
    "HistGradientBoostingClassifier": "arboleda.boosting",
    "HistGradientBoostingRegressor": "arboleda.boosting",
    "JMISelector": "arboleda.features",
    "MRMRSelector": "arboleda.features",
    "KernelDensityClassifier": "arboleda.learners",
    "MixedNaiveBayes": "arboleda.learners",
    "ModelFormatError": "arboleda._errors",
    "NearestShrunkenCentroids": "arboleda.learners",
    "Predictor": "arboleda._predictor",
    "PrunedTreeClassifier": "arboleda.tree",
    "PrunedTreeRegressor": "arboleda.tree",
    "RandomForestClassifier": "arboleda.forest",
    "RandomForestRegressor": "arboleda.forest",
    "RandomSubspaceClassifier": "arboleda.bagging",
    "RandomSubspaceRegressor": "arboleda.bagging",
    "RegularizedDiscriminantAnalysis": "arboleda.learners",
    "RejectOptionClassifier": "arboleda.decide",
    "SchapireBoostingClassifier": "arboleda.adaboost",
    "StackingClassifier": "arboleda.combine",
    "StackingRegressor": "arboleda.combine",
    "Study": "arboleda.study",
    "VotingClassifier": "arboleda.combine",
    "VotingRegressor": "arboleda.combine",
    "export_c": "arboleda.c_export",
    "export_graphviz": "arboleda.tree",
    "export_onnx": "arboleda.onnx_export",
    "export_text": "arboleda.tree",
    "from_lightgbm": "arboleda.interchange",
    "from_sklearn": "arboleda.interchange",
    "from_xgboost": "arboleda.interchange",
    "load": "arboleda.persist",
    "plot_tree": "arboleda.tree",
    "predict_file": "arboleda.study",
    "to_c": "arboleda.c_export",
    "to_onnx": "arboleda.onnx_export",
}
_MODULES = {
    "combine",
    "comparisons",
    "datasets",
    "decide",
    "diagnose",
    "explain",
    "explanations",
    "explore",
    "metrics",
    "model_selection",
    "persist",
    "plot",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BARTClassifier",
    "BARTRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "BayesianNetworkClassifier",
    "ClassSwitchingClassifier",
    "CostSensitiveClassifier",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DiagonalLDA",
    "DirectedGraph",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ForestSelector",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "JMISelector",
    "KernelDensityClassifier",
    "MRMRSelector",
    "MixedNaiveBayes",
    "ModelFormatError",
    "NearestShrunkenCentroids",
    "Predictor",
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RegularizedDiscriminantAnalysis",
    "RejectOptionClassifier",
    "SchapireBoostingClassifier",
    "StackingClassifier",
    "StackingRegressor",
    "Study",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "combine",
    "comparisons",
    "datasets",
    "decide",
    "diagnose",
    "explain",
    "explanations",
    "explore",
    "export_c",
    "export_graphviz",
    "export_onnx",
    "export_text",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "load",
    "metrics",
    "model_selection",
    "persist",
    "plot",
    "plot_tree",
    "predict_file",
    "to_c",
    "to_onnx",
]

if TYPE_CHECKING:
    from arboleda import combine as combine
    from arboleda import comparisons as comparisons
    from arboleda import datasets as datasets
    from arboleda import decide as decide
    from arboleda import diagnose as diagnose
    from arboleda import explain as explain
    from arboleda import explanations as explanations
    from arboleda import explore as explore
    from arboleda import metrics as metrics
    from arboleda import model_selection as model_selection
    from arboleda import persist as persist
    from arboleda import plot as plot
    from arboleda._errors import ModelFormatError as ModelFormatError
    from arboleda._predictor import Predictor as Predictor
    from arboleda.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from arboleda.adaboost import AdaBoostRegressor as AdaBoostRegressor
    from arboleda.adaboost import SchapireBoostingClassifier as SchapireBoostingClassifier
    from arboleda.bagging import BaggingClassifier as BaggingClassifier
    from arboleda.bagging import BaggingRegressor as BaggingRegressor
    from arboleda.bagging import ClassSwitchingClassifier as ClassSwitchingClassifier
    from arboleda.bagging import RandomSubspaceClassifier as RandomSubspaceClassifier
    from arboleda.bagging import RandomSubspaceRegressor as RandomSubspaceRegressor
    from arboleda.bart import BARTClassifier as BARTClassifier
    from arboleda.bart import BARTRegressor as BARTRegressor
    from arboleda.boosting import GradientBoostingClassifier as GradientBoostingClassifier
    from arboleda.boosting import GradientBoostingRegressor as GradientBoostingRegressor
    from arboleda.boosting import HistGradientBoostingClassifier as HistGradientBoostingClassifier
    from arboleda.boosting import HistGradientBoostingRegressor as HistGradientBoostingRegressor
    from arboleda.c_export import export_c as export_c
    from arboleda.c_export import to_c as to_c
    from arboleda.combine import (
        BayesianModelAveragingClassifier as BayesianModelAveragingClassifier,
    )
    from arboleda.combine import BayesianModelAveragingRegressor as BayesianModelAveragingRegressor
    from arboleda.combine import DynamicSelectionClassifier as DynamicSelectionClassifier
    from arboleda.combine import DynamicSelectionRegressor as DynamicSelectionRegressor
    from arboleda.combine import EnsembleSelectionClassifier as EnsembleSelectionClassifier
    from arboleda.combine import EnsembleSelectionRegressor as EnsembleSelectionRegressor
    from arboleda.combine import StackingClassifier as StackingClassifier
    from arboleda.combine import StackingRegressor as StackingRegressor
    from arboleda.combine import VotingClassifier as VotingClassifier
    from arboleda.combine import VotingRegressor as VotingRegressor
    from arboleda.decide import CostSensitiveClassifier as CostSensitiveClassifier
    from arboleda.decide import RejectOptionClassifier as RejectOptionClassifier
    from arboleda.features import ForestSelector as ForestSelector
    from arboleda.features import JMISelector as JMISelector
    from arboleda.features import MRMRSelector as MRMRSelector
    from arboleda.forest import ExtraTreesClassifier as ExtraTreesClassifier
    from arboleda.forest import ExtraTreesRegressor as ExtraTreesRegressor
    from arboleda.forest import RandomForestClassifier as RandomForestClassifier
    from arboleda.forest import RandomForestRegressor as RandomForestRegressor
    from arboleda.interchange import from_lightgbm as from_lightgbm
    from arboleda.interchange import from_sklearn as from_sklearn
    from arboleda.interchange import from_xgboost as from_xgboost
    from arboleda.learners import BayesianNetworkClassifier as BayesianNetworkClassifier
    from arboleda.learners import DiagonalLDA as DiagonalLDA
    from arboleda.learners import DirectedGraph as DirectedGraph
    from arboleda.learners import KernelDensityClassifier as KernelDensityClassifier
    from arboleda.learners import MixedNaiveBayes as MixedNaiveBayes
    from arboleda.learners import NearestShrunkenCentroids as NearestShrunkenCentroids
    from arboleda.learners import RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis
    from arboleda.onnx_export import export_onnx as export_onnx
    from arboleda.onnx_export import to_onnx as to_onnx
    from arboleda.persist import load as load
    from arboleda.study import Study as Study
    from arboleda.study import predict_file as predict_file
    from arboleda.tree import DecisionTreeClassifier as DecisionTreeClassifier
    from arboleda.tree import DecisionTreeRegressor as DecisionTreeRegressor
    from arboleda.tree import PrunedTreeClassifier as PrunedTreeClassifier
    from arboleda.tree import PrunedTreeRegressor as PrunedTreeRegressor
    from arboleda.tree import export_graphviz as export_graphviz
    from arboleda.tree import export_text as export_text
    from arboleda.tree import plot_tree as plot_tree


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return import_module(f"arboleda.{name}")
    raise AttributeError(f"module 'arboleda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
