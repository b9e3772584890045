"""Decrease of scores when columns are shuffled among rows, with jackknife standard errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    root_mean_squared_error,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from arboleda._engine.encoding import is_missing
from arboleda._utils.number_types import is_integer
from arboleda.explain._permuted_copies import CachedPredictions, iter_permuted, permute_copies
from arboleda.explain._rows import MAX_ROWS, TableRows

__all__ = ["N_BLOCKS", "compute_permuted_scores", "read_column_groups"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

N_BLOCKS = 20  # blocks of rows that the jackknife leaves out one at a time


def compute_permuted_scores(
    estimator: Any,
    rows: TableRows,
    y: Any,
    groups: Sequence[Sequence[int]],
    scoring: Any,
    n_repeats: int,
    sample_weight: Any,
    random_state: Any,
) -> dict[str, tuple[Floats, Floats]]:
    """Compute the decrease of each score for each group of columns, and its standard error.

    Returns
    -------
    found : dict of str to (ndarray of shape (n_groups,), ndarray of shape (n_groups,))
        Keyed by score name.

    Raises
    ------
    ValueError
        If there are fewer than 2 rows, ``y`` or the weights have a different number of rows, or
        ``n_repeats`` is below 1.
    """
    y = np.asarray(y)
    _check_rows(rows, y, n_repeats)
    weight = None if sample_weight is None else _read_weights(sample_weight, rows)
    scorers = _make_scorers(estimator, scoring)
    random = check_random_state(random_state)
    whole = np.arange(rows.n_rows)
    block = _assign_blocks(y)
    base = CachedPredictions(estimator, rows.native)
    compute_score = partial(_compute_score, y=y, weight=weight)
    with np.errstate(over="ignore", invalid="ignore"):
        starts = {name: compute_score(scorer, base, whole) for name, scorer in scorers}
    _check_finite(starts)
    falls: dict[str, list[list[Floats]]] = {name: [[] for _ in groups] for name, _ in scorers}
    # A callable scorer needs the table itself, so copies are scored one at a time.
    together = (
        max(1, MAX_ROWS // rows.n_rows) if all(_is_named_scorer(s) for _, s in scorers) else 1
    )
    drawn = (
        permute_copies(rows, group, columns, orders[first : first + together])
        for group, columns in enumerate(groups)
        for orders in [[random.permutation(whole) for _ in range(n_repeats)]]
        for first in range(0, n_repeats, together)
    )
    for group, order, permuted in iter_permuted(estimator, drawn):
        parts = [np.flatnonzero((block != b) & (block[order] != b)) for b in range(block.max() + 1)]
        for name, scorer in scorers:
            fall = [starts[name] - compute_score(scorer, permuted, whole)]
            if _is_named_scorer(scorer):
                before, after = (_make_part_scorer(scorer, a, y, weight) for a in (base, permuted))
                fall += [before(part) - after(part) for part in parts]
            falls[name][group].append(np.array(fall))
    return {name: _compute_errors(np.array(result)) for name, result in falls.items()}


def _check_finite(starts: Mapping[str, Any]) -> None:
    for name, score in starts.items():
        if not np.isfinite(score).all():
            raise ValueError(
                f"the score {name!r} of the rows is not finite: if it squares values beyond 1e154, "
                "divide y by a constant and fit again"
            )


def _check_rows(rows: TableRows, y: npt.NDArray[Any], n_repeats: int) -> None:
    if not is_integer(n_repeats) or isinstance(n_repeats, bool) or n_repeats < 1:
        raise ValueError(f"n_repeats must be an integer of at least 1, got {n_repeats!r}")
    if rows.n_rows < 2:
        raise ValueError("X has 1 row, but at least 2 are required to shuffle a column")
    if len(y) != rows.n_rows:
        raise ValueError(f"y has {len(y)} rows, but X has {rows.n_rows}")
    if y.dtype == object and y.ndim == 1:
        missing = np.flatnonzero([is_missing(value) for value in y])
        if missing.size:
            raise ValueError(f"y has a missing value in row {missing[0]}: leave such rows out")


def _read_weights(given: Any, rows: TableRows) -> Floats:
    if len(given) != rows.n_rows:
        raise ValueError(f"sample_weight has {len(given)} rows, but X has {rows.n_rows}")
    weight: Floats = _check_sample_weight(
        given, rows.native, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def _make_scorers(estimator: Any, scoring: Any) -> list[tuple[str, Callable[..., float]]]:
    """Return scorers with their names; a callable scores the tables themselves."""
    if scoring is None:
        if is_classifier(estimator):
            scoring = "accuracy"
        elif is_regressor(estimator):
            scoring = "r2"
        else:
            raise ValueError(
                f"{type(estimator).__name__} is neither a classifier nor a regressor: give scoring"
            )
    if callable(scoring):
        return [(getattr(scoring, "__name__", "the score"), scoring)]
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    if not names:
        raise ValueError("scoring is empty: give at least one scorer, such as 'accuracy'")
    return [(name, get_scorer(name)) for name in names]


def _assign_blocks(y: npt.NDArray[Any]) -> Places:
    """Divide rows into blocks stratified by the target."""
    keys = y if y.ndim == 1 else y[:, 0]
    block = np.empty(len(y), dtype=np.intp)
    order = np.unique(keys, return_inverse=True)[1].argsort(kind="stable")
    block[order] = np.arange(len(y)) % min(N_BLOCKS, len(y))
    return block


def _is_named_scorer(scorer: Any) -> bool:
    """Return whether a scorer is one of scikit-learn's, which needs predictions but no table."""
    return hasattr(scorer, "_score_func")


