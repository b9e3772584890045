"""Gradient boosting.

Each of the estimators has a file of its name. ``_boosting`` is the spine of their `fit`, and
``_boosted_model`` what a fitted model computes. ``_losses`` has the losses, ``_round_monitor``
early stopping and callbacks, ``_target_statistics`` the encoding of categories, ``_auto`` the
automatic choice of the rounds, ``_automatic_boosting`` that of everything else, and
``_cross_columns`` the columns that it may add. The loop over the rounds is in the engine.
"""

from arboleda._utils.predicted_distribution import PredictedDistribution
from arboleda.boosting._boosted_model import BoostedModel as BoostedModel
from arboleda.boosting._boosting import Boosting as Boosting
from arboleda.boosting._boosting import Sampling as Sampling
from arboleda.boosting._boosting_classifier import BoostingClassifier
from arboleda.boosting._boosting_regressor import BoostingRegressor
from arboleda.boosting._boosting_report import BoostingReport
from arboleda.boosting._category_encoding import CategoryEncoding as CategoryEncoding
from arboleda.boosting._category_encoding import replaced_table as replaced_table
from arboleda.boosting._cross_columns import count_crosses as count_crosses
from arboleda.boosting._distributional_boosting_regressor import DistributionalBoostingRegressor
from arboleda.boosting._evals_result import EvalSet as EvalSet
from arboleda.boosting._evals_result import EvalsResult as EvalsResult
from arboleda.boosting._evals_result import Scorings as Scorings
from arboleda.boosting._gradient_boosting_classifier import GradientBoostingClassifier
from arboleda.boosting._gradient_boosting_regressor import GradientBoostingRegressor
from arboleda.boosting._hist_gradient_boosting import FeatureWeights as FeatureWeights
from arboleda.boosting._hist_gradient_boosting import ForcedSplits as ForcedSplits
from arboleda.boosting._hist_gradient_boosting import Growth as Growth
from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting as HistGradientBoosting
from arboleda.boosting._hist_gradient_boosting import InteractionCst as InteractionCst
from arboleda.boosting._hist_gradient_boosting import MonotonicCst as MonotonicCst
from arboleda.boosting._hist_gradient_boosting import MultiStrategy as MultiStrategy
from arboleda.boosting._hist_gradient_boosting_classifier import HistGradientBoostingClassifier
from arboleda.boosting._hist_gradient_boosting_ranker import HistGradientBoostingRanker
from arboleda.boosting._hist_gradient_boosting_regressor import HistGradientBoostingRegressor
from arboleda.boosting._losses import Loss as Loss
from arboleda.boosting._queries import read_queries as read_queries
from arboleda.boosting._round_monitor import BoostingRound
from arboleda.boosting._round_monitor import Callback as Callback
from arboleda.boosting._round_monitor import EnsembleScorer as EnsembleScorer
from arboleda.boosting._round_monitor import score_all_shards as score_all_shards
from arboleda.boosting._rows import FinishedRounds as FinishedRounds
from arboleda.boosting._rows import FitProblem as FitProblem
from arboleda.boosting._rows import RoundKeeping as RoundKeeping
from arboleda.boosting._rows import TrainingRows as TrainingRows
from arboleda.boosting._rows import holdout_split as holdout_split
from arboleda.boosting._shape_functions import ShapeFunction, ShapeFunctions
from arboleda.boosting._sharded_fit import fit_shard as fit_shard
from arboleda.boosting._target_statistics import TargetStatistics as TargetStatistics

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = [
    "BoostingClassifier",
    "BoostingRegressor",
    "BoostingReport",
    "BoostingRound",
    "DistributionalBoostingRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRanker",
    "HistGradientBoostingRegressor",
    "PredictedDistribution",
    "ShapeFunction",
    "ShapeFunctions",
]
