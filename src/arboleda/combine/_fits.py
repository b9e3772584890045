"""Cross-validation splits, and parallel fits of members on them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv
from sklearn.utils.validation import _check_method_params

from arboleda._base.folds import Split, check_row_indices
from arboleda._engine.parallel import (
    count_available_cores,
    resolve_n_jobs,
    run_in_parallel,
    runs_on_dask,
)
from arboleda._engine.shared_binning import (
    SharedBinning,
    get_reading_options,
    supports_shared_binning,
    take_rows,
)
from arboleda._utils.number_types import is_integer
from arboleda.bagging import each, n_jobs_limits
from arboleda.combine._members import Named, get_known_classes
from arboleda.combine._target import explain_failure

__all__ = ["Folds", "MemberTraining", "fit_members", "folds_of", "predictions_by_fold"]

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
        self.times: npt.NDArray[np.int64] = times[self.rows]

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
    if groups is not None and is_integer(cv):
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


Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Result = TypeVar("Result")
PredictFunction = Callable[[Named, Any, Array | None], Floats]
# Number of tasks of the engine's members that are started ahead, for each thread.
_AHEAD = 4


@dataclass(frozen=True)
class MemberTraining:
    """Checked training data of the members.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        In a form that the members accept.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Class numbers or values; for multilabel targets, a column for each output.
    classes : ndarray or None
        Labels of the class numbers of a single output.
    params : dict of str to dict
        Parameters of ``fit`` by the name of the member.
    n_jobs : int or None
        Members fitted in parallel; members of this library share as many threads.
    verbose : bool
        Whether to print a line for each fitted member.
    """

    X: Any
    y: Array
    classes: Array | None
    params: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    n_jobs: int | None = None
    verbose: bool = False


@dataclass(frozen=True)
class _Task:
    """A member to fit on a subset of the rows, or on all rows if it is None."""

    number: int  # index of the member
    split: int
    rows: Rows | None


def fit_members(members: Sequence[Named], training: MemberTraining) -> list[Any]:
    """Fit a clone of every member on all rows; the result does not depend on ``n_jobs``.

    Raises
    ------
    TypeError
        If there are weights and a member does not support them.
    """
    tasks = [_Task(number, 0, None) for number in range(len(members))]
    done = _run_tasks(members, training, tasks, _get_member)
    fitted = {task.number: model for task, model in done}
    return [fitted[number] for number in range(len(members))]


def predictions_by_fold(
    members: Sequence[Named], training: MemberTraining, folds: Folds, predict: PredictFunction
) -> Iterator[tuple[int, int, Floats]]:
    """Predict the test rows of each split by members fitted on its training rows.

    Parameters
    ----------
    members : list of (str, estimator)
    training : MemberTraining
    folds : Folds
    predict : callable
        Called with a fitted member and its name, the test rows, and the labels in the form that the
        member was fitted on.

    Yields
    ------
    member, split : int
    outputs : ndarray of shape (n_rows, ...)
        Return value of ``predict``.
    """
    tasks = [
        _Task(number, split, train)
        for number in range(len(members))
        for split, (train, _) in enumerate(folds.splits)
    ]
    predict_rows = partial(_predict_test_rows, folds=folds, predict=predict)
    for task, outputs in _run_tasks(members, training, tasks, predict_rows):
        yield task.number, task.split, outputs


def _run_tasks(
    members: Sequence[Named],
    training: MemberTraining,
    tasks: Sequence[_Task],
    function: Callable[..., Result],
) -> Iterator[tuple[_Task, Result]]:
    """Run tasks: members of other libraries in joblib workers, then our own in threads.

    Our members release the GIL, and members fitted on the same rows share the binned data. On the
    workers of Dask all are joblib's tasks, of one thread each.
    """
    is_apart = runs_on_dask()

    def is_ours(task: _Task) -> bool:
        return not is_apart and supports_shared_binning(members[task.number][1])

    theirs = [task for task in tasks if not is_ours(task)]
    # Sorted by split, because the binned data of a split are dropped after its last member.
    ours = sorted((task for task in tasks if is_ours(task)), key=lambda task: task.split)
    n_workers = max(1, min(effective_n_jobs(training.n_jobs), len(theirs)))
    share = count_available_cores() // n_workers if n_workers > 1 else None
    if is_apart:
        share = 1
    run = partial(_run_task, members=members, training=training, n_threads=share, function=function)
    yield from zip(theirs, each(run, theirs, training.n_jobs), strict=True)

    n_threads = resolve_n_jobs(training.n_jobs)
    tables: dict[Any, SharedBinning] = {}
    for first in range(0, len(ours), _AHEAD * n_threads):
        batch = ours[first : first + _AHEAD * n_threads]
        wanted = {_get_table_key(task, members): task for task in batch}
        tables = {
            key: tables.get(key) or _make_table(t, members, training) for key, t in wanted.items()
        }
        calls = [
            partial(
                _call_with_config,
                get_config(),
                partial(_run_task, task, members, training, function=function),
                tables[_get_table_key(task, members)],
            )
            for task in batch
        ]
        yield from zip(batch, run_in_parallel(calls, n_threads), strict=True)


def _get_table_key(task: _Task, members: Sequence[Named]) -> Any:
    return task.split, get_reading_options(members[task.number][1])


def _make_table(task: _Task, members: Sequence[Named], training: MemberTraining) -> SharedBinning:
    return SharedBinning(training.X, task.rows, members[task.number][1])


def _call_with_config(
    config: dict[str, Any], call: Callable[..., Result], table: SharedBinning, n_threads: int
) -> Result:
    """Call a function with scikit-learn's configuration, which threads do not inherit."""
    with config_context(**config):
        return call(n_threads=n_threads, table=table)


