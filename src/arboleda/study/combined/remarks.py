"""What the reader of a combined model should know of its members, and of those left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from arboleda.study.execution.prediction_store import PREDICTIONS_DIR, load_predictions, predictions_path
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
    """Sentences on models that are no members, and on members by their keys."""

    left_out: tuple[str, ...]
    members: Mapping[str, str]

    def on(self, keys: Sequence[str], *, in_time: bool) -> list[str]:
        """Those on a combination of these members."""
        found = [*self.left_out, *(self.members[key] for key in keys if key in self.members)]
        return [*found, _FIRST] if in_time else found


def is_kept(outcome: Outcome) -> bool:
    """Whether the fitted model is in the study's folder."""
    return outcome.test is not None and outcome.test["kept"]["error"] is None


def remarks_on(
    plan: Plan, outcomes: Sequence[Outcome], members: Sequence[Outcome], folder: Path
) -> Remarks:
    """Look at what the models said of the test rows.

    Parameters
    ----------
    plan : Plan
    outcomes : sequence of Outcome
        All models.
    members : sequence of Outcome
        Those that take part in combinations.
    folder : Path
        The study's folder.
    """
    keys = {o.model.key for o in members}
    others = [o for o in outcomes if o.model.learns and not o.error and o.model.key not in keys]
    left_out = [
        f"{o.model.name} is no member: "
        + (
            "it does not say a finite number of every row."
            if is_kept(o)
            else "its fitted model was not kept."
        )
        for o in others
    ]
    said = {o.model.key: _how_it_says(plan, o, folder) for o in members if plan.target.labels}
    return Remarks(tuple(left_out), {key: text for key, text in said.items() if text})


def _how_it_says(plan: Plan, outcome: Outcome, folder: Path) -> str | None:
    """How probabilities are made of what a model says; None if it says some."""
    job = plan.test_job(outcome.model, outcome.params)
    path = predictions_path(folder / PREDICTIONS_DIR, job.model, job.params, job.entry)
    found = load_predictions(path, len(job.score_rows), len(plan.target.labels))
    if found is None or (found.score is not None and are_probabilities(found.score)):
        return None
    name = outcome.model.name
    if found.score is None:
        return f"{name} says classes alone, which count as probabilities of 0 and 1."
    return f"{name} says no probabilities: the logistic function makes some of its decision values."
