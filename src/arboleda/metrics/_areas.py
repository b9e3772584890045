"""Areas under curves of the rows that stand above a score, all of them from one sorting."""

import numpy as np
import numpy.typing as npt

__all__ = ["areas"]


def areas(hit: npt.NDArray[np.bool_], score: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Area under the ROC curve, and average precision.

    The first is the trapezoids' sum, ties in one step (Fawcett 2006, algorithm 2); the second
    the mean of precision over the steps of recall. There must be rows that hit and others.
    """
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits = np.cumsum(hit[order])[ends]
    others = ends + 1 - hits
    steps = np.diff(hits, prepend=0)
    middle = hits - steps / 2  # hits above the middle of a step
    roc = float(np.sum(np.diff(others, prepend=0) * middle) / (hits[-1] * others[-1]))
    return roc, float(np.sum(steps * (hits / (ends + 1))) / hits[-1])
