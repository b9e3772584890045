"""AdaBoost.M1: Freund and Schapire (1997), figure 4."""

from __future__ import annotations

from typing import ClassVar

from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import Floats
from arboleda.adaboost._algorithms._vote_algorithm import VoteAlgorithm


class M1(VoteAlgorithm):
    """AdaBoost.M1: beta = e / (1 - e); each member has log(1 / beta) votes for one class."""

    name: ClassVar[str] = "M1"

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute the softmax of the votes; for two classes the probabilities of AdaBoost."""
        probabilities: Floats = softmax(sums, axis=1)
        return probabilities

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers: Freund and Schapire (1997), theorem 10."""
        return True
