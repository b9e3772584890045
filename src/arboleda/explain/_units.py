"""Units in which numbers of any size have squares that float64 holds."""

from __future__ import annotations

import numpy as np

__all__ = ["power_of_two"]


def power_of_two(size: float) -> float:
    """Return the largest power of two that is at most a size; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1)) if size > 0.0 else 1.0