def _run_task(
    task: _Task,
    members: Sequence[Named],
    training: MemberTraining,
    n_threads: int | None,
    function: Callable[..., Result],
    table: SharedBinning | None = None,
) -> Result:
    """Fit a clone of a task's member and pass it to a function."""
    name, template = members[task.number]
    member = clone(template)
    params = member.get_params()
    frozen = any(isinstance(value, FrozenEstimator) for value in (member, *params.values()))
    limits = (
        {} if frozen else n_jobs_limits(member, n_threads)
    )  # frozen estimators take no parameters
    original = {name: params[name] for name in limits}
    member.set_params(**limits)
    start = time.perf_counter()
    try:
        _fit(member, name, task, training, table)
        if training.verbose:
            where = "all rows" if task.rows is None else f"split {task.split}"
            seconds = time.perf_counter() - start
            sys.stdout.write(f"{name}: fitted on {where} in {seconds:.2f} s\n")
        return function((name, member), task, training)
    except Exception as error:
        where = "all rows" if task.rows is None else f"the training rows of split {task.split}"
        error.add_note(f"raised by the member {name!r} of the ensemble, fitted on {where}")
        raise
    finally:
        member.set_params(**original)


def _fit(
    member: Any, name: str, task: _Task, training: MemberTraining, table: SharedBinning | None
) -> None:
    X: Any = table
    rows = task.rows
    if table is None:
        X = training.X if rows is None else take_rows(training.X, rows)
    y = training.y if rows is None else training.y[rows]
    params = training.params.get(name, {})
    if rows is not None:
        params = _check_method_params(training.X, params, indices=rows)
    try:
        member.fit(X, y, **params)
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" in str(error):
            raise TypeError(
                f"Underlying estimator {type(member).__name__} does not support sample weights: "
                f"replace or drop the member {name!r}, or fit without sample_weight"
            ) from error
        raise
    except ValueError as error:
        if y.ndim == 2:
            where = "all rows" if rows is None else f"the training rows of split {task.split} of cv"
            cause = explain_failure(f"the member {name!r}", member, y, where)
            if cause is not None:
                raise ValueError(f"{cause} ({error})") from error
        if (
            training.classes is None
            or not y.size
            or (y != y[0]).any()
            or (training.y == y[0]).all()
        ):
            raise
        raise ValueError(
            f"the member {name!r} cannot learn from split {task.split} of cv because all its "
            f"training rows are of class {training.classes.tolist()[y[0]]!r} ({error}): use folds "
            "with every class in training and test rows, for example "
            "StratifiedKFold(shuffle=True), or members that can learn one class, such as trees"
        ) from error


def _get_member(named: Named, task: _Task, training: MemberTraining) -> Any:
    return named[1]


def _predict_test_rows(
    named: Named, task: _Task, training: MemberTraining, folds: Folds, predict: PredictFunction
) -> Floats:
    test = folds.splits[task.split][1]
    known = None if training.classes is None else get_known_classes(named[1], training.classes)
    return predict(named, take_rows(training.X, test), known)
