"""The search of one model: its proposed trials, their scores, and the next batch."""

import json
from dataclasses import replace
from typing import Any

from arboleda.study.catalogue import Model
from arboleda.study.execution.job import Job
from arboleda.study.execution.ledger import Ledger
from arboleda.study.plan import Plan
from arboleda.study.search import Batch, Search, SearchContext, SearchStrategy, Trial
from arboleda.study.search.candidates import Candidate

__all__ = ["ModelSearch"]


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
            self._search = _first(context, 0)
        elif first_in_full:
            self._search = _after_first(strategy, context)
        else:
            self._search = strategy.begin(context)
        self.batch: Batch | None = next(self._search)
        # By JSON of the parameters: each candidate's proposed trial of the highest fidelity, and
        # its evaluated one.
        self._proposed: dict[str, Trial] = {}
        self._evaluated: dict[str, Trial] = {}

    def jobs(self, trial: Trial) -> list[Job]:
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
            candidate = self._candidate(trial, ledger)
            _keep_highest_fidelity(self._proposed, trial)
            if candidate.results:
                _keep_highest_fidelity(self._evaluated, trial)
            all_skipped &= not (candidate.is_whole or candidate.failed)
            scores.append(self._score(candidate))
        if all_skipped:
            return False
        try:
            self.batch = self._search.send(tuple(scores))
        except StopIteration:
            self.batch = None
        return True

    def candidates(self, ledger: Ledger) -> tuple[Candidate, ...]:
        """Return all evaluated candidates, in the order of their first proposal."""
        found = []
        for name, proposed in self._proposed.items():
            if name in self._evaluated:
                candidate = self._candidate(self._evaluated[name], ledger)
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

    def _score(self, candidate: Candidate) -> float | None:
        if candidate.failed or not candidate.is_whole:
            return None
        mean = candidate.mean(self.plan.metric.key)
        sign = 1.0 if self.plan.metric.greater_is_better else -1.0
        return None if mean is None else sign * mean

    def _candidate(self, trial: Trial, ledger: Ledger) -> Candidate:
        jobs = self.jobs(trial)
        stored: list[dict[str, Any] | None] = [
            ledger.get(job.model, job.params, job.entry) for job in jobs
        ]
        results = tuple(result for result in stored if result is not None)
        return Candidate(trial.params, results, trial.fidelity, is_whole=len(results) == len(jobs))


def _first(context: SearchContext, to_come: int) -> Search:
    """Yield the first candidate of the grid."""
    yield Batch((Trial(context.grid[0]),), to_come)


def _after_first(strategy: SearchStrategy, context: SearchContext) -> Search:
    """Yield the first candidate of the grid, then the batches of a search."""
    yield from _first(context, strategy.n_tried(context) - 1)
    yield from strategy.begin(context)


def _keep_highest_fidelity(trials: dict[str, Trial], trial: Trial) -> None:
    name = json.dumps(trial.params, sort_keys=True)
    if name not in trials or not trials[name].fidelity.is_full:
        trials[name] = trial