def _compute_score(
    scorer: Callable[..., float],
    permuted: CachedPredictions,
    rows: Places,
    *,
    y: npt.NDArray[Any],
    weight: Floats | None,
) -> float:
    options = {} if weight is None else {"sample_weight": weight[rows]}
    if _is_named_scorer(scorer):
        return float(scorer(permuted, rows, y[rows], **options))
    return float(scorer(permuted.estimator, permuted.table, y, **options))


def _read_predictions(y: npt.NDArray[Any], permuted: CachedPredictions) -> npt.NDArray[Any]:
    result: npt.NDArray[Any] = permuted.predict(np.arange(len(y)))
    return result


def _compute_log_losses(y: npt.NDArray[Any], permuted: CachedPredictions) -> Floats:
    """Compute the negative log-probability of the class of each row."""
    proba: Floats = permuted.predict_proba(np.arange(len(y)))
    order = np.argsort(permuted.classes_)
    place = order[np.searchsorted(permuted.classes_, y, sorter=order)]
    rounding = np.finfo(proba.dtype).eps
    return -np.log(np.clip(proba[np.arange(len(y)), place], rounding, 1 - rounding))


# Scores that are functions of a mean over rows, computed here because scikit-learn would check the
# rows of every part again.
_OF_ROWS: dict[Any, tuple[Callable[[Any, Any], Any], Callable[[float], float]]] = {
    accuracy_score: (
        lambda y, permuted: (y == _read_predictions(y, permuted)).astype(np.float64),
        float,
    ),
    log_loss: (_compute_log_losses, float),
    mean_absolute_error: (lambda y, permuted: np.abs(y - _read_predictions(y, permuted)), float),
    mean_squared_error: (lambda y, permuted: (y - _read_predictions(y, permuted)) ** 2, float),
    root_mean_squared_error: (
        lambda y, permuted: (y - _read_predictions(y, permuted)) ** 2,
        math.sqrt,
    ),
}


def _make_part_scorer(
    scorer: Any, permuted: CachedPredictions, y: npt.NDArray[Any], weight: Floats | None
) -> Callable[[Places], float]:
    """Make a function that scores some of the rows; NaN where the score is undefined."""
    if scorer._score_func not in _OF_ROWS or y.ndim > 1 or scorer._kwargs:
        return partial(_score_or_nan, partial(_compute_score, scorer, permuted, y=y, weight=weight))
    of_row, finish = _OF_ROWS[scorer._score_func]
    given: Floats = of_row(y, permuted)

    def score(rows: Places) -> float:
        times = None if weight is None else weight[rows]
        there = len(rows) if times is None else times.sum()
        if not there:
            return float("nan")
        return float(scorer._sign * finish(np.average(given[rows], weights=times)))

    return score


def _score_or_nan(score: Callable[[Places], float], rows: Places) -> float:
    """Compute a score of some rows; NaN where it is undefined, such as for a single class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return score(rows)
        except ValueError:  # no rows, or not all of the classes
            return float("nan")


def _compute_errors(falls: Floats) -> tuple[Floats, Floats]:
    """Compute means over repeats and their errors from falls (n_groups, n_repeats, 1 + n_blocks).

    Without blocks, the errors are computed over the repeats.
    """
    value: Floats = falls[:, :, 0].mean(axis=1)
    n_repeats, n_blocks = falls.shape[1], falls.shape[2] - 1
    if not n_blocks:
        if n_repeats < 2:
            return value, np.full(len(value), np.nan)
        return value, falls[:, :, 0].std(axis=1, ddof=1) / np.sqrt(n_repeats)
    without = falls[:, :, 1:].mean(axis=1)
    middle = without.mean(axis=1, keepdims=True)
    error: Floats = np.sqrt((n_blocks - 1) / n_blocks * ((without - middle) ** 2).sum(axis=1))
    return value, error


def read_column_groups(
    rows: TableRows, groups: Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]] | None
) -> tuple[tuple[str, ...], list[list[int]]]:
    """Read groups of columns; a column in no group forms its own.

    Parameters
    ----------
    rows : TableRows
    groups : mapping of str to sequence, sequence of sequences, or None
        Names or indices of columns.

    Returns
    -------
    names : tuple of str
        Names of the groups, in the order of their first columns.
    columns : list of list of int
        Columns of each group.

    Raises
    ------
    ValueError
        If a column does not exist, a group is empty, or a column is in two groups.
    TypeError
        If a group is a single name.
    """
    given = groups.items() if isinstance(groups, Mapping) else ((None, g) for g in groups or ())
    found: dict[int, tuple[str, list[int]]] = {}
    taken: set[int] = set()
    for name, members in given:
        if isinstance(members, str):
            raise TypeError(f"each group must be a list of columns, got {members!r}")
        columns = [rows.find_column(member) for member in members]
        if not columns:
            raise ValueError("groups has an empty group" + (f": {name!r}" if name else ""))
        twice = [column for k, column in enumerate(columns) if column in {*columns[:k], *taken}]
        if twice:
            raise ValueError(f"column {rows.names[twice[0]]!r} is in groups twice")
        taken.update(columns)
        title = str(name) if name else " + ".join(rows.names[column] for column in columns)
        found[min(columns)] = (title, columns)
    for column in range(rows.n_columns):
        if column not in taken:
            found[column] = (rows.names[column], [column])
    ordered = [found[first] for first in sorted(found)]
    return tuple(title for title, _ in ordered), [columns for _, columns in ordered]
