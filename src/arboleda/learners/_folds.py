"""Cross-validation inside `fit`: rows of the folds, and error rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._base.folds import Split, fold_splits, standard_error
from arboleda.learners._class_rows import ClassRows

Floats = npt.NDArray[np.float64]


def row_splits(cv: Any, rows: ClassRows, random_state: Any) -> list[Split]:
    """Return the splits of the rows of positive weight, as indices among these rows.

    For an int the folds are shuffled and stratified; a splitter or an iterable defines the folds as
    indices of the rows passed to `fit`.

    Raises
    ------
    ValueError
        If there are more folds than rows, a fold has no training row, or no fold has a test row.
    """
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    place = np.full(rows.all_labels.size, -1)
    place[rows.kept] = np.arange(rows.kept.size)
    splits = []
    for number, (train, test) in enumerate(
        fold_splits(cv, rows.all_labels, rows.kept, stratify=True, seed=seed)
    ):
        train_rows, test_rows = (places[places >= 0] for places in (place[train], place[test]))
        if train_rows.size == 0:
            raise ValueError(f"cv leaves no training row of positive weight in fold {number}")
        if test_rows.size:
            splits.append((train_rows, test_rows))
    if not splits:
        raise ValueError("cv has no test row of positive weight in any fold")
    return splits


def error_rates(sums: list[Floats], weights: list[float]) -> tuple[Floats, Floats]:
    """Return the error rate over all folds, and its standard error; NaN for a single fold.

    Parameters
    ----------
    sums : list of ndarray
        Misclassified weight in each fold, by candidate.
    weights : list of float
        Held-out weight in each fold.

    Returns
    -------
    mean, error : ndarray
    """
    shape = sums[0].shape
    table, weight = np.array([one.ravel() for one in sums]), np.array(weights)
    mean = table.sum(axis=0) / weight.sum()
    return mean.reshape(shape), standard_error(table, weight, mean).reshape(shape)
