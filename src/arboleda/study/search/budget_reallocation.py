"""Spend the rest of a time budget on models that were fitted to a part of the rows.

The caps on training rows are set before much is known about the times of the models' fits and their
scores. Once all models are tuned, these and the time left are known. A bag that cannot have all
rows is not tuned before: the score of the small fit that timed it decides which bags continue.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from arboleda.study.catalogue import Model
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.row_caps import make_small_fit
from arboleda.study.plan import Plan
from arboleda.study.search import Trial
from arboleda.study.search.model_search import ModelSearch
from arboleda.study.search.run_searches import run_searches

__all__ = ["is_deferred", "reallocate_budget"]

# Errors decrease roughly with this power of the rows, and so of the time: models are compared by
# the errors that they would reach in the same time.
LEARNING_POWER = 0.3


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
        wider = _with_caps(plan, caps)
        again = [
            ModelSearch(wider, t.model, first_in_full=True, first_alone=t.model.bag)
            for t in found
            if t.model.key in caps
        ]
        n_rounds += run_searches(wider, again, executor, has_begun=n_rounds > 0)
        done = {t.model.key: t for t in again if _scored(t, executor)}
        plan = _with_caps(plan, {key: caps[key] for key in done})
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
        for trial in _scored(model_search, executor)[:1]:
            executor.budget.reserve_for_test(
                plan.test_job(model_search.model, trial.params), is_new=True
            )


def _with_caps(plan: Plan, caps: dict[str, int | None]) -> Plan:
    all_caps = {**plan.caps, **caps}
    return replace(plan, caps={key: cap for key, cap in all_caps.items() if cap is not None})


def _scored(model_search: ModelSearch, executor: Executor) -> list[Trial]:
    """Return the candidates that were scored on all folds."""
    candidates = model_search.candidates(executor.ledger)
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
            trials := _scored(model_search, executor) or _deferred_trials(plan, model_search.model)
        )
    ]
    all_rows = _with_caps(plan, {model_search.model.key: None for model_search, _ in open_ones})
    seconds = {t.model.key: _seconds(all_rows, t, trials, executor) for t, trials in open_ones}
    whole = sum(seconds.values())

    def expected_error(one: tuple[ModelSearch, list[Trial]]) -> float:
        model_search, _ = one
        slowness = float(seconds[model_search.model.key] ** LEARNING_POWER)
        return _error(plan, model_search, executor) * slowness

    best_first = sorted(open_ones, key=expected_error)
    room = executor.budget.left - executor.budget.reserved_for_tests
    if whole <= room:
        return _affordable_caps(plan, best_first, executor, room, len(best_first))
    few = executor.budget.processes
    return _affordable_caps(plan, best_first, executor, room / 2, few) or _affordable_caps(
        plan, best_first, executor, room, few
    )


def _affordable_caps(
    plan: Plan,
    open_ones: Iterable[tuple[ModelSearch, list[Trial]]],
    executor: Executor,
    room: float,
    most: int,
) -> dict[str, int | None]:
    """Return caps for the first models that the time allows, ``most`` of them at most."""
    assert executor.budget is not None
    budget, found, reserved = executor.budget, dict[str, int | None](), 0.0
    longest = np.inf if plan.preset.fit_cost is None else plan.preset.fit_cost
    for model_search, trials in open_ones:
        if len(found) == most:
            break
        key = model_search.model.key
        for rows in _larger_caps(plan, model_search.model):
            wider = _with_caps(plan, {key: rows})
            # A preset may limit the time of a fit regardless of the budget.
            if budget.estimate(wider.trial_jobs(model_search.model, trials[0])[0]) > longest:
                continue
            seconds = reserved + _seconds(wider, model_search, trials, executor)
            test = wider.test_job(model_search.model, trials[0].params)
            if seconds <= min(room, budget.room_for(test, is_new=True)):
                found[key], reserved = rows, seconds
                budget.reserve_for_test(test, is_new=True)
                break
    return found


def _deferred_trials(plan: Plan, model: Model) -> list[Trial]:
    """Return the first candidate if the model is deferred."""
    return [Trial(plan.candidates(model)[0])] if is_deferred(plan, model) else []


def _error(plan: Plan, model_search: ModelSearch, executor: Executor) -> float:
    """Return the error of the model's best candidate; of a bag, of the fit that timed it.

    It is the study's metric, or 1 minus the metric where greater is better.
    """
    if model_search.model.bag:
        timed = executor.result(make_small_fit(plan, model_search.model))
        means = [] if timed is None else [timed["scores"].get(plan.metric.key)]
    else:
        candidates = model_search.candidates(executor.ledger)
        means = [c.mean(plan.metric.key) for c in candidates if c.status == "ok"]
    known = [mean for mean in means if mean is not None]
    if plan.metric.greater_is_better:
        return 1.0 - max(known, default=-np.inf)
    return min(known, default=np.inf)


def _larger_caps(plan: Plan, model: Model) -> Iterator[int | None]:
    """Yield None (all rows), then the powers of two above the model's cap, descending."""
    yield None
    cap = plan.caps[model.key]
    most = _with_caps(plan, {model.key: None}).fold_rows(model)
    rows = cap
    while 2 * rows < most:
        rows *= 2
    while rows > cap:
        yield rows
        rows //= 2


def _seconds(
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
