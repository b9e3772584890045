"""The learning curve of the best model: what it scores when it learns from fewer rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.runner import Outcome
from arboleda.study.search.trial import Trial

__all__ = ["learning_curve", "part_of_rows"]

SHARES = (0.1, 0.2, 0.4, 0.7)  # of a fold's rows; all of them are the candidate's own folds
FEWEST = 10
# A table with more cells is too long to learn from again.
MOST_CELLS = 10_000_000
_SCHEMES = ("kfold", "repeated", "group")
_PURPOSE = 6
Rows = npt.NDArray[np.int64]


def learning_curve(plan: Plan, work: Executor, outcome: Outcome) -> dict[str, Any]:
    """The ``learning_curve`` part of the facts: the mean score by rows learned from.

    On every fold the chosen candidate is fitted to a part of the rows, with the shares of the
    classes kept and each part within the next, and scored on the fold's rows.

    Parameters
    ----------
    plan : Plan
    work : Execution
        Does what the ledger lacks, within the time budget.
    outcome : Outcome
        The model, with a chosen candidate.

    Returns
    -------
    dict
        ``skipped`` tells why there are no points, or is None.
    """
    facts: dict[str, Any] = {
        "model": outcome.model.key,
        "metric": plan.metric.key,
        "skipped": _reason(plan, outcome),
        "points": [],
        "timing": {"seconds": 0.0},
    }
    if facts["skipped"] is not None or outcome.best is None:
        return facts
    params = outcome.candidates[outcome.best].params
    by_share = {share: _jobs(plan, outcome, params, share) for share in SHARES}
    jobs = [job for part in by_share.values() for job in part]
    missing = [job for job in jobs if not work.is_done(job)]
    if work.budget is not None and missing:
        seconds = sum(work.budget.estimate(job) for job in missing) / work.budget.processes
        if seconds > work.budget.left:
            return {**facts, "skipped": "the time budget has no room for it"}
    # Nobody is told: these are no fits of the search, whose progress is shown.
    work.run(missing, notify_watcher=False)
    full = plan.trial_jobs(outcome.model, Trial(params))
    points = [_point(plan, work, part, share) for share, part in by_share.items()]
    facts["points"] = [p for p in (*points, _point(plan, work, full, 1.0)) if p is not None]
    facts["timing"]["seconds"] = float(
        sum((work.result(job) or {}).get("seconds", 0) for job in jobs)
    )
    if len(facts["points"]) < 2:
        facts["skipped"] = "the parts of the rows are too small to learn from"
    return facts


def _reason(plan: Plan, outcome: Outcome) -> str | None:
    if plan.settings.scheme.kind not in _SCHEMES:
        return "the scheme of cross-validation has no folds that could be learned from in part"
    if len(plan.split.train) * plan.features.x.shape[1] > MOST_CELLS:
        return "the table is too large to learn from it many times more"
    return None


def _jobs(plan: Plan, outcome: Outcome, params: dict[str, Any], share: float) -> list[Job]:
    jobs = []
    for k, job in enumerate(plan.trial_jobs(outcome.model, Trial(params))):
        classes = plan.target.y[job.fit_rows] if plan.target.labels else None
        rows = part_of_rows(job.fit_rows, classes, share, (plan.seed, _PURPOSE, k))
        if len(rows) >= FEWEST:
            extent = f"{job.extent} learning from {share:g}"
            jobs.append(replace(job, fit_rows=rows, extent=extent, is_low_fidelity=True))
    return jobs


def part_of_rows(
    rows: Rows, classes: npt.NDArray[Any] | None, share: float, seed: Sequence[int]
) -> Rows:
    """A part of the rows, drawn at random; of each class the same share, and at least one row.

    The same seed gives parts within each other: a smaller share is a part of a larger one.

    Examples
    --------
    >>> rows = np.arange(10)
    >>> few, more = (part_of_rows(rows, rows % 2, share, [0]) for share in (0.2, 0.6))
    >>> len(few), len(more), set(few.tolist()) <= set(more.tolist())
    (2, 6, True)
    """
    order = np.random.default_rng(list(seed)).permutation(len(rows))
    codes = np.zeros(len(rows), dtype=np.int64) if classes is None else classes
    taken = []
    for code in np.unique(codes):
        of_class = order[codes[order] == code]
        taken.append(of_class[: max(1, round(share * len(of_class)))])
    return np.asarray(rows[np.sort(np.concatenate(taken))])


def _point(plan: Plan, work: Executor, jobs: Sequence[Job], share: float) -> dict[str, Any] | None:
    """One size of the curve; None unless every fold has its score."""
    results = [work.result(job) for job in jobs]
    scores = [r["scores"].get(plan.metric.key) for r in results if r is not None and not r["error"]]
    if len(scores) < plan.n_folds or any(score is None for score in scores):
        return None
    return {
        "share": share,
        "n_rows": round(float(np.mean([len(job.fit_rows) for job in jobs]))),
        "fold_scores": scores,
        "mean": float(np.mean(scores)),
        "sd": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
    }
