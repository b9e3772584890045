"""What LIME finds about one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._frames import new_frame

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["LimeExplanation"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LimeExplanation:
    """What speaks for and against an answer, as `Lime.explain` finds it.

    Entries are ordered by the size of their weights, the largest first. There are fewer than asked
    for where no other column changes the answer around the row.

    Attributes
    ----------
    conditions : list of str
        What holds of the row, as "worst radius > 18.79" or "education = Bachelors"; with
        ``discretize=None`` what is done to a number, as "worst radius higher by 4.83".
    weights : ndarray of shape (n_conditions,)
        By how much the answer rises where the condition holds, or where the number is higher by
        that much (one standard deviation of the training rows).
    feature_names : tuple of str
        Column that each condition speaks of.
    features : ndarray of int
        Its number.
    intercept : float
        Answer of the linear model where no condition holds, or where all numbers are the row's.
    class_names : tuple of str or None
        Classes that `probabilities` belongs to; None for regression, and for margins.
    probabilities : ndarray of shape (n_classes,) or None
        What the estimator says of the row.
    output_name : str
        The answer that is explained: a class, or the value.
    prediction : float
        The estimator's answer for the row: the probability of that class, its margin, or the value.
    local_prediction : float
        The linear model's.
    fidelity : float
        Weighted R2 of the linear model on the samples: the share of the variance of the answers
        around the row that it explains. 1 where the answer does not change around the row.
    stability : float or None
        How alike the columns are that each repeat chooses by itself: the mean of
        ``|A & B| / |A | B|`` over all pairs of repeats. 1: always the same. None: of one repeat.
    standard_error : ndarray of shape (n_conditions,) or None
        Of the weights: their standard deviation between repeats, each fitted to the columns shown,
        divided by the square root of the number of repeats. None: of one repeat.
    """

    conditions: list[str]
    weights: Floats
    feature_names: tuple[str, ...]
    features: npt.NDArray[np.intp]
    intercept: float
    class_names: tuple[str, ...] | None
    probabilities: Floats | None
    output_name: str
    prediction: float
    local_prediction: float
    fidelity: float
    stability: float | None
    standard_error: Floats | None

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each condition, as a pandas frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``condition``, ``weight``, ``standard_error`` (NaN of one repeat) and
            ``feature``.
        """
        unknown = np.full(len(self.weights), np.nan)
        return new_frame(
            {
                "condition": self.conditions,
                "weight": self.weights,
                "standard_error": unknown if self.standard_error is None else self.standard_error,
                "feature": list(self.feature_names),
            }
        )

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the conditions for the answer to the right, those against it to the left.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.
        **options
            Those of `arboleda.plot.for_against`.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from arboleda import plot

        return plot.for_against(self, ax, **options)
