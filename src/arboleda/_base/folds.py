"""Splits of the training rows: cross-validation folds and hold-out sets.

The side of a row is decided by the rank of its random word (`row_words`) among those of its class.
The word is that of its place among the rows that are split: rows of weight 0 do not matter.
Limits between the words of one side and the next follow from the numbers of rows of the classes,
so rows may be held anywhere: only counts have to be put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv

from arboleda._base.row_words import Purpose, Words, draw_row_words
from arboleda._base.word_ranks import find_limits
from arboleda._engine.all_shards import ALONE, AllShards
from arboleda._utils.number_types import is_integer

Rows = npt.NDArray[np.intp]
Split = tuple[Rows, Rows]  # training rows, validation rows


def fold_splits(
    cv: Any,
    y: npt.NDArray[Any],
    rows: Rows,
    *,
    stratify: bool,
    seed: int,
    shards: AllShards = ALONE,
) -> list[Split]:
    """Return the splits of a cross-validation.

    Parameters
    ----------
    cv : int, splitter or iterable
        An int is a number of folds; the rows are shuffled and stratified, and the sizes of the
        folds, and of each class in them, differ by 1 at most. Others define the rows themselves.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    rows : ndarray
        Rows of positive weight; an int splits only these.
    stratify : bool
        Whether y holds classes.
    seed : int
        Seed of the shuffling.
    shards : AllShards
        The shards among which the rows of the table are divided, for a number of folds: each
        returns its own rows.

    Raises
    ------
    ValueError
        If there are more folds than rows, or an iterable's rows are not rows of the table.
    """
    if is_integer(cv):
        n_folds = int(cv)
        n_rows = shards.count(rows.size)
        if n_rows < n_folds:
            classes = f" (classes: {len(np.unique(y[rows], axis=0))})" if stratify else ""
            raise ValueError(
                f"cv={n_folds} folds require at least as many rows of positive weight, got "
                f"n_samples={n_rows}{classes}: decrease cv or use more rows"
            )
        groups = list(_group_by_class(y, rows, stratify, seed, shards))
        fold = _number_folds(groups, n_folds, rows.size, shards)
        return [(rows[fold != k], rows[fold == k]) for k in range(n_folds)]
    splits: Iterable[tuple[Any, Any]] = check_cv(cv, y, classifier=stratify).split(
        np.zeros((len(y), 1)), y
    )
    return [
        (check_row_indices(train, len(y), number), check_row_indices(test, len(y), number))
        for number, (train, test) in enumerate(splits)
    ]


def hold_out(
    fraction: float,
    y: npt.NDArray[Any],
    rows: Rows,
    *,
    stratify: bool,
    seed: int,
    shards: AllShards = ALONE,
) -> Split:
    """Hold out a random fraction or number of the rows, with the same share of every class.

    Of a table in ``shards``, the rows are those of all of them: each returns its own.

    Raises
    ------
    ValueError
        If a fraction is less than one row, or a number leaves no training rows.
    """
    n_rows = shards.count(rows.size)
    n_held_out = fraction if isinstance(fraction, int) else int(n_rows * fraction)
    if n_held_out >= n_rows:
        raise ValueError(
            f"validation_fraction={fraction} rows held out leave none of n_samples={n_rows} for "
            "training: decrease it or use more rows"
        )
    if n_held_out == 0:
        classes = f" (classes: {len(np.unique(y[rows], axis=0))})" if stratify else ""
        raise ValueError(
            f"validation_fraction={fraction} of n_samples={n_rows}{classes} is less than one "
            "row: increase it or use more rows"
        )
    groups = list(_group_by_class(y, rows, stratify, seed, shards))
    # As many as if every 1/fraction-th row were held out in the order of the classes.
    sizes = shards.add(np.array([words.size for _, words in groups]))
    ends = [int(end) * n_held_out // n_rows for end in np.cumsum(sizes)]
    chosen = np.diff(ends, prepend=0)
    held_out = np.zeros(rows.size, dtype=bool)
    ranks = [n_chosen[n_chosen > 0] for n_chosen in chosen.reshape(-1, 1)]
    limits = find_limits([words for _, words in groups], ranks, shards)
    for (members, words), limit in zip(groups, limits, strict=True):
        if limit.size:
            held_out[members] = words <= limit
    return rows[~held_out], rows[held_out]


def keep_every_class(
    train: Rows, validation: Rows, target: npt.NDArray[Any], shards: AllShards = ALONE
) -> Split:
    """Move one row of every class that is missing from the training rows back to them.

    It is the first one. Of several targets, those of each are moved.
    """
    back = []
    for classes in np.atleast_2d(target.T):
        kept = np.unique(shards.join(np.unique(classes[train])))
        held_out = shards.gather(np.unique(classes[validation]))
        for lost in np.setdiff1d(np.concatenate(held_out), kept):
            first = next(number for number, part in enumerate(held_out) if lost in part)
            if first == shards.number:
                back.append(validation[classes[validation] == lost][0])
    moved = np.array(back, dtype=np.intp)
    return np.union1d(train, moved), np.setdiff1d(validation, moved)


def _group_by_class(
    y: npt.NDArray[Any], rows: Rows, stratify: bool, seed: int, shards: AllShards = ALONE
) -> Iterator[tuple[Rows, Words]]:
    """Yield the places in `rows` of each class, and the random words of these rows.

    Without stratification all rows are of one class. No two words are equal. Of a table in shards,
    the classes are those of all, of which this shard may have no row.
    """
    first = shards.count_before(rows.size)
    words = draw_row_words(np.arange(first, first + rows.size), seed, Purpose.FOLD)
    if not stratify:
        yield np.arange(rows.size), words
        return
    axis = None if y.ndim == 1 else 0
    labels, classes = np.unique(y[rows], axis=axis, return_inverse=True)
    classes, n_classes = _number_classes(labels, classes.ravel(), axis, shards)
    order = np.argsort(classes, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(classes, minlength=n_classes))[:-1]):
        yield members, words[members]


def _number_classes(
    labels: npt.NDArray[Any], classes: Rows, axis: int | None, shards: AllShards
) -> tuple[Rows, int]:
    """Return the numbers of the rows' classes among those of all shards, and how many there are."""
    if shards.is_alone:
        return classes, len(labels)
    first = shards.count_before(len(labels))
    united, places = np.unique(shards.join(labels), axis=axis, return_inverse=True)
    return places.ravel()[first : first + len(labels)][classes], len(united)


