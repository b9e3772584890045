"""Thresholds of models that compare in single precision.

scikit-learn's trees and XGBoost round a value x to float32 before they compare it. Rounding keeps
order, so "round(x) <= t" is "x <= t'" for some float64 t': all that rounds to the largest float32
f <= t, or to less, goes left. With g the float32 after f, values below the midpoint m = (f + g) / 2
round to f or less, and m itself rounds to whichever of both has an even last bit (IEEE 754). So t'
is m where that is f, else the float64 before m; m is exact in float64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_BEYOND = 2.0**128  # what would follow the largest float32


def at_most_float32(threshold: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Largest float32 that is at most each threshold."""
    exact = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        rounded = exact.astype(np.float32)
        below = np.nextafter(rounded, np.float32(-np.inf))
    found: npt.NDArray[np.float32] = np.where(rounded > exact, below, rounded)
    return found


def rounded_at_most(threshold: npt.ArrayLike) -> Floats:
    """Threshold t' such that x <= t' where x rounded to float32 is at most ``threshold``."""
    return _last_that_rounds_to(at_most_float32(threshold))


def rounded_below(threshold: npt.ArrayLike) -> Floats:
    """Threshold t' such that x <= t' where x rounded to float32 is less than ``threshold``.

    Thresholds are values of float32.
    """
    single = np.asarray(threshold, dtype=np.float32)
    with np.errstate(under="ignore", over="ignore"):
        before = np.nextafter(single, np.float32(-np.inf))
    return np.where(single == -np.inf, -np.inf, _last_that_rounds_to(before))


def _last_that_rounds_to(single: npt.NDArray[np.float32]) -> Floats:
    """Return the largest float64 that rounds to each float32; infinity for infinity."""
    with np.errstate(under="ignore", over="ignore"):
        after = np.nextafter(single, np.float32(np.inf))
    low = np.clip(single.astype(np.float64), -_BEYOND, _BEYOND)
    high = np.minimum(after.astype(np.float64), _BEYOND)
    middle = low + 0.5 * (high - low)
    is_even = single.view(np.uint32) % 2 == 0
    last = np.where(is_even, middle, np.nextafter(middle, -np.inf))
    return np.where(single == np.inf, np.inf, last)
