"""Records, early stopping, trimming and progress of the rounds of boosted classifiers."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor

from arboleda.adaboost._algorithms import ALGORITHMS, Algorithm, Indices

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RoundRecords:
    """Results of the boosting rounds, one entry per round.

    Attributes
    ----------
    weight : ndarray of float
        Weights of the votes in the weighted sums.
    error : ndarray of float
        Errors of the members under their training weights.
    normalizer : ndarray of float
        Factors of the bound on the training error.
    reset : ndarray of float
        1 where the row weights were redrawn before the round, else 0.
    """

    weight: Floats
    error: Floats
    normalizer: Floats
    reset: Floats

    @classmethod
    def of(cls, rounds: list[tuple[float, float, float, float]]) -> RoundRecords:
        """Create records from tuples of the four fields, one per round."""
        table = np.array(rounds, dtype=np.float64).reshape(-1, 4)
        return cls(*(np.ascontiguousarray(column) for column in table.T))

    def __len__(self) -> int:
        return len(self.weight)

    def first(self, n_rounds: int) -> RoundRecords:
        """Return the first rounds."""
        return RoundRecords(*(getattr(self, field.name)[:n_rounds] for field in fields(self)))


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


def trim_weights(weight: Floats, share: float) -> Floats:
    """Set the smallest weights, which sum to at most a share of the total, to 0.

    Weights equal to the smallest remaining one are kept.

    Examples
    --------
    >>> trim_weights(np.array([0.5, 0.1, 0.3, 0.1]), 0.25)
    array([0.5, 0. , 0.3, 0. ])
    """
    order = np.argsort(weight, kind="stable")
    below = np.cumsum(weight[order]) <= share * weight.sum()
    first = int(np.count_nonzero(below))
    least = weight[order[min(first, len(order) - 1)]]
    return np.where(weight < least, 0.0, weight)


def log_round(verbose: int, n_done: int, n_rounds: int, error: float) -> None:
    """Print the progress: about ten times if ``verbose`` is 1, every round if 2, never if 0."""
    step = 1 if verbose > 1 else max(1, n_rounds // 10)
    if verbose and (n_done % step == 0 or n_done == n_rounds):
        sys.stdout.write(f"round {n_done} of {n_rounds}, error {error:.4f}\n")
        sys.stdout.flush()


def check_member_kind(estimator: Any, kind: Literal["classifier", "regressor"], advice: str) -> Any:
    """Return an estimator, or raise an error if it is known to be of another kind."""
    is_kind = is_classifier if kind == "classifier" else is_regressor
    if hasattr(estimator, "__sklearn_tags__") and not is_kind(estimator):
        raise ValueError(
            f"estimator is a {type(estimator).__name__}, which is not a {kind}: use {advice}."
        )
    return estimator


def check_algorithm(model: Any) -> None:
    """Check that the algorithm suits the target and the members."""
    if model.algorithm == "discrete" and model.n_classes_ > 2:
        raise ValueError(
            "Only binary classification is supported by algorithm='discrete', but y has "
            f"{model.n_classes_} classes: use 'SAMME', 'M1', 'M2' or 'MH'."
        )
    if model.estimator is None:
        return
    name = type(model.estimator).__name__
    known = hasattr(model.estimator, "__sklearn_tags__")
    if ALGORITHMS[model.algorithm].learns == "numbers":
        if known and not is_regressor(model.estimator):
            raise ValueError(
                f"algorithm={model.algorithm!r} needs members that are regressors, but estimator "
                f"is a {name}: use a regressor, or another algorithm."
            )
    elif known and not is_classifier(model.estimator):
        raise ValueError(
            f"algorithm={model.algorithm!r} needs members that are classifiers, but estimator "
            f"is a {name}: use a classifier, or algorithm='gentle' or 'logit'."
        )
    if model.algorithm == "real" and not hasattr(model.estimator, "predict_proba"):
        raise ValueError(
            f"algorithm='real' needs members with predict_proba, which {name} does not have: "
            "use another estimator, or algorithm='discrete' or 'SAMME'."
        )


def check_last_error(model: Any, n_rounds: int, useless: float | None) -> None:
    """Warn if a useless member ended boosting; raise if it was the first."""
    if useless is None:
        return
    if model.algorithm == "real":
        needed = "probabilities that are not the same for all classes"
    elif model._algorithm.worst_error == 0.5:
        needed = "an error below 1/2"
    else:
        needed = f"an error below 1 - 1/{model.n_classes_}"
    others = (
        "use 'SAMME', which needs an error below 1 - 1/K, 'M2' or 'MH', which need even less, or "
        "a stronger estimator"
        if model.algorithm == "M1" and model.n_classes_ > 2
        else "use a stronger estimator"
    )
    if n_rounds == 0:
        raise ValueError(
            f"The first member has a weighted error of {useless:.3g}, no better than "
            f"guessing, but algorithm={model.algorithm!r} needs {needed} (y has "
            f"{model.n_classes_} classes): {others}."
        )
    reset = "" if model.on_degenerate == "reset" else ", or set on_degenerate='reset'"
    warnings.warn(
        f"Boosting ended after {n_rounds} of {model.n_estimators} rounds: the next member had a "
        f"weighted error of {useless:.3g}, but algorithm={model.algorithm!r} needs "
        f"{needed}: {others}{reset}.",
        stacklevel=6,
    )
