"""Combination of models: outputs of members, and rules that merge them into one prediction.

Each published method has a file of its name, such as ``_ola``, ``_knora_e``, ``_meta_des``,
``_product_rule`` or ``_weighted_majority_vote``. ``_combination`` has the base classes,
``_outputs`` the matrix of members' outputs that all methods use, ``_fits`` the fits of members,
and ``_fusion_rules``, ``_dynamic_selection``, ``_stacking`` and ``_voting`` what related methods
share.
"""

from arboleda.combine._bayesian_model_averaging import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
)
from arboleda.combine._des_p import DESP
from arboleda.combine._dynamic_selection_classifier import DynamicSelectionClassifier
from arboleda.combine._dynamic_selection_regressor import DynamicSelectionRegressor
from arboleda.combine._ensemble_selection import (
    EnsembleSelectionClassifier,
    EnsembleSelectionRegressor,
)
from arboleda.combine._fits import MemberTraining as MemberTraining
from arboleda.combine._fits import folds_of as folds_of
from arboleda.combine._fits import predictions_by_fold as predictions_by_fold
from arboleda.combine._fusion_rules import FusionRule as FusionRule
from arboleda.combine._fusion_rules import Mean as Mean
from arboleda.combine._fusion_rules import NaiveBayes as NaiveBayes
from arboleda.combine._greedy_selection import Selection
from arboleda.combine._greedy_selection import make_ensemble_scorer as make_ensemble_scorer
from arboleda.combine._greedy_selection import select_greedily as select_greedily
from arboleda.combine._knora_e import KNORAE
from arboleda.combine._knora_u import KNORAU
from arboleda.combine._lca import LCA
from arboleda.combine._majority_vote_with_reject import MajorityVoteWithReject
from arboleda.combine._mcb import MCB
from arboleda.combine._median_rule import MedianRule
from arboleda.combine._members import Named as Named
from arboleda.combine._members import params_of_members as params_of_members
from arboleda.combine._members import places_of as places_of
from arboleda.combine._meta_des import METADES
from arboleda.combine._naive_bayes_combiner import NaiveBayesCombiner
from arboleda.combine._ola import OLA
from arboleda.combine._outputs import MemberOutputs, out_of_fold_outputs, outputs_of
from arboleda.combine._product_rule import ProductRule
from arboleda.combine._regional import RegionalClassifier, RegionalRegressor
from arboleda.combine._rrc import RRC
from arboleda.combine._stacking import Stacking as Stacking
from arboleda.combine._stacking_classifier import StackingClassifier
from arboleda.combine._stacking_regressor import StackingRegressor
from arboleda.combine._static_selection import (
    StaticSelectionClassifier,
    StaticSelectionRegressor,
)
from arboleda.combine._target import check_held_out_weights as check_held_out_weights
from arboleda.combine._target import read_classes as read_classes
from arboleda.combine._target import read_weights as read_weights
from arboleda.combine._voting import CLASS_RULES as CLASS_RULES
from arboleda.combine._voting import VALUE_RULES as VALUE_RULES
from arboleda.combine._voting import Voting as Voting
from arboleda.combine._voting import combine_outputs
from arboleda.combine._voting import labels_with_reject as labels_with_reject
from arboleda.combine._voting_classifier import VotingClassifier
from arboleda.combine._voting_regressor import VotingRegressor
from arboleda.combine._weighted_majority_vote import WeightedMajorityVote
from arboleda.combine._weighted_mean import Constraint as Constraint
from arboleda.combine._weighted_mean import WeightedMean as WeightedMean
from arboleda.combine._weighted_mean import constrained_weights as constrained_weights

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = [
    "DESP",
    "KNORAE",
    "KNORAU",
    "LCA",
    "MCB",
    "METADES",
    "OLA",
    "RRC",
    "BayesianModelAveragingClassifier",
    "BayesianModelAveragingRegressor",
    "DynamicSelectionClassifier",
    "DynamicSelectionRegressor",
    "EnsembleSelectionClassifier",
    "EnsembleSelectionRegressor",
    "MajorityVoteWithReject",
    "MedianRule",
    "MemberOutputs",
    "NaiveBayesCombiner",
    "ProductRule",
    "RegionalClassifier",
    "RegionalRegressor",
    "Selection",
    "StackingClassifier",
    "StackingRegressor",
    "StaticSelectionClassifier",
    "StaticSelectionRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "WeightedMajorityVote",
    "combine_outputs",
    "out_of_fold_outputs",
    "outputs_of",
]
