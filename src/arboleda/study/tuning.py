"""The search of one model: what was proposed, how it scored, and what is proposed next."""

import json
import zlib
from dataclasses import dataclass
from typing import Any

from arboleda.study.candidates import Candidate
from arboleda.study.catalogue import Model
from arboleda.study.ledger import Ledger
from arboleda.study.plan import Plan
from arboleda.study.search import Batch, Question, Trial
from arboleda.study.work import Job

__all__ = ["Tuning"]


@dataclass
class _Tried:
    """A candidate at the closest stage at which it was tried; ``left_out`` for want of time."""

    trial: Trial
    left_out: bool = False


class Tuning:
    """One model's search, played from its start with the scores that the ledger keeps.

    ``batch`` holds the trials to be done now, or None at the end.
    """

    def __init__(self, plan: Plan, model: Model) -> None:
        self.plan = plan
        self.model = model
        entry = plan.preset.entry(model.key)
        space = entry.space or model.space
        question = Question(
            grid=tuple(plan.candidates(model)),
            space=space(plan.setting) if space is not None else None,
            rows=plan.fold_rows(model),
            # Models of one study draw differently.
            seed=zlib.crc32(f"{plan.seed} {model.key}".encode()),
        )
        self._search = entry.search.begin(question)
        self.batch: Batch | None = next(self._search)
        self._tried: dict[str, _Tried] = {}

    def jobs(self, trial: Trial) -> list[Job]:
        """The pieces of work of one trial."""
        return self.plan.trial_jobs(self.model, trial)

    def leave_out(self, trial: Trial) -> None:
        """Pass over a trial of the batch, for want of time."""
        self._note(trial).left_out = True

    def go_on(self, ledger: Ledger) -> None:
        """Tell the search the scores of the batch, and take its next one."""
        assert self.batch is not None
        done = [self._note(trial) for trial in self.batch.trials]
        for tried in done:
            # The time was over before its turn came.
            tried.left_out |= not self._candidate(tried.trial, ledger).results
        if all(tried.left_out for tried in done):
            self.batch = None
            return
        scores = tuple(
            None if tried.left_out else self._score(trial, ledger)
            for tried, trial in zip(done, self.batch.trials, strict=True)
        )
        try:
            self.batch = self._search.send(scores)
        except StopIteration:
            self.batch = None

    def candidates(self, ledger: Ledger) -> tuple[Candidate, ...]:
        """All that was proposed, in the order of its first proposal."""
        return tuple(
            self._candidate(tried.trial, ledger)
            for tried in self._tried.values()
            if not tried.left_out
        )

    @property
    def n_left_out(self) -> int:
        """Candidates that were proposed and not tried, for want of time."""
        return sum(tried.left_out for tried in self._tried.values())

    def _note(self, trial: Trial) -> _Tried:
        name = json.dumps(trial.params, sort_keys=True)
        tried = self._tried.setdefault(name, _Tried(trial))
        tried.trial = trial
        return tried

    def _score(self, trial: Trial, ledger: Ledger) -> float | None:
        candidate = self._candidate(trial, ledger)
        if candidate.failed or len(candidate.results) < len(self.jobs(trial)):
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
        return Candidate(trial.params, results, trial.stage, is_whole=len(results) == len(jobs))
