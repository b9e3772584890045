"""AdaBoost.M2: Freund and Schapire (1997), figure 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Floats, log_odds
from arboleda.adaboost._algorithms._member_outputs import predict_plausibilities
from arboleda.adaboost._algorithms._pair_algorithm import PairAlgorithm


class M2(PairAlgorithm):
    """AdaBoost.M2: boosting by the pseudo-loss, with plausibilities h in [0, 1].

    The pseudo-loss is e = 1/2 sum D(i, k) (1 - h(x_i, y_i) + h(x_i, k)). With beta = e / (1 - e),
    D <- D beta^((1 + h(x_i, y_i) - h(x_i, k)) / 2) / Z, and the votes are log(1 / beta) h. Z is
    computed from the factor exp(-log(1 / beta) (h(x_i, y_i) - h(x_i, k)) / 2), because its product
    bounds the error; the weights are the same.
    """

    name: ClassVar[str] = "M2"

    def compute_votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Compute the plausibility of each class."""
        return predict_plausibilities(members[0], X, labels)

    def compute_exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Return half of log(1 / beta)."""
        return log_odds(error) / 2.0

    def compute_vote_weight(self, exponent: float) -> float:
        """Return log(1 / beta)."""
        return 2.0 * exponent
