"""Early stopping of regressors by the error on held-out rows."""

from __future__ import annotations

import numpy as np

from arboleda._engine.adaboost_regressor import RunningMedians
from arboleda.adaboost._round_protocols import Floats, Indices
from arboleda.tree._folds import hold_out


class MedianValidation:
    """Mean squared error on held-out rows after each round.

    Parameters
    ----------
    rows : ndarray of int
        Indices of the held-out rows.
    target, weight : ndarray of shape (n_samples,)
        Targets and weights of all rows.
    patience : int
        Number of rounds without a smaller error after which boosting stops.
    """

    def __init__(self, rows: Indices, target: Floats, weight: Floats, patience: int) -> None:
        self._rows = rows
        self._target = target[rows]
        self._share = weight[rows] / weight[rows].sum()
        self._patience = patience
        self._medians = RunningMedians(len(rows))
        self._errors: list[float] = []

    def record(self, predictions: Floats, weight: float, n_threads: int) -> bool:
        """Add a member's predictions for all rows; return True if boosting should stop."""
        self._medians.add(predictions[self._rows], weight, n_threads)
        predicted = self._medians.medians(n_threads)
        self._errors.append(float(self._share @ (predicted - self._target) ** 2))
        return len(self._errors) - self.best_round >= self._patience

    @property
    def best_round(self) -> int:
        """Smallest number of rounds with the lowest error."""
        return int(np.argmin(self._errors)) + 1


def holdout_split(
    target: Floats,
    weight: Floats,
    fraction: float,
    patience: int,
    random: np.random.RandomState,
) -> tuple[Floats, MedianValidation]:
    """Return weights that are 0 for the held-out rows, and the validation of these."""
    able = np.flatnonzero(weight)
    seed = int(random.randint(np.iinfo(np.int32).max))
    training_rows, validation_rows = hold_out(fraction, target, able, stratify=False, seed=seed)
    rest = np.zeros_like(weight)
    rest[training_rows] = weight[training_rows]
    return rest, MedianValidation(validation_rows, target, weight, patience)
