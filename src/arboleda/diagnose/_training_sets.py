"""Training sets drawn from given rows, over which models are seen to vary."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import _safe_indexing

Rows = npt.NDArray[np.intp]


def training_sets(
    n_rows: int,
    n_sets: int,
    set_size: float | int,
    random: np.random.RandomState,
    *,
    bootstrap: bool = False,
) -> list[tuple[Rows, int]]:
    """Return the rows of each set, and a seed for what is fitted on it.

    Rows are drawn with replacement if ``bootstrap``; else without, and no two sets have a row in
    common where there are enough.
    """
    if n_sets < 2:
        raise ValueError(f"n_sets must be at least 2, as variances are estimated; got {n_sets}")
    size = round(set_size * n_rows) if isinstance(set_size, float) else int(set_size)
    if not 1 <= size <= n_rows:
        raise ValueError(
            f"set_size must be a share of the {n_rows} rows, or a number of them; got {set_size!r}"
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


def fitted_on(model: Any, X: Any, y: Any, rows: Rows, seed: int) -> Any:
    """Return a clone of the model, fitted on these rows; each ``random_state`` is the seed."""
    fresh = clone(model)
    states = [
        name
        for name in fresh.get_params()
        if name == "random_state" or name.endswith("__random_state")
    ]
    fresh.set_params(**dict.fromkeys(states, seed))
    return fresh.fit(_safe_indexing(X, rows), _safe_indexing(y, rows))
