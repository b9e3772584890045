"""Caps on the training rows of models whose fits to all rows would take too long.

They are set before much is known about the times of the models' fits and their scores. Once all
models are tuned, these and the time left are known, and the rest of a time budget goes to models
that were fitted to a part of the rows. A bag that cannot have all rows is not tuned before: the
score of the small fit that timed it decides which bags continue.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from arboleda.catalogue import Model
from arboleda.study.execution.executor import Budget, Executor
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.search.model_search import ModelSearch, run_searches
from arboleda.study.search.strategies import Fidelity, Trial

__all__ = ["apply_row_caps", "is_deferred", "make_small_fit", "reallocate_budget"]

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
# Errors decrease roughly with this power of the rows, and so of the time: models are compared by
# the errors that they would reach in the same time.
LEARNING_POWER = 0.3


def apply_row_caps(plan: Plan, executor: Executor) -> Plan:
    """Return the plan with the caps on training rows that its preset and time budget require.

    The preset bounds the cost of a fit by the catalogue. With a time budget, the first candidates
    of all models, on all folds and tested, may take half of it (bags: most of it, or three tenths);
    costs are scaled by the measured time of a small fit of each model.
    """
    budget, preset = executor.budget, plan.preset
    most = preset.fit_cost if budget is None else preset.fit_cost_in_budget
    allowed = np.inf if most is None else most
    rates = dict.fromkeys((model.key for model in plan.models), 1.0)
    if budget is not None:
        _time_models(
            plan,
            executor,
            budget,
            _compute_caps(plan, min(allowed, _compute_fit_limit(plan, budget, rates))),
        )
        rates = {key: budget.compute_rate(key) for key in rates}
        allowed = min(allowed, _compute_fit_limit(plan, budget, rates))
    return replace(plan, caps=_compute_caps(plan, allowed, rates))


def make_small_fit(plan: Plan, model: Model) -> Job:
    """Return the job that times a model: its first candidate on some rows of the first fold."""
    return _make_timing_job(plan, model, _compute_small_share(plan, model))


def _compute_small_share(plan: Plan, model: Model) -> float:
    share, rows = 1.0, _remove_caps(plan).fold_rows(model)
    while share * rows > LEAST_ROWS:
        share /= 2
    return share


def _make_timing_job(plan: Plan, model: Model, share: float) -> Job:
    trial = Trial(plan.candidates(model)[0], Fidelity(share, folds=1))
    (job,) = _remove_caps(plan).trial_jobs(model, trial)
    return job


def _remove_caps(plan: Plan) -> Plan:
    return replace(plan, caps={})


def _compute_caps(
    plan: Plan, allowed: float, rates: Mapping[str, float] | None = None
) -> dict[str, int]:
    """Return the caps of the models whose fits would take longer than allowed."""
    caps = {}
    for model in plan.models:
        cap = _compute_cap(plan, model, allowed / (rates or {}).get(model.key, 1.0))
        if cap is not None:
            caps[model.key] = cap
    return caps


def _compute_fit_limit(plan: Plan, budget: Budget, rates: Mapping[str, float]) -> float:
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


def _compute_cap(plan: Plan, model: Model, allowed: float) -> int | None:
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
        model.key: _compute_small_share(plan, model)
        for model in plan.models
        if plan.fold_rows(model) > TIMED_ROWS or model.key in expensive
    }
    while shares:
        jobs = [_make_timing_job(plan, m, shares[m.key]) for m in plan.models if m.key in shares]
        missing = [job for job in jobs if not executor.is_done(job)]
        executor.record_stored(job for job in jobs if executor.is_done(job))
        cheap_first = sorted(missing, key=lambda job: job.cost)
        # They are not shown: the study has not begun yet.
        executor.run([replace(job, is_shown=False) for job in cheap_first], deadline=deadline)
        done = [(job.model, executor.result(job)) for job in jobs if executor.is_done(job)]
        shares = {
            key: LARGER * shares[key]
            for key, result in done
            if shares[key] * LARGER <= LARGE_SHARE and _is_too_short(result)
        }


def _is_too_short(result: Mapping[str, Any] | None) -> bool:
    """Whether a fit was too quick to predict the time on many more rows."""
    return result is not None and not result["error"] and result["seconds"] < MIN_TIMED_SECONDS


def is_deferred(plan: Plan, model: Model) -> bool:
    """Whether a model is tuned in the remaining time: a bag that cannot have all rows."""
    return model.bag and model.key in plan.caps


def reallocate_budget(
    plan: Plan, searches: Sequence[ModelSearch], executor: Executor, n_rounds: int
) -> tuple[Plan, list[ModelSearch], int]:
    """Tune models again with more rows, as long as there is time.

    Models that are best for the time they take come first. A model that does not finish keeps its
    earlier result. Deferred bags come last, with fewer rows, and with other candidates.

    Returns
    -------
    plan, searches, n_rounds : Plan, list of ModelSearch, int
        The plan with other caps on rows, its searches, and the total number of rounds.
    """
    found, abandoned = list(searches), set[str]()
    has_deferred = bool(plan.caps)
    while caps := _choose_larger_caps(plan, found, executor, abandoned):
        wider = _set_caps(plan, caps)
        again = [
            ModelSearch(wider, t.model, first_in_full=True, first_alone=t.model.bag)
            for t in found
            if t.model.key in caps
        ]
        n_rounds += run_searches(wider, again, executor, has_begun=n_rounds > 0)
        done = {t.model.key: t for t in again if _list_scored_trials(t, executor)}
        plan = _set_caps(plan, {key: caps[key] for key in done})
        stayed = [t for t in found if t.model.key in caps and t.model.key not in done]
        _reserve_for_tests(plan, stayed, executor)
        abandoned |= {t.model.key for t in stayed}
        found = [done.get(t.model.key, t) for t in found]
    if has_deferred:
        found = [
            ModelSearch(plan, t.model, first_in_full=True) if t.model.bag else t for t in found
        ]
        n_rounds += run_searches(plan, found, executor, has_begun=n_rounds > 0)
    return plan, found, n_rounds


def _reserve_for_tests(plan: Plan, searches: Sequence[ModelSearch], executor: Executor) -> None:
    """Reserve the time of the models' tests again, instead of the tests with more rows."""
    assert executor.budget is not None
    for model_search in searches:
        for trial in _list_scored_trials(model_search, executor)[:1]:
            executor.budget.reserve_for_test(
                plan.test_job(model_search.model, trial.params), is_new=True
            )


