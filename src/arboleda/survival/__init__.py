"""Models of the time to an event that some rows have not had yet (censored rows).

``_survival_tree``, ``_random_survival_forest`` and ``_extra_survival_trees`` hold the estimators;
``_survival_forest`` holds what they share, ``_curve_predictions`` their predictions over time, and
``_leaf_curves`` the curves of the leaves.
"""

from arboleda.survival._extra_survival_trees import ExtraSurvivalTrees
from arboleda.survival._random_survival_forest import RandomSurvivalForest
from arboleda.survival._step_function import StepFunction
from arboleda.survival._survival_tree import SurvivalTree

__all__ = ["ExtraSurvivalTrees", "RandomSurvivalForest", "StepFunction", "SurvivalTree"]
