"""Held-out predictions: out-of-bag scores, losses of rows, and weights of members.

For classifiers log(p / (1 - p)) with the accuracy p: Shapley and Grofman (1984), Kuncheva (2014),
section 4.3. For regressors 1 / mean squared error: Bates and Granger (1969).

Each row is predicted by the members that were not fitted on it. A member that draws N of N rows
with replacement leaves out about (1 - 1/N)^N = 36.8 % of them: Breiman (1996), "Out-of-bag
estimation"; Breiman (2001), section 3.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.metrics import r2_score

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "SQUARES_OVERFLOW",
    "OobCurve",
    "ScaledError",
    "compute_oob_accuracy",
    "compute_oob_r2",
    "inverse_error_weights",
    "log_odds",
    "mean_of_votes",
    "mean_squared_error",
]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

# A mean squared error divided by 4^e, and e, which supports any scale of the target.
ScaledError = tuple[float, int]


def log_odds(accuracy: Floats, n_rows: int | npt.NDArray[np.integer]) -> Floats:
    """Compute log(p / (1 - p)), with p clipped to half a row from 0 and 1 to be finite.

    Parameters
    ----------
    accuracy : ndarray of shape (n_members,)
        Share p of the rows, or of their weight, that a member classifies correctly.
    n_rows : int or ndarray of shape (n_members,)
        Number of rows that the accuracy is measured on, at least 1.
    """
    half_a_row = 0.5 / np.asarray(n_rows)
    p = np.clip(accuracy, half_a_row, 1 - half_a_row)
    odds: Floats = np.log(p / (1 - p))
    return odds


def mean_squared_error(predicted: Array, target: Array, weight: Floats | None) -> ScaledError:
    """Compute the mean squared error divided by 4^e, and e; averaged over several targets."""
    half = predicted / 2 - target / 2  # halves avoid overflow of the difference
    exponent = int(np.frexp(np.abs(half).max())[1])
    mean = np.average(np.ldexp(half, -exponent) ** 2, weights=weight)
    return float(mean), exponent if mean else -(2**30)


def inverse_error_weights(errors: Sequence[ScaledError]) -> Floats:
    """Compute weights proportional to 1 / mean squared error, with sum 1; equal if all are 0."""
    greatest = max(exponent for _, exponent in errors)
    error = np.array([np.ldexp(mean, 2 * (e - greatest)) for mean, e in errors])
    if not error.any():
        return np.full(len(error), 1 / len(error))
    # Bound the error from below, as its inverse must be finite.
    floats = np.finfo(float)
    error = np.maximum(error, max(floats.eps * error.max(), floats.smallest_subnormal))
    inverse = error.min() / error
    weights: Floats = inverse / inverse.sum()
    return weights


SQUARES_OVERFLOW = (
    "the squared errors overflow float64: divide y by a constant, such as its largest absolute "
    "value, and multiply predictions by it"
)


class _OobCurveFields(NamedTuple):
    n_estimators: npt.NDArray[np.int64]
    error: Floats
    n_rows: npt.NDArray[np.int64]


class OobCurve(Result, _OobCurveFields):
    """Out-of-bag error for each number of members.

    Attributes
    ----------
    n_estimators : ndarray of int
        1, 2, ..., the number of all members.
    error : ndarray of float
        Misclassification rate or mean squared error of the rows with out-of-bag predictions; NaN if
        there are none.
    n_rows : ndarray of int
        Number of rows that at least one member left out.
    """

    __slots__ = ()

    def _summarize(self) -> dict[str, Any]:
        return {"n_estimators": len(self.error), "last_error": float(self.error[-1])}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per number of members."""
        return new_frame(self._asdict())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the error over the number of members.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.plot(self.n_estimators, self.error, color="C0", lw=1.4)
        ax.set_xlabel("members")
        ax.set_ylabel("out-of-bag error")
        return ax


def mean_of_votes(sums: Floats, counts: npt.NDArray[Any]) -> Floats:
    """Return the mean output of the members that left a row out; NaN if there is none.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_outputs)
        Sum of the outputs of these members.
    counts : ndarray of shape (n_rows,)
        Number of these members.

    Warns
    -----
    UserWarning
        If no member left a row out.
    """
    never = int(np.count_nonzero(counts == 0))
    if never:
        warnings.warn(
            "Some inputs do not have OOB scores. This probably means too few estimators were used "
            f"to compute any reliable oob estimates: {never:,} of {len(counts):,} rows were left "
            "out by no member; their out-of-bag predictions are NaN and do not count in the score.",
            stacklevel=2,
        )
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts[:, np.newaxis]
    return means


def compute_oob_accuracy(shares: Floats, labels: npt.NDArray[Any]) -> float:
    """Compute the out-of-bag accuracy for class codes, ignoring rows of NaN."""
    has_votes = ~np.isnan(shares[:, 0])
    if not has_votes.any():
        return float("nan")
    return float(np.mean(shares[has_votes].argmax(axis=1) == labels[has_votes]))


def compute_oob_r2(predicted: Floats, target: npt.NDArray[Any]) -> float:
    """Compute the out-of-bag R2, averaged over outputs, ignoring rows of NaN."""
    has_votes = ~np.isnan(predicted).any(axis=1)
    if np.count_nonzero(has_votes) < 2:
        return float("nan")
    return float(r2_score(target.reshape(predicted.shape)[has_votes], predicted[has_votes]))


Loss = Callable[[Array, Array], Any]


def resolve_loss(estimator: Any, loss: Literal["auto"] | Loss) -> Loss:
    """Return the loss function; "auto" is the zero-one loss or the squared error."""
    if loss == "auto":
        return find_misclassified_rows if is_classifier(estimator) else squared_errors
    if not callable(loss):
        raise TypeError(f"loss must be 'auto' or a callable, got {loss!r}")
    return loss


def compute_row_losses(loss: Loss, target: Array, predicted: Array) -> Floats:
    """Compute and validate the loss of each row."""
    losses = np.asarray(loss(target, predicted), dtype=np.float64)
    if losses.shape != (len(target),):
        raise ValueError(
            f"the loss returned an array of shape {losses.shape} for {len(target)} rows: it must "
            "return one number per row"
        )
    with np.errstate(over="ignore"):
        total = losses.sum()
    if loss is squared_errors and not np.isfinite(total):
        raise ValueError(SQUARES_OVERFLOW)
    if not np.isfinite(losses).all():
        raise ValueError(
            f"the loss must be finite for every row, got {losses[~np.isfinite(losses)][0]}"
        )
    if not np.isfinite(total):
        raise ValueError("the sum of the losses of the rows overflows float64: rescale the loss")
    return losses


def find_misclassified_rows(target: Array, predicted: Array) -> Array:
    """Return which rows are misclassified in any output."""
    wrong: Array = np.asarray(target != predicted)
    return np.asarray(wrong.reshape(len(target), -1).any(axis=1))


def squared_errors(target: Array, predicted: Array) -> Floats:
    """Return squared errors, averaged over outputs."""
    with np.errstate(over="ignore"):  # `compute_row_losses` raises the error
        error: Floats = (target - predicted) ** 2
        return np.asarray(error.reshape(len(target), -1).mean(axis=1))
