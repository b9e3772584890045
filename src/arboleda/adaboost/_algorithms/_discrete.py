"""AdaBoost for two classes: Freund and Schapire (1997), figure 2; Schapire and Singer (1999)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit

from arboleda.adaboost._algorithms._algorithm import Floats
from arboleda.adaboost._algorithms._by_votes import ByVotes


class Discrete(ByVotes):
    """a = 1/2 log((1 - e) / e); D <- D exp(-a y h) / Z; the sign of sum a h."""

    name: ClassVar[str] = "discrete"
    weight_per_exponent: ClassVar[float] = 1.0

    def probabilities(self, sums: Floats, total: float) -> Floats:
        """1 / (1 + exp(-2 F)): Friedman, Hastie and Tibshirani (2000), lemma 1."""
        second = expit(2.0 * self.decision(sums, total))
        return np.column_stack([1.0 - second, second])

    @property
    def has_edge_bound(self) -> bool:
        """Schapire and Singer (1999), corollary 1."""
        return True
