"""Problems for the tests of the loop of boosting, below the estimators."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from arboleda._engine.boosting import (
    Boosted,
    BoostingOptions,
    BoostingRows,
    CustomLoss,
    LossOptions,
    fit_boosting,
)
from arboleda._engine.columns import DenseTable

LOSSES: dict[str, dict[str, Any]] = {
    "squared_error": {},
    "absolute_error": {},
    "huber": {"alpha": 0.9},
    "quantile": {"levels": [0.3]},
    "poisson": {},
    "exponential": {"n_classes": 2},
    "log_loss": {"n_classes": 2},
    "softmax": {"n_classes": 3},
}


def resolve_loss(name: str) -> LossOptions:
    """Return one of the losses above."""
    return LossOptions("log_loss" if name == "softmax" else name, **LOSSES[name])


@dataclass(frozen=True)
class Problem:
    """A table of three numeric columns, and targets of every kind that depend on it."""

    X: Any
    table: DenseTable

    @classmethod
    def make(cls, n_rows: int, seed: int = 0) -> "Problem":
        X = np.random.default_rng(seed).normal(size=(n_rows, 3)).astype(np.float32).astype(float)
        return cls(X, DenseTable(list(X.T), n_rows, (0, 0, 0)))

    def target(self, loss: str) -> Any:
        x, noise = self.X, np.sin(1e4 * self.X.sum(axis=1))
        signal = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.5 * noise
        if loss in {"log_loss", "exponential"}:
            return (signal > 0.1).astype(float)
        if loss == "softmax":
            return np.digitize(signal, [-0.3, 0.5]).astype(float)
        return np.floor(np.exp(signal)) if loss == "poisson" else signal

    def rows(
        self, loss: str, numbers: Any = None, exact: bool = True, **parts: Any
    ) -> BoostingRows:
        coded = self.table.code(1, None if exact else 255)
        everything = np.arange(len(self.X))
        return BoostingRows(
            coded, everything if numbers is None else numbers, self.target(loss), **parts
        )

    def fit(
        self,
        loss: str | CustomLoss,
        *,
        of: str = "squared_error",
        exact: bool = True,
        n_threads: int = 1,
        numbers: Any = None,
        validation_rows: Any = None,
        weight: Any = None,
        offset: Any = None,
        resume: Any = None,
        replayed: Any = None,
        callback: Any = None,
        **options: Any,
    ) -> Boosted:
        """Fit a few small trees; ``validation_rows``: rows of the same table to score on."""
        name = loss if isinstance(loss, str) else of
        training = self.rows(name, numbers, exact, weight=weight, offset=offset)
        validation = None
        if validation_rows is not None:
            validation = BoostingRows(training.table, validation_rows, training.target, weight)
        defaults = {"n_rounds": 10, "learning_rate": 0.3, "max_depth": 3, "min_samples_leaf": 5}
        return fit_boosting(
            training,
            resolve_loss(loss) if isinstance(loss, str) else loss,
            BoostingOptions(exact=exact, **(defaults | options)),
            validation=validation,
            resume=resume,
            refit_leaves=replayed,
            callback=callback,
            n_threads=n_threads,
            seed=3,
        )


def bits(fitted: Boosted) -> bytes:
    """Return all results of a fit as bytes."""
    arrays = [fitted.ensemble.start, *fitted.history.values()]
    for tree in fitted.ensemble.trees:
        arrays += [tree.feature, tree.threshold, tree.value, tree.missing_go_to_left]
    return b"".join(array.tobytes() for array in arrays)
