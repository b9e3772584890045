"""The LIME explanation of one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.frames import new_frame
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["LimeExplanation"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LimeExplanation(Result):
    """Conditions for and against a prediction, as returned by `Lime.explain`.

    Entries are ordered by absolute weight, the largest first. There are fewer than requested if no
    other column changes the prediction around the row.

    Attributes
    ----------
    conditions : list of str
        Conditions that hold for the row, such as "worst radius > 18.79" or "education = Bachelors";
        with ``discretize=None`` changes of a number, such as "worst radius higher by 4.83".
    weights : ndarray of shape (n_conditions,)
        Increase of the prediction where the condition holds, or where the number is higher by that
        much (one standard deviation of the training rows).
    feature_names : tuple of str
        Column of each condition.
    features : ndarray of int
        Index of the column.
    intercept : float
        Prediction of the linear model where no condition holds, or where all numbers are the row's.
    class_names : tuple of str or None
        Classes of `probabilities`; None for regression and for margins.
    probabilities : ndarray of shape (n_classes,) or None
        Probabilities of the row by the estimator.
    output_name : str
        The output that is explained: a class, or the value.
    prediction : float
        The estimator's prediction for the row: the probability of that class, its margin, or the
        value.
    local_prediction : float
        Prediction of the linear model for the row.
    fidelity : float
        Weighted R2 of the linear model on the samples: the share of the variance of the predictions
        around the row that it explains. 1 if the prediction is constant around the row.
    stability : float or None
        Similarity of the columns that the repeats select separately: the mean of ``|A & B| / |A |
        B|`` over all pairs of repeats. 1: always the same. None: a single repeat.
    standard_error : ndarray of shape (n_conditions,) or None
        Standard errors of the weights: their standard deviation between repeats, each fitted to the
        columns shown, divided by the square root of the number of repeats. None: a single repeat.
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

    def _summarize(self) -> dict[str, Any]:
        return {
            "output": self.output_name,
            "prediction": self.prediction,
            "conditions": self.conditions,
            "fidelity": self.fidelity,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per condition as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``condition``, ``weight``, ``standard_error`` (NaN for a single repeat) and
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
        """Plot the conditions for the prediction to the right, those against it to the left.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: those of a new figure.
        **options
            Those of `arboleda.plot.for_against`.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        from arboleda import plot

        return plot.for_against(self, ax, **options)
