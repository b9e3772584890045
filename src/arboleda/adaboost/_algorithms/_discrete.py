"""AdaBoost for two classes: Freund and Schapire (1997), figure 2; Schapire and Singer (1999)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit

from arboleda.adaboost._algorithms._algorithm import Floats
from arboleda.adaboost._algorithms._vote_algorithm import VoteAlgorithm


class Discrete(VoteAlgorithm):
    """Discrete AdaBoost: a = 1/2 log((1 - e) / e), D <- D exp(-a y h) / Z, sign of sum a h."""

    name: ClassVar[str] = "discrete"
    weight_per_exponent: ClassVar[float] = 1.0

    def compute_probabilities(self, sums: Floats, total: float) -> Floats:
        """Compute 1 / (1 + exp(-2 F)): Friedman, Hastie and Tibshirani (2000), lemma 1."""
        second = expit(2.0 * self.compute_decision(sums, total))
        return np.column_stack([1.0 - second, second])

    @property
    def has_edge_bound(self) -> bool:
        """Whether edges bound the normalizers: Schapire and Singer (1999), corollary 1."""
        return True
