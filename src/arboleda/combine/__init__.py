"""Combining models: what members say of rows, and the rules that make one answer of it."""

from arboleda.combine._bayesian_model_averaging import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
)
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._dynamic_selection_regressor import DynamicSelectionRegressor
from arboleda.combine._ensemble_selection import (
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
)
from arboleda.combine._greedy_selection import Selection
from arboleda.combine._outputs import MemberOutputs, out_of_fold_outputs, outputs_of
from arboleda.combine._regional import RegionalClassifier, RegionalRegressor
from arboleda.combine._rules import combine_outputs
from arboleda.combine._stacking_classifier import StackingClassifier
from arboleda.combine._stacking_regressor import StackingRegressor
from arboleda.combine._static_selection import (
    StaticSelectionClassifier,
    StaticSelectionRegressor,
)
from arboleda.combine._voting_classifier import VotingClassifier
from arboleda.combine._voting_regressor import VotingRegressor

__all__ = [
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "MemberOutputs",
    "RegionalClassifier",
    "RegionalRegressor",
    "Selection",
    "StackingClassifier",
    "StackingRegressor",
    "StaticSelectionClassifier",
    "StaticSelectionRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "combine_outputs",
    "out_of_fold_outputs",
    "outputs_of",
]
