"""Run a plan: tune every model, then test the chosen candidate of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from arboleda.catalogue import ALL, Model
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import remove_models
from arboleda.study.combination.cross_fitting import count_fits
from arboleda.study.combination.members import FoldMean
from arboleda.study.combination.methods import FEWEST, METHODS, TEXTBOOK, Method
from arboleda.study.execution.executor import Executor
from arboleda.study.execution.job import Job, make_fold_pattern
from arboleda.study.execution.prediction_store import PREDICTIONS_DIR, remove_predictions
from arboleda.study.plan import Plan
from arboleda.study.results.learning_curve import list_curve_jobs
from arboleda.study.search.model_search import CandidateResult, ModelSearch, Outcome, run_searches
from arboleda.study.search.row_caps import apply_row_caps, is_deferred, reallocate_budget
from arboleda.study.search.strategies import Trial
from arboleda.study.whole_fits import fit_whole_table

__all__ = [
    "COMBINATIONS",
    "Outcome",
    "RunResult",
    "Searched",
    "SkippedModel",
    "calibrate_best",
    "can_combine",
    "ranked",
    "search_models",
    "test_models",
]

# A model, its candidates, and the index of the chosen one.
Chosen = tuple[Model, tuple[CandidateResult, ...], int | None]


@dataclass(frozen=True)
class SkippedModel:
    """Candidates of a model that were skipped for lack of time; ``whole``: all of them."""

    key: str
    name: str
    n_candidates: int
    whole: bool


# Calibration may take this share of the time left: importances follow it.
CALIBRATION_SHARE = 0.5
# Reported if there is no time to combine the models.
COMBINATIONS = SkippedModel("combinations", "The combination of models", 1, whole=True)


@dataclass(frozen=True)
class Searched:
    """The plan as it was run, the finished search of each model, and the number of rounds."""

    plan: Plan
    searches: list[ModelSearch]
    n_rounds: int


@dataclass(frozen=True)
class RunResult:
    """The plan as it was run, and each model's outcome.

    ``only_sampled`` are, of a table larger than memory, the reasons by the key of the model why it
    was fitted to the sample alone.
    """

    plan: Plan
    outcomes: list[Outcome]
    n_rounds: int
    skipped: tuple[SkippedModel, ...]
    only_sampled: Mapping[str, str] = field(default_factory=dict)


def search_models(plan: Plan, executor: Executor) -> Searched:
    """Tune every model of the plan by cross-validation, within the time budget if there is one."""
    if executor.budget is not None:
        executor.budget.reserve_for_afterwards(_combining_seconds(plan))
    plan = apply_row_caps(plan, executor)
    has_budget = executor.budget is not None
    # More rows help more than other hyperparameters.
    first_alone = has_budget and bool(plan.caps)
    searches = [
        ModelSearch(plan, model, first_in_full=has_budget, first_alone=first_alone and model.bag)
        for model in plan.models
    ]
    n_rounds = run_searches(plan, [t for t in searches if not is_deferred(plan, t.model)], executor)
    if has_budget:
        plan, searches, n_rounds = reallocate_budget(plan, searches, executor, n_rounds)
    return Searched(plan, searches, n_rounds)


def test_models(searched: Searched, executor: Executor) -> RunResult:
    """Refit the chosen candidate of each model to all training rows, and test it once.

    The tested models and their out-of-fold predictions are written to the study's folder.
    """
    plan, searches = searched.plan, searched.searches
    chosen = [(t.model, *_choose(plan, t.list_candidates(executor.ledger))) for t in searches]
    tests = {
        model.key: _test_job(plan, model, candidates[best].params, executor)
        for model, candidates, best in chosen
        if best is not None
    }
    best_of = [(m, candidates[best].params) for m, candidates, best in chosen if best is not None]
    whole = fit_whole_table(plan, best_of, executor)
    plan, tests = whole.plan, {**tests, **whole.tests}
    _save_predictions(plan, chosen, tests, executor)
    _run_tests(plan, chosen, tests, executor)
    skipped = tuple(
        SkippedModel(t.model.key, t.model.name, t.n_left_out, whole=not candidates)
        for t, (_, candidates, _) in zip(searches, chosen, strict=True)
        if t.n_left_out
    )
    outcomes = [
        Outcome(
            model, candidates, best, None if best is None else executor.result(tests[model.key])
        )
        for model, candidates, best in chosen
        if candidates
    ]
    return RunResult(plan, outcomes, searched.n_rounds, skipped, whole.reasons)


def combination_methods(plan: Plan) -> tuple[Method, ...]:
    """Return every study's methods, and the textbook's rules if all models are requested."""
    return (*METHODS, *TEXTBOOK) if ALL in plan.wanted else METHODS


def _combining_seconds(plan: Plan) -> Iterator[float]:
    """Yield the estimated seconds of each method that combines the models."""
    n_members = sum(model.learns for model in plan.models)
    if not can_combine(plan) or n_members < FEWEST or plan.settings.cv.kind == "bootstrap":
        return
    sizes = n_members, len(plan.split.train), len(plan.target.labels)
    for method in combination_methods(plan):
        if method.suits(*sizes):
            yield count_fits(plan.n_folds) * method.seconds(*sizes)


def can_combine(plan: Plan) -> bool:
    """Return whether predictions of models can be combined: those of classes and quantities."""
    return plan.target.second is None


def _test_job(plan: Plan, model: Model, params: dict[str, Any], executor: Executor) -> Job:
    return replace(executor.scored_job(plan.test_job(model, params)), keep=executor.model_folder)


def _save_predictions(
    plan: Plan, chosen: Sequence[Chosen], tests: dict[str, Job], executor: Executor
) -> None:
    """Remove predictions and models of all but the chosen candidates, and recompute missing ones.

    Files of a candidate that lost at first may have been removed before it won.
    """
    folds = [
        executor.scored_job(job)
        for model, candidates, best in chosen
        if best is not None
        for job in plan.trial_jobs(model, Trial(candidates[best].params))
    ]
    kept = [
        job.predictions_file
        for job in (*folds, *tests.values())
        if job.predictions_file is not None
    ]
    remove_predictions(executor.folder / PREDICTIONS_DIR, kept)
    for model in (model for model, _, best in chosen if model.bag and best is not None):
        names = {job.kept_as for job in folds if job.model == model.key}
        remove_models(executor.folder / MODELS, make_fold_pattern(model.key), names)
    missing = (job for job in folds if not executor.has_predictions(job))
    executor.run_folds(missing)


def _run_tests(
    plan: Plan,
    chosen: Sequence[Chosen],
    tests: dict[str, Job],
    executor: Executor,
) -> None:
    """Refit and test the chosen candidates; with a time budget, the best first."""
    missing = {
        key: _average_folds(plan, job, executor) if job.bag else job
        for key, job in tests.items()
        if not executor.has_predictions(job)
    }
    if executor.budget is None:
        executor.run(missing.values())
        executor.pool.send_ahead(_list_curve_jobs(plan, chosen, executor))
        return
    outcomes = [Outcome(m, c, best, {"error": None}) for m, c, best in chosen if m.key in missing]
    executor.run(
        [missing[o.model.key] for o in ranked(plan, outcomes)], executor.budget.has_time_for_last
    )


def _list_curve_jobs(plan: Plan, chosen: Sequence[Chosen], executor: Executor) -> list[Job]:
    """Return the missing jobs of the learning curve, of the model that scores best so far.

    Processes run them while this one combines the models.
    """
    outcomes = [Outcome(m, c, best, {"error": None}) for m, c, best in chosen]
    first = next(iter(ranked(plan, outcomes)), None)
    if first is None or first.best is None or not first.model.learns:
        return []
    jobs = list_curve_jobs(plan, first.model, first.params)
    return [job for job in jobs if not executor.is_done(job)]


def _average_folds(plan: Plan, test: Job, executor: Executor) -> Job:
    """Return the test job of a bag: it averages the saved models of the folds, without a refit."""
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
        style="none",  # other models share the rows that are prepared in the job's own style
        fitted_s=sum(result["timing"]["fit_s"] for result in done.values()),
    )


def ranked(plan: Plan, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Sort outcomes by cross-validated mean, best first, failures last; ties by the catalogue."""
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
    """Try calibration methods on the best model, unless it is a regressor or the baseline.

    The best model must not be a combination: see `calibrate_combined` for those.

    Returns
    -------
    outcome, results : Outcome, list of dict
        The model, and the results by fold, the test's last; no results if the time budget does not
        allow them.
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
        if seconds > CALIBRATION_SHARE * executor.budget.left:
            return outcome, []
    executor.run(missing)
    results = [result for job in jobs if (result := executor.result(job)) is not None]
    return outcome, results if len(results) == len(jobs) else []


def _choose(
    plan: Plan, candidates: tuple[CandidateResult, ...]
) -> tuple[tuple[CandidateResult, ...], int | None]:
    """Return the candidates and the index of the best mean; the first, simplest, wins ties."""
    sign = 1.0 if plan.metric.greater_is_better else -1.0
    means = []
    for candidate in candidates:
        mean = candidate.mean(plan.metric.key) if candidate.status == "ok" else None
        means.append(-np.inf if mean is None else sign * mean)
    best = int(np.argmax(means)) if means else 0
    return candidates, best if means and np.isfinite(means[best]) else None
