"""Probabilities in bins: how far what is said in each of them is from what happens."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Binned", "Bins", "Event", "binned", "event_of", "sums_by_bin"]

Floats = npt.NDArray[np.float64]
Bins = Literal["uniform", "quantile"]


@dataclass(frozen=True)
class Event:
    """That rows are of certain classes.

    Attributes
    ----------
    said : ndarray of shape (n,)
        The probability said of it.
    number : int or ndarray of shape (n,)
        Of the class, one for all rows or one for each.
    """

    said: Floats
    number: int | npt.NDArray[np.intp]

    def happened(self, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether rows of these classes are of those."""
        happened: npt.NDArray[np.bool_] = codes == self.number
        return happened


@dataclass(frozen=True)
class Binned:
    """Rows in bins by the probability said of them.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Ascending, none twice; a bin holds its upper edge, the first one its lower edge too.
    places : ndarray of shape (n,)
        The bin of each row.
    """

    edges: Floats
    places: npt.NDArray[np.intp]

    @property
    def n_bins(self) -> int:
        """Number of bins, empty ones too."""
        return len(self.edges) - 1


def event_of(probabilities: Floats, number: int | None = None) -> Event:
    """That a row is of one class, or, with None, of the one that is most probable for it."""
    if number is not None:
        return Event(probabilities[:, number], number)
    best = probabilities.argmax(axis=1)
    return Event(probabilities[np.arange(len(best)), best], best)


def binned(said: Floats, n_bins: int, strategy: Bins) -> Binned:
    """Put probabilities in bins of equal width, or of about as many rows each.

    Bins are those of scikit-learn's ``calibration_curve``, but quantiles that are equal are one
    edge.

    Raises
    ------
    ValueError
        If there is no such strategy or no bin.
    """
    if not isinstance(n_bins, Integral) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r}: give a number of bins, 1 or more")
    inner = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.quantile(said, inner))
        if len(edges) == 1:  # all probabilities are equal
            edges = np.repeat(edges, 2)
    elif strategy == "uniform":
        edges = inner
    else:
        raise ValueError(f"strategy={strategy!r}: choose 'uniform' or 'quantile'")
    return Binned(edges, np.searchsorted(edges[1:-1], said))


def sums_by_bin(bins: Binned, values: npt.NDArray[Any]) -> Floats:
    """Sum values of the rows of each bin."""
    sums = np.bincount(bins.places, weights=values, minlength=bins.n_bins)
    return np.asarray(sums, dtype=np.float64)
