"""Named models, their training sets and their scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing

from arboleda._base.held_out import Loss, compute_row_losses


def check_named_models(estimators: Any) -> list[tuple[str, Any]]:
    """Check an estimator, a list of pairs (name, estimator) or a dict, and return such pairs."""
    if hasattr(estimators, "fit"):
        return [(type(estimators).__name__, estimators)]
    if isinstance(estimators, Mapping):
        estimators = estimators.items()
    try:
        pairs = [(name, model) for name, model in estimators]
    except TypeError as error:
        raise TypeError(
            "estimators must be an estimator, a list of pairs (name, estimator) or a dict of them, "
            f"such as [('tree', DecisionTreeClassifier())]; got {estimators!r}"
        ) from error
    if not pairs:
        raise ValueError("estimators must hold at least one model, got none")
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"the names of the models must be unique, got {repeated[0]!r} more than once"
        )
    return pairs


def all_classifiers(models: list[tuple[str, Any]]) -> bool:
    """Return whether the models are classifiers; refuse a mixture with regressors."""
    kinds = {bool(is_classifier(model)) for _, model in models}
    if len(kinds) > 1:
        raise ValueError(
            "models are compared by their errors: all must be classifiers, or all regressors"
        )
    return kinds.pop()


Rows = npt.NDArray[np.intp]


def draw_training_sets(
    n_rows: int,
    n_sets: int,
    set_size: float | int,
    random: np.random.RandomState,
    *,
    bootstrap: bool = False,
) -> list[tuple[Rows, int]]:
    """Draw the rows of each training set, and a seed for the model fitted on it.

    Rows are drawn with replacement if ``bootstrap``, else without; then the sets are disjoint if
    there are enough rows.
    """
    if n_sets < 2:
        raise ValueError(f"n_sets must be at least 2 to estimate variances; got {n_sets}")
    size = round(set_size * n_rows) if isinstance(set_size, float) else int(set_size)
    if not 1 <= size <= n_rows:
        raise ValueError(
            f"set_size must be a share or a number of the {n_rows} rows; got {set_size!r}"
        )
    seeds = random.randint(np.iinfo(np.int32).max, size=n_sets)
    if bootstrap:
        rows = [random.randint(n_rows, size=size) for _ in range(n_sets)]
    elif n_sets * size <= n_rows:
        order = random.permutation(n_rows)
        rows = [order[k * size : (k + 1) * size] for k in range(n_sets)]
    else:
        rows = [random.permutation(n_rows)[:size] for _ in range(n_sets)]
    return [(each, int(seed)) for each, seed in zip(rows, seeds, strict=True)]


def fit_on_rows(model: Any, X: Any, y: Any, rows: Rows, seed: int) -> Any:
    """Fit a clone of the model on the rows, with the seed as every ``random_state``."""
    fresh = clone(model)
    states = [
        name
        for name in fresh.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
    fresh.set_params(**dict.fromkeys(states, seed))
    return fresh.fit(_safe_indexing(X, rows), _safe_indexing(y, rows))


class MinusMeanLoss:
    """A scorer of the negated mean loss; a class, because closures cannot be pickled."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        return -float(
            compute_row_losses(self._loss, np.asarray(y), np.asarray(model.predict(X))).mean()
        )
