"""Cross-validation inside `fit`: rows of the folds, and errors over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda.learners._class_rows import ClassRows
from arboleda.tree._folds import Split, fold_splits, standard_error

Floats = npt.NDArray[np.float64]


def row_splits(cv: Any, rows: ClassRows, random_state: Any) -> list[Split]:
    """Splits among the rows of positive weight, by their places among these.

    An int deals the shuffled rows out, class by class; a splitter or an iterable says itself which
    rows, counted as in `fit`.

    Raises
    ------
    ValueError
        If there are more folds than rows, or a fold has no row to learn from, or none has one to
        judge by.
    """
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    place = np.full(rows.all_labels.size, -1)
    place[rows.kept] = np.arange(rows.kept.size)
    splits = []
    for number, (train, test) in enumerate(
        fold_splits(cv, rows.all_labels, rows.kept, stratify=True, seed=seed)
    ):
        learn, judge = (places[places >= 0] for places in (place[train], place[test]))
        if learn.size == 0:
            raise ValueError(f"cv leaves no row of positive weight to learn from in fold {number}")
        if judge.size:
            splits.append((learn, judge))
    if not splits:
        raise ValueError("cv holds out no row of positive weight in any fold")
    return splits


def error_rates(sums: list[Floats], weights: list[float]) -> tuple[Floats, Floats]:
    """Share misclassified over all folds, and its standard error; NaN for a single fold.

    Parameters
    ----------
    sums : list of ndarray
        Weight misclassified in each fold, by candidate.
    weights : list of float
        Weight held out in each fold.
    """
    shape = sums[0].shape
    table, weight = np.array([one.ravel() for one in sums]), np.array(weights)
    mean = table.sum(axis=0) / weight.sum()
    return mean.reshape(shape), standard_error(table, weight, mean).reshape(shape)
