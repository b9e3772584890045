"""Boosting algorithms of the AdaBoost family, by the kind of their update.

``_vote_algorithms`` has those whose members vote for classes, ``_additive_algorithms`` those whose
members add to scores, ``_pair_algorithms`` those with weights for pairs of row and class, and
``_mh`` AdaBoost.MH.
"""

from arboleda.adaboost._algorithms._additive_algorithms import Gentle, Logit, Real
from arboleda.adaboost._algorithms._algorithm import Algorithm as Algorithm
from arboleda.adaboost._algorithms._algorithm import BoostingProblem as BoostingProblem
from arboleda.adaboost._algorithms._algorithm import Floats as Floats
from arboleda.adaboost._algorithms._algorithm import Indices as Indices
from arboleda.adaboost._algorithms._algorithm import MemberTask as MemberTask
from arboleda.adaboost._algorithms._algorithm import RoundOutcome as RoundOutcome
from arboleda.adaboost._algorithms._mh import MH
from arboleda.adaboost._algorithms._pair_algorithms import M2, MR
from arboleda.adaboost._algorithms._vote_algorithms import M1, SAMME, Discrete

ALGORITHMS: dict[str, type[Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (Discrete, M1, M2, MH, MR, SAMME, Real, Gentle, Logit)
}
