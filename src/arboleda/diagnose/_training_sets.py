"""Random training sets for estimates of variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

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
