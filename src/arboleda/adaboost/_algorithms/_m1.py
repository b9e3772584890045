"""AdaBoost.M1: Freund and Schapire (1997), figure 4."""

from __future__ import annotations

from typing import ClassVar

from scipy.special import softmax

from arboleda.adaboost._algorithms._algorithm import Floats
from arboleda.adaboost._algorithms._by_votes import ByVotes


class M1(ByVotes):
    """beta = e / (1 - e); each member votes log(1 / beta) for the class that it predicts."""

    name: ClassVar[str] = "M1"

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """Softmax of the votes; with two classes the probabilities of AdaBoost for two classes."""
        found: Floats = softmax(sums, axis=1)
        return found

    @property
    def has_edge_bound(self) -> bool:
        """Freund and Schapire (1997), theorem 10."""
        return True
