"""What is left of a time budget goes to models that have learned from a part of the rows.

How many rows a model may learn from is decided before much is known of how long its fits take. Once
all are tuned it is known, and so is the time that is left.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from arboleda.study.catalogue import Model
from arboleda.study.execution import Execution
from arboleda.study.plan import Plan
from arboleda.study.rounds import tune
from arboleda.study.search import Trial
from arboleda.study.tuning import Tuning

__all__ = ["use_time_left"]


def use_time_left(
    plan: Plan, tunings: Sequence[Tuning], work: Execution
) -> tuple[Plan, list[Tuning], int]:
    """Tune models again with more of the rows, as long as there is time: those of least work first.

    A model that does not come to an end stays with what it had.

    Returns
    -------
    plan, tunings, n_rounds : Plan, list of Tuning, int
        The plan with other caps on rows, its searches, and the number of rounds that were added.
    """
    found, n_rounds, given_up = list(tunings), 0, set[str]()
    while caps := _raised(plan, found, work, given_up):
        wider = _with_caps(plan, caps)
        again = [Tuning(wider, t.model, first_in_full=True) for t in found if t.model.key in caps]
        n_rounds += tune(wider, again, work, has_begun=True)
        done = {t.model.key: t for t in again if _scored(t, work)}
        given_up |= caps.keys() - done.keys()
        plan = _with_caps(plan, {key: caps[key] for key in done})
        found = [done.get(t.model.key, t) for t in found]
    return plan, found, n_rounds


def _with_caps(plan: Plan, caps: dict[str, int | None]) -> Plan:
    all_caps = {**plan.caps, **caps}
    return replace(plan, caps={key: cap for key, cap in all_caps.items() if cap is not None})


def _scored(tuning: Tuning, work: Execution) -> list[Trial]:
    """The candidates that were scored on all folds."""
    candidates = tuning.candidates(work.ledger)
    return [Trial(c.params) for c in candidates if c.is_whole and c.stage.is_full and not c.failed]


def _raised(
    plan: Plan, tunings: Sequence[Tuning], work: Execution, given_up: Collection[str]
) -> dict[str, int | None]:
    """Models that there is time to tune again, and how many rows they may learn from."""
    assert work.budget is not None
    budget, found, promised = work.budget, dict[str, int | None](), 0.0
    longest = np.inf if plan.preset.fit_cost is None else plan.preset.fit_cost
    open_ones = [
        (tuning, trials)
        for tuning in tunings
        if tuning.model.key in plan.caps
        and tuning.model.key not in given_up
        and (trials := _scored(tuning, work))
    ]
    all_rows = _with_caps(plan, {tuning.model.key: None for tuning, _ in open_ones})
    for tuning, trials in sorted(
        open_ones, key=lambda one: sum(_fits(all_rows, one[0], one[1], work))
    ):
        key = tuning.model.key
        for rows in _more_rows(plan, tuning.model):
            wider = _with_caps(plan, {key: rows})
            fits = _fits(wider, tuning, trials, work)
            # A preset may want fits to be short whatever time there is.
            if fits[0] > longest:
                continue
            seconds = sum(fits) / budget.processes
            test = wider.test_job(tuning.model, trials[0].params)
            if promised + seconds <= budget.room_for(test, is_new=True):
                found[key] = rows
                promised += seconds
                budget.keep_for(test, is_new=True)
                break
    return found


def _more_rows(plan: Plan, model: Model) -> Iterator[int | None]:
    """All rows, then so many as are a power of two and more than the model has had."""
    yield None
    cap = plan.caps[model.key]
    most = _with_caps(plan, {model.key: None}).fold_rows(model)
    rows = cap
    while 2 * rows < most:
        rows *= 2
    while rows > cap:
        yield rows
        rows //= 2


def _fits(plan: Plan, tuning: Tuning, trials: Sequence[Trial], work: Execution) -> list[float]:
    """About how many seconds each fold of each candidate takes."""
    assert work.budget is not None
    jobs = (job for trial in trials for job in plan.trial_jobs(tuning.model, trial))
    return [work.budget.estimate(job) for job in jobs]
