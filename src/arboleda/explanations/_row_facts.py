"""The facts of one row: prediction, uncertainty, contributions and neighbours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from arboleda.explanations._changes import describe_change
from arboleda.explanations._contributions import describe_contributions
from arboleda.explanations._frame_facts import make_frame_facts
from arboleda.explanations._prediction import describe_prediction
from arboleda.explanations._proximity import make_proximity_forest
from arboleda.explanations._uncertainty import describe_range
from arboleda.explanations._values import describe_values
from arboleda.study.data.describe import histogram
from arboleda.study.execution.progress import Progress
from arboleda.study.results.explained_model import ExplainedModel, Floats

__all__ = ["ExplainedRow", "make_row_facts"]

CHANGED = 4
BINS = 30


@dataclass(frozen=True)
class ExplainedRow:
    """The row to explain.

    ``number`` is the index of the data row in the table, from 0; ``part`` is "train" if the model
    was fitted on the row, else "test"; ``truth`` is the code or value of its target.
    """

    number: int
    n_rows: int
    part: Literal["train", "test"]
    x: Floats
    truth: float


def make_row_facts(
    subject: ExplainedModel, row: ExplainedRow, progress: Progress
) -> dict[str, Any]:
    """Compute the facts of a row; the same study, row and seed give the same facts."""
    own = row.number
    with progress.step("Predicting the row"):
        values = describe_values(subject, row.x)
        prediction = describe_prediction(subject, row.x, own)
        prediction_range = describe_range(subject, row.x, own)
    with progress.step("Computing contributions of columns"):
        contributions = describe_contributions(subject, row.x)
        changes = [
            describe_change(subject, row.x, j)
            for j in _find_leading_columns(subject, contributions)
        ]
    with progress.step("Finding similar rows"):
        forest = make_proximity_forest(subject)
        neighbours = forest.facts(row.x, own)
        near_test_rows = forest.test_rows(row.x) if row.part == "train" else []
    return {
        **make_frame_facts(subject, "row"),
        "row": {
            "number": row.number + 1,
            "n_rows": row.n_rows,
            "part": row.part,
            "truth": subject.prediction_text(row.truth),
            "near_test_rows": near_test_rows,
        },
        "prediction": prediction,
        "range": prediction_range,
        "targets": None if subject.classes else histogram(subject.train.y, BINS),
        "values": values,
        "pushes": contributions,
        "changes": changes,
        "neighbours": neighbours,
    }


def _find_leading_columns(subject: ExplainedModel, contributions: Mapping[str, Any]) -> list[int]:
    """Return the columns with the largest contributions."""
    names = dict.fromkeys(column["name"] for column in contributions["columns"])
    return [subject.names.index(name) for name in names][:CHANGED]
