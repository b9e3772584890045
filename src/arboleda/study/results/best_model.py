"""Explanations of the best model: importances, a surrogate tree and a learning curve."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from arboleda._utils.errors import StudyError
from arboleda.scoring.intervals import compute_fold_gain
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import read_model
from arboleda.study.config.costs import describe_costs
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job
from arboleda.study.plan import Plan
from arboleda.study.results.calibration_facts import NO_ROOM
from arboleda.study.results.explained_model import ExplainedModel, RowSubset
from arboleda.study.runner import Outcome, RunResult, ranked
from arboleda.study.search.strategies import Trial

__all__ = ["compute_learning_curve", "describe_best", "draw_share"]

# Maximum predicted rows (rows times columns times shuffles); `arboleda explain` allows more.
MAX_SCORED_ROWS = 400_000
SURROGATE_ROWS = 5_000
# Rows that measure the model's speed of prediction.
TIMED_ROWS = 200
# Shares of the most rows that are tried if time is short.
ROW_SHARES = (1.0, 0.5, 0.25, 0.1)
NO_MEMORY = "there was not memory enough for it"
SHARES = (0.1, 0.2, 0.4, 0.7)  # of a fold's rows; all of them are the candidate's own folds
FEWEST = 10
# A table with more cells takes too long to refit.
MOST_CELLS = 10_000_000
_SCHEMES = ("kfold", "repeated", "group")
_PURPOSE = 6
Rows = npt.NDArray[np.int64]


def describe_best(result: RunResult, executor: Executor) -> dict[str, Any]:
    """Return the facts on the best model: ``importance``, ``surrogate``, ``learning_curve``.

    Each is None if the best model ignores the columns or all models failed; otherwise ``skipped``
    is the reason why it is empty, or None. Results are stored in the ledger.
    """
    parts = {"importance": compute_importance, "surrogate": compute_surrogate}
    order = [outcome for outcome in ranked(result.plan, result.outcomes) if not outcome.error]
    if not order or not order[0].model.learns:
        return dict.fromkeys([*parts, "learning_curve"])
    described = {name: part(result.plan, executor, order[0]) for name, part in parts.items()}
    # A combination is not refitted: the curve is that of the best single model.
    alone = next(outcome for outcome in order if outcome.ensemble is None)
    return {**described, "learning_curve": compute_learning_curve(result.plan, executor, alone)}


def compute_importance(plan: Plan, executor: Executor, outcome: Outcome) -> dict[str, Any]:
    """Return the ``importance`` part of the facts: permutation importance of the columns."""

    def compute(subject: ExplainedModel, share: float) -> dict[str, Any] | None:
        from arboleda.study.results.importance import describe_importance

        return describe_importance(subject, int(share * MAX_SCORED_ROWS), plan.metric)

    empty = {
        "metric": plan.metric.key,
        "metric_label": plan.metric.label,
        "n_rows": 0,
        "n_repeats": 0,
        "columns": [],
    }

    def count_rows(subject: ExplainedModel, share: float) -> int:
        from arboleda.study.results.importance import count_scored_rows

        return count_scored_rows(subject, int(share * MAX_SCORED_ROWS))

    return empty | _compute_or_load(plan, executor, outcome, "importance", compute, count_rows)


def compute_surrogate(plan: Plan, executor: Executor, outcome: Outcome) -> dict[str, Any]:
    """Return the ``surrogate`` part of the facts: a small tree that imitates the model."""

    def compute(subject: ExplainedModel, share: float) -> dict[str, Any] | None:
        from arboleda.study.results.importance import describe_surrogate

        return describe_surrogate(subject, int(share * SURROGATE_ROWS))

    keys = ("n_leaves", "n_fit", "n_rows", "fidelity", "error", "model_error", "curve", "tree")

    def count_rows(subject: ExplainedModel, share: float) -> int:
        most = int(share * SURROGATE_ROWS)
        return sum(min(len(part.x), most) for part in (subject.train, subject.test))

    return dict.fromkeys(keys) | _compute_or_load(
        plan, executor, outcome, "surrogate", compute, count_rows
    )


def _compute_or_load(
    plan: Plan,
    executor: Executor,
    outcome: Outcome,
    what: str,
    compute: Callable[[ExplainedModel, float], dict[str, Any] | None],
    count_rows: Callable[[ExplainedModel, float], int],
) -> dict[str, Any]:
    """Load facts from the ledger, or compute and store them; ``skipped`` is a reason or None.

    ``count_rows`` returns the number of rows that the model will predict, with a share of the most
    rows. If there is time for a part of them only, the facts are of that part and not stored: a
    later run may have more.
    """
    key = outcome.model.key
    skipped = _skip_reason(plan, outcome)
    if outcome.best is None or skipped is not None:
        return _nothing(key, skipped)
    assert outcome.test is not None
    # The checksums of the files identify the fitted model, also a combination.
    text = json.dumps(outcome.test["kept"]["files"], sort_keys=True)
    entry = f"{what} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    stored = executor.ledger.get(key, outcome.params, entry)
    if stored is not None:
        return stored
    # A later run may have more time and memory: these reasons are not stored.
    if executor.budget is not None and executor.budget.left <= 0:
        return _nothing(key, NO_ROOM)
    started = perf_counter()
    facts: dict[str, Any] = {"model": key, "skipped": None}
    share = 1.0
    try:
        with threadpool_limits(limits=1):
            subject = _subject(plan, executor, outcome)
            if executor.budget is not None:
                share = _find_share(subject, count_rows, executor.budget.left)
            if not share:
                return _nothing(key, NO_ROOM)
            found = compute(subject, share)
        facts |= found or {"skipped": "the test rows do not tell"}
    except MemoryError:
        return _nothing(key, NO_MEMORY)
    except (StudyError, ValueError) as error:
        facts["skipped"] = str(error).rstrip(".")
    facts["timing"] = {"seconds": perf_counter() - started}
    if share == 1.0:
        executor.ledger.put(key, outcome.params, entry, facts)
    return facts


def _nothing(key: str, why: str | None) -> dict[str, Any]:
    return {"model": key, "skipped": why, "timing": {"seconds": 0.0}}


def _find_share(
    subject: ExplainedModel, count_rows: Callable[[ExplainedModel, float], int], left: float
) -> float:
    """Return the largest share of the rows that the model predicts in the time left, or 0."""
    few = subject.test.x[:TIMED_ROWS]
    subject.predict(few[:1])  # the first call also builds caches
    started = perf_counter()
    subject.predict(few)
    seconds_per_row = (perf_counter() - started) / len(few)
    fitting = (s for s in ROW_SHARES if seconds_per_row * count_rows(subject, s) <= left)
    return max(fitting, default=0.0)


def _skip_reason(plan: Plan, outcome: Outcome) -> str | None:
    kept = (outcome.test or {}).get("kept")
    if not kept or kept["error"]:
        return "the fitted model was not kept"
    if len(plan.split.train) * plan.features.x.shape[1] > MOST_CELLS:
        return "the table is too large; the command arboleda explain does it on a part of the rows"
    return None


def _subject(plan: Plan, executor: Executor, outcome: Outcome) -> ExplainedModel:
    assert outcome.test is not None
    pipeline = read_model(
        executor.folder / MODELS, outcome.model.key, outcome.test["kept"]["files"]
    )
    features, target = plan.features, plan.target

    def part(rows: Any) -> RowSubset:
        return RowSubset(features.x[rows], np.asarray(target.y[rows]), rows)

    described = {
        "metric": plan.metric.key,
        "metric_label": plan.metric.label,
        "target": target.name,
    }
    costs = describe_costs(plan.settings, target)
    return ExplainedModel(
        folder=str(executor.folder),
        facts={"study": described, "costs": costs and costs.model_dump()},
        key=outcome.model.key,
        pipeline=pipeline,
        names=features.names,
        levels=features.levels,
        binary=features.binary,
        labels=tuple(target.labels),
        train=part(plan.split.train),
        test=part(plan.split.test),
        seed=plan.seed,
    )


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
        "skipped": _curve_skip_reason(plan, outcome),
        "points": [],
        "gain": None,
        "timing": {"seconds": 0.0},
    }
    if facts["skipped"] is not None or outcome.best is None:
        return facts
    params = outcome.candidates[outcome.best].params
    by_share = {share: _curve_jobs(plan, outcome, params, share) for share in SHARES}
    jobs = [job for part in by_share.values() for job in part]
    missing = [job for job in jobs if not executor.is_done(job)]
    if executor.budget is not None and missing:
        seconds = sum(executor.budget.estimate(job) for job in missing) / executor.budget.processes
        if seconds > executor.budget.left:
            return {**facts, "skipped": NO_ROOM}
    # The watcher shows the progress of the search only.
    executor.run(missing, notify_watcher=False)
    full = plan.trial_jobs(outcome.model, Trial(params))
    parts = [*by_share.items(), (1.0, full)]
    points = [_curve_point(plan, executor, part, share) for share, part in parts]
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


def _curve_skip_reason(plan: Plan, outcome: Outcome) -> str | None:
    if plan.settings.cv.kind not in _SCHEMES:
        return "the scheme of cross-validation has no folds that could be learned from in part"
    if len(plan.split.train) * plan.features.x.shape[1] > MOST_CELLS:
        return "the table is too large to learn from it many times more"
    return None


def _curve_jobs(plan: Plan, outcome: Outcome, params: dict[str, Any], share: float) -> list[Job]:
    jobs = []
    for k, job in enumerate(plan.trial_jobs(outcome.model, Trial(params))):
        classes = plan.target.y[job.fit_rows] if plan.target.labels else None
        rows = draw_share(job.fit_rows, classes, share, (plan.seed, _PURPOSE, k))
        if len(rows) >= FEWEST:
            extent = f"{job.extent} learning from {share:g}"
            jobs.append(replace(job, fit_rows=rows, extent=extent, is_low_fidelity=True))
    return jobs


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


def _curve_point(
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
