"""Search for the best candidate of each model, in rounds.

Jobs missing from the ledger are run and stored; all results are read from the ledger. A search is a
function of the scores it receives, so a resumed study replays its rounds from the start instantly.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from arboleda.catalogue import Model
from arboleda.scoring.scores import estimate_plus_632
from arboleda.study.execution.executor import Budget, Executor
from arboleda.study.execution.job import Job
from arboleda.study.execution.ledger import Ledger
from arboleda.study.plan import Plan
from arboleda.study.search.strategies import (
    FULL,
    Batch,
    Fidelity,
    Search,
    SearchContext,
    SearchStrategy,
    Trial,
)

__all__ = ["CandidateResult", "ModelSearch", "Outcome", "run_searches"]

Status = Literal["ok", "failed", "stopped", "unfinished"]
NO_TIME = "Left out: no time was left"


@dataclass(frozen=True)
class CandidateResult:
    """One configuration of a model with its results by fold, in the folds' order.

    ``fidelity`` is the highest fidelity that was evaluated, and ``is_whole`` whether all its folds
    are done. For bootstrap bags the last result is that of the training rows themselves.
    """

    params: dict[str, Any]
    results: tuple[dict[str, Any], ...]
    fidelity: Fidelity = FULL
    is_whole: bool = True

    @property
    def status(self) -> Status:
        """The status of the candidate; only an "ok" candidate can be chosen.

        "stopped": others scored better at low fidelity; "unfinished": no time was left.
        """
        if self.failed:
            return "failed"
        if not self.is_whole:
            return "unfinished"
        return "ok" if self.fidelity.is_full else "stopped"

    @property
    def failed(self) -> str | None:
        """The first error of a fold, if any."""
        return next((r["error"] for r in self.results if r["error"]), None)

    def scores(self, metric: str) -> list[float | None]:
        """Return the metric on every fold, or on the out-of-bag rows of each bag."""
        return [r["scores"][metric] for r in self.results if "chance" not in r]

    def mean(self, metric: str) -> float | None:
        """Return the cross-validated metric that compares candidates; None if a fold lacks it.

        It is the mean over the folds, or the .632+ estimate of bootstrap bags.
        """
        scores = [r["scores"][metric] for r in self.results]
        if not scores or any(score is None for score in scores):
            return None
        *bags, last = self.results
        if "chance" not in last:
            return float(np.mean(scores))
        chance = last["chance"][metric]
        weights = [bag["n_scored"] for bag in bags]
        if chance is None:
            return None
        return estimate_plus_632(last["losses"][metric], scores[:-1], weights, scores[-1], chance)


@dataclass(frozen=True)
class Outcome:
    """One model's candidates, the chosen one and its test result.

    ``ensemble`` describes how a combined model is composed; such a model has no estimator that
    could be refitted.
    """

    model: Model
    candidates: tuple[CandidateResult, ...]
    best: int | None
    test: dict[str, Any] | None
    ensemble: dict[str, Any] | None = None

    @property
    def params(self) -> dict[str, Any]:
        """Parameters of the chosen candidate; empty for a model that failed."""
        return {} if self.best is None else self.candidates[self.best].params

    @property
    def status(self) -> Literal["ok", "failed", "no_time"]:
        """Whether the model has scores, failed, or had no time for them."""
        if self.error is None:
            return "ok"
        has_failed = any(c.failed for c in self.candidates) if self.best is None else self.test
        return "failed" if has_failed else "no_time"

    @property
    def error(self) -> str | None:
        """The reason why the model has no scores, or None if it has."""
        if self.best is None:
            failed = (c.failed for c in self.candidates if c.failed)
            return next(failed, f"{NO_TIME} to score a candidate on all folds")
        return f"{NO_TIME} for its test" if self.test is None else self.test["error"]


class ModelSearch:
    """One model's search, replayed from its start with the scores in the ledger.

    ``batch`` holds the trials to run now, or None at the end. With ``first_in_full`` (a time
    budget) the first candidate is tried on all folds before the search, so the model has a score
    even if no time is left later. With ``first_alone`` no search follows it.
    """

    def __init__(
        self, plan: Plan, model: Model, *, first_in_full: bool = False, first_alone: bool = False
    ) -> None:
        self.plan = plan
        self.model = model
        strategy, context = plan.search(model), plan.search_context(model)
        if first_alone:
            self._search = _propose_first(context, 0)
        elif first_in_full:
            self._search = _search_after_first(strategy, context)
        else:
            self._search = strategy.begin(context)
        self.batch: Batch | None = next(self._search)
        # By JSON of the parameters: each candidate's proposed trial of the highest fidelity, and
        # its evaluated one.
        self._proposed: dict[str, Trial] = {}
        self._evaluated: dict[str, Trial] = {}

    def make_jobs(self, trial: Trial) -> list[Job]:
        """Return the jobs of one trial."""
        return self.plan.trial_jobs(self.model, trial)

    def advance(self, ledger: Ledger) -> bool:
        """Send the batch's scores and get the next batch; False if all scores are missing.

        A trial without results was skipped for lack of time. If all were, the batch stays: the
        times of other models may show that there is time for it after all.
        """
        assert self.batch is not None
        scores: list[float | None] = []
        all_skipped = True
        for trial in self.batch.trials:
            candidate = self._get_result(trial, ledger)
            _keep_highest_fidelity(self._proposed, trial)
            if candidate.results:
                _keep_highest_fidelity(self._evaluated, trial)
            all_skipped &= not (candidate.is_whole or candidate.failed)
            scores.append(self._compute_score(candidate))
        if all_skipped:
            return False
        try:
            self.batch = self._search.send(tuple(scores))
        except StopIteration:
            self.batch = None
        return True

    def list_candidates(self, ledger: Ledger) -> tuple[CandidateResult, ...]:
        """Return all evaluated candidates, in the order of their first proposal."""
        found = []
        for name, proposed in self._proposed.items():
            if name in self._evaluated:
                candidate = self._get_result(self._evaluated[name], ledger)
                is_whole = (
                    candidate.is_whole and self._evaluated[name].fidelity == proposed.fidelity
                )
                found.append(replace(candidate, is_whole=is_whole))
        return tuple(found)

    @property
    def n_left_out(self) -> int:
        """Number of candidates skipped, or not tried at full fidelity, for lack of time."""
        waiting = self.batch
        # After low-fidelity trials the same candidates follow; after others, new ones.
        has_new = waiting is not None and all(trial.fidelity.is_full for trial in waiting.trials)
        return (waiting.to_come if waiting is not None and has_new else 0) + sum(
            name not in self._evaluated or self._evaluated[name].fidelity != proposed.fidelity
            for name, proposed in self._proposed.items()
        )

    def _compute_score(self, candidate: CandidateResult) -> float | None:
        if candidate.failed or not candidate.is_whole:
            return None
        mean = candidate.mean(self.plan.metric.key)
        sign = 1.0 if self.plan.metric.greater_is_better else -1.0
        return None if mean is None else sign * mean

    def _get_result(self, trial: Trial, ledger: Ledger) -> CandidateResult:
        jobs = self.make_jobs(trial)
        stored: list[dict[str, Any] | None] = [
            ledger.get(job.model, job.params, job.entry) for job in jobs
        ]
        results = tuple(result for result in stored if result is not None)
        return CandidateResult(
            trial.params, results, trial.fidelity, is_whole=len(results) == len(jobs)
        )


def _propose_first(context: SearchContext, to_come: int) -> Search:
    """Yield the first candidate of the grid."""
    yield Batch((Trial(context.grid[0]),), to_come)


def _search_after_first(strategy: SearchStrategy, context: SearchContext) -> Search:
    """Yield the first candidate of the grid, then the batches of a search."""
    yield from _propose_first(context, strategy.count_trials(context) - 1)
    yield from strategy.begin(context)


def _keep_highest_fidelity(trials: dict[str, Trial], trial: Trial) -> None:
    name = json.dumps(trial.params, sort_keys=True)
    if name not in trials or not trials[name].fidelity.is_full:
        trials[name] = trial


def run_searches(
    plan: Plan, searches: Sequence[ModelSearch], executor: Executor, *, has_begun: bool = False
) -> int:
    """Run rounds until the searches end or no proposed trial fits in the time; return their number.

    Parameters
    ----------
    plan : Plan
    searches : sequence of ModelSearch
        They are advanced to their ends.
    executor : Executor
    has_begun : bool, default=False
        Whether there were rounds before these.
    """
    n_rounds = 0
    while active := [model_search for model_search in searches if model_search.batch is not None]:
        _release_tests(active, executor)
        trials = [(t, trial) for t in active if t.batch is not None for trial in t.batch.trials]
        jobs = [
            job if job.is_low_fidelity else executor.scored_job(job)
            for job in _make_round(trials, executor)
        ]
        # Files of rejected candidates are removed; those of the chosen one are restored later.
        missing = [job for job in jobs if not executor.is_scored(job)]
        to_come = plan.n_folds * sum(t.batch.to_come for t in active if t.batch is not None)
        if n_rounds or has_begun:
            executor.watcher.begin_round(missing, to_come)
        else:
            executor.watcher.begin(plan, missing, len(jobs) - len(missing), to_come)
        executor.record_stored(job for job in jobs if executor.is_scored(job))
        executor.run_folds(missing)
        n_rounds += 1
        advanced = [model_search.advance(executor.ledger) for model_search in active]
        if not any(advanced):
            break
    return n_rounds


def _release_tests(searches: Sequence[ModelSearch], executor: Executor) -> None:
    """Release the time reserved for tests of models without a complete candidate."""
    if executor.budget is None:
        return
    for model_search in searches:
        if not any(found.is_whole for found in model_search.list_candidates(executor.ledger)):
            executor.budget.release(model_search.model.key)


def _make_round(trials: Sequence[tuple[ModelSearch, Trial]], executor: Executor) -> list[Job]:
    """Return the jobs of a round.

    One job of each model comes first, for early results and estimates of the time left; then model
    by model. With a time budget, the first trial of each model comes first, cheap ones before
    expensive ones, then the second trials; trials that do not fit in the time are skipped.
    """
    if executor.budget is None:
        jobs = [job for model_search, trial in trials for job in model_search.make_jobs(trial)]
        per_model = {job.model: job for job in reversed(jobs)}
        first = {id(job) for job in per_model.values()}
        return sorted(jobs, key=lambda job: id(job) not in first)
    budget, kept, reserved = executor.budget, [], 0.0
    for model_search, trial, jobs in _sort_by_rank(trials, budget):
        missing = [job for job in jobs if not executor.is_scored(job)]
        seconds = sum(budget.estimate(job) for job in missing) / budget.processes
        test = model_search.plan.test_job(model_search.model, trial.params)
        if not missing or reserved + seconds <= budget.compute_room(test):
            reserved += seconds
            budget.reserve_for_test(test)
            kept += jobs
    return kept


def _sort_by_rank(
    trials: Sequence[tuple[ModelSearch, Trial]], budget: Budget
) -> Iterable[tuple[ModelSearch, Trial, list[Job]]]:
    """Sort trials with their jobs: the first of each model by seconds, then the second ones, ..."""
    seen: Counter[str] = Counter()
    ranks = []
    for model_search, trial in trials:
        jobs = model_search.make_jobs(trial)
        rank = (seen[model_search.model.key], sum(map(budget.estimate, jobs)))
        ranks.append((rank, model_search, trial, jobs))
        seen[model_search.model.key] += 1
    return [item[1:] for item in sorted(ranks, key=lambda item: item[0])]
