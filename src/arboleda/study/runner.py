"""Running a plan: every model is tuned, the chosen candidate of each is tested."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import drop_models
from arboleda.study.catalogue import ALL, Model
from arboleda.study.combined.cross_fitting import n_learned
from arboleda.study.combined.fold_mean import FoldMean
from arboleda.study.combined.methods import FEWEST, METHODS, TEXTBOOK, Method
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job, kept_folds
from arboleda.study.execution.prediction_store import PREDICTIONS_DIR, remove_predictions
from arboleda.study.execution.row_caps import apply_row_caps
from arboleda.study.plan import Plan
from arboleda.study.search import Trial
from arboleda.study.search.budget_reallocation import reallocate_budget, is_deferred
from arboleda.study.search.candidates import Candidate
from arboleda.study.search.model_search import ModelSearch
from arboleda.study.search.run_searches import run_searches

__all__ = [
    "COMBINATIONS",
    "Found",
    "Outcome",
    "SkippedModel",
    "calibrate_best",
    "ranked",
    "run_plan",
]

NO_TIME = "Left out: no time was left"
# A model, its candidates, and the index of the chosen one.
Chosen = tuple[Model, tuple[Candidate, ...], int | None]


@dataclass(frozen=True)
class Outcome:
    """All that is known of one model: its candidates, the chosen one and its test result.

    ``ensemble`` tells what a combined model is made of: there is no estimator that could be fitted
    in its place.
    """

    model: Model
    candidates: tuple[Candidate, ...]
    best: int | None
    test: dict[str, Any] | None
    ensemble: dict[str, Any] | None = None

    @property
    def params(self) -> dict[str, Any]:
        """Those of the chosen candidate; of a model that failed, none."""
        return {} if self.best is None else self.candidates[self.best].params

    @property
    def error(self) -> str | None:
        """Why the model failed, or None if it did not."""
        if self.best is None:
            failed = (c.failed for c in self.candidates if c.failed)
            return next(failed, f"{NO_TIME} to score a candidate on all folds")
        return f"{NO_TIME} for its test" if self.test is None else self.test["error"]


@dataclass(frozen=True)
class SkippedModel:
    """Candidates of a model that were not tried for want of time; ``whole``: all of them."""

    key: str
    name: str
    n_candidates: int
    whole: bool


# What is said where there is no time to combine the models.
COMBINATIONS = SkippedModel("combinations", "The combination of models", 1, whole=True)


@dataclass(frozen=True)
class Found:
    """What a search has come to: the plan as it was run, and each model's outcome."""

    plan: Plan
    outcomes: list[Outcome]
    n_rounds: int
    left_out: tuple[SkippedModel, ...]


def run_plan(plan: Plan, executor: Executor) -> Found:
    """Tune every model of the plan, then test the chosen candidate of each.

    The models that are tested are written to the study's folder, and what the chosen candidates
    said of the rows they were scored on.
    """
    if executor.budget is not None:
        executor.budget.reserve_for_afterwards(_seconds_of_combining(plan))
    plan = apply_row_caps(plan, executor)
    hurried = executor.budget is not None
    # Rows are worth more than other settings.
    first_alone = hurried and bool(plan.caps)
    searches = [
        ModelSearch(plan, model, first_in_full=hurried, first_alone=first_alone and model.bag)
        for model in plan.models
    ]
    n_rounds = run_searches(plan, [t for t in searches if not is_deferred(plan, t.model)], executor)
    if hurried:
        plan, searches, n_rounds = reallocate_budget(plan, searches, executor, n_rounds)
    found = [(t.model, *_choose(plan, t.candidates(executor.ledger))) for t in searches]
    tests = {
        model.key: _test_job(plan, model, candidates[best].params, executor)
        for model, candidates, best in found
        if best is not None
    }
    _save_predictions(plan, found, tests, executor)
    _test(plan, found, tests, executor)
    left_out = tuple(
        SkippedModel(t.model.key, t.model.name, t.n_left_out, whole=not candidates)
        for t, (_, candidates, _) in zip(searches, found, strict=True)
        if t.n_left_out
    )
    outcomes = [
        Outcome(model, candidates, best, None if best is None else executor.result(tests[model.key]))
        for model, candidates, best in found
        if candidates
    ]
    return Found(plan, outcomes, n_rounds, left_out)


def ways_to_combine(plan: Plan) -> tuple[Method, ...]:
    """Those of every study, and the textbook's rules where the whole catalogue is asked for."""
    return (*METHODS, *TEXTBOOK) if ALL in plan.wanted else METHODS


def _seconds_of_combining(plan: Plan) -> Iterator[float]:
    """About how many seconds each way to combine the models takes."""
    n_members = sum(model.learns for model in plan.models)
    if n_members < FEWEST or plan.settings.scheme.kind == "bootstrap":
        return
    sizes = n_members, len(plan.split.train), len(plan.target.labels)
    for method in ways_to_combine(plan):
        if method.suits(*sizes):
            yield n_learned(plan.n_folds) * method.seconds(*sizes)


