"""How many rows models may learn from where all of them would take too long."""

from dataclasses import replace

from arboleda.study.catalogue import Model
from arboleda.study.execution import Execution
from arboleda.study.plan import Plan
from arboleda.study.search import Stage, Trial
from arboleda.study.work import Job

__all__ = ["bounded"]

# Numbers of rows are powers of two from here on, so that a little more or less time is no other
# study.
LEAST_ROWS = 2048
# With more rows than this every model is timed on a part of them before it is decided.
TIMED_ROWS = 8192
# The part of a time budget that the first candidates of all models may take together.
FIRST_SHARE = 0.4


def bounded(plan: Plan, work: Execution) -> Plan:
    """The plan with the caps on rows that its preset and time budget ask for.

    A fit may take as long as the preset says by the catalogue's costs. With a time budget, the
    first candidates of all models, on all folds and tested, may take two fifths of it; then costs
    are scaled by what a first fit of each model has taken.
    """
    allowed = plan.preset.fit_cost
    budget = work.budget
    if budget is not None:
        _time_models(plan, work)
        fits = len(plan.models) * (plan.n_folds + 1.5)
        share = FIRST_SHARE * budget.left * budget.processes / fits
        allowed = share if allowed is None else min(allowed, share)
    if allowed is None:
        return plan
    caps = {}
    for model in plan.models:
        rate = 1.0 if budget is None else budget.rate(model.key)
        cap = _cap(plan, model, allowed / rate)
        if cap is not None:
            caps[model.key] = cap
    return replace(plan, caps=caps)


def _cap(plan: Plan, model: Model, allowed: float) -> int | None:
    """The largest power of two at which the dearest candidate costs so much; None: all rows."""
    grid = plan.candidates(model)
    most = plan.fold_rows(model)

    def cost(rows: int) -> float:
        return max(plan.cost(model, params, rows) for params in grid)

    if cost(most) <= allowed:
        return None
    rows = LEAST_ROWS
    while 2 * rows < most and cost(2 * rows) <= allowed:
        rows *= 2
    return rows if rows < most else None


def _time_models(plan: Plan, work: Execution) -> None:
    """Time a small fit of each model's first candidate, cheap ones first."""
    jobs: list[Job] = []
    for model in plan.models:
        rows = plan.fold_rows(model)
        if rows > TIMED_ROWS:
            share = 1.0
            while share * rows > LEAST_ROWS:
                share /= 2
            trial = Trial(plan.candidates(model)[0], Stage(share, folds=1))
            jobs += plan.trial_jobs(model, trial)
    missing = [job for job in jobs if not work.is_done(job)]
    work.recall(job for job in jobs if work.is_done(job))
    work.do(sorted(missing, key=lambda job: job.cost))
