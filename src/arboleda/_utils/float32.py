"""Thresholds of models that compare in single precision.

scikit-learn's trees and XGBoost round a value x to float32 before they compare it. Rounding is
monotonic, so "round(x) <= t" is equivalent to "x <= t'" for some float64 t'. Let f be the largest
float32 <= t, and g the next float32. Values below the midpoint m = (f + g) / 2 round to f or less,
and m itself rounds to the one of f and g whose last bit is even (IEEE 754). So t' is m if that is
f, else the float64 before m; m is exact in float64.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_BEYOND = 2.0**128  # the next value after the largest float32, if it had one


def at_most_float32(threshold: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Return the largest float32 that is at most each threshold."""
    exact = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        rounded = exact.astype(np.float32)
        below = np.nextafter(rounded, np.float32(-np.inf))
    found: npt.NDArray[np.float32] = np.where(rounded > exact, below, rounded)
    return found


def rounded_at_most(threshold: npt.ArrayLike) -> Floats:
    """Return t' such that x <= t' if and only if x rounded to float32 is <= ``threshold``."""
    return _find_last_rounding_to(at_most_float32(threshold))


def rounded_below(threshold: npt.ArrayLike) -> Floats:
    """Return t' such that x <= t' if and only if x rounded to float32 is < ``threshold``.

    Thresholds are float32 values.
    """
    single = np.asarray(threshold, dtype=np.float32)
    with np.errstate(under="ignore", over="ignore"):
        before = np.nextafter(single, np.float32(-np.inf))
    return np.where(single == -np.inf, -np.inf, _find_last_rounding_to(before))


def _find_last_rounding_to(single: npt.NDArray[np.float32]) -> Floats:
    """Return the largest float64 that rounds to each float32; infinity for infinity."""
    with np.errstate(under="ignore", over="ignore"):
        after = np.nextafter(single, np.float32(np.inf))
    low = np.clip(single.astype(np.float64), -_BEYOND, _BEYOND)
    high = np.minimum(after.astype(np.float64), _BEYOND)
    middle = low + 0.5 * (high - low)
    is_even = single.view(np.uint32) % 2 == 0
    last = np.where(is_even, middle, np.nextafter(middle, -np.inf))
    return np.where(single == np.inf, np.inf, last)
