"""Line search for the vote weight that minimizes the normalizer.

Schapire and Singer (1999), "Improved boosting algorithms using confidence-rated predictions",
section 3.2.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from arboleda.adaboost._algorithms._algorithm import LEAST_ERROR, Floats, log_odds

# Largest weight of votes in [-1, 1]: half the logarithm of the largest odds.
MOST = log_odds(LEAST_ERROR) / 2.0


def minimize_normalizer(weights: Floats, agreement: Floats, lowest: float, highest: float) -> float:
    """Minimize Z(a) = sum D exp(-a u) over an interval.

    Z is convex, so its derivative ``-sum D u exp(-a u)`` increases: it is 0 at the minimum, or has
    the same sign on the whole interval, and one of the ends is returned. If all u of positive
    weight have the same sign, Z has no minimum, and the end of the interval is returned.

    Parameters
    ----------
    weights : ndarray
        D, not negative.
    agreement : ndarray of the same shape
        u: positive where a vote is right.
    lowest, highest : float
        Ends of the interval; exp(-a u) must not overflow within it.

    Returns
    -------
    a : float
    """

    def slope(a: float) -> float:
        return -float((weights * agreement * np.exp(-a * agreement)).sum())

    if slope(highest) < 0.0:
        return highest
    return lowest if slope(lowest) >= 0.0 else float(brentq(slope, lowest, highest, xtol=1e-14))
