"""AdaBoost.MR: Schapire and Singer (1999), figure 4 and section 8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy.typing as npt

from arboleda.adaboost._algorithms._algorithm import Floats
from arboleda.adaboost._algorithms._answers import plausibilities
from arboleda.adaboost._algorithms._by_pairs import ByPairs
from arboleda.adaboost._algorithms._line_search import MOST, minimize_normalizer


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
        return minimize_normalizer(state, advantage, 0.0, MOST)

    def weight_of(self, exponent: float) -> float:
        """Return a."""
        return exponent
