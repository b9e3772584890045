"""Ensemble learning for tabular data, with a native engine.

Public names are imported lazily, which keeps ``import arboleda`` fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._utils.errors import can_study

__version__ = "0.2.0"  # the only place: pyproject.toml reads it from here

# Public name -> the module that defines it.
_PUBLIC = {
    "AdaBoostClassifier": "arboleda.adaboost",
    "AdaBoostM1": "arboleda.adaboost",
    "AdaBoostM2": "arboleda.adaboost",
    "AdaBoostMH": "arboleda.adaboost",
    "AdaBoostMR": "arboleda.adaboost",
    "AdaBoostR": "arboleda.adaboost",
    "AdaBoostR2": "arboleda.adaboost",
    "AdaBoostRegressor": "arboleda.adaboost",
    "AnnealingSelector": "arboleda.features",
    "BARTClassifier": "arboleda.bart",
    "BARTRegressor": "arboleda.bart",
    "BaggingClassifier": "arboleda.bagging",
    "BaggingRegressor": "arboleda.bagging",
    "BalancedRandomForestClassifier": "arboleda.forest",
    "BayesianModelAveragingClassifier": "arboleda.combine",
    "BayesianModelAveragingRegressor": "arboleda.combine",
    "BayesianNetworkClassifier": "arboleda.learners",
    "BoostingClassifier": "arboleda.boosting",
    "BoostingRegressor": "arboleda.boosting",
    "BootstrapSplit": "arboleda.model_selection",
    "ClassSwitchingClassifier": "arboleda.bagging",
    "CodedTable": "arboleda._engine.coded_table",
    "CostSensitiveClassifier": "arboleda.decide",
    "CoxRegression": "arboleda.survival",
    "DESP": "arboleda.combine",
    "DecisionTreeClassifier": "arboleda.tree",
    "DecisionTreeRegressor": "arboleda.tree",
    "DiagonalLDA": "arboleda.learners",
    "DirectedGraph": "arboleda.learners",
    "DistributionalBoostingRegressor": "arboleda.boosting",
    "DynamicSelectionClassifier": "arboleda.combine",
    "DynamicSelectionRegressor": "arboleda.combine",
    "EnsembleSelectionClassifier": "arboleda.combine",
    "EnsembleSelectionRegressor": "arboleda.combine",
    "ExtraSurvivalTrees": "arboleda.survival",
    "ExtraTreesClassifier": "arboleda.forest",
    "ExtraTreesRegressor": "arboleda.forest",
    "ForestSelector": "arboleda.features",
    "GentleBoost": "arboleda.adaboost",
    "GeneticSelector": "arboleda.features",
    "GradientBoostingClassifier": "arboleda.boosting",
    "GradientBoostingRegressor": "arboleda.boosting",
    "HistGradientBoostingClassifier": "arboleda.boosting",
    "HistGradientBoostingRanker": "arboleda.boosting",
    "HistGradientBoostingRegressor": "arboleda.boosting",
    "HistGradientBoostingSurvival": "arboleda.survival",
    "IsolationForest": "arboleda.forest",
    "JMISelector": "arboleda.features",
    "KNORAE": "arboleda.combine",
    "KNORAU": "arboleda.combine",
    "LCA": "arboleda.combine",
    "LogitBoost": "arboleda.adaboost",
    "MCB": "arboleda.combine",
    "METADES": "arboleda.combine",
    "MRMRSelector": "arboleda.features",
    "KernelDensityClassifier": "arboleda.learners",
    "MajorityVoteWithReject": "arboleda.combine",
    "MedianRule": "arboleda.combine",
    "MixedNaiveBayes": "arboleda.learners",
    "ModelFormatError": "arboleda._utils.errors",
    "NaiveBayesCombiner": "arboleda.combine",
    "NearestShrunkenCentroids": "arboleda.learners",
    "OLA": "arboleda.combine",
    "PastingClassifier": "arboleda.bagging",
    "PastingRegressor": "arboleda.bagging",
    "Predictor": "arboleda._base.predictor",
    "ProductRule": "arboleda.combine",
    "PrunedTreeClassifier": "arboleda.tree",
    "PrunedTreeRegressor": "arboleda.tree",
    "QuantileRegressionForest": "arboleda.forest",
    "RRC": "arboleda.combine",
    "RandomForestClassifier": "arboleda.forest",
    "RandomForestRegressor": "arboleda.forest",
    "RandomPatchesClassifier": "arboleda.bagging",
    "RandomPatchesRegressor": "arboleda.bagging",
    "RandomSubspaceClassifier": "arboleda.bagging",
    "RandomSubspaceRegressor": "arboleda.bagging",
    "RandomSurvivalForest": "arboleda.survival",
    "RealAdaBoost": "arboleda.adaboost",
    "RegionalClassifier": "arboleda.combine",
    "RegionalRegressor": "arboleda.combine",
    "RegularizedDiscriminantAnalysis": "arboleda.learners",
    "RejectOptionClassifier": "arboleda.decide",
    "SAMME": "arboleda.adaboost",
    "SchapireBoostingClassifier": "arboleda.adaboost",
    "StackingClassifier": "arboleda.combine",
    "StackingRegressor": "arboleda.combine",
    "StaticSelectionClassifier": "arboleda.combine",
    "StaticSelectionRegressor": "arboleda.combine",
    "Study": "arboleda.study",
    "SurvivalTree": "arboleda.survival",
    "ThreePieceClassifier": "arboleda.learners",
    "VotingClassifier": "arboleda.combine",
    "VotingRegressor": "arboleda.combine",
    "WeightedMajorityVote": "arboleda.combine",
    "bootstrap_error": "arboleda.model_selection",
    "export_c": "arboleda.c_export",
    "export_graphviz": "arboleda.tree",
    "export_onnx": "arboleda.onnx_export",
    "export_page": "arboleda.page_export",
    "export_text": "arboleda.tree",
    "from_lightgbm": "arboleda.importers",
    "from_sklearn": "arboleda.importers",
    "from_xgboost": "arboleda.importers",
    "load": "arboleda.persist",
    "plot_tree": "arboleda.tree",
    "predict_file": "arboleda.study",
    "to_c": "arboleda.c_export",
    "to_onnx": "arboleda.onnx_export",
    "to_page": "arboleda.page_export",
}
_MODULES = {
    "combine",
    "datasets",
    "decide",
    "diagnose",
    "diagnostics",
    "explain",
    "metrics",
    "model_selection",
    "persist",
    "plot",
}

__all__ = [
    "DESP",
    "KNORAE",
    "KNORAU",
    "LCA",
    "MCB",
    "METADES",
    "OLA",
    "RRC",
    "SAMME",
    "AdaBoostClassifier",
    "AdaBoostM1",
    "AdaBoostM2",
    "AdaBoostMH",
    "AdaBoostMR",
    "AdaBoostR",
    "AdaBoostR2",
    "AdaBoostRegressor",
    "AnnealingSelector",
    "BARTClassifier",
    "BARTRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BalancedRandomForestClassifier",
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "BayesianNetworkClassifier",
    "BoostingClassifier",
    "BoostingRegressor",
    "BootstrapSplit",
    "ClassSwitchingClassifier",
    "CodedTable",
    "CostSensitiveClassifier",
    "CoxRegression",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "DiagonalLDA",
    "DirectedGraph",
    "DistributionalBoostingRegressor",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "ExtraSurvivalTrees",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ForestSelector",
    "GeneticSelector",
    "GentleBoost",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRanker",
    "HistGradientBoostingRegressor",
    "HistGradientBoostingSurvival",
    "IsolationForest",
    "JMISelector",
    "KernelDensityClassifier",
    "LogitBoost",
    "MRMRSelector",
    "MajorityVoteWithReject",
    "MedianRule",
    "MixedNaiveBayes",
    "ModelFormatError",
    "NaiveBayesCombiner",
    "NearestShrunkenCentroids",
    "PastingClassifier",
    "PastingRegressor",
    "Predictor",
    "ProductRule",
    "PrunedTreeClassifier",
    "PrunedTreeRegressor",
    "QuantileRegressionForest",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomPatchesClassifier",
    "RandomPatchesRegressor",
    "RandomSubspaceClassifier",
    "RandomSubspaceRegressor",
    "RandomSurvivalForest",
    "RealAdaBoost",
    "RegionalClassifier",
    "RegionalRegressor",
    "RegularizedDiscriminantAnalysis",
    "RejectOptionClassifier",
    "SchapireBoostingClassifier",
    "StackingClassifier",
    "StackingRegressor",
    "StaticSelectionClassifier",
    "StaticSelectionRegressor",
    "Study",
    "SurvivalTree",
    "ThreePieceClassifier",
    "VotingClassifier",
    "VotingRegressor",
    "WeightedMajorityVote",
    "__version__",
    "bootstrap_error",
    "combine",
    "datasets",
    "decide",
    "diagnose",
    "diagnostics",
    "explain",
    "export_c",
    "export_graphviz",
    "export_onnx",
    "export_page",
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
    "to_page",
]
if not can_study():
    __all__[:] = [name for name in __all__ if _PUBLIC.get(name) != "arboleda.study"]

if TYPE_CHECKING:
    from arboleda import combine as combine
    from arboleda import datasets as datasets
    from arboleda import decide as decide
    from arboleda import diagnose as diagnose
    from arboleda import diagnostics as diagnostics
    from arboleda import explain as explain
    from arboleda import metrics as metrics
    from arboleda import model_selection as model_selection
    from arboleda import persist as persist
    from arboleda import plot as plot
    from arboleda._base.predictor import Predictor as Predictor
    from arboleda._engine.coded_table import CodedTable as CodedTable
    from arboleda._utils.errors import ModelFormatError as ModelFormatError
    from arboleda.adaboost import SAMME as SAMME
    from arboleda.adaboost import AdaBoostClassifier as AdaBoostClassifier
    from arboleda.adaboost import AdaBoostM1 as AdaBoostM1
    from arboleda.adaboost import AdaBoostM2 as AdaBoostM2
    from arboleda.adaboost import AdaBoostMH as AdaBoostMH
    from arboleda.adaboost import AdaBoostMR as AdaBoostMR
    from arboleda.adaboost import AdaBoostR as AdaBoostR
    from arboleda.adaboost import AdaBoostR2 as AdaBoostR2
    from arboleda.adaboost import AdaBoostRegressor as AdaBoostRegressor
    from arboleda.adaboost import GentleBoost as GentleBoost
    from arboleda.adaboost import LogitBoost as LogitBoost
    from arboleda.adaboost import RealAdaBoost as RealAdaBoost
    from arboleda.adaboost import SchapireBoostingClassifier as SchapireBoostingClassifier
    from arboleda.bagging import BaggingClassifier as BaggingClassifier
    from arboleda.bagging import BaggingRegressor as BaggingRegressor
    from arboleda.bagging import ClassSwitchingClassifier as ClassSwitchingClassifier
    from arboleda.bagging import PastingClassifier as PastingClassifier
    from arboleda.bagging import PastingRegressor as PastingRegressor
    from arboleda.bagging import RandomPatchesClassifier as RandomPatchesClassifier
    from arboleda.bagging import RandomPatchesRegressor as RandomPatchesRegressor
    from arboleda.bagging import RandomSubspaceClassifier as RandomSubspaceClassifier
    from arboleda.bagging import RandomSubspaceRegressor as RandomSubspaceRegressor
    from arboleda.bart import BARTClassifier as BARTClassifier
    from arboleda.bart import BARTRegressor as BARTRegressor
    from arboleda.boosting import BoostingClassifier as BoostingClassifier
    from arboleda.boosting import BoostingRegressor as BoostingRegressor
    from arboleda.boosting import DistributionalBoostingRegressor as DistributionalBoostingRegressor
    from arboleda.boosting import GradientBoostingClassifier as GradientBoostingClassifier
    from arboleda.boosting import GradientBoostingRegressor as GradientBoostingRegressor
    from arboleda.boosting import HistGradientBoostingClassifier as HistGradientBoostingClassifier
    from arboleda.boosting import HistGradientBoostingRanker as HistGradientBoostingRanker
    from arboleda.boosting import HistGradientBoostingRegressor as HistGradientBoostingRegressor
    from arboleda.c_export import export_c as export_c
    from arboleda.c_export import to_c as to_c
    from arboleda.combine import DESP as DESP
    from arboleda.combine import KNORAE as KNORAE
    from arboleda.combine import KNORAU as KNORAU
    from arboleda.combine import LCA as LCA
    from arboleda.combine import MCB as MCB
    from arboleda.combine import METADES as METADES
    from arboleda.combine import OLA as OLA
    from arboleda.combine import RRC as RRC
    from arboleda.combine import (
        BayesianModelAveragingClassifier as BayesianModelAveragingClassifier,
    )
    from arboleda.combine import BayesianModelAveragingRegressor as BayesianModelAveragingRegressor
    from arboleda.combine import DynamicSelectionClassifier as DynamicSelectionClassifier
    from arboleda.combine import DynamicSelectionRegressor as DynamicSelectionRegressor
    from arboleda.combine import EnsembleSelectionClassifier as EnsembleSelectionClassifier
    from arboleda.combine import EnsembleSelectionRegressor as EnsembleSelectionRegressor
    from arboleda.combine import MajorityVoteWithReject as MajorityVoteWithReject
    from arboleda.combine import MedianRule as MedianRule
    from arboleda.combine import NaiveBayesCombiner as NaiveBayesCombiner
    from arboleda.combine import ProductRule as ProductRule
    from arboleda.combine import RegionalClassifier as RegionalClassifier
    from arboleda.combine import RegionalRegressor as RegionalRegressor
    from arboleda.combine import StackingClassifier as StackingClassifier
    from arboleda.combine import StackingRegressor as StackingRegressor
    from arboleda.combine import StaticSelectionClassifier as StaticSelectionClassifier
    from arboleda.combine import StaticSelectionRegressor as StaticSelectionRegressor
    from arboleda.combine import VotingClassifier as VotingClassifier
    from arboleda.combine import VotingRegressor as VotingRegressor
    from arboleda.combine import WeightedMajorityVote as WeightedMajorityVote
    from arboleda.decide import CostSensitiveClassifier as CostSensitiveClassifier
    from arboleda.decide import RejectOptionClassifier as RejectOptionClassifier
    from arboleda.features import AnnealingSelector as AnnealingSelector
    from arboleda.features import ForestSelector as ForestSelector
    from arboleda.features import GeneticSelector as GeneticSelector
    from arboleda.features import JMISelector as JMISelector
    from arboleda.features import MRMRSelector as MRMRSelector
    from arboleda.forest import BalancedRandomForestClassifier as BalancedRandomForestClassifier
    from arboleda.forest import ExtraTreesClassifier as ExtraTreesClassifier
    from arboleda.forest import ExtraTreesRegressor as ExtraTreesRegressor
    from arboleda.forest import IsolationForest as IsolationForest
    from arboleda.forest import QuantileRegressionForest as QuantileRegressionForest
    from arboleda.forest import RandomForestClassifier as RandomForestClassifier
    from arboleda.forest import RandomForestRegressor as RandomForestRegressor
    from arboleda.importers import from_lightgbm as from_lightgbm
    from arboleda.importers import from_sklearn as from_sklearn
    from arboleda.importers import from_xgboost as from_xgboost
    from arboleda.learners import BayesianNetworkClassifier as BayesianNetworkClassifier
    from arboleda.learners import DiagonalLDA as DiagonalLDA
    from arboleda.learners import DirectedGraph as DirectedGraph
    from arboleda.learners import KernelDensityClassifier as KernelDensityClassifier
    from arboleda.learners import MixedNaiveBayes as MixedNaiveBayes
    from arboleda.learners import NearestShrunkenCentroids as NearestShrunkenCentroids
    from arboleda.learners import RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis
    from arboleda.learners import ThreePieceClassifier as ThreePieceClassifier
    from arboleda.model_selection import BootstrapSplit as BootstrapSplit
    from arboleda.model_selection import bootstrap_error as bootstrap_error
    from arboleda.onnx_export import export_onnx as export_onnx
    from arboleda.onnx_export import to_onnx as to_onnx
    from arboleda.page_export import export_page as export_page
    from arboleda.page_export import to_page as to_page
    from arboleda.persist import load as load
    from arboleda.study import Study as Study
    from arboleda.study import predict_file as predict_file
    from arboleda.survival import CoxRegression as CoxRegression
    from arboleda.survival import ExtraSurvivalTrees as ExtraSurvivalTrees
    from arboleda.survival import HistGradientBoostingSurvival as HistGradientBoostingSurvival
    from arboleda.survival import RandomSurvivalForest as RandomSurvivalForest
    from arboleda.survival import SurvivalTree as SurvivalTree
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
