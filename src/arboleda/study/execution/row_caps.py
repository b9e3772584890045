"""Caps on the training rows of models whose fits to all rows would take too long."""

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

# Caps are powers of two from here on, so that slightly different timings give the same study.
LEAST_ROWS = 2048
# A fit of fewer seconds than this predicts little about one on very many rows: it is timed again on
# this multiple of its rows, up to this fraction of all.
MIN_TIMED_SECONDS, LARGER, LARGE_SHARE = 0.5, 4, 1 / 32
# With more rows than this, every model is timed on a part of them first; with fewer, only those
# that are too expensive by the catalogue.
TIMED_ROWS = 8192
# The fraction of a time budget that the first candidates of all models may take together.
FIRST_SHARE = 0.5
# The same for bags, which have few other candidates and are not refitted for their tests: if all of
# them learn from all rows, and if they do not, so that time is left for the best ones.
BAGS_SHARE, FIRST_BAGS_SHARE = 0.9, 0.3
# The fraction of the budget that may go into timing models.
TIMING_SHARE = 0.1
# The cost of a test in fits of a fold: it has more training rows, and more facts are computed.
TEST_FITS = 1.5


def apply_row_caps(plan: Plan, executor: Executor) -> Plan:
    """Return the plan with the caps on training rows that its preset and time budget require.

    The preset bounds the cost of a fit by the catalogue. With a time budget, the first candidates
    of all models, on all folds and tested, may take half of it (bags: most of it, or three tenths);
    costs are scaled by the measured time of a small fit of each model.
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
    """Return the job that times a model: its first candidate on some rows of the first fold."""
    return _timing_job(plan, model, _small_share(plan, model))


def _small_share(plan: Plan, model: Model) -> float:
    share, rows = 1.0, _without_caps(plan).fold_rows(model)
    while share * rows > LEAST_ROWS:
        share /= 2
    return share


def _timing_job(plan: Plan, model: Model, share: float) -> Job:
    trial = Trial(plan.candidates(model)[0], Fidelity(share, folds=1))
    (job,) = _without_caps(plan).trial_jobs(model, trial)
    return job


def _without_caps(plan: Plan) -> Plan:
    return replace(plan, caps={})


def _caps(plan: Plan, allowed: float, rates: Mapping[str, float] | None = None) -> dict[str, int]:
    """Return the caps of the models whose fits would take longer than allowed."""
    caps = {}
    for model in plan.models:
        cap = _cap(plan, model, allowed / (rates or {}).get(model.key, 1.0))
        if cap is not None:
            caps[model.key] = cap
    return caps


def _share(plan: Plan, budget: Budget, rates: Mapping[str, float]) -> float:
    """Return the maximum seconds of a fit; time that cheap models do not need goes to others."""
    whole = sorted(
        rates[model.key] * plan.first_candidate_cost(model, plan.fold_rows(model))
        for model in plan.models
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
    """Return the largest power of two of rows at an allowed cost; None: all rows."""
    most = plan.fold_rows(model)
    if plan.first_candidate_cost(model, most) <= allowed:
        return None
    rows = LEAST_ROWS
    while 2 * rows < most and plan.first_candidate_cost(model, 2 * rows) <= allowed:
        rows *= 2
    return rows if rows < most else None


def _time_models(
    plan: Plan, executor: Executor, budget: Budget, expensive: Collection[str]
) -> None:
    """Time small fits of the first candidates of expensive models, or of all if rows are many."""
    deadline = time.monotonic() + TIMING_SHARE * budget.left
    shares = {
        model.key: _small_share(plan, model)
        for model in plan.models
        if plan.fold_rows(model) > TIMED_ROWS or model.key in expensive
    }
    while shares:
        jobs = [_timing_job(plan, m, shares[m.key]) for m in plan.models if m.key in shares]
        missing = [job for job in jobs if not executor.is_done(job)]
        executor.record_stored(job for job in jobs if executor.is_done(job))
        # The watcher is not notified: the study has not begun yet.
        cheap_first = sorted(missing, key=lambda job: job.cost)
        executor.run(cheap_first, deadline=deadline, notify_watcher=False)
        done = [(job.model, executor.result(job)) for job in jobs if executor.is_done(job)]
        shares = {
            key: LARGER * shares[key]
            for key, result in done
            if shares[key] * LARGER <= LARGE_SHARE and _is_too_short(result)
        }


def _is_too_short(result: Mapping[str, Any] | None) -> bool:
    """Whether a fit was too quick to predict the time on many more rows."""
    return result is not None and not result["error"] and result["seconds"] < MIN_TIMED_SECONDS
