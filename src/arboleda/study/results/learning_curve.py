"""The learning curve of the best single model: its score by number of training rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.catalogue import Model
from arboleda.scoring.intervals import compute_fold_gain
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.results.calibration_facts import NO_ROOM
from arboleda.study.search.model_search import Outcome
from arboleda.study.search.strategies import Trial

__all__ = ["MOST_CELLS", "compute_learning_curve", "draw_share", "list_curve_jobs"]

# Of a fold's training rows, doubling; all of them are the candidate's own folds.
SHARES = (0.125, 0.25, 0.5)
FEWEST = 10
# A table with more cells takes too long to refit.
MOST_CELLS = 10_000_000
_SCHEMES = ("kfold", "repeated", "group")
_PURPOSE = 6
Rows = npt.NDArray[np.int64]


def compute_learning_curve(plan: Plan, executor: Executor, outcome: Outcome) -> dict[str, Any]:
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
        "skipped": _find_skip_reason(plan),
        "points": [],
        "gain": None,
        "timing": {"seconds": 0.0},
    }
    if facts["skipped"] is not None or outcome.best is None:
        return facts
    params = outcome.candidates[outcome.best].params
    by_share = {share: _make_jobs(plan, outcome.model, params, share) for share in SHARES}
    jobs = [job for part in by_share.values() for job in part]
    missing = [job for job in jobs if not executor.is_done(job)]
    if executor.budget is not None and missing:
        seconds = sum(executor.budget.estimate(job) for job in missing) / executor.budget.processes
        if seconds > executor.budget.left:
            return {**facts, "skipped": NO_ROOM}
    executor.run(missing)
    full = plan.trial_jobs(outcome.model, Trial(params))
    parts = [*by_share.items(), (1.0, full)]
    points = [_make_point(plan, executor, part, share) for share, part in parts]
    facts["points"] = [point for point in points if point is not None]
    facts["timing"]["seconds"] = float(
        sum((executor.result(job) or {}).get("seconds", 0) for job in jobs)
    )
    if len(facts["points"]) < 2:
        facts["skipped"] = "the parts of the rows are too small to learn from"
        return facts
    before, after = (point["fold_scores"] for point in facts["points"][-2:])
    facts["gain"] = compute_fold_gain(
        before, after, plan.split.folds, greater_is_better=plan.metric.greater_is_better
    )
    return facts


def _find_skip_reason(plan: Plan) -> str | None:
    if plan.settings.cv.kind not in _SCHEMES:
        return "the scheme of cross-validation has no folds that could be learned from in part"
    if len(plan.split.train) * plan.features.x.shape[1] > MOST_CELLS:
        return "the table is too large to learn from it many times more"
    return None


def list_curve_jobs(plan: Plan, model: Model, params: dict[str, Any]) -> list[Job]:
    """Return the jobs of a candidate's learning curve, none if there will be no curve."""
    if _find_skip_reason(plan) is not None:
        return []
    return [job for share in SHARES for job in _make_jobs(plan, model, params, share)]


def _make_jobs(plan: Plan, model: Model, params: dict[str, Any], share: float) -> list[Job]:
    jobs = []
    for k, job in enumerate(plan.trial_jobs(model, Trial(params))):
        rows = _draw_rows(plan, job.fit_rows, share, (plan.seed, _PURPOSE, k))
        if len(rows) >= FEWEST:
            extent = f"{job.extent} learning from {share:g}"
            # The progress display shows the search only.
            jobs.append(
                replace(job, fit_rows=rows, extent=extent, is_low_fidelity=True, is_shown=False)
            )
    return jobs


def _draw_rows(plan: Plan, rows: Rows, share: float, seed: Sequence[int]) -> Rows:
    """Draw a subset of the rows of a fit; of a ranking, of whole queries."""
    if plan.target.task == "ranking":
        queries = plan.target.y["query"][rows]
        drawn = draw_share(np.unique(queries), None, share, seed)
        return rows[np.isin(queries, drawn)]
    strata = plan.target.strata
    return draw_share(rows, None if strata is None else strata[rows], share, seed)


def draw_share(
    rows: Rows, classes: npt.NDArray[Any] | None, share: float, seed: Sequence[int]
) -> Rows:
    """Draw a random subset of the rows, stratified by class, with at least one row per class.

    The same seed gives nested subsets: a smaller share is a subset of a larger one.

    Examples
    --------
    >>> rows = np.arange(10)
    >>> few, more = (draw_share(rows, rows % 2, share, [0]) for share in (0.2, 0.6))
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


def _make_point(
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
