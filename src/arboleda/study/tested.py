"""What each model said of the test rows, for what is told of it beside its metrics."""

from collections.abc import Callable
from pathlib import Path

from arboleda.study.answers import ANSWERS, Said, answers_path, read_answers
from arboleda.study.plan import Plan
from arboleda.study.runner import Outcome

__all__ = ["Answers", "answers_of"]

Answers = Callable[[Outcome], Said | None]


def answers_of(plan: Plan, folder: Path) -> Answers:
    """A function that reads what a model's chosen candidate said of the test rows.

    It gives None if the model failed, or its answers are not in the study's ``folder``.
    """

    def read(outcome: Outcome) -> Said | None:
        if outcome.best is None or outcome.error is not None:
            return None
        params = outcome.candidates[outcome.best].params
        job = plan.test_job(outcome.model, params)
        path = answers_path(folder / ANSWERS, job.model, params, job.entry)
        return read_answers(path, len(plan.split.test), len(plan.target.labels))

    return read
