"""Leave-one-out densities of rows, from the decompositions of all rows together.

Leaving a row z of weight w out of its class c, with r = z - mean_c, subtracts b r r' from the
scatters of c and of all classes, with b = w W_c / (W_c - w). Let A = E diag(a) E' be the
regularised covariance with the weights of the remaining rows, the scatter of all rows, and the
corrected trace t. The covariance is A - rho r r', whose inverse and determinant follow from those
of A (Friedman 1989, section 5):

    u' (A - rho r r')^-1 u = u' A^-1 u + rho (u' A^-1 r)^2 / (1 - q),    q = rho r' A^-1 r
    log det(A - rho r r')  = log det A + log(1 - q)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arboleda.learners._gaussian_classes import (
    LEAST_VARIANCE,
    ClassMoments,
    Spectrum,
    log_densities,
)

Floats = npt.NDArray[np.float64]

# If less of a determinant remains, it is lost to rounding, and the row is left out explicitly.
_MIN_REMAINDER = 1e-6


@dataclass(frozen=True)
class LeaveOneOutDensities:
    """Densities of rows, each under a model fitted without it.

    Parameters
    ----------
    moments : ClassMoments
        Moments of all rows.
    rows : ndarray of shape (n, r)
        Coordinates of the rows in the basis of the moments.
    labels : ndarray of shape (n,)
    weight : ndarray of shape (n,)
    """

    moments: ClassMoments
    rows: Floats
    labels: npt.NDArray[np.intp]
    weight: Floats

    @property
    def rest(self) -> Floats:
        """Weight of each row's class without the row; 0 if the row is alone in its class."""
        own = self.moments.weight[self.labels]
        alone = np.bincount(self.labels)[self.labels] == 1
        left: Floats = np.where(alone, 0.0, own - self.weight)
        return left

    def class_weights(self) -> Floats:
        """Return the weights of the classes without each row, of shape (n, n_classes)."""
        weights = np.tile(self.moments.weight, (len(self.rows), 1))
        weights[np.arange(len(self.rows)), self.labels] = self.rest
        return weights

    def log_densities(self, alpha: float, gammas: list[float]) -> Floats:
        """Return log densities of shape (n_gammas, n, n_classes), up to a constant."""
        n_classes = self.moments.weight.size
        found = np.full((len(gammas), len(self.rows), n_classes), -np.inf)
        is_unstable = np.zeros(len(self.rows), dtype=bool)
        for k, spectrum in enumerate(self.moments.spectra(alpha)):
            if spectrum is not None:
                found[:, :, k], unstable_here = self._of_class(k, spectrum, alpha, gammas)
                is_unstable |= unstable_here
        for i in np.flatnonzero(is_unstable):
            moments = self._without(int(i))
            row = self.rows[i : i + 1]
            outside = None if moments.basis is None else np.zeros(1)
            found[:, i] = log_densities(moments, moments.spectra(alpha), row, outside, gammas)[:, 0]
        alone = self.rest == 0.0
        found[:, alone, self.labels[alone]] = -np.inf
        return found

    def _of_class(
        self, k: int, spectrum: Spectrum, alpha: float, gammas: list[float]
    ) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return the log densities of one class, and the rows with a nearly singular covariance."""
        total, n_columns = self.moments.weight.sum(), spectrum.n_columns
        own = self.labels == k
        rest = np.where(self.rest == 0.0, 1.0, self.rest)
        growth = self.moments.weight[self.labels] / rest
        before = (1.0 - alpha) * self.moments.weight[k] + alpha * total
        after = before - self.weight * (alpha + (1.0 - alpha) * own)
        after = np.where(after > 0.0, after, before)
        apart = self.rows - self.moments.mean[self.labels]
        taken = self.weight * growth * (alpha + (1.0 - alpha) * own) / after
        removed = apart @ spectrum.axes
        away = np.where(
            own[:, np.newaxis],
            removed * growth[:, np.newaxis],
            (self.rows - self.moments.mean[k]) @ spectrum.axes,
        )
        trace = before / after * spectrum.variance.sum() - taken * (apart**2).sum(axis=1)
        mean_variance = np.maximum(trace, 0.0) / n_columns
        log_p, is_unstable = np.empty((len(gammas), len(own))), np.zeros(len(own), dtype=bool)
        for g, gamma in enumerate(gammas):
            sphere = gamma * mean_variance
            variance = (1.0 - gamma) * np.outer(before / after, spectrum.variance)
            variance += sphere[:, np.newaxis]
            is_unstable |= variance.min(axis=1) < LEAST_VARIANCE
            inverse = 1.0 / np.maximum(variance, LEAST_VARIANCE)
            share = (1.0 - gamma) * taken
            left = 1.0 - share * (removed**2 * inverse).sum(axis=1)
            is_unstable |= left < _MIN_REMAINDER
            left = np.maximum(left, _MIN_REMAINDER)
            distance = (away**2 * inverse).sum(axis=1)
            distance += share * (away * removed * inverse).sum(axis=1) ** 2 / left
            log_det = np.log(left) - np.log(inverse).sum(axis=1)
            n_outside = n_columns - spectrum.variance.size
            log_det += n_outside * np.log(np.maximum(sphere, LEAST_VARIANCE))
            log_p[g] = -0.5 * (distance + log_det)
        return log_p, is_unstable

    def _without(self, i: int) -> ClassMoments:
        """Return the moments of all rows but one."""
        k, rest = self.labels[i], self.rest[i]
        weight, mean, scatter = (
            part.copy() for part in (self.moments.weight, self.moments.mean, self.moments.scatter)
        )
        apart = self.rows[i] - mean[k]
        if rest > 0.0:
            mean[k] -= self.weight[i] / rest * apart
            scatter[k] -= self.weight[i] * weight[k] / rest * np.outer(apart, apart)
        else:
            scatter[k] = 0.0
        weight[k] = rest
        return replace(self.moments, weight=weight, mean=mean, scatter=scatter)
