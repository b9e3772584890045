"""AdaBoost.M2: Freund and Schapire (1997), figure 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Floats, log_odds
from arboleda.adaboost._algorithms._answers import plausibilities
from arboleda.adaboost._algorithms._by_pairs import ByPairs


class M2(ByPairs):
    """Pseudo-loss e = 1/2 sum D(i, k) (1 - h(x_i, y_i) + h(x_i, k)), plausibilities h in [0, 1].

    beta = e / (1 - e), D <- D beta^((1 + h(x_i, y_i) - h(x_i, k)) / 2) / Z, votes log(1 / beta) h.
    Here Z is that of the factor exp(-log(1 / beta) (h(x_i, y_i) - h(x_i, k)) / 2), whose product
    bounds the error; the weights are the same.
    """

    name: ClassVar[str] = "M2"

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Plausibility of each class."""
        return plausibilities(members[0], X, labels)

    def exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Half of log(1 / beta)."""
        return log_odds(error) / 2.0

    def weight_of(self, exponent: float) -> float:
        """Return log(1 / beta)."""
        return 2.0 * exponent
