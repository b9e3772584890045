"""Scores of classes: their number, and whether they are probabilities."""

import numpy as np
import numpy.typing as npt

__all__ = ["are_probabilities", "n_scores"]

# Tolerance of the sum of a row of probabilities.
_SUM_TOLERANCE = 1e-4


def are_probabilities(score: npt.NDArray[np.float64]) -> bool:
    """Whether each row holds the probabilities of all classes."""
    inside = bool(np.all((score >= 0.0) & (score <= 1.0)))
    return inside and bool(np.all(np.abs(score.sum(axis=1) - 1.0) <= _SUM_TOLERANCE))


def n_scores(n_classes: int) -> int:
    """Return the free scores per row: one for values or two classes, else one per class."""
    return n_classes if n_classes > 2 else 1
