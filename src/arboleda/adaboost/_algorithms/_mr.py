"""AdaBoost.MR: Schapire and Singer (1999), figure 4 and section 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Floats
from arboleda.adaboost._algorithms._line_search import MOST, minimize_normalizer
from arboleda.adaboost._algorithms._member_outputs import predict_plausibilities
from arboleda.adaboost._algorithms._pair_algorithm import PairAlgorithm


class MR(PairAlgorithm):
    """AdaBoost.MR: D <- D exp(a (h(x_i, k) - h(x_i, y_i)) / 2) / Z, where a minimizes Z."""

    name: ClassVar[str] = "MR"
    span: ClassVar[float] = 2.0

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute probabilities, or hard votes, scaled to [-1, 1]."""
        return 2.0 * predict_plausibilities(members[0], X, labels) - 1.0

    def scale_votes(self, votes: Floats) -> Floats:
        """Scale votes to [0, 1], which halves their differences."""
        return (votes + 1.0) / 2.0

    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Minimize Z, which is convex in a."""
        return minimize_normalizer(state, advantage, 0.0, MOST)

    def compute_vote_weight(self, exponent: float) -> float:
        """Return a."""
        return exponent
