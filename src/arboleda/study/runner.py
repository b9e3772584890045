"""Running a plan: what the ledger lacks is done and stored, then everything is read from it."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from arboleda.study.answers import ANSWERS, answers_path, drop_answers, read_answers
from arboleda.study.catalogue import Model
from arboleda.study.folder.files import MODELS
from arboleda.study.folder.model_files import is_kept
from arboleda.study.ledger import Ledger
from arboleda.study.plan import Plan
from arboleda.study.pool import do_jobs
from arboleda.study.work import TEST, Job

__all__ = ["Candidate", "Outcome", "Watcher", "calibrate_best", "ranked", "run_plan"]


class Watcher(Protocol):
    """Who is told how a study goes on."""

    def begin(self, plan: Plan, jobs: list[Job], n_stored: int) -> None:
        """The study starts with these jobs to do; ``n_stored`` others are in the ledger."""

    def finished(self, job: Job, result: dict[str, Any]) -> None:
        """A job is done and stored."""


@dataclass(frozen=True)
class Candidate:
    """One setting of a model with its results by fold, in the folds' order."""

    params: dict[str, Any]
    results: tuple[dict[str, Any], ...]

    @property
    def failed(self) -> str | None:
        """The first error of a fold, if any."""
        return next((r["error"] for r in self.results if r["error"]), None)

    def scores(self, metric: str) -> list[float | None]:
        """The metric on every fold."""
        return [r["scores"][metric] for r in self.results]

    def mean(self, metric: str) -> float | None:
        """The cross-validated metric, by which candidates are compared; None if a fold lacks it."""
        scores = [s for s in self.scores(metric) if s is not None]
        return float(np.mean(scores)) if len(scores) == len(self.results) else None


@dataclass(frozen=True)
class Outcome:
    """All that is known of one model: its candidates, the chosen one and its test result."""

    model: Model
    candidates: tuple[Candidate, ...]
    best: int | None
    test: dict[str, Any] | None

    @property
    def error(self) -> str | None:
        """Why the model failed, or None if it did not."""
        if self.best is None:
            return self.candidates[0].failed
        return None if self.test is None else self.test["error"]


def run_plan(
    plan: Plan, ledger: Ledger, folder: Path, processes: int, watcher: Watcher
) -> list[Outcome]:
    """Do every job of the plan that is not in the ledger, in two rounds: folds, then tests.

    The models of the second round are written to the study's ``folder``, and what the chosen
    candidates said of the rows they were scored on.
    """
    jobs = [_answering(job, folder) for job in plan.fold_jobs()]
    missing = [job for job in jobs if _stored(ledger, job) is None]
    watcher.begin(plan, missing, len(jobs) - len(missing))
    _do(missing, plan, ledger, processes, watcher)
    found = [(model, *_choose(plan, ledger, model)) for model in plan.models]
    chosen = {m.key: (m, c[best].params) for m, c, best in found if best is not None}
    tests = [
        replace(_answering(plan.test_job(model, params), folder), keep=folder / MODELS)
        for model, params in chosen.values()
    ]
    again = [j for j in jobs if j.model in chosen and j.params == chosen[j.model][1]]
    drop_answers(folder / ANSWERS, [j.answers for j in (*again, *tests) if j.answers is not None])
    _do((j for j in again if not _answered(plan, ledger, j)), plan, ledger, processes, watcher)
    _do((j for j in tests if not _answered(plan, ledger, j)), plan, ledger, processes, watcher)
    return [
        Outcome(model, candidates, best, _test_result(ledger, model, candidates, best))
        for model, candidates, best in found
    ]


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
    plan: Plan, ledger: Ledger, outcomes: Sequence[Outcome], processes: int, watcher: Watcher
) -> tuple[Outcome, list[dict[str, Any]]] | None:
    """Try methods of calibration on the best model, unless it answers numbers or is the baseline.

    Returns
    -------
    outcome, results : Outcome, list of dict
        The model, and the results by fold, the test's last.
    """
    outcome = ranked(plan, outcomes)[0]
    learns = outcome.model.style != "none" or outcome.model.engine == "arboleda"
    if not plan.target.labels or outcome.error or outcome.best is None or not learns:
        return None
    jobs = plan.calibration_jobs(outcome.model, outcome.candidates[outcome.best].params)
    _do((j for j in jobs if _stored(ledger, j) is None), plan, ledger, processes, watcher)
    found = [ledger.get(job.model, job.params, job.fold) for job in jobs]
    return outcome, [result for result in found if result is not None]


def _stored(ledger: Ledger, job: Job) -> dict[str, Any] | None:
    """The job's result, unless memory was short then, or its model's files are not there."""
    result = ledger.get(job.model, job.params, job.fold)
    if result is None or (result["error"] or "").startswith("MemoryError"):
        return None
    if job.keep is None or result["error"] or is_kept(result.get("kept"), job.keep):
        return result
    return None


def _answering(job: Job, folder: Path) -> Job:
    """The job with the file for its answers."""
    return replace(job, answers=answers_path(folder / ANSWERS, job.model, job.params, job.fold))


def _answered(plan: Plan, ledger: Ledger, job: Job) -> bool:
    """Whether the job is done and its answers are there, or could not be written."""
    result = _stored(ledger, job)
    if result is None or job.answers is None:
        return result is not None
    if result["error"] or result.get("answers"):
        return True
    n_classes = len(plan.target.labels)
    return read_answers(job.answers, len(job.score_rows), n_classes) is not None


def _do(jobs: Iterable[Job], plan: Plan, ledger: Ledger, processes: int, watcher: Watcher) -> None:
    todo = list(jobs)
    # Closed at once when anything stops it, so that no worker goes on.
    with closing(do_jobs(todo, plan.shared, min(processes, max(len(todo), 1)))) as results:
        for job, result in results:
            ledger.put(job.model, job.params, job.fold, result)
            watcher.finished(job, result)


def _choose(plan: Plan, ledger: Ledger, model: Model) -> tuple[tuple[Candidate, ...], int | None]:
    """The candidates, and the index of the best mean; of equal ones the first, the simplest."""
    candidates = tuple(
        Candidate(params, tuple(_fold(ledger, model, params, k) for k in range(plan.n_folds)))
        for params in plan.candidates(model)
    )
    sign = 1.0 if plan.metric.greater_is_better else -1.0
    found = [None if c.failed else c.mean(plan.metric.key) for c in candidates]
    means = [-np.inf if mean is None else sign * mean for mean in found]
    best = int(np.argmax(means))
    return candidates, None if candidates[best].failed else best


def _fold(ledger: Ledger, model: Model, params: dict[str, Any], fold: int) -> dict[str, Any]:
    result = ledger.get(model.key, params, str(fold))
    if result is None:
        raise RuntimeError(f"fold {fold} of {model.key} with {params} was run but is not stored")
    return result


def _test_result(
    ledger: Ledger, model: Model, candidates: tuple[Candidate, ...], best: int | None
) -> dict[str, Any] | None:
    return None if best is None else ledger.get(model.key, candidates[best].params, TEST)
