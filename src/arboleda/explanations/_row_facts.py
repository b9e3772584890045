"""The facts of one row: what the model says of it, how sure, why, and what is near it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from arboleda.explanations._changes import describe_change
from arboleda.explanations._frame_facts import frame_facts
from arboleda.explanations._nearness import make_nearness
from arboleda.explanations._prediction import describe_prediction
from arboleda.explanations._pushes import describe_pushes
from arboleda.explanations._sureness import describe_range
from arboleda.explanations._values import describe_values
from arboleda.study.data.describe import histogram
from arboleda.study.execution.step_progress import Progress
from arboleda.study.results.explained_model import ExplainedModel, Floats

__all__ = ["Asked", "row_facts"]

CHANGED = 4
BINS = 30


@dataclass(frozen=True)
class Asked:
    """The row that is asked about.

    ``number`` counts the data rows of the study's table from 0; ``part`` tells whether the model
    learned from it, and ``truth`` is the code or value of its target.
    """

    number: int
    n_rows: int
    part: Literal["train", "test"]
    x: Floats
    truth: float


def row_facts(subject: ExplainedModel, asked: Asked, progress: Progress) -> dict[str, Any]:
    """Everything the page of a row needs. The same study, row and seed give the same facts."""
    own = asked.number
    with progress.step("Asking the model about the row"):
        values = describe_values(subject, asked.x)
        prediction = describe_prediction(subject, asked.x, own)
        promised = describe_range(subject, asked.x, own)
    with progress.step("Finding what pushes the prediction"):
        pushes = describe_pushes(subject, asked.x)
        changes = [describe_change(subject, asked.x, j) for j in _telling(subject, pushes)]
    with progress.step("Looking for rows like it"):
        nearness = make_nearness(subject)
        neighbours = nearness.facts(asked.x, own)
        near_test_rows = nearness.test_rows(asked.x) if asked.part == "train" else []
    return {
        **frame_facts(subject, "row"),
        "row": {
            "number": asked.number + 1,
            "n_rows": asked.n_rows,
            "part": asked.part,
            "truth": subject.prediction_text(asked.truth),
            "near_test_rows": near_test_rows,
        },
        "prediction": prediction,
        "range": promised,
        "targets": None if subject.classes else histogram(subject.train.y, BINS),
        "values": values,
        "pushes": pushes,
        "changes": changes,
        "neighbours": neighbours,
    }


def _telling(subject: ExplainedModel, pushes: Mapping[str, Any]) -> list[int]:
    """The columns that push most."""
    names = dict.fromkeys(column["name"] for column in pushes["columns"])
    return [subject.names.index(name) for name in names][:CHANGED]