def _test_job(plan: Plan, model: Model, params: dict[str, Any], executor: Executor) -> Job:
    return replace(executor.scored_job(plan.test_job(model, params)), keep=executor.folder / MODELS)


def _save_predictions(
    plan: Plan, found: Sequence[Chosen], tests: dict[str, Job], executor: Executor
) -> None:
    """Drop answers and models of all but the chosen candidates, and fill in what lacks of theirs.

    Those of a candidate that lost once may have been dropped before it won.
    """
    folds = [
        executor.scored_job(job)
        for model, candidates, best in found
        if best is not None
        for job in plan.trial_jobs(model, Trial(candidates[best].params))
    ]
    kept = [job.predictions_file for job in (*folds, *tests.values()) if job.predictions_file is not None]
    remove_predictions(executor.folder / PREDICTIONS_DIR, kept)
    for model in (model for model, _, best in found if model.bag and best is not None):
        names = {job.kept_as for job in folds if job.model == model.key}
        drop_models(executor.folder / MODELS, kept_folds(model.key), names)
    missing = (job for job in folds if not executor.has_predictions(job))
    executor.run_folds(missing)


def _test(
    plan: Plan,
    found: Sequence[Chosen],
    tests: dict[str, Job],
    executor: Executor,
) -> None:
    """Refit and test what was chosen; where the time is short, the best first."""
    missing = {
        key: _with_folds(plan, job, executor) if job.bag else job
        for key, job in tests.items()
        if not executor.has_predictions(job)
    }
    if executor.budget is None:
        executor.run(missing.values())
        return
    outcomes = [Outcome(m, c, best, {"error": None}) for m, c, best in found if m.key in missing]
    executor.run([missing[o.model.key] for o in ranked(plan, outcomes)], executor.budget.has_time_for_last)


def _with_folds(plan: Plan, test: Job, executor: Executor) -> Job:
    """The test of a bag: of the models that its folds have kept, in the place of a refit."""
    model = next(m for m in plan.models if m.key == test.model)
    jobs = [executor.scored_job(job) for job in plan.trial_jobs(model, Trial(test.params))]
    done = {job.kept_as: executor.result(job) or {} for job in jobs if executor.is_done(job)}
    kept = {name: result.get("kept") for name, result in done.items()}
    files = {name: entry["files"] for name, entry in kept.items() if entry and not entry["error"]}
    if len(files) < len(jobs):
        return test
    mean = FoldMean(executor.folder / MODELS, model.key, files, len(plan.target.labels))
    return replace(
        test,
        pipeline=Pipeline([("preparation", "passthrough"), ("model", mean)]),
        fitted_s=sum(result["timing"]["fit_s"] for result in done.values()),
    )


def ranked(plan: Plan, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Best cross-validated mean first, failed ones last; of equals the first of the catalogue."""
    sign = -1.0 if plan.metric.greater_is_better else 1.0

    def key(outcome: Outcome) -> tuple[bool, float]:
        if outcome.error is not None or outcome.best is None:
            return (True, 0.0)
        mean = outcome.candidates[outcome.best].mean(plan.metric.key)
        return (mean is None, 0.0 if mean is None else sign * mean)

    return sorted(outcomes, key=key)


def calibrate_best(
    plan: Plan, executor: Executor, outcomes: Sequence[Outcome]
) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """Try methods of calibration on the best model, unless it answers numbers or is the baseline.

    The best model is no combination: that is fitted otherwise.

    Returns
    -------
    outcome, results : Outcome, list of dict
        The model, and the results by fold, the test's last; None also where the time budget has no
        room for them.
    """
    if not outcomes or not plan.target.labels:
        return None
    outcome = ranked(plan, outcomes)[0]
    if outcome.error or outcome.best is None or not outcome.model.learns:
        return None
    jobs = plan.calibration_jobs(outcome.model, outcome.candidates[outcome.best].params)
    missing = [job for job in jobs if not executor.is_done(job)]
    if executor.budget is not None and missing:
        seconds = sum(executor.budget.estimate(job) for job in missing) / executor.budget.processes
        if seconds > executor.budget.left:
            return None
    executor.run(missing)
    found = [result for job in jobs if (result := executor.result(job)) is not None]
    return (outcome, found) if len(found) == len(jobs) else None


def _choose(
    plan: Plan, candidates: tuple[Candidate, ...]
) -> tuple[tuple[Candidate, ...], int | None]:
    """The candidates, and the index of the best mean; of equal ones the first, the simplest."""
    sign = 1.0 if plan.metric.greater_is_better else -1.0
    means = []
    for candidate in candidates:
        mean = candidate.mean(plan.metric.key) if candidate.status == "ok" else None
        means.append(-np.inf if mean is None else sign * mean)
    best = int(np.argmax(means)) if means else 0
    return candidates, best if means and np.isfinite(means[best]) else None
