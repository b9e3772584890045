"""Gaussian densities of classes, with leave-one-out densities of the rows.

J. H. Friedman (1989), "Regularized discriminant analysis", JASA 84, equations (11) to (18).

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
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from arboleda.learners._class_rows import class_means, sums_by_class

Floats = npt.NDArray[np.float64]

# Minimum variance in any direction, in units of the pooled variance of a column.
LEAST_VARIANCE = 1e-10


@dataclass(frozen=True)
class ClassMoments:
    """Means and scatters of the classes in an orthonormal basis of the space that the rows span.

    Parameters
    ----------
    weight : ndarray of shape (n_classes,)
    mean : ndarray of shape (n_classes, r)
    scatter : ndarray of shape (n_classes, r, r)
        Weighted sum of the outer products of the differences from the mean.
    center : ndarray of shape (p,)
        Origin of the basis.
    basis : ndarray of shape (p, r) or None
        None if r = p: the columns themselves. Otherwise r is the number of rows.
    """

    weight: Floats
    mean: Floats
    scatter: Floats
    center: Floats
    basis: Floats | None

    @classmethod
    def of(cls, Z: Floats, labels: npt.NDArray[np.intp], weight: Floats, n_classes: int) -> Self:
        """Compute the moments of the rows of a table."""
        n_rows, n_columns = Z.shape
        center, basis = np.zeros(n_columns), None
        if n_columns > n_rows:
            center = weight @ Z / weight.sum()
            basis = qr((Z - center).T, mode="economic", check_finite=False)[0]
            Z = (Z - center) @ basis
        mean = class_means(Z, labels, weight, n_classes)
        scatter = np.empty((n_classes, Z.shape[1], Z.shape[1]))
        for k in range(n_classes):
            rows = labels == k
            apart = (Z[rows] - mean[k]) * np.sqrt(weight[rows])[:, np.newaxis]
            scatter[k] = apart.T @ apart
        total = sums_by_class(labels, weight, n_classes)
        return cls(total, mean, scatter, center, basis)

    def project(self, Z: Floats) -> tuple[Floats, Floats | None]:
        """Return coordinates of rows in the basis, and squared distances from its space."""
        if self.basis is None:
            return Z, None
        apart = Z - self.center
        inside = apart @ self.basis
        apart -= inside @ self.basis.T
        return inside, np.einsum("ij,ij->i", apart, apart)

    def spectra(self, alpha: float) -> list[Spectrum | None]:
        """Return the spectrum of each class's covariance, shrunk by `alpha` to the pooled one.

        Sigma_k(alpha) = ((1 - alpha) S_k + alpha S) / ((1 - alpha) W_k + alpha W), with scatters S
        and weights W. None for a class without rows.
        """
        n_columns = self.center.size
        pooled, total = self.scatter.sum(axis=0), self.weight.sum()
        if alpha == 1.0:  # the same spectrum for all classes
            spectrum = Spectrum.of(pooled / total, n_columns)
            return [spectrum if weight > 0.0 else None for weight in self.weight]
        return [
            Spectrum.of(
                ((1.0 - alpha) * scatter + alpha * pooled)
                / ((1.0 - alpha) * weight + alpha * total),
                n_columns,
            )
            if weight > 0.0
            else None
            for scatter, weight in zip(self.scatter, self.weight, strict=True)
        ]


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of a covariance within the space of the rows.

    Parameters
    ----------
    variance : ndarray of shape (r,)
    axes : ndarray of shape (r, r)
        Eigenvectors as columns.
    mean_variance : float
        Trace divided by the number of columns.
    n_columns : int
        Dimension of the whole space, p >= r.
    """

    variance: Floats
    axes: Floats
    mean_variance: float
    n_columns: int

    @classmethod
    def of(cls, covariance: Floats, n_columns: int) -> Self:
        """Decompose a covariance of r directions in a space of n_columns dimensions."""
        variance, axes = np.linalg.eigh(covariance)
        variance = np.maximum(variance, 0.0)
        return cls(variance, axes, float(variance.sum()) / n_columns, n_columns)

    def log_density(self, squares: Floats, outside: Floats | None, gamma: float) -> Floats:
        """Return log densities, up to a constant, with the covariance shrunk by `gamma`.

        The variances are (1 - gamma) lambda_i + gamma tr(Sigma) / p, inside the space of the rows
        and, with lambda = 0, outside.

        Parameters
        ----------
        squares : ndarray of shape (n, r)
            Squared differences from the class's mean along the axes.
        outside : ndarray of shape (n,) or None
            Squared distances from the space of the rows.
        gamma : float
        """
        sphere = gamma * self.mean_variance
        variance = np.maximum((1.0 - gamma) * self.variance + sphere, LEAST_VARIANCE)
        log_p: Floats = -0.5 * (squares @ (1.0 / variance) + np.log(variance).sum())
        if outside is not None:
            least = max(sphere, LEAST_VARIANCE)
            n_outside = self.n_columns - variance.size
            log_p -= 0.5 * (outside / least + n_outside * np.log(least))
        return log_p


def log_densities(
    moments: ClassMoments,
    spectra: list[Spectrum | None],
    coordinates: Floats,
    outside: Floats | None,
    gammas: list[float],
) -> Floats:
    """Return log densities of shape (n_gammas, n_rows, n_classes); -inf for absent classes."""
    found = np.full((len(gammas), len(coordinates), len(spectra)), -np.inf)
    for k, spectrum in enumerate(spectra):
        if spectrum is not None:
            squares = ((coordinates - moments.mean[k]) @ spectrum.axes) ** 2
            for g, gamma in enumerate(gammas):
                found[g, :, k] = spectrum.log_density(squares, outside, gamma)
    return found


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
