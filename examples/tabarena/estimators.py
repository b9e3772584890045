"""What the AutoGluon model needs of arboleda; imports nothing of AutoGluon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from arboleda import BoostingClassifier, BoostingRegressor

PROBLEM_TYPES = ("binary", "multiclass", "regression", "quantile")

# The leaves of the members are refitted after `time_budget`, in up to a third of that time.
_BUDGET_SHARE = 0.7
_LEAST_BUDGET = 0.1


def make_estimator(
    problem_type: str,
    parameters: Mapping[str, Any],
    *,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    quantile_levels: Sequence[float] | None = None,
) -> BoostingClassifier | BoostingRegressor:
    """Make the unfitted estimator for a problem of AutoGluon.

    Parameters
    ----------
    problem_type : {"binary", "multiclass", "regression", "quantile"}
    parameters : mapping
        Parameters of `BoostingClassifier` or `BoostingRegressor`.
    n_jobs : int, default=None
        Number of threads; None: the default of arboleda.
    time_limit : float, default=None
        Seconds for the whole fit. Most of it becomes the ``time_budget``, if that is not smaller.
    quantile_levels : sequence of float, default=None
        Levels of a quantile problem.

    Raises
    ------
    ValueError
        If the problem type is not supported.
    """
    if problem_type not in PROBLEM_TYPES:
        raise ValueError(f"problem_type must be one of {PROBLEM_TYPES}, got {problem_type!r}")
    options = {"n_jobs": n_jobs, **parameters}
    if time_limit is not None:
        budget = max(_BUDGET_SHARE * time_limit, _LEAST_BUDGET)
        given = options.get("time_budget")
        options["time_budget"] = budget if given is None else min(given, budget)
    if problem_type in {"binary", "multiclass"}:
        return BoostingClassifier(**options)
    if problem_type == "quantile":
        levels = [] if quantile_levels is None else [float(level) for level in quantile_levels]
        options |= {"loss": "quantile", "quantile": levels}
    return BoostingRegressor(**options)


def replace_infinite_values(X: pd.DataFrame) -> pd.DataFrame:
    """Replace infinite numbers, which arboleda refuses, by missing values.

    The table is copied only if there are any.
    """
    numbers = X.select_dtypes("float")
    is_infinite = np.isinf(numbers.to_numpy(dtype=np.float64, na_value=np.nan))
    if not is_infinite.any():
        return X
    X = X.copy()
    X[numbers.columns] = numbers.mask(is_infinite)
    return X


def estimate_fit_memory(
    n_rows: int, n_columns: int, n_classes: int | None, parameters: Mapping[str, Any]
) -> int:
    """Estimate the bytes that a fit needs beside the table; deliberately too many.

    Counted are the columns as float64 and as codes, gradients and raw scores of all rows and
    outputs, the histograms of the leaves of a tree, and the trees of all members.
    """
    n_outputs = n_classes if n_classes is not None and n_classes > 2 else 1
    leaves = parameters.get("max_leaf_nodes", "auto")
    n_leaves = leaves if isinstance(leaves, int) else 63
    columns = 12 * n_rows * n_columns
    rows = 150 * n_rows * n_outputs
    histograms = 256 * 16 * n_leaves * n_columns * min(n_outputs, 16)
    trees = 200 * n_leaves * n_outputs * 2000
    return columns + rows + histograms + trees
