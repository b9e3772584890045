"""Disjoint regions of the space of the columns: clusters, leaves of a tree, or others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _num_samples

__all__ = ["Partition"]

Indices = npt.NDArray[np.intp]


class Partition:
    """Regions 0, 1, ..., and one more for rows that fall in none of those seen in fitting.

    Parameters
    ----------
    estimator : estimator or None
        Cloned and fitted. Its ``apply`` (the leaves of a tree), or else its ``predict`` (the
        clusters of a clustering), says in which region a row lies. None: k-means.
    n_regions : int
        Clusters of k-means.
    random_state : int, RandomState or None
        Seed of k-means.

    Raises
    ------
    ValueError
        If k-means is given columns that are not finite numbers.
    """

    def __init__(self, estimator: Any, n_regions: int, random_state: Any, X: Any, y: Any) -> None:
        self._is_k_means = estimator is None
        if estimator is None:
            self.estimator = _clusters(n_regions, random_state, X)
        else:
            self.estimator = clone(estimator).fit(X, y)
        self._labels, self.training = np.unique(self._labels_of(X), return_inverse=True)

    @property
    def n_regions(self) -> int:
        """Number of regions that hold training rows."""
        return len(self._labels)

    def regions_of(self, X: Any) -> Indices:
        """Region of each row; ``n_regions`` for a row that lies in none of them."""
        labels = self._labels_of(X)
        places = np.searchsorted(self._labels, labels).clip(max=self.n_regions - 1)
        return np.where(self._labels[places] == labels, places, self.n_regions)

    def _labels_of(self, X: Any) -> npt.NDArray[Any]:
        ask = getattr(self.estimator, "apply", None) or self.estimator.predict
        labels = np.asarray(ask(_numbers(X) if self._is_k_means else X))
        if labels.ndim != 1:
            raise ValueError(
                f"partition={self.estimator!r} gives labels of shape {labels.shape}: one region "
                "for each row is needed, as a clustering or a single tree has it"
            )
        return labels


def _clusters(n_regions: int, random_state: Any, X: Any) -> KMeans:
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    clusters = KMeans(min(n_regions, _num_samples(X)), n_init=10, random_state=seed)
    try:
        with warnings.catch_warnings():  # of rows that are equal there are fewer clusters
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clusters.fit(_numbers(X))
    except ValueError as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"k-means needs columns of finite numbers: {why}. Put this model behind what makes "
            "them so, as scikit-learn's make_pipeline(preparation, model), or give another "
            "partition"
        ) from error


def _numbers(X: Any) -> Any:
    """Return a table as k-means takes it: of one type, or rows of another are refused later."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)
