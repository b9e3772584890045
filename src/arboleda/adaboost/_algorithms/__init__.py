"""Boosting algorithms of the AdaBoost family, by the kind of their update.

``_vote_algorithms`` has those whose members vote for classes, ``_additive_algorithms`` those whose
members add to scores, and ``_pair_algorithms`` those with weights for pairs of row and class.
"""

from arboleda.adaboost._algorithms._additive_algorithms import (
    GentleAlgorithm,
    LogitAlgorithm,
    RealAlgorithm,
)
from arboleda.adaboost._algorithms._additive_algorithms import (
    compute_share_votes as compute_share_votes,
)
from arboleda.adaboost._algorithms._algorithm import Algorithm as Algorithm
from arboleda.adaboost._algorithms._algorithm import BoostingProblem as BoostingProblem
from arboleda.adaboost._algorithms._algorithm import Floats as Floats
from arboleda.adaboost._algorithms._algorithm import Indices as Indices
from arboleda.adaboost._algorithms._algorithm import MemberTask as MemberTask
from arboleda.adaboost._algorithms._algorithm import RoundOutcome as RoundOutcome
from arboleda.adaboost._algorithms._pair_algorithms import M2Algorithm, MHAlgorithm, MRAlgorithm
from arboleda.adaboost._algorithms._vote_algorithms import (
    DiscreteAlgorithm,
    M1Algorithm,
    SammeAlgorithm,
)

ALGORITHMS: dict[str, type[Algorithm]] = {
    algorithm.name: algorithm
    for algorithm in (
        DiscreteAlgorithm,
        M1Algorithm,
        M2Algorithm,
        MHAlgorithm,
        MRAlgorithm,
        SammeAlgorithm,
        RealAlgorithm,
        GentleAlgorithm,
        LogitAlgorithm,
    )
}
