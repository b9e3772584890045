"""Early stopping of classifiers by the error on held-out rows."""

from __future__ import annotations

import numpy as np

from arboleda.adaboost._algorithms import Algorithm, Floats, Indices


class Validation:
    """Error on the validation rows after each round.

    Parameters
    ----------
    algorithm : Algorithm
    target : ndarray of int
        Class indices of the validation rows.
    weight : ndarray of float
        Weights of the validation rows.
    patience : int
        Number of rounds without a smaller error after which boosting stops.
    """

    def __init__(
        self, algorithm: Algorithm, target: Indices, weight: Floats, patience: int
    ) -> None:
        self._algorithm = algorithm
        self._target = target
        self._share = weight / weight.sum()
        self._patience = patience
        self.errors: list[float] = []

    def record(self, sums: Floats) -> bool:
        """Record the error of the summed votes; return True if boosting should stop."""
        # The predicted class does not depend on the total.
        decision = self._algorithm.compute_decision(sums, 1.0)
        predicted = decision > 0.0 if decision.ndim == 1 else decision.argmax(axis=1)
        self.errors.append(float(self._share[predicted != self._target].sum()))
        return len(self.errors) - self.best_round >= self._patience

    @property
    def best_round(self) -> int:
        """Smallest number of rounds with the lowest error."""
        return int(np.argmin(self.errors)) + 1
