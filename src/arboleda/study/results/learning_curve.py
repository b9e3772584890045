"""The learning curve of the best model: its scores with fewer training rows."""

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
# A table with more cells takes too long to refit.
MOST_CELLS = 10_000_000
_SCHEMES = ("kfold", "repeated", "group")
_PURPOSE = 6
Rows = npt.NDArray[np.int64]


def learning_curve(plan: Plan, executor: Executor, outcome: Outcome) -> dict[str, Any]:
    """Return the ``learning_curve`` part of the facts: the mean score by number of training rows.

    On every fold the chosen candidate is fitted to nested, stratified subsets of the training rows
    and scored on the fold's held-out rows.

    Parameters
    ----------
    plan : Plan
    executor : Executor
        Runs missing jobs, within the time budget.
    outcome : Outcome
        The model, with a chosen candidate.

    Returns
    -------
    dict
        ``skipped`` is the reason why there are no points, or None.
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
    missing = [job for job in jobs if not executor.is_done(job)]
    if executor.budget is not None and missing:
        seconds = sum(executor.budget.estimate(job) for job in missing) / executor.budget.processes
        if seconds > executor.budget.left:
            return {**facts, "skipped": "the time budget has no room for it"}
    # The watcher shows the progress of the search only.
    executor.run(missing, notify_watcher=False)
    full = plan.trial_jobs(outcome.model, Trial(params))
    points = [_point(plan, executor, part, share) for share, part in by_share.items()]
    facts["points"] = [p for p in (*points, _point(plan, executor, full, 1.0)) if p is not None]
    facts["timing"]["seconds"] = float(
        sum((executor.result(job) or {}).get("seconds", 0) for job in jobs)
    )
    if len(facts["points"]) < 2:
        facts["skipped"] = "the parts of the rows are too small to learn from"
    return facts


def _reason(plan: Plan, outcome: Outcome) -> str | None:
    if plan.settings.cv.kind not in _SCHEMES:
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
    """Draw a random subset of the rows, stratified by class, with at least one row per class.

    The same seed gives nested subsets: a smaller share is a subset of a larger one.

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


def _point(
    plan: Plan, executor: Executor, jobs: Sequence[Job], share: float
) -> dict[str, Any] | None:
    """Return one point of the curve; None unless every fold has its score."""
    results = [executor.result(job) for job in jobs]
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
