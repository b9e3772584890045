"""Step functions of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["StepFunction"]


class StepFunction:
    """A step function, continuous from the right, as scikit-survival returns it.

    Parameters
    ----------
    x : ndarray of shape (n_steps,)
        Times of the steps, ascending.
    y : ndarray of shape (n_steps,)
        Values from each step on.
    start : float
        Value before the first step.
    end : float
        Last time at which the function is known.
    """

    def __init__(
        self, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], start: float, end: float
    ) -> None:
        self.x, self.y, self.start, self.end = x, y, start, end

    @property
    def domain(self) -> tuple[float, float]:
        """First and last time at which the function is known."""
        return 0.0, self.end

    def __call__(self, time: Any) -> Any:
        """Return the values at times; NaN where the function is not known."""
        wanted = np.asarray(time, dtype=np.float64)
        values = np.append(self.start, self.y)[np.searchsorted(self.x, wanted, side="right")]
        known = (wanted >= 0.0) & (wanted <= self.end)
        return np.where(known, values, np.nan)[()]
