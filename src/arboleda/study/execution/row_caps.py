"""How many rows models may learn from where all of them would take too long."""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from arboleda.study.catalogue import Model
from arboleda.study.execution.budget import Budget
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.search import Fidelity, Trial

__all__ = ["apply_row_caps", "make_small_fit"]

# Numbers of rows are powers of two from here on, so that a little more or less time is no other
# study.
LEAST_ROWS = 2048
# A fit of less than these seconds tells little of one on very many rows: it is timed on more, on so
# many times as many, up to this share of all.
REPORTING_SECONDS, LARGER, LARGE_SHARE = 0.5, 4, 1 / 32
# With more rows than this every model is timed on a part of them before it is decided, with fewer
# those that the catalogue thinks too dear.
TIMED_ROWS = 8192
# The part of a time budget that the first candidates of all models may take together.
FIRST_SHARE = 0.5
# Where few have others, and none is fitted again for its test: the part they may take if all of
# them learn from all rows, and if they do not, so that the best ones go on.
BAGS_SHARE, FIRST_BAGS_SHARE = 0.9, 0.3
# The part of it that may go into timing models.
TIMING_SHARE = 0.1
# What a test costs in fits of a fold: it learns from more rows, and more is told of it.
TEST_FITS = 1.5


def apply_row_caps(plan: Plan, executor: Executor) -> Plan:
    """The plan with the caps on rows that its preset and time budget ask for.

    A fit may take as long as the preset says by the catalogue's costs. With a time budget, the
    first candidates of all models, on all folds and tested, may take half of it (bags: most of it,
    or three tenths); costs are scaled by what a small fit of each model has taken.
    """
    allowed = np.inf if plan.preset.fit_cost is None else plan.preset.fit_cost
    budget = executor.budget
    rates = dict.fromkeys((model.key for model in plan.models), 1.0)
    if budget is not None:
        _time_models(plan, executor, budget, _caps(plan, min(allowed, _share(plan, budget, rates))))
        rates = {key: budget.rate(key) for key in rates}
        allowed = min(allowed, _share(plan, budget, rates))
    return replace(plan, caps=_caps(plan, allowed, rates))


def make_small_fit(plan: Plan, model: Model) -> Job:
    """What times a model first: its first candidate on a part of the first fold's rows."""
    return _fit_of(plan, model, _small_share(plan, model))


def _small_share(plan: Plan, model: Model) -> float:
    share, rows = 1.0, _free(plan).fold_rows(model)
    while share * rows > LEAST_ROWS:
        share /= 2
    return share


def _fit_of(plan: Plan, model: Model, share: float) -> Job:
    trial = Trial(plan.candidates(model)[0], Fidelity(share, folds=1))
    (job,) = _free(plan).trial_jobs(model, trial)
    return job


def _free(plan: Plan) -> Plan:
    return replace(plan, caps={})


def _caps(plan: Plan, allowed: float, rates: Mapping[str, float] | None = None) -> dict[str, int]:
    """The rows of each model whose fits would take longer than allowed."""
    caps = {}
    for model in plan.models:
        cap = _cap(plan, model, allowed / (rates or {}).get(model.key, 1.0))
        if cap is not None:
            caps[model.key] = cap
    return caps


def _share(plan: Plan, budget: Budget, rates: Mapping[str, float]) -> float:
    """Seconds that a fit may take: what cheap models leave of theirs is shared by the others."""
    whole = sorted(
        rates[model.key] * plan.first_candidate_cost(model, plan.fold_rows(model)) for model in plan.models
    )
    free = (budget.left - budget.reserved_for_afterwards) * budget.processes
    if all(model.bag for model in plan.models if model.learns):
        if sum(whole) * plan.n_folds <= BAGS_SHARE * free:
            return float(np.inf)
        to_share = FIRST_BAGS_SHARE * free / plan.n_folds
    else:
        to_share = FIRST_SHARE * free / (plan.n_folds + TEST_FITS)
    for i, seconds in enumerate(whole):
        share = to_share / (len(whole) - i)
        if seconds > share:
            return share
        to_share -= seconds
    return float(np.inf)


def _cap(plan: Plan, model: Model, allowed: float) -> int | None:
    """The largest power of two at which the first candidate costs so much; None: all rows."""
    most = plan.fold_rows(model)
    if plan.first_candidate_cost(model, most) <= allowed:
        return None
    rows = LEAST_ROWS
    while 2 * rows < most and plan.first_candidate_cost(model, 2 * rows) <= allowed:
        rows *= 2
    return rows if rows < most else None


def _time_models(plan: Plan, executor: Executor, budget: Budget, dear: Collection[str]) -> None:
    """Time small fits of the first candidate of dear models, and of all on many rows."""
    deadline = time.monotonic() + TIMING_SHARE * budget.left
    shares = {
        model.key: _small_share(plan, model)
        for model in plan.models
        if plan.fold_rows(model) > TIMED_ROWS or model.key in dear
    }
    while shares:
        jobs = [_fit_of(plan, m, shares[m.key]) for m in plan.models if m.key in shares]
        missing = [job for job in jobs if not executor.is_done(job)]
        executor.record_stored(job for job in jobs if executor.is_done(job))
        # Nobody is told: the study has not begun yet.
        cheap_first = sorted(missing, key=lambda job: job.cost)
        executor.run(cheap_first, deadline=deadline, notify_watcher=False)
        done = [(job.model, executor.result(job)) for job in jobs if executor.is_done(job)]
        shares = {
            key: LARGER * shares[key]
            for key, result in done
            if shares[key] * LARGER <= LARGE_SHARE and _is_too_short(result)
        }


def _is_too_short(result: Mapping[str, Any] | None) -> bool:
    """Whether a fit was too quick to tell how long one takes on many more rows."""
    return result is not None and not result["error"] and result["seconds"] < REPORTING_SECONDS
