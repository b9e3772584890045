"""Partitions of the feature space: clusters, leaves of a tree, or custom regions."""

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
    """Regions 0, 1, ..., and one more for rows outside all regions seen in fitting.

    Parameters
    ----------
    estimator : estimator or None
        Cloned and fitted. Its ``apply`` (the leaves of a tree), or else its ``predict`` (the
        clusters of a clustering), returns the region of a row. None: k-means.
    n_regions : int
        Number of clusters of k-means.
    random_state : int, RandomState or None
        Seed of k-means.

    Raises
    ------
    ValueError
        If k-means is used and a column does not hold finite numbers.
    """

    def __init__(self, estimator: Any, n_regions: int, random_state: Any, X: Any, y: Any) -> None:
        self._is_k_means = estimator is None
        if estimator is None:
            self.estimator = _fit_k_means(n_regions, random_state, X)
        else:
            self.estimator = clone(estimator).fit(X, y)
        self._labels, self.training = np.unique(self._predict_regions(X), return_inverse=True)

    @property
    def n_regions(self) -> int:
        """Number of regions that hold training rows."""
        return len(self._labels)

    def regions_of(self, X: Any) -> Indices:
        """Return the region of each row; ``n_regions`` for a row outside all regions."""
        labels = self._predict_regions(X)
        places = np.searchsorted(self._labels, labels).clip(max=self.n_regions - 1)
        return np.where(self._labels[places] == labels, places, self.n_regions)

    def _predict_regions(self, X: Any) -> npt.NDArray[Any]:
        assign = getattr(self.estimator, "apply", None) or self.estimator.predict
        labels = np.asarray(assign(_as_numeric_table(X) if self._is_k_means else X))
        if labels.ndim != 1:
            raise ValueError(
                f"partition={self.estimator!r} returns labels of shape {labels.shape}: it must "
                "return one region for each row, as a clustering or a single tree does"
            )
        return labels


def _fit_k_means(n_regions: int, random_state: Any, X: Any) -> KMeans:
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    clusters = KMeans(min(n_regions, _num_samples(X)), n_init=10, random_state=seed)
    try:
        with warnings.catch_warnings():  # raised if there are fewer distinct rows than clusters
            warnings.simplefilter("ignore", ConvergenceWarning)
            return clusters.fit(_as_numeric_table(X))
    except ValueError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"k-means needs columns of finite numbers: {reason}. Preprocess the columns, for "
            "example with scikit-learn's make_pipeline(preprocessing, model), or set another "
            "partition"
        ) from error


def _as_numeric_table(X: Any) -> Any:
    """Return a table as float64, because k-means must predict the type that it was fitted on."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)
