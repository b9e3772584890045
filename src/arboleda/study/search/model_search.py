"""The search of one model: what was proposed, how it scored, and what is proposed next."""

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
    """One model's search, played from its start with the scores that the ledger keeps.

    ``batch`` holds the trials to be done now, or None at the end. Where time is short
    (``first_in_full``) the first candidate goes before the search, on all folds: whatever there is
    no time for later, the model has a score. ``first_alone``: there is no search after it.
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
        # By the text of its parameters: the closest look at a candidate that was proposed, and the
        # closest that was taken.
        self._proposed: dict[str, Trial] = {}
        self._taken: dict[str, Trial] = {}

    def jobs(self, trial: Trial) -> list[Job]:
        """The pieces of work of one trial."""
        return self.plan.trial_jobs(self.model, trial)

    def advance(self, ledger: Ledger) -> bool:
        """Tell the search the scores of the batch, and take its next one; False if it has none.

        A trial that lacks results was left out for want of time. If all were, the batch stays: what
        other models take may show that there is time for it after all.
        """
        assert self.batch is not None
        scores: list[float | None] = []
        is_left_out = True
        for trial in self.batch.trials:
            candidate = self._candidate(trial, ledger)
            _keep_closest(self._proposed, trial)
            if candidate.results:
                _keep_closest(self._taken, trial)
            is_left_out &= not (candidate.is_whole or candidate.failed)
            scores.append(self._score(candidate))
        if is_left_out:
            return False
        try:
            self.batch = self._search.send(tuple(scores))
        except StopIteration:
            self.batch = None
        return True

    def candidates(self, ledger: Ledger) -> tuple[Candidate, ...]:
        """All that was looked at, in the order of its first proposal."""
        found = []
        for name, proposed in self._proposed.items():
            if name in self._taken:
                candidate = self._candidate(self._taken[name], ledger)
                is_whole = candidate.is_whole and self._taken[name].fidelity == proposed.fidelity
                found.append(replace(candidate, is_whole=is_whole))
        return tuple(found)

    @property
    def n_left_out(self) -> int:
        """Candidates that were to be looked at, or more closely, had there been time."""
        waiting = self.batch
        # After a look the same candidates come again; after others new ones.
        unseen = waiting is not None and all(trial.fidelity.is_full for trial in waiting.trials)
        return (waiting.to_come if waiting is not None and unseen else 0) + sum(
            name not in self._taken or self._taken[name].fidelity != proposed.fidelity
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
        found: list[dict[str, Any] | None] = [
            ledger.get(job.model, job.params, job.entry) for job in jobs
        ]
        results = tuple(result for result in found if result is not None)
        return Candidate(trial.params, results, trial.fidelity, is_whole=len(results) == len(jobs))


def _first(context: SearchContext, to_come: int) -> Search:
    """The first candidate of the grid."""
    yield Batch((Trial(context.grid[0]),), to_come)


def _after_first(strategy: SearchStrategy, context: SearchContext) -> Search:
    """A search after the first candidate of the grid."""
    yield from _first(context, strategy.n_tried(context) - 1)
    yield from strategy.begin(context)


def _keep_closest(trials: dict[str, Trial], trial: Trial) -> None:
    name = json.dumps(trial.params, sort_keys=True)
    if name not in trials or not trials[name].fidelity.is_full:
        trials[name] = trial
