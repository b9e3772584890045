"""Ensembles of any estimator: bagging, random subspaces, class switching.

Each method has a file of its name: ``_bagging_estimators``, ``_pasting``, ``_random_patches``,
``_random_subspaces``, ``_class_switching_classifier``. ``_sampling`` draws the rows, columns and
labels of each member; ``_tree_members`` fits members that are trees in the engine, and
``_bagged_estimators`` fits all others as clones.
"""

from arboleda._base.held_out import OobCurve
from arboleda.bagging._bagging import Bagging as Bagging
from arboleda.bagging._bagging import WeightedEnsemble as WeightedEnsemble
from arboleda.bagging._bagging_estimators import BaggingClassifier, BaggingRegressor
from arboleda.bagging._class_switching_classifier import ClassSwitchingClassifier
from arboleda.bagging._ensemble import MemberEnsemble as MemberEnsemble
from arboleda.bagging._member_estimators import with_numbered_weights as with_numbered_weights
from arboleda.bagging._members import each as each
from arboleda.bagging._members import n_jobs_limits as n_jobs_limits
from arboleda.bagging._members import set_random_states as set_random_states
from arboleda.bagging._pasting import PastingClassifier, PastingRegressor
from arboleda.bagging._random_patches import RandomPatchesClassifier, RandomPatchesRegressor
from arboleda.bagging._random_subspaces import RandomSubspaceClassifier, RandomSubspaceRegressor
from arboleda.bagging._saved_members import decode_tree as decode_tree
from arboleda.bagging._saved_members import encode_tree as encode_tree
from arboleda.bagging._saved_members import set_columns as set_columns
from arboleda.bagging._tree_members import TreeMembers as TreeMembers
from arboleda.bagging._tree_members import engine_can as engine_can

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
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
