"""Scaling by powers of two, so that squares do not overflow."""

from __future__ import annotations

import numpy as np

__all__ = ["floor_power_of_two"]


def floor_power_of_two(size: float) -> float:
    """Return the largest power of two that is at most ``size``; 1 for 0."""
    return float(np.ldexp(1.0, int(np.frexp(size)[1]) - 1)) if size > 0.0 else 1.0
