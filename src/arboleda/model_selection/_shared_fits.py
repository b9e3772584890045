"""Grouping of the candidates of a grid into fits that they share.

Boosting adds rounds and a forest adds trees without changing the earlier ones: a model of 100 is
the first third of a model of 300, byte for byte. Candidates that differ only in the number of these
stages are a family.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Number
from threading import Lock
from types import TracebackType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_method_params

from arboleda._engine.shared_binning import SharedBinning
from arboleda._engine.table import DenseTable, SparseTable, check_table
from arboleda._utils.number_types import is_integer
from arboleda.model_selection._stages import Stages, find_stages

Parameters = dict[str, Any]

_NOT_GIVEN = object()


@dataclass(frozen=True)
class Family:
    """Candidates that share one fit.

    Parameters
    ----------
    model : estimator
        Unfitted model with the largest number of stages of the family.
    numbers : tuple of int
        Distinct numbers of stages, ascending.
    reading : hashable
        Key of the options for reading a table; families with equal keys share tables.
    """

    model: Any
    numbers: tuple[int, ...]
    reading: Hashable


@dataclass(frozen=True)
class Candidate:
    """One combination of parameters.

    Parameters
    ----------
    place : int
        Index in the grid.
    parameters : dict
    family : int
        Index of the family.
    number : int
        Number of stages.
    """

    place: int
    parameters: Parameters
    family: int
    number: int


@dataclass(frozen=True)
class GridPlan:
    """The fits of a grid.

    Parameters
    ----------
    families : list of Family
        In descending order of the estimated time.
    candidates : list of Candidate
        Ordered by family, then by ascending number of stages.
    stages : Stages
        Kind of stages of all families.
    """

    families: list[Family]
    candidates: list[Candidate]
    stages: Stages


def make_plan(estimator: Any, param_grid: Any, n_rows: int) -> GridPlan | None:
    """Group the candidates of a grid into families; return None if fits cannot be shared.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
    n_rows : int
        Number of rows of the table; a fold has fewer.

    Returns
    -------
    plan : Plan or None

    Raises
    ------
    ValueError
        If the grid names a parameter that the estimator does not have.
    """
    stages = find_stages(estimator)
    if stages is None:
        return None
    grid: list[Parameters] = list(ParameterGrid(param_grid))
    models = [clone(estimator).set_params(**clone(found, safe=False)) for found in grid]
    if not all(grid) or not all(stages.is_staged(model, n_rows) for model in models):
        return None
    members: dict[Hashable, list[int]] = {}
    for place, (parameters, model) in enumerate(zip(grid, models, strict=True)):
        members.setdefault(_family_key(stages, parameters, model), []).append(place)
    families: list[Family] = []
    candidates: list[Candidate] = []
    count = [_get_n_stages(stages, model) for model in models]
    work = [count[place] * _estimate_tree_size(model) for place, model in enumerate(models)]
    for places in sorted(members.values(), key=lambda found: -max(work[i] for i in found)):
        by_number = sorted(places, key=lambda place: count[place])
        largest = by_number[-1]
        # Options that are not in the grid are the same for all families.
        options = ("categorical_features", "category_encoding")
        reading = tuple(_make_key(grid[largest].get(name, _NOT_GIVEN)) for name in options)
        candidates += [
            Candidate(place, grid[place], len(families), count[place]) for place in by_number
        ]
        numbers = tuple(sorted({count[place] for place in places}))
        families.append(Family(models[largest], numbers, reading))
    return GridPlan(families, candidates, stages)


def _get_n_stages(stages: Stages, model: Any) -> int:
    return int(getattr(model, stages.get_parameter(model)))


def _family_key(stages: Stages, parameters: Parameters, model: Any) -> Hashable:
    """Return a key of the parameters without the number of stages.

    The number is part of the key if later stages change earlier ones, or if it is invalid, for
    which the fit of the candidate fails.
    """
    is_shared = stages.keeps_earlier_stages(model) and _get_n_stages(stages, model) >= 1
    return frozenset(
        (name, _make_key(value))
        for name, value in parameters.items()
        if not (is_shared and name == stages.get_parameter(model))
    )


def _make_key(value: Any) -> Hashable:
    """Return a key that compares numbers and text by value, and other objects by identity."""
    is_plain = value is None or isinstance(value, Number | str)
    return (type(value), value) if is_plain else id(value)


def _estimate_tree_size(model: Any) -> float:
    """Estimate the relative size of the trees of a model."""
    leaves = [2.0**20]
    if is_integer(model.max_leaf_nodes):
        leaves.append(float(model.max_leaf_nodes))
    if is_integer(model.max_depth):
        leaves.append(2.0 ** min(int(model.max_depth), 20))
    return min(leaves)


Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


class Fold:
    """Training rows, and the rows to predict.

    Parameters
    ----------
    train, test : ndarray
        Row numbers.
    with_train : bool
        Whether to predict the training rows too.
    """

    def __init__(self, train: Rows, test: Rows, *, with_train: bool) -> None:
        self.train = train
        self.predicted_rows = [test, train] if with_train else [test]
        self._start_empty()

    def _start_empty(self) -> None:
        self._tables: dict[Any, SharedBinning] = {}
        self._tests: dict[Any, DenseTable | SparseTable] = {}
        self._lock = Lock()

    def __getstate__(self) -> tuple[Any, ...]:
        return self.train, self.predicted_rows

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.train, self.predicted_rows = state
        self._start_empty()

    def table(self, X: Any, family: Family) -> SharedBinning:
        """Return the training rows, shared by families that read a table alike."""
        with self._lock:
            if family.reading not in self._tables:
                self._tables[family.reading] = SharedBinning(X, self.train, family.model)
            return self._tables[family.reading]

    def read(self, X: Any, rows: Rows, family: Family, model: Any) -> DenseTable | SparseTable:
        """Check rows to predict; the test rows are cached."""
        if rows is not self.predicted_rows[0]:
            return check_table(model, _safe_indexing(X, rows), reset=False)
        with self._lock:
            if family.reading not in self._tests:
                part = check_table(model, _safe_indexing(X, rows), reset=False)
                self._tests[family.reading] = part
            return self._tests[family.reading]


@dataclass(frozen=True)
class Fit:
    """A model with the largest number of stages, and its predictions after fewer stages.

    Parameters
    ----------
    model : estimator
    seconds : float
        Time of the fit.
    predictions : dict
        Predictions after each number of stages, by the key of the predicted rows.
    """

    model: Any
    seconds: float
    predictions: dict[bytes, dict[int, Floats]]


@dataclass
class FitData:
    """What all fits of a grid read; `fit` can run in any thread or process.

    Parameters
    ----------
    plan : Plan
    X, y : array-like
    sample_weight : array-like or None
    folds : list of Fold
        Set when they are known.
    """

    plan: GridPlan
    X: Any
    y: Any
    sample_weight: Any
    folds: list[Fold] = field(default_factory=list)

    def fit(self, model: Any, family_number: int, split: int, n_threads: int) -> Fit:
        """Fit the model of a family on a fold, and predict after each number of stages."""
        family, fold = self.plan.families[family_number], self.folds[split]
        start = time.perf_counter()
        model.n_jobs = n_threads
        model.fit(
            fold.table(self.X, family),
            _safe_indexing(self.y, fold.train),
            **_check_method_params(
                self.y, {"sample_weight": self.sample_weight}, indices=fold.train
            ),
        )
        seconds = time.perf_counter() - start
        model.n_jobs = family.model.n_jobs
        model.random_state = family.model.random_state
        predictions = {}
        for rows in fold.predicted_rows:
            with suppress(ValueError):  # a scorer that predicts these rows raises it again
                read = fold.read(self.X, rows, family, model)
                stages = self.plan.stages
                predictions[rows.tobytes()] = stages.predict_stages(
                    model, read, family.numbers, n_threads
                )
        return Fit(model, seconds, predictions)


class PendingFit(Protocol):
    """A fit that was started, as in `concurrent.futures`."""

    def exception(self) -> BaseException | None:
        """Wait for the end; return the exception, if there is one."""

    def result(self) -> Fit:
        """Wait for the end; return the fit."""


class FitPool(Protocol):
    """Where the fits of a grid run: threads of this process (`ThreadedFits`), or workers."""

    n_threads: int

    def begin(self, data: FitData) -> None:
        """Take the data of all fits."""

    def start(self, model: Any, family: int, split: int, n_threads: int) -> PendingFit:
        """Start a fit of these data."""


class ThreadedFits:
    """Fits in a pool of threads, which share ``n_threads``."""

    def __init__(self, pool: ThreadPoolExecutor, n_threads: int) -> None:
        self._pool = pool
        self.n_threads = n_threads

    def begin(self, data: FitData) -> None:
        """Take the data of all fits."""
        self._data = data

    def start(self, model: Any, family: int, split: int, n_threads: int) -> Future[Fit]:
        """Start a fit in a thread."""
        return self._pool.submit(self._data.fit, model, family, split, n_threads)


class SharedFits:
    """Fits of the families of a plan, which are started ahead of their use, in order.

    Parameters
    ----------
    data : FitData
    pool : FitPool
        Where fits run.
    """

    def __init__(self, data: FitData, pool: FitPool) -> None:
        self.plan = data.plan
        self._data = data
        self._pool = pool
        self._n_threads = pool.n_threads
        self._folds: list[Fold] = []
        self._split_of: dict[bytes, int] = {}
        self._started: dict[int, PendingFit] = {}  # split by split, family by family
        self._n_started = 0
        self._tracebacks: dict[int, TracebackType | None] = {}
        self._seconds: dict[int, float] = {}

    def begin(self, splits: Sequence[tuple[Rows, Rows]], *, with_train: bool) -> None:
        """Set the training rows and the rows to predict."""
        self._folds = [Fold(train, test, with_train=with_train) for train, test in splits]
        for split, fold in enumerate(self._folds):
            self._split_of.setdefault(fold.train.tobytes(), split)
        self._data.folds = self._folds
        self._pool.begin(self._data)

    def split_of(self, train: Rows) -> int:
        """Return the first split with these training rows."""
        return self._split_of[train.tobytes()]

    def fit_of(self, candidate: Candidate, split: int) -> Fit:
        """Wait for the fit of a candidate's family, and return it.

        Raises
        ------
        Exception
            The exception of the fit, in every call.
        """
        first = candidate.family * len(self._folds)
        self._start_up_to(first + len(self._folds) + 2 * self._n_threads)
        for past in range(first - len(self._folds), first):
            self._started.pop(past, None)
        number = first + split
        future = self._started[number]
        error = future.exception()
        if error is not None:
            traceback = self._tracebacks.setdefault(number, error.__traceback__)
            raise error.with_traceback(traceback)
        fit = future.result()
        self._seconds[number] = fit.seconds
        return fit

    def seconds(self, candidate: Candidate, split: int) -> float | None:
        """Return the time of a shared fit in proportion to the stages; None if it failed."""
        seconds = self._seconds.get(candidate.family * len(self._folds) + split)
        most = self.plan.families[candidate.family].numbers[-1]
        return None if seconds is None else seconds * candidate.number / most

    def _start_up_to(self, number: int) -> None:
        n_fits = len(self.plan.families) * len(self._folds)
        n_threads = max(1, self._n_threads // n_fits)
        while self._n_started < min(number, n_fits):
            family, split = divmod(self._n_started, len(self._folds))
            model = clone(self.plan.families[family].model)
            if model.random_state is None:  # draw the seeds in the order of the fits
                model.random_state = check_random_state(None).randint(np.iinfo(np.int32).max)
            self._started[self._n_started] = self._pool.start(model, family, split, n_threads)
            self._n_started += 1
