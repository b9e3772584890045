"""Explain the predictions of any scikit-learn estimator, and quantify their uncertainty.

Each explanation is a function in a file of its name: ``_shap_values``, ``_lime``, ``_importance``,
``_dependence``, ``_surrogate_models``, ``_prediction_interval``, ``_prediction_set``,
``_survival_interval``. They read rows by ``_rows`` and ``_containers``, and models by ``_outputs``,
``_explainable`` and ``_tree_models``; `arboleda.plot` draws their results.
"""

from arboleda.explain._conformal import Sets
from arboleda.explain._conformal import compute_limit as compute_limit
from arboleda.explain._conformal import compute_rank as compute_rank
from arboleda.explain._coverage_curve import CoverageCurve
from arboleda.explain._decision_regions import DecisionRegions, decision_regions
from arboleda.explain._dependence import Dependence, partial_dependence
from arboleda.explain._explainable import AveragedModels as AveragedModels
from arboleda.explain._explainable import TreeModel as TreeModel
from arboleda.explain._importance import Importance, importance, plot_importance
from arboleda.explain._lime import Lime, lime
from arboleda.explain._lime_explanation import LimeExplanation
from arboleda.explain._prediction_interval import (
    Intervals,
    PredictionInterval,
    prediction_interval,
)
from arboleda.explain._prediction_set import PredictionSet, prediction_set
from arboleda.explain._rows import read_rows as read_rows
from arboleda.explain._shap_values import ShapValues, shap_values
from arboleda.explain._surrogate import FidelityCurve, Surrogate
from arboleda.explain._surrogate_models import ListedRule, RuleList, surrogate_rules, surrogate_tree
from arboleda.explain._survival_interval import (
    SurvivalBounds,
    SurvivalInterval,
    survival_interval,
)
from arboleda.explain._tree_models import as_explainable as as_explainable

__all__ = [
    "CoverageCurve",
    "DecisionRegions",
    "Dependence",
    "FidelityCurve",
    "Importance",
    "Intervals",
    "Lime",
    "LimeExplanation",
    "ListedRule",
    "PredictionInterval",
    "PredictionSet",
    "RuleList",
    "Sets",
    "ShapValues",
    "Surrogate",
    "SurvivalBounds",
    "SurvivalInterval",
    "decision_regions",
    "importance",
    "lime",
    "partial_dependence",
    "plot_importance",
    "prediction_interval",
    "prediction_set",
    "shap_values",
    "surrogate_rules",
    "surrogate_tree",
    "survival_interval",
]
