"""Rows set aside: folds of a cross-validation, and a part of the rows for validation."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

Rows = npt.NDArray[np.intp]
Split = tuple[Rows, Rows]  # rows to grow from, rows to judge by


def fold_splits(
    cv: Any, y: npt.NDArray[Any], rows: Rows, *, stratify: bool, seed: int
) -> list[Split]:
    """Splits of a cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable
        An int deals the shuffled rows out, class by class, to so many folds: the sizes of the
        folds, and of each class in them, differ by 1 at most. The others say themselves which rows.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    rows : ndarray
        Rows of positive weight; an int knows no others.
    stratify : bool
        Whether y holds classes.
    seed : int
        Of the shuffling.

    Raises
    ------
    ValueError
        If there are more folds than rows, or an iterable's rows are not rows of the table.
    """
    if isinstance(cv, Integral):
        n_folds = int(cv)
        if rows.size < n_folds:
            classes = f" (classes: {len(np.unique(y[rows], axis=0))})" if stratify else ""
            raise ValueError(
                f"cv={n_folds} folds need as many rows of positive weight, but there are n_samples="
                f"{rows.size}{classes}: lower cv or give more rows"
            )
        order = _dealing_order(y, rows, stratify, seed)
        fold = np.empty(rows.size, dtype=np.intp)
        fold[order] = np.arange(rows.size) % n_folds
        return [(rows[fold != k], rows[fold == k]) for k in range(n_folds)]
    splits: Iterable[tuple[Any, Any]] = check_cv(cv, y, classifier=stratify).split(
        np.zeros((len(y), 1)), y
    )
    return [
        (check_row_indices(train, len(y), number), check_row_indices(test, len(y), number))
        for number, (train, test) in enumerate(splits)
    ]


def hold_out(
    fraction: float, y: npt.NDArray[Any], rows: Rows, *, stratify: bool, seed: int
) -> Split:
    """Set a fraction or a number of the rows aside, at random, and of every class the same share.

    Raises
    ------
    ValueError
        If a fraction is less than one row, or there are not more rows than a number.
    """
    n_aside = fraction if isinstance(fraction, int) else int(rows.size * fraction)
    if n_aside >= rows.size:
        raise ValueError(
            f"validation_fraction={fraction} rows set aside leave none of n_samples={rows.size} to "
            "learn from: lower it or give more rows"
        )
    if n_aside == 0:
        classes = f" (classes: {len(np.unique(y[rows], axis=0))})" if stratify else ""
        raise ValueError(
            f"validation_fraction={fraction} of n_samples={rows.size}{classes} is less than one "
            "row: raise it or give more rows"
        )
    order = _dealing_order(y, rows, stratify, seed)
    # Every 1/fraction-th row in the order of the classes.
    steps = np.arange(rows.size + 1) * n_aside // rows.size
    aside = np.zeros(rows.size, dtype=bool)
    aside[order] = np.diff(steps) > 0
    return rows[~aside], rows[aside]


def keep_every_class(learn: Rows, judge: Rows, target: npt.NDArray[Any]) -> Split:
    """Give back a row of every class that would be left out of the rows to learn from."""
    lost = np.setdiff1d(target[judge], target[learn])
    back = np.array([judge[target[judge] == label][0] for label in lost], dtype=np.intp)
    return np.union1d(learn, back), np.setdiff1d(judge, back)


def _dealing_order(y: npt.NDArray[Any], rows: Rows, stratify: bool, seed: int) -> Rows:
    """Positions in `rows`, shuffled, and then class by class if there are classes."""
    order = np.random.RandomState(seed).permutation(rows.size)
    if not stratify:
        return order
    _, classes = np.unique(y[rows[order]], axis=0, return_inverse=True)
    return order[np.argsort(classes.ravel(), kind="stable")]


def check_row_indices(rows: Any, n_rows: int, number: int) -> Rows:
    """Rows of a split, as numbers, which are rows of the table."""
    chosen = np.asarray(rows)
    if chosen.dtype == bool and chosen.shape == (n_rows,):
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ValueError(
            f"cv gave rows of shape {chosen.shape} and type {chosen.dtype} in split {number}: "
            "row numbers or a mask of all rows are needed"
        )
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < n_rows):
        outside = chosen[(chosen < 0) | (chosen >= n_rows)][0]
        raise ValueError(
            f"cv gave row {outside} in split {number}, but the table has rows 0 to {n_rows - 1}"
        )
    return chosen.astype(np.intp)


def standard_error(
    sums: npt.NDArray[np.float64],
    fold_weight: npt.NDArray[np.float64],
    mean: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Standard error of the mean over the folds, each with its weight."""
    n_folds = fold_weight.size
    if n_folds == 1:
        return np.full_like(mean, np.nan)
    deviations = sums / fold_weight[:, np.newaxis] - mean
    exponent = int(np.frexp(np.abs(deviations).max())[1])  # squares stay within float64
    variance = fold_weight @ np.ldexp(deviations, -exponent) ** 2 / fold_weight.sum()
    error: npt.NDArray[np.float64] = np.ldexp(np.sqrt(variance / (n_folds - 1)), exponent)
    return error
