"""Cross-validation splits: training rows and test rows of the members."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

from arboleda.tree._folds import Split, check_row_indices

__all__ = ["Folds", "folds_of"]

Rows = npt.NDArray[np.intp]


class Folds:
    """Splits of a table, and the rows that are in at least one test set.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Training rows and test rows of each split.
    n_rows : int
        Number of rows of the table.

    Attributes
    ----------
    rows : ndarray
        Rows that are in a test set, ascending.
    times : ndarray
        Number of test sets that contain each of these rows.
    """

    def __init__(self, splits: list[Split], n_rows: int) -> None:
        self.splits = splits
        self.n_rows = n_rows
        times = np.zeros(n_rows, dtype=np.int64)
        for _, test in splits:
            np.add.at(times, test, 1)
        self.rows: Rows = np.flatnonzero(times)
        self.times = times[self.rows]

    def __len__(self) -> int:
        """Return the number of splits."""
        return len(self.splits)

    def places(self, split: int) -> Rows:
        """Return the positions in `rows` of the test rows of a split."""
        return np.searchsorted(self.rows, self.splits[split][1])


def folds_of(cv: Any, X: Any, y: npt.NDArray[Any], groups: Any, *, classes: bool) -> Folds:
    """Make the splits of a cross-validation.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        An int (None: 5) is a number of folds in the order of the rows, stratified if y holds
        classes; groups are not split.
    X, y, groups : array-like
    classes : bool
        Whether y holds classes.

    Raises
    ------
    ValueError
        If a split has no training rows, rows that do not exist or rows that are both training and
        test rows, or if no row is in a test set.
    """
    cv = 5 if cv is None else cv
    if groups is not None and isinstance(cv, Integral):
        cv = (StratifiedGroupKFold if classes else GroupKFold)(int(cv))
    splitter = check_cv(cv, y, classifier=classes)
    splits: list[Split] = []
    for number, (train, test) in enumerate(_splits(splitter, X, y, groups)):
        split = check_row_indices(train, len(y), number), check_row_indices(test, len(y), number)
        if not split[0].size:
            raise ValueError(f"split {number} of cv has no training rows")
        both = np.intersect1d(*split)
        if both.size:
            raise ValueError(
                f"row {both[0]} in split {number} of cv is both a training row and a test row: "
                "members would predict rows that they have seen"
            )
        splits.append(split)
    folds = Folds(splits, len(y))
    if not folds.rows.size:
        raise ValueError("cv has no test rows")
    return folds


def _splits(splitter: Any, X: Any, y: npt.NDArray[Any], groups: Any) -> list[Any]:
    try:
        return list(splitter.split(X, y, groups))
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')}: set cv to fewer folds or to another splitter, or use more "
            "rows"
        ) from error