def _set_caps(plan: Plan, caps: dict[str, int | None]) -> Plan:
    all_caps = {**plan.caps, **caps}
    return replace(plan, caps={key: cap for key, cap in all_caps.items() if cap is not None})


def _list_scored_trials(model_search: ModelSearch, executor: Executor) -> list[Trial]:
    """Return the candidates that were scored on all folds."""
    candidates = model_search.list_candidates(executor.ledger)
    return [
        Trial(c.params) for c in candidates if c.is_whole and c.fidelity.is_full and not c.failed
    ]


def _choose_larger_caps(
    plan: Plan, searches: Sequence[ModelSearch], executor: Executor, abandoned: Collection[str]
) -> dict[str, int | None]:
    """Return new caps of the models that there is time to tune again.

    Unless there is time for all, one model per process continues and takes half of the time at
    most: more is known afterwards.
    """
    assert executor.budget is not None
    open_ones = [
        (model_search, trials)
        for model_search in searches
        if model_search.model.key in plan.caps
        and model_search.model.key not in abandoned
        and (
            trials := _list_scored_trials(model_search, executor)
            or _list_deferred_trials(plan, model_search.model)
        )
    ]
    all_rows = _set_caps(plan, {model_search.model.key: None for model_search, _ in open_ones})
    seconds = {
        t.model.key: _estimate_seconds(all_rows, t, trials, executor) for t, trials in open_ones
    }
    whole = sum(seconds.values())

    def expected_error(one: tuple[ModelSearch, list[Trial]]) -> float:
        model_search, _ = one
        slowness = float(seconds[model_search.model.key] ** LEARNING_POWER)
        return _estimate_error(plan, model_search, executor) * slowness

    best_first = sorted(open_ones, key=expected_error)
    room = executor.budget.left - executor.budget.reserved_for_tests
    if whole <= room:
        return _choose_affordable_caps(plan, best_first, executor, room, len(best_first))
    few = executor.budget.processes
    return _choose_affordable_caps(
        plan, best_first, executor, room / 2, few
    ) or _choose_affordable_caps(plan, best_first, executor, room, few)


