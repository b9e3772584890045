"""How much scores fall when columns are shuffled among rows, with the jackknife's errors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    log_loss,
    mean_absolute_error,
    mean_squared_error,
    root_mean_squared_error,
)
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import _check_sample_weight

from arboleda._engine.numbers import is_missing
from arboleda.explain._rows import MOST_ROWS, Rows

__all__ = ["N_BLOCKS", "permuted_scores"]

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

N_BLOCKS = 20  # of rows, which the jackknife leaves out one after another


class _Answers(BaseEstimator):  # type: ignore[misc]
    """What an estimator says of the rows of a table, asked once; a row is then named by its number.

    Scorers of scikit-learn take it for the estimator, and numbers of rows for the table. Of a table
    of several copies one below the other, `part` names the rows of one by their numbers in it.
    """

    def __init__(self, estimator: Any, table: Any, first: int = 0) -> None:
        self.estimator = estimator
        self.table = table
        self.first = first
        self._known: dict[str, npt.NDArray[Any]] = {}

    def part(self, first: int) -> _Answers:
        """What is said of the rows from a row on."""
        found = _Answers(self.estimator, self.table, first)
        found._known = self._known
        return found

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in {"estimator", "table", "first", "_known"}:
            raise AttributeError(name)
        found = getattr(self.estimator, name)  # and its AttributeError where there is none
        if name not in {"predict", "predict_proba", "decision_function", "predict_log_proba"}:
            return found

        def of_rows(rows: Places) -> npt.NDArray[Any]:
            if name not in self._known:
                self._known[name] = np.asarray(found(self.table))
            return self._known[name][self.first + rows]

        of_rows.__name__ = name  # scorers find the method by it
        return of_rows


def permuted_scores(
    estimator: Any,
    rows: Rows,
    y: Any,
    groups: Sequence[Sequence[int]],
    scoring: Any,
    n_repeats: int,
    sample_weight: Any,
    random_state: Any,
) -> dict[str, tuple[Floats, Floats]]:
    """Find the fall of each score for each group of columns, and its standard error.

    Returns
    -------
    found : dict of str to (ndarray of shape (n_groups,), ndarray of shape (n_groups,))
        By the scores' names.

    Raises
    ------
    ValueError
        If there are fewer than 2 rows, ``y`` or the weights have another number of them, or
        ``n_repeats`` is below 1.
    """
    y = np.asarray(y)
    _check(rows, y, n_repeats)
    weight = None if sample_weight is None else _weights(sample_weight, rows)
    scorers = _scorers(estimator, scoring)
    random = check_random_state(random_state)
    whole = np.arange(rows.n_rows)
    block = _blocks(y)
    base = _Answers(estimator, rows.native)
    ask = partial(_score, y=y, weight=weight)
    starts = {name: ask(scorer, base, whole) for name, scorer in scorers}
    falls: dict[str, list[list[Floats]]] = {name: [] for name, _ in scorers}
    # A callable sees the table, and so one copy of it at a time.
    together = max(1, MOST_ROWS // rows.n_rows) if all(_by_name(s) for _, s in scorers) else 1
    for columns in groups:
        for found in falls.values():
            found.append([])
        orders = [random.permutation(whole) for _ in range(n_repeats)]
        for order, said in _shuffled(estimator, rows, columns, orders, together):
            parts = [
                np.flatnonzero((block != b) & (block[order] != b)) for b in range(block.max() + 1)
            ]
            for name, scorer in scorers:
                fall = [starts[name] - ask(scorer, said, whole)]
                if _by_name(scorer):
                    before, after = (_of_parts(scorer, a, y, weight) for a in (base, said))
                    fall += [before(part) - after(part) for part in parts]
                falls[name][-1].append(np.array(fall))
    return {name: _with_errors(np.array(found)) for name, found in falls.items()}


def _shuffled(
    estimator: Any, rows: Rows, columns: Sequence[int], orders: Sequence[Places], together: int
) -> Iterator[tuple[Places, _Answers]]:
    """Each order of some columns' values, with what is said then; so many orders at a time."""
    for first in range(0, len(orders), together):
        some = orders[first : first + together]
        copies = rows
        if len(some) > 1:
            copies = rows.take(np.tile(np.arange(rows.n_rows, dtype=np.intp), len(some)))
        table = copies.gather(dict.fromkeys(columns, np.concatenate(some)))
        said = _Answers(estimator, table)
        yield from ((order, said.part(i * rows.n_rows)) for i, order in enumerate(some))


