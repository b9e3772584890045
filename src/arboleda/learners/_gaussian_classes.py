"""A Gaussian for each class, with covariances between those of QDA, LDA and a sphere.

J. H. Friedman (1989), "Regularized discriminant analysis", JASA 84, equations (11) to (18).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import qr

from arboleda.learners._class_rows import sums_by_class
from arboleda.learners._units import class_means

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
