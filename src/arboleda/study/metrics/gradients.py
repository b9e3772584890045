"""Derivatives of metrics by the cells of a table of shares, true classes in rows.

The table sums to 1; adding a constant to all derivatives changes no influence.
"""

import numpy as np
import numpy.typing as npt

__all__ = [
    "compute_accuracy_gradient",
    "compute_balanced_accuracy_gradient",
    "compute_matthews_gradient",
    "compute_mean_f1_gradient",
]

Floats = npt.NDArray[np.float64]


def compute_accuracy_gradient(shares: Floats) -> Floats:
    """Return 1 for correct predictions."""
    return np.eye(len(shares))


def compute_balanced_accuracy_gradient(shares: Floats) -> Floats:
    """Return the derivatives of the mean recall of the classes that occur."""
    hit, true = np.diag(shares), shares.sum(axis=1)
    some = true > 0
    each = np.divide(1.0, true, out=np.zeros_like(true), where=some)
    right = np.eye(len(shares))
    return np.asarray((right * each[:, None] - (hit * each**2)[:, None]) / some.sum())


def compute_mean_f1_gradient(shares: Floats) -> Floats:
    """Return the derivatives of the mean F1."""
    hit, both = np.diag(shares), shares.sum(axis=1) + shares.sum(axis=0)
    each = np.divide(1.0, both, out=np.zeros_like(both), where=both > 0)
    lost = hit * each**2
    right = np.eye(len(shares))
    return np.asarray(2 * (right * each[:, None] - lost[:, None] - lost) / len(shares))


def compute_matthews_gradient(shares: Floats) -> Floats:
    """Return the derivatives of the correlation (Gorodkin 2004, equation 8): cov / sqrt(u v)."""
    hit, true, predicted = np.diag(shares), shares.sum(axis=1), shares.sum(axis=0)
    covariance = hit.sum() - true @ predicted
    u, v = 1 - true @ true, 1 - predicted @ predicted
    if u * v <= 0:
        return np.zeros_like(shares)
    slope = (np.eye(len(shares)) - predicted[:, None] - true) / np.sqrt(u * v)
    return np.asarray(slope + covariance * (true[:, None] * v + predicted * u) / (u * v) ** 1.5)
