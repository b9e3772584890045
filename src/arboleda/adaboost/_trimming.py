"""Weight trimming: Friedman, Hastie and Tibshirani (2000), section 9."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def trim_weights(weight: Floats, share: float) -> Floats:
    """Set the smallest weights, which sum to at most a share of the total, to 0.

    Weights equal to the smallest remaining one are kept.

    Examples
    --------
    >>> trim_weights(np.array([0.5, 0.1, 0.3, 0.1]), 0.25)
    array([0.5, 0. , 0.3, 0. ])
    """
    order = np.argsort(weight, kind="stable")
    below = np.cumsum(weight[order]) <= share * weight.sum()
    first = int(np.count_nonzero(below))
    least = weight[order[min(first, len(order) - 1)]]
    return np.where(weight < least, 0.0, weight)
