"""AdaBoost and related boosting algorithms.

Each method has a file of its name, such as ``_adaboost_m1``, ``_samme`` or ``_logit_boost``; the
updates of the classifiers are in ``_algorithms``, those of the regressors in
``_regressor_rounds``. Members that are trees are boosted by the engine (``_tree_members``), all
others by ``_loop``.
"""

from arboleda.adaboost._adaboost_classifier import AdaBoostClassifier
from arboleda.adaboost._adaboost_m1 import AdaBoostM1
from arboleda.adaboost._adaboost_m2 import AdaBoostM2
from arboleda.adaboost._adaboost_mh import AdaBoostMH
from arboleda.adaboost._adaboost_mr import AdaBoostMR
from arboleda.adaboost._adaboost_r import AdaBoostR
from arboleda.adaboost._adaboost_r2 import AdaBoostR2
from arboleda.adaboost._adaboost_regressor import AdaBoostRegressor
from arboleda.adaboost._boosted_classifier import BoostedClassifier as BoostedClassifier
from arboleda.adaboost._boosted_regressor import BoostedRegressor as BoostedRegressor
from arboleda.adaboost._gentle_boost import GentleBoost
from arboleda.adaboost._logit_boost import LogitBoost
from arboleda.adaboost._real_adaboost import RealAdaBoost
from arboleda.adaboost._regressor_members import BoostedTrees as BoostedTrees
from arboleda.adaboost._samme import SAMME
from arboleda.adaboost._schapire_boosting_classifier import SchapireBoostingClassifier
from arboleda.adaboost._tree_members import BoostedTreeMembers as BoostedTreeMembers

# Names that are imported `as` themselves serve other packages of arboleda; they are not public.
__all__ = [
    "SAMME",
    "AdaBoostClassifier",
    "AdaBoostM1",
    "AdaBoostM2",
    "AdaBoostMH",
    "AdaBoostMR",
    "AdaBoostR",
    "AdaBoostR2",
    "AdaBoostRegressor",
    "GentleBoost",
    "LogitBoost",
    "RealAdaBoost",
    "SchapireBoostingClassifier",
]
