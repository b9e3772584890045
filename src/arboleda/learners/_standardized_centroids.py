"""Differences of class means from the overall mean in standard errors: Tibshirani et al. (2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from arboleda.learners._units import class_means, divided, squares_within

Floats = npt.NDArray[np.float64]

# Minimum scale of a column, in standard deviations of all rows.
_LEAST_SCALE = 1e-5


@dataclass(frozen=True)
class StandardizedCentroids:
    """Statistics from which shrunken centroids of any threshold are computed.

    Parameters
    ----------
    count : ndarray of shape (n_classes,)
        Number of rows of each class; the differences of a class without rows are 0.
    center : ndarray of shape (p,)
        Mean of all rows.
    within : ndarray of shape (p,)
        Pooled standard deviations s_j within the classes.
    scale : ndarray of shape (p,)
        s_j + s_0, with s_0 the median of the s_j.
    spread : ndarray of shape (n_classes,)
        m_k = sqrt(1 / n_k - 1 / n).
    difference : ndarray of shape (n_classes, p)
        d_kj = (mean_kj - mean_j) / (m_k (s_j + s_0)).
    """

    count: Floats
    center: Floats
    within: Floats
    scale: Floats
    spread: Floats
    difference: Floats

    @classmethod
    def of(cls, X: Floats, labels: npt.NDArray[np.intp], n_classes: int) -> Self:
        """Compute the statistics from unweighted rows."""
        n_rows = len(X)
        count = np.bincount(labels, minlength=n_classes).astype(np.float64)
        center = X.mean(axis=0)
        means = class_means(X, labels, np.ones(n_rows), n_classes)
        means[count == 0.0] = center
        freedom = max(1, n_rows - int(np.count_nonzero(count)))
        within = np.sqrt(squares_within(X, labels, np.ones(n_rows), means) / freedom)
        scale = np.maximum(within + np.median(within), _LEAST_SCALE * X.std(axis=0))
        scale[scale == 0.0] = 1.0
        with np.errstate(divide="ignore"):
            spread = np.where(
                count > 0.0, np.sqrt(np.maximum(1.0 / count - 1.0 / n_rows, 0.0)), 1.0
            )
        # A class with all rows is at the centre; this avoids dividing by m_k = 0.
        standard = np.where(spread > 0.0, spread, 1.0)[:, np.newaxis] * scale
        return cls(count, center, within, scale, spread, (means - center) / standard)

    def shrunken(self, threshold: float) -> Floats:
        """Return sign(d) (abs(d) - threshold)+, the shrunken differences."""
        left = np.maximum(np.abs(self.difference) - threshold, 0.0)
        shrunken: Floats = np.copysign(left, self.difference)
        return shrunken

    def log_likelihood(self, X: Floats, threshold: float) -> Floats:
        """Return -1/2 sum_j ((x_j - centroid_kj) / scale_j)^2 up to a constant of the row.

        Only the selected columns are used.
        """
        shift = self.spread[:, np.newaxis] * self.shrunken(threshold)
        columns = np.flatnonzero(shift.any(axis=0))
        shift = shift[:, columns]
        Z = divided(X[:, columns] - self.center[columns], self.scale[columns])
        found: Floats = Z @ shift.T - 0.5 * (shift**2).sum(axis=1)
        return found