def _check(rows: Rows, y: npt.NDArray[Any], n_repeats: int) -> None:
    if not isinstance(n_repeats, Integral) or isinstance(n_repeats, bool) or n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats!r} must be a whole number of at least 1")
    if rows.n_rows < 2:
        raise ValueError("X has 1 row: to shuffle a column, at least 2 are needed")
    if len(y) != rows.n_rows:
        raise ValueError(f"y has {len(y)} rows, but X has {rows.n_rows}")
    if y.dtype == object and y.ndim == 1:
        missing = np.flatnonzero([is_missing(value) for value in y])
        if missing.size:
            raise ValueError(f"y has no value in row {missing[0]}: leave such rows out")


def _weights(given: Any, rows: Rows) -> Floats:
    if len(given) != rows.n_rows:
        raise ValueError(f"sample_weight has {len(given)} rows, but X has {rows.n_rows}")
    weight: Floats = _check_sample_weight(
        given, rows.native, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def _scorers(estimator: Any, scoring: Any) -> list[tuple[str, Callable[..., float]]]:
    """Scores by their names; a callable is asked for the tables themselves."""
    if scoring is None:
        if is_classifier(estimator):
            scoring = "accuracy"
        elif is_regressor(estimator):
            scoring = "r2"
        else:
            raise ValueError(
                f"{type(estimator).__name__} is neither classifier nor regressor: give scoring"
            )
    if callable(scoring):
        return [(getattr(scoring, "__name__", "the score"), scoring)]
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    if not names:
        raise ValueError("scoring has no score: name one, as 'accuracy'")
    return [(name, get_scorer(name)) for name in names]


def _blocks(y: npt.NDArray[Any]) -> Places:
    """Part rows into blocks that hold rows of all targets as nearly as can be."""
    keys = y if y.ndim == 1 else y[:, 0]
    block = np.empty(len(y), dtype=np.intp)
    order = np.unique(keys, return_inverse=True)[1].argsort(kind="stable")
    block[order] = np.arange(len(y)) % min(N_BLOCKS, len(y))
    return block


def _by_name(scorer: Any) -> bool:
    """Whether a scorer is one of scikit-learn's, which sees answers only, and no table."""
    return hasattr(scorer, "_score_func")


def _score(
    scorer: Callable[..., float],
    said: _Answers,
    rows: Places,
    *,
    y: npt.NDArray[Any],
    weight: Floats | None,
) -> float:
    options = {} if weight is None else {"sample_weight": weight[rows]}
    if _by_name(scorer):
        return float(scorer(said, rows, y[rows], **options))
    return float(scorer(said.estimator, said.table, y, **options))


def _predicted(y: npt.NDArray[Any], said: _Answers) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = said.predict(np.arange(len(y)))
    return found


def _log_losses(y: npt.NDArray[Any], said: _Answers) -> Floats:
    """Minus the logarithm of what the class of each row was given."""
    proba: Floats = said.predict_proba(np.arange(len(y)))
    order = np.argsort(said.classes_)
    place = order[np.searchsorted(said.classes_, y, sorter=order)]
    rounding = np.finfo(proba.dtype).eps
    return -np.log(np.clip(proba[np.arange(len(y)), place], rounding, 1 - rounding))


# Scores that follow from the mean of what each row gives; scikit-learn would check the rows of each
# part anew.
_OF_ROWS: dict[Any, tuple[Callable[[Any, Any], Any], Callable[[float], float]]] = {
    accuracy_score: (lambda y, said: (y == _predicted(y, said)).astype(np.float64), float),
    log_loss: (_log_losses, float),
    mean_absolute_error: (lambda y, said: np.abs(y - _predicted(y, said)), float),
    mean_squared_error: (lambda y, said: (y - _predicted(y, said)) ** 2, float),
    root_mean_squared_error: (lambda y, said: (y - _predicted(y, said)) ** 2, math.sqrt),
}


def _of_parts(
    scorer: Any, said: _Answers, y: npt.NDArray[Any], weight: Floats | None
) -> Callable[[Places], float]:
    """What scores some of the rows; NaN where the score is not defined of them."""
    if scorer._score_func not in _OF_ROWS or y.ndim > 1 or scorer._kwargs:
        return partial(_defined, partial(_score, scorer, said, y=y, weight=weight))
    of_row, finish = _OF_ROWS[scorer._score_func]
    given: Floats = of_row(y, said)

    def score(rows: Places) -> float:
        times = None if weight is None else weight[rows]
        there = len(rows) if times is None else times.sum()
        if not there:
            return float("nan")
        return float(scorer._sign * finish(np.average(given[rows], weights=times)))

    return score


def _defined(score: Callable[[Places], float], rows: Places) -> float:
    """A score of some rows; NaN where it is not defined, as of the classes that are left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        try:
            return score(rows)
        except ValueError:  # no rows, or not all of the classes
            return float("nan")


def _with_errors(falls: Floats) -> tuple[Floats, Floats]:
    """Means over the repeats and their errors, from an array (n_groups, n_repeats, 1 + n_blocks).

    Without blocks the errors are those of the repeats.
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
