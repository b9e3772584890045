"""Metrics of a confusion matrix, with true classes in rows and predicted classes in columns.

The derivatives are those by the cells of a matrix that sums to 1; adding a constant to all of them
changes no influence.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "compute_accuracy_gradient",
    "compute_balanced_accuracy_gradient",
    "compute_matthews_gradient",
    "compute_mean_f1_gradient",
    "f1",
    "kappa",
    "matthews",
    "precision",
    "recall",
    "specificity",
]

Counts = npt.NDArray[Any]  # integers, or sums of weights
Floats = npt.NDArray[np.float64]


def accuracy(counts: Counts) -> float:
    """Return the share of the rows with a correct prediction."""
    return float(np.diag(counts).sum() / counts.sum())


def balanced_accuracy(counts: Counts) -> float:
    """Return the mean recall of the classes that occur."""
    return float(np.mean(recall(counts)[counts.sum(axis=1) > 0]))


def precision(counts: Counts) -> Floats:
    """Return TP / (TP + FP) of each class; 0 if it is never predicted."""
    return _share(np.diag(counts), counts.sum(axis=0))


def recall(counts: Counts) -> Floats:
    """Return TP / (TP + FN) of each class; 0 if it does not occur."""
    return _share(np.diag(counts), counts.sum(axis=1))


def specificity(counts: Counts) -> Floats:
    """Return TN / (TN + FP) of each class; 0 if no other class occurs."""
    negative = counts.sum() - counts.sum(axis=1)
    return _share(negative - counts.sum(axis=0) + np.diag(counts), negative)


def f1(counts: Counts) -> Floats:
    """Return 2 TP / (2 TP + FP + FN) of each class; 0 if it neither occurs nor is predicted."""
    return _share(2 * np.diag(counts), counts.sum(axis=0) + counts.sum(axis=1))


def matthews(counts: Counts) -> float:
    """Return the correlation of true and predicted classes (Gorodkin 2004, equation 8).

    It is 0 if all true or all predicted classes are equal.
    """
    counts = np.asarray(counts, dtype=np.float64)
    true, predicted, n = counts.sum(axis=1), counts.sum(axis=0), counts.sum()
    covariance = np.trace(counts) * n - true @ predicted
    spread = (n * n - true @ true) * (n * n - predicted @ predicted)
    return float(covariance / np.sqrt(spread)) if spread > 0 else 0.0


def kappa(counts: Counts) -> float:
    """Return Cohen's kappa (1960): the agreement beyond that of independent classes.

    It is 0 if all true and all predicted classes are one class.
    """
    shares = counts / counts.sum()
    expected = float(shares.sum(axis=1) @ shares.sum(axis=0))
    agreed = float(np.diag(shares).sum())
    return (agreed - expected) / (1.0 - expected) if expected < 1.0 else 0.0


def _share(part: Counts, whole: Counts) -> Floats:
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)


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
