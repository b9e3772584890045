"""Models of the time to an event that some rows have not had yet (censored rows).

``_survival_tree``, ``_random_survival_forest``, ``_extra_survival_trees`` and
``_hist_gradient_boosting_survival`` hold the estimators. ``_survival_forest`` holds what the first
three share, ``_leaf_curves`` the curves of their leaves. ``_survival_boosting`` is the base of the
last, ``_survival_targets``, ``_periods`` and ``_failure_scale`` hold its targets, and
``_score_curves`` its curves. ``_curve_predictions`` holds the predictions over time of all.
``_cox_regression`` is a linear model, fitted by ``_partial_likelihood``.
"""

from arboleda.survival._cox_regression import CoxRegression
from arboleda.survival._extra_survival_trees import ExtraSurvivalTrees
from arboleda.survival._hist_gradient_boosting_survival import HistGradientBoostingSurvival
from arboleda.survival._periods import PersonPeriods, person_period_rows
from arboleda.survival._random_survival_forest import RandomSurvivalForest
from arboleda.survival._step_function import StepFunction
from arboleda.survival._survival_forest import SurvivalForest as SurvivalForest
from arboleda.survival._survival_tree import SurvivalTree

# SurvivalForest serves other packages of arboleda; it is not public.
__all__ = [
    "CoxRegression",
    "ExtraSurvivalTrees",
    "HistGradientBoostingSurvival",
    "PersonPeriods",
    "RandomSurvivalForest",
    "StepFunction",
    "SurvivalTree",
    "person_period_rows",
]
