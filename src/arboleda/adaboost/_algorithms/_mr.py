"""AdaBoost.MR: Schapire and Singer (1999), figure 4 and section 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from arboleda.adaboost._algorithms._algorithm import LEAST_ERROR, Floats, log_odds
from arboleda.adaboost._algorithms._answers import plausibilities
from arboleda.adaboost._algorithms._by_pairs import ByPairs

# Half the logarithm of the largest odds: no weight is beyond it.
_MOST = log_odds(LEAST_ERROR) / 2.0


class MR(ByPairs):
    """Votes h in [-1, 1]; D <- D exp(a (h(x_i, k) - h(x_i, y_i)) / 2) / Z with the a of least Z."""

    name: ClassVar[str] = "MR"
    span: ClassVar[float] = 2.0

    def votes(self, members: Sequence[Any], X: Any, labels: npt.NDArray[Any]) -> Floats:
        """Probabilities, or votes for one class, on the scale of [-1, 1]."""
        return 2.0 * plausibilities(members[0], X, labels) - 1.0

    def plausible(self, votes: Floats) -> Floats:
        """Half the difference of two votes is the difference of these."""
        return (votes + 1.0) / 2.0

    def exponent(self, state: Floats, advantage: Floats, error: float) -> float:
        """Where Z, which is convex in a, is least."""

        def slope(a: float) -> float:
            return -float((state * advantage * np.exp(-a * advantage)).sum())

        if slope(_MOST) < 0.0:
            return _MOST
        return 0.0 if slope(0.0) >= 0.0 else float(brentq(slope, 0.0, _MOST, xtol=1e-14))

    def weight_of(self, exponent: float) -> float:
        """Return a."""
        return exponent
