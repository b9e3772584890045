"""Splits that keep the rows of a group together: patients, customers, places."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from arboleda.study.data.table import Column
from arboleda.study.errors import StudyError

__all__ = ["group_codes", "group_folds", "hold_out_groups"]

Rows = npt.NDArray[np.int64]
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 11


def group_codes(column: Column) -> Rows:
    """Return the number of each row's group.

    Raises
    ------
    StudyError
        If a row has no group, or all have the same.
    """
    n_missing = int(column.missing.sum())
    if n_missing:
        raise StudyError(
            f"The column of groups {column.name!r} is missing in {n_missing:,} of "
            f"{len(column.values):,} rows; give every row its group."
        )
    distinct, codes = np.unique(column.values, return_inverse=True)
    if len(distinct) == 1:
        raise StudyError(
            f"The column of groups {column.name!r} holds one group only; there is nothing to "
            "split by."
        )
    return codes.astype(np.int64)


def hold_out_groups(groups: Rows, share: float, seed: int) -> tuple[Rows, Rows]:
    """Split into training and test rows with no group on both sides.

    Groups are taken in random order while the test gets closer to its share of the rows; one that
    overshoots is skipped.
    """
    sizes = np.bincount(groups)
    wanted = share * len(groups)
    order = np.random.default_rng([seed, _PURPOSE]).permutation(len(sizes))
    taken, held_out = 0, np.zeros(len(sizes), dtype=bool)
    for group in order:
        nearer = abs(taken + sizes[group] - wanted) < abs(taken - wanted)
        if nearer and held_out.sum() < len(sizes) - 1:
            held_out[group], taken = True, taken + sizes[group]
    if not taken:
        # Each group is more than twice the share: the smallest is the closest.
        held_out[int(sizes.argmin())] = True
    in_test = held_out[groups]
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)


def group_folds(
    groups: Rows, classes: Rows | None, n_folds: int, seed: int, name: str
) -> Iterator[tuple[Rows, Rows]]:
    """Yield the indices of the fit and score rows of each fold, approximately stratified.

    Raises
    ------
    StudyError
        If there are fewer groups than folds, or no class fills the folds.
    """
    n_groups = len(np.unique(groups))
    if n_groups < n_folds:
        raise StudyError(
            f"The training rows hold only {n_groups} of the groups of {name!r}, too few for "
            f"{n_folds} folds; choose fewer with --cv."
        )
    if classes is None:
        splitter = GroupKFold(n_folds, shuffle=True, random_state=seed)
        yield from splitter.split(groups, None, groups)
        return
    if np.bincount(classes).max() < n_folds:
        raise StudyError(
            f"No class has the {n_folds} training rows that {n_folds} folds need; choose fewer "
            "folds with --cv."
        )
    stratified = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    yield from stratified.split(groups, classes, groups)
