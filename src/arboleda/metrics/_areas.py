"""Areas under the ROC curve and the precision-recall curve from a single sort."""

import numpy as np
import numpy.typing as npt

__all__ = ["compute_areas"]


def compute_areas(
    hit: npt.NDArray[np.bool_], score: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """Return the area under the ROC curve, and the average precision.

    The area is computed by the trapezoidal rule, with ties in one step (Fawcett 2006, algorithm 2).
    The average precision is the mean of the precision over the steps of recall. Both classes must
    occur.
    """
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits = np.cumsum(hit[order])[ends]
    others = ends + 1 - hits
    steps = np.diff(hits, prepend=0)
    middle = hits - steps / 2  # hits above the middle of a step
    roc = float(np.sum(np.diff(others, prepend=0) * middle) / (hits[-1] * others[-1]))
    return roc, float(np.sum(steps * (hits / (ends + 1))) / hits[-1])