def _number_folds(
    groups: Sequence[tuple[Rows, Words]], n_folds: int, n_rows: int, shards: AllShards
) -> Rows:
    """Return the fold of each row: in a class, ranges of ranks whose lengths differ by 1 at most.

    The longer ranges of a class belong to the folds that follow those of the class before it, so
    the sizes of whole folds differ by 1 at most, too.
    """
    fold = np.empty(n_rows, dtype=np.intp)
    sizes = shards.add(np.array([words.size for _, words in groups])).tolist()
    start = 0
    for (members, words), size in zip(groups, sizes, strict=True):
        lengths = np.full(n_folds, size // n_folds)
        lengths[: size % n_folds] += 1
        ranks = np.cumsum(lengths[lengths > 0])
        limits = find_limits([words], [ranks], shards)[0]
        fold[members] = (start + np.searchsorted(limits, words)) % n_folds
        start += size
    return fold


def check_row_indices(rows: Any, n_rows: int, number: int) -> Rows:
    """Return the rows of a split as valid row indices."""
    chosen = np.asarray(rows)
    if chosen.dtype == bool and chosen.shape == (n_rows,):
        chosen = np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ValueError(
            f"cv gave rows of shape {chosen.shape} and type {chosen.dtype} in split {number}: "
            "row indices or a boolean mask of all rows are required"
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
    """Return the standard error of the weighted mean over the folds."""
    n_folds = fold_weight.size
    if n_folds == 1:
        return np.full_like(mean, np.nan)
    deviations = sums / fold_weight[:, np.newaxis] - mean
    exponent = int(np.frexp(np.abs(deviations).max())[1])  # scaling keeps squares within float64
    variance = fold_weight @ np.ldexp(deviations, -exponent) ** 2 / fold_weight.sum()
    error: npt.NDArray[np.float64] = np.ldexp(np.sqrt(variance / (n_folds - 1)), exponent)
    return error
