"""Boosting algorithms of the AdaBoost family, one per file."""

from arboleda.adaboost._algorithms._algorithm import Algorithm as Algorithm
from arboleda.adaboost._algorithms._algorithm import BoostingProblem as BoostingProblem
from arboleda.adaboost._algorithms._algorithm import Floats as Floats
from arboleda.adaboost._algorithms._algorithm import Indices as Indices
from arboleda.adaboost._algorithms._algorithm import MemberTask as MemberTask
from arboleda.adaboost._algorithms._algorithm import RoundOutcome as RoundOutcome
from arboleda.adaboost._algorithms._discrete import Discrete
from arboleda.adaboost._algorithms._gentle import Gentle
from arboleda.adaboost._algorithms._logit import Logit
from arboleda.adaboost._algorithms._m1 import M1
from arboleda.adaboost._algorithms._m2 import M2
from arboleda.adaboost._algorithms._mh import MH
from arboleda.adaboost._algorithms._mr import MR
from arboleda.adaboost._algorithms._real import Real
from arboleda.adaboost._algorithms._samme import SAMME

ALGORITHMS: dict[str, type[Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (Discrete, M1, M2, MH, MR, SAMME, Real, Gentle, Logit)
}
