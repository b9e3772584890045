"""When to stop: the error of rows set aside."""

from __future__ import annotations

import numpy as np

from arboleda.adaboost._algorithms import Algorithm, Floats, Indices


class Validation:
    """Keeps the error of the validation rows after each round.

    Parameters
    ----------
    algorithm : Algorithm
    target : ndarray of int
        Numbers of the rows' classes.
    weight : ndarray of float
        Of the rows.
    patience : int
        Rounds without a smaller error after which boosting stops.
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
        """Take note of the sums of votes after a round; True: it is enough."""
        # Which class has the most does not depend on the total.
        decision = self._algorithm.compute_decision(sums, 1.0)
        predicted = decision > 0.0 if decision.ndim == 1 else decision.argmax(axis=1)
        self.errors.append(float(self._share[predicted != self._target].sum()))
        return len(self.errors) - self.best_round >= self._patience

    @property
    def best_round(self) -> int:
        """Rounds with the smallest error, the fewest of them."""
        return int(np.argmin(self.errors)) + 1
