"""Fitting members of any kind in parallel with joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from arboleda._base.members import columns_of, rows_of
from arboleda._engine.parallel import count_available_cores
from arboleda.bagging._sampling import (
    Draw,
    RowsToDraw,
    SamplingPlan,
    draw,
    switch_labels,
    switch_labels_uniformly,
)

__all__ = ["BaggingData", "Member", "each", "fit_members", "n_jobs_limits", "set_random_states"]

Floats = npt.NDArray[np.float64]
Result = TypeVar("Result")
# Results held per worker: sums are computed in the order of the members.
_RESULTS_PER_WORKER = 4


@dataclass(frozen=True)
class BaggingData:
    """Validated training data; labels are class indices."""

    X: Any
    y: npt.NDArray[Any]
    weight: Floats | None
    plan: SamplingPlan
    rows: RowsToDraw
    takes_weight: bool  # whether members take sample_weight
    params: dict[str, Any] = field(default_factory=dict)  # passed to the `fit` of the members


@dataclass(frozen=True)
class Member:
    """Fitted member and its columns; ``whole`` if it was fitted on the unchanged table."""

    estimator: Any
    columns: npt.NDArray[np.intp]
    whole: bool

    def call(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        """Call a method of the member on a table with all columns."""
        part = X if self.whole else columns_of(X, self.columns)
        return getattr(self.estimator, method)(part, **params)


def each(
    function: Callable[..., Result], items: Sequence[Any], n_jobs: int | None, verbose: int = 0
) -> Iterator[Result]:
    """Yield the results of all items in order, computed in parallel, with few in memory."""
    step = _RESULTS_PER_WORKER * max(1, effective_n_jobs(n_jobs))
    for first in range(0, len(items), step):
        part = items[first : first + step]
        yield from Parallel(n_jobs=n_jobs, verbose=verbose)(delayed(function)(i) for i in part)


def fit_members(
    template: Any,
    training: BaggingData,
    seeds: npt.NDArray[Any],
    n_jobs: int | None,
    verbose: int,
) -> list[Member]:
    """Fit a clone of the template for each seed; the result does not depend on ``n_jobs``."""
    n_workers = max(1, min(effective_n_jobs(n_jobs), len(seeds)))
    share = count_available_cores() // n_workers if n_workers > 1 else None
    parts = np.array_split(seeds, n_workers)
    fitted = Parallel(n_jobs=n_workers, verbose=verbose)(
        delayed(_fit_some)(template, training, part, share) for part in parts
    )
    return [member for part in fitted for member in part]


def _fit_some(
    template: Any, training: BaggingData, seeds: npt.NDArray[Any], n_threads: int | None
) -> list[Member]:
    return [_fit_one(template, training, int(seed), n_threads) for seed in seeds]


def _fit_one(template: Any, training: BaggingData, seed: int, n_threads: int | None) -> Member:
    member = clone(template)
    set_random_states(member, check_random_state(seed))
    drawn = draw(training.plan, training.rows, seed)
    y = training.y
    if training.plan.switch_share:
        plan = training.plan
        change = switch_labels_uniformly if plan.switch_uniformly else switch_labels
        y = change(y, plan.switch_share, training.rows, seed)
    own = n_jobs_limits(member, n_threads)
    original = {name: member.get_params()[name] for name in own}
    member.set_params(**own)
    try:
        _fit_on_bag(member, training, drawn, y)
    except ValueError as error:
        _raise_if_one_class(member, training, drawn, y, error)
        raise
    finally:
        member.set_params(**original)
    return Member(member, drawn.columns, whole=training.plan.all_columns)


def _fit_on_bag(member: Any, training: BaggingData, drawn: Draw, y: npt.NDArray[Any]) -> None:
    """Fit a member on its bag: by sample weights, which copies nothing, else by row indices."""
    whole = training.plan.all_columns
    params, weight = training.params, training.weight
    if training.takes_weight:
        X = training.X if whole else columns_of(training.X, drawn.columns)
        if drawn.rows is not None:
            counts = drawn.counts(training.rows)
            params = {**params, "sample_weight": counts if weight is None else counts * weight}
        elif weight is not None:
            params = {**params, "sample_weight": weight}
        member.fit(X, y, **params)
        return
    rows = training.rows.able if drawn.rows is None else drawn.rows
    X = training.X
    if rows is not None:
        params = _check_method_params(X, params=params, indices=rows)
        X, y = rows_of(X, rows), y[rows]
    member.fit(X if whole else columns_of(X, drawn.columns), y, **params)


def _raise_if_one_class(
    member: Any, training: BaggingData, drawn: Draw, y: npt.NDArray[Any], error: ValueError
) -> None:
    """Raise an error that explains the failure of a member on a bag of a single class."""
    classes = np.unique(y[drawn.counts(training.rows) > 0])
    if y.dtype.kind == "i" and len(classes) == 1 and len(np.unique(y)) > 1:
        raise ValueError(
            f"{type(member).__name__} failed on a bag with rows of a single class ({error}): add "
            "rows of the rare classes, draw more rows (max_samples), or use an estimator that "
            "accepts a single class, such as a tree."
        ) from error


def set_random_states(member: Any, random: np.random.RandomState) -> None:
    """Set all ``random_state`` parameters of a member, drawn in the order of their names."""
    names = [
        name
        for name in sorted(member.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
    member.set_params(**{name: random.randint(np.iinfo(np.int32).max) for name in names})


def n_jobs_limits(member: Any, n_threads: int | None) -> dict[str, Any]:
    """Return values of ``n_jobs`` parameters that limit the threads of members fitted in parallel.

    Estimators of arboleda use all cores by default, others only on request.
    """
    if n_threads is None:
        return {}
    limits: dict[str, Any] = {}
    params = member.get_params(deep=True)
    for name, value in params.items():
        owner, _, last = name.rpartition("__")
        if last != "n_jobs":
            continue
        ours = type(params[owner] if owner else member).__module__.startswith("arboleda.")
        if value is None and not ours:
            continue
        limit = max(1, n_threads)
        limits[name] = limit if value is None or value < 0 else min(value, limit)
    return limits