def _choose_affordable_caps(
    plan: Plan,
    open_ones: Iterable[tuple[ModelSearch, list[Trial]]],
    executor: Executor,
    room: float,
    most: int,
) -> dict[str, int | None]:
    """Return caps for the first models that the time allows, ``most`` of them at most."""
    assert executor.budget is not None
    budget, found, reserved = executor.budget, dict[str, int | None](), 0.0
    longest = plan.preset.fit_cost_in_budget or np.inf
    for model_search, trials in open_ones:
        if len(found) == most:
            break
        key = model_search.model.key
        for rows in _list_larger_caps(plan, model_search.model):
            wider = _set_caps(plan, {key: rows})
            # A preset may limit the time of a fit regardless of the budget.
            if budget.estimate(wider.trial_jobs(model_search.model, trials[0])[0]) > longest:
                continue
            seconds = reserved + _estimate_seconds(wider, model_search, trials, executor)
            test = wider.test_job(model_search.model, trials[0].params)
            if seconds <= min(room, budget.compute_room(test, is_new=True)):
                found[key], reserved = rows, seconds
                budget.reserve_for_test(test, is_new=True)
                break
    return found


def _list_deferred_trials(plan: Plan, model: Model) -> list[Trial]:
    """Return the first candidate if the model is deferred."""
    return [Trial(plan.candidates(model)[0])] if is_deferred(plan, model) else []


def _estimate_error(plan: Plan, model_search: ModelSearch, executor: Executor) -> float:
    """Return the error of the model's best candidate; of a bag, of the fit that timed it.

    It is the study's metric, or 1 minus the metric where greater is better.
    """
    if model_search.model.bag:
        timed = executor.result(make_small_fit(plan, model_search.model))
        means = [] if timed is None else [timed["scores"].get(plan.metric.key)]
    else:
        candidates = model_search.list_candidates(executor.ledger)
        means = [c.mean(plan.metric.key) for c in candidates if c.status == "ok"]
    known = [mean for mean in means if mean is not None]
    if plan.metric.greater_is_better:
        return 1.0 - max(known, default=-np.inf)
    return min(known, default=np.inf)


def _list_larger_caps(plan: Plan, model: Model) -> Iterator[int | None]:
    """Yield None (all rows), then the powers of two above the model's cap, descending."""
    yield None
    cap = plan.caps[model.key]
    most = _set_caps(plan, {model.key: None}).fold_rows(model)
    rows = cap
    while 2 * rows < most:
        rows *= 2
    while rows > cap:
        yield rows
        rows //= 2


def _estimate_seconds(
    plan: Plan, model_search: ModelSearch, trials: Sequence[Trial], executor: Executor
) -> float:
    """Estimate the seconds that all processes take for a model's unfinished candidates."""
    assert executor.budget is not None
    jobs = (
        executor.scored_job(j)
        for trial in trials
        for j in plan.trial_jobs(model_search.model, trial)
    )
    seconds = sum(executor.budget.estimate(job) for job in jobs if not executor.is_done(job))
    return seconds / executor.budget.processes
