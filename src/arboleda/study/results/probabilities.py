"""What tells the classes of a row: how many numbers, and whether they are probabilities."""

import numpy as np
import numpy.typing as npt

__all__ = ["are_probabilities", "n_scores"]

# Rows of probabilities may miss 1 by so much.
_SUM_TOLERANCE = 1e-4


def are_probabilities(score: npt.NDArray[np.float64]) -> bool:
    """Whether each row holds the probabilities of all classes."""
    inside = bool(np.all((score >= 0.0) & (score <= 1.0)))
    return inside and bool(np.all(np.abs(score.sum(axis=1) - 1.0) <= _SUM_TOLERANCE))


def n_scores(n_classes: int) -> int:
    """Numbers that tell of a row: one of values (no classes) and of two classes, else one each."""
    return n_classes if n_classes > 2 else 1
