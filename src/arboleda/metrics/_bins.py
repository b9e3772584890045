"""Binning of predicted probabilities, for calibration."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Binned", "Bins", "Event", "bin_probabilities", "make_event", "sums_by_bin"]

Floats = npt.NDArray[np.float64]
Bins = Literal["uniform", "quantile"]


@dataclass(frozen=True)
class Event:
    """The event that each row is of a certain class.

    Attributes
    ----------
    probability : ndarray of shape (n,)
        Predicted probability of the event.
    number : int or ndarray of shape (n,)
        Class index, one for all rows or one per row.
    """

    probability: Floats
    number: int | npt.NDArray[np.intp]

    def has_occurred(self, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return whether the event occurred, given the true class indices."""
        occurred: npt.NDArray[np.bool_] = codes == self.number
        return occurred


@dataclass(frozen=True)
class Binned:
    """Rows binned by their predicted probability.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Distinct edges, ascending; a bin includes its upper edge, and the first one its lower edge.
    places : ndarray of shape (n,)
        Bin index of each row.
    """

    edges: Floats
    places: npt.NDArray[np.intp]

    @property
    def n_bins(self) -> int:
        """Number of bins, including empty ones."""
        return len(self.edges) - 1


def make_event(probabilities: Floats, number: int | None = None) -> Event:
    """Return the event that a row is of one class or, with None, of its most probable class."""
    if number is not None:
        return Event(probabilities[:, number], number)
    best = probabilities.argmax(axis=1)
    return Event(probabilities[np.arange(len(best)), best], best)


def bin_probabilities(probability: Floats, n_bins: int, strategy: Bins) -> Binned:
    """Bin probabilities into bins of equal width, or of about equal numbers of rows.

    The bins are those of scikit-learn's ``calibration_curve``, with equal quantiles merged.

    Raises
    ------
    ValueError
        If the strategy is unknown or the number of bins is not positive.
    """
    if not isinstance(n_bins, Integral) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} must be an integer of at least 1")
    inner = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.quantile(probability, inner))
        if len(edges) == 1:  # all probabilities are equal
            edges = np.repeat(edges, 2)
    elif strategy == "uniform":
        edges = inner
    else:
        raise ValueError(f"strategy={strategy!r} must be 'uniform' or 'quantile'")
    return Binned(edges, np.searchsorted(edges[1:-1], probability))


def sums_by_bin(bins: Binned, values: npt.NDArray[Any]) -> Floats:
    """Sum the values of the rows of each bin."""
    sums = np.bincount(bins.places, weights=values, minlength=bins.n_bins)
    return np.asarray(sums, dtype=np.float64)
