"""Members fitted side by side, and what they say of rows that they did not see."""

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
from sklearn.utils.validation import _check_method_params

from arboleda._engine.parallel import run_in_parallel
from arboleda._engine.shared_binning import (
    SharedBinning,
    get_reading_options,
    supports_shared_binning,
    take_rows,
)
from arboleda._engine.threads import count_available_cores, resolve_n_jobs
from arboleda.bagging._members import each, n_jobs_limits
from arboleda.combine._folds import Folds
from arboleda.combine._members import Named, classes_known_to
from arboleda.combine._multilabel import explain_failure

__all__ = ["Training", "fit_members", "predictions_by_fold"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Result = TypeVar("Result")
Ask = Callable[[Named, Any, Array | None], Floats]
# Results of the engine's members that wait for their turn, for each thread.
_AHEAD = 4


@dataclass(frozen=True)
class Training:
    """What members learn from, checked.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        As the members take it.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Numbers of classes, or values; of several labels for each row a column for each output.
    classes : ndarray or None
        Labels that the numbers of one output stand for.
    params : dict of str to dict
        For the ``fit`` of each member, by its name.
    n_jobs : int or None
        Members that are fitted at the same time; those of this library share as many threads.
    verbose : bool
        Whether to print a line for each member fitted.
    """

    X: Any
    y: Array
    classes: Array | None
    params: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    n_jobs: int | None = None
    verbose: bool = False


@dataclass(frozen=True)
class _Task:
    """A member to fit on some rows; None: on all of them."""

    number: int  # of the member
    split: int
    rows: Rows | None


def fit_members(members: Sequence[Named], training: Training) -> list[Any]:
    """Fit a clone of every member on all rows; the result does not depend on ``n_jobs``.

    Raises
    ------
    TypeError
        If a member is given weights that it cannot take.
    """
    tasks = [_Task(number, 0, None) for number in range(len(members))]
    done = _run(members, training, tasks, _fitted_on)
    fitted = {task.number: model for task, model in done}
    return [fitted[number] for number in range(len(members))]


def predictions_by_fold(
    members: Sequence[Named], training: Training, folds: Folds, ask: Ask
) -> Iterator[tuple[int, int, Floats]]:
    """What members say of the rows of a split's test when they learned from its other rows.

    Parameters
    ----------
    members : list of (str, estimator)
    training : Training
    folds : Folds
    ask : callable
        Of a fitted member with its name, rows and the labels as the member knows them.

    Yields
    ------
    member, split : int
    said : ndarray of shape (n_rows, ...)
        What ``ask`` returned.
    """
    tasks = [
        _Task(number, split, train)
        for number in range(len(members))
        for split, (train, _) in enumerate(folds.splits)
    ]
    answer = partial(_answered, folds=folds, ask=ask)
    for task, said in _run(members, training, tasks, answer):
        yield task.number, task.split, said


def _run(
    members: Sequence[Named],
    training: Training,
    tasks: Sequence[_Task],
    function: Callable[..., Result],
) -> Iterator[tuple[_Task, Result]]:
    """Run tasks: of other libraries' members in joblib's workers, then of ours in threads.

    Ours release the interpreter, and those that learn from the same rows share their codes.
    """
    theirs = [task for task in tasks if not supports_shared_binning(members[task.number][1])]
    # Rows after rows, so that a table of codes is dropped when its last member is done.
    ours = sorted(
        (t for t in tasks if supports_shared_binning(members[t.number][1])), key=lambda t: t.split
    )
    n_workers = max(1, min(effective_n_jobs(training.n_jobs), len(theirs)))
    share = count_available_cores() // n_workers if n_workers > 1 else None
    work = partial(_work, members=members, training=training, n_threads=share, function=function)
    yield from zip(theirs, each(work, theirs, training.n_jobs), strict=True)

    n_threads = resolve_n_jobs(training.n_jobs)
    tables: dict[Any, SharedBinning] = {}
    for first in range(0, len(ours), _AHEAD * n_threads):
        part = ours[first : first + _AHEAD * n_threads]
        wanted = {_table_key(task, members): task for task in part}
        tables = {key: tables.get(key) or _table(t, members, training) for key, t in wanted.items()}
        calls = [
            partial(
                _configured,
                get_config(),
                partial(_work, task, members, training, function=function),
                tables[_table_key(task, members)],
            )
            for task in part
        ]
        yield from zip(part, run_in_parallel(calls, n_threads), strict=True)


def _table_key(task: _Task, members: Sequence[Named]) -> Any:
    return task.split, get_reading_options(members[task.number][1])


def _table(task: _Task, members: Sequence[Named], training: Training) -> SharedBinning:
    return SharedBinning(training.X, task.rows, members[task.number][1])


def _configured(
    config: dict[str, Any], call: Callable[..., Result], table: SharedBinning, n_threads: int
) -> Result:
    """Call under scikit-learn's configuration, which a thread does not inherit."""
    with config_context(**config):
        return call(n_threads=n_threads, table=table)


def _work(
    task: _Task,
    members: Sequence[Named],
    training: Training,
    n_threads: int | None,
    function: Callable[..., Result],
    table: SharedBinning | None = None,
) -> Result:
    """Fit a clone of a task's member and hand it to a function."""
    name, template = members[task.number]
    member = clone(template)
    params = member.get_params()
    frozen = any(isinstance(value, FrozenEstimator) for value in (member, *params.values()))
    limits = {} if frozen else n_jobs_limits(member, n_threads)  # frozen ones take no parameters
    given = {name: params[name] for name in limits}
    member.set_params(**limits)
    began = time.perf_counter()
    try:
        _fit(member, name, task, training, table)
        if training.verbose:
            part = "all rows" if task.rows is None else f"split {task.split}"
            seconds = time.perf_counter() - began
            sys.stdout.write(f"{name}: fitted on {part} in {seconds:.2f} s\n")
        return function((name, member), task, training)
    except Exception as error:
        where = "all rows" if task.rows is None else f"the training rows of split {task.split}"
        error.add_note(f"raised by the member {name!r} of the ensemble, for {where}")
        raise
    finally:
        member.set_params(**given)


def _fit(
    member: Any, name: str, task: _Task, training: Training, table: SharedBinning | None
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
                f"replace or drop the member {name!r}, or give no sample_weight"
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
            f"the member {name!r} cannot learn from split {task.split} of cv, whose training rows "
            f"are all of class {training.classes.tolist()[y[0]]!r} ({error}): use folds that have "
            "every class on both sides, as StratifiedKFold(shuffle=True) makes, or members that "
            "can learn one class, such as trees"
        ) from error


def _fitted_on(named: Named, task: _Task, training: Training) -> Any:
    return named[1]


def _answered(named: Named, task: _Task, training: Training, folds: Folds, ask: Ask) -> Floats:
    test = folds.splits[task.split][1]
    known = None if training.classes is None else classes_known_to(named[1], training.classes)
    return ask(named, take_rows(training.X, test), known)
