"""Remarks for the reader of a combined model on its members and on the models left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arboleda.reports.fact_messages import write_message
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    load_predictions,
    predictions_path,
)
from arboleda.study.plan import Plan
from arboleda.study.results.probabilities import are_probabilities
from arboleda.study.runner import Outcome

__all__ = ["Remarks", "is_kept", "remarks_on"]

_FIRST = (
    "Before the first window of time nothing is known of the members: there their plain mean is "
    "judged."
)


@dataclass(frozen=True)
class Remarks:
    """Sentences on models that are not members, and on members by their keys."""

    left_out: tuple[str, ...]
    members: Mapping[str, str]

    def on(self, keys: Sequence[str], *, in_time: bool) -> list[str]:
        """Return the remarks on a combination of these members."""
        found = [*self.left_out, *(self.members[key] for key in keys if key in self.members)]
        return [*found, _FIRST] if in_time else found


def is_kept(outcome: Outcome) -> bool:
    """Whether the fitted model is in the study's folder."""
    return outcome.test is not None and outcome.test["kept"]["error"] is None


def remarks_on(
    plan: Plan, outcomes: Sequence[Outcome], members: Sequence[Outcome], folder: Path
) -> Remarks:
    """Return remarks on the models' predictions for the test rows.

    Parameters
    ----------
    plan : Plan
    outcomes : sequence of Outcome
        All models.
    members : sequence of Outcome
        The members of combinations.
    folder : Path
        The study's folder.
    """
    keys = {o.model.key for o in members}
    others = [o for o in outcomes if o.model.learns and not o.error and o.model.key not in keys]
    left_out = [
        write_message("not_finite" if is_kept(o) else "not_kept", what=o.model.name) for o in others
    ]
    described = {
        o.model.key: _describe_outputs(plan, o, folder) for o in members if plan.target.labels
    }
    return Remarks(tuple(left_out), {key: text for key, text in described.items() if text})


def _describe_outputs(plan: Plan, outcome: Outcome, folder: Path) -> str | None:
    """Describe how a model's outputs become probabilities; None if it predicts these."""
    job = plan.test_job(outcome.model, outcome.params)
    path = predictions_path(folder / PREDICTIONS_DIR, job.model, job.params, job.entry)
    predictions = load_predictions(path, len(job.score_rows), len(plan.target.labels))
    if predictions is None:
        return None
    if predictions.score is not None and are_probabilities(predictions.score):
        return None
    name = outcome.model.name
    if predictions.score is None:
        return write_message("classes", what=name)
    return write_message("decisions", what=name)
