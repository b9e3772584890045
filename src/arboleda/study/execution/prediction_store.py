"""What models said of rows that they did not learn from, one file for each piece of work.

A combination of models is learned from these files alone: no model is fitted again for it. A file
is a plain array (``.npy``, read without running code) with a line for each row that the piece of
work scored, in their order: the predicted class's number, or the value, then the scores of all
classes if the model has any.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from arboleda._files import drop_file, write_atomically
from arboleda.combine import MemberOutputs
from arboleda.study.results.probabilities import are_probabilities

__all__ = [
    "PREDICTIONS_DIR",
    "PredictionRequest",
    "Predictions",
    "load_predictions",
    "outputs_of_rows",
    "params_hash",
    "predictions_path",
    "remove_predictions",
    "save_predictions",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
# The folder within the study's folder.
PREDICTIONS_DIR = "answers"


def predictions_path(folder: Path, model: str, params: Mapping[str, Any], fold: str) -> Path:
    """The file of one piece of work; its name holds a hash of the parameters."""
    return folder / f"{model}-{params_hash(params)}-{fold}.npy"


def params_hash(params: Mapping[str, Any]) -> str:
    """Sixteen hexadecimal digits that tell a candidate's files from those of others."""
    text = json.dumps(params, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a fitted model says of rows.

    ``predicted`` holds numbers of classes, or values; ``score`` is None, or of shape (n_rows,
    n_classes) as `arboleda.study.results.scoring.class_scores` returns it: probabilities, or
    decision values.
    """

    predicted: npt.NDArray[Any]
    score: Floats | None

    def probabilities(self, n_classes: int) -> Floats:
        """Probabilities of all classes, whatever the classifier.

        They are the model's own, or its decision values through the logistic function (of several
        classes: their exponentials, divided by the sum), or 1 for the class that it predicts.
        """
        if self.score is None:
            return np.asarray(self.predicted[:, None] == np.arange(n_classes), dtype=np.float64)
        if are_probabilities(self.score):
            return self.score
        known = np.flatnonzero(~np.isneginf(self.score).all(axis=0))
        if len(known) > 2:
            return np.asarray(softmax(self.score, axis=1))
        second = expit(self.score[:, known[-1]])
        full = np.zeros((len(second), n_classes))
        full[:, known[0]], full[:, known[-1]] = 1.0 - second, second
        return full


def save_predictions(path: Path, said: Predictions) -> str | None:
    """Write a file whole or not at all; returns why it could not be written, or None."""
    blocks = [said.predicted] if said.score is None else [said.predicted, said.score]
    content = io.BytesIO()
    columns = np.ascontiguousarray(np.column_stack(blocks), dtype=np.float64)
    np.lib.format.write_array(content, columns, (1, 0), allow_pickle=False)
    try:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, content.getvalue())
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror or error}"
    return None


def load_predictions(path: Path, n_rows: int, n_classes: int) -> Predictions | None:
    """What a model said of so many rows, or None if the file does not tell.

    Parameters
    ----------
    path : Path
    n_rows : int
    n_classes : int
        0 in a regression.
    """
    try:
        columns = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    widths = {1, 1 + n_classes}
    if columns.dtype != np.float64 or columns.ndim != 2 or len(columns) != n_rows:
        return None
    if columns.shape[1] not in widths:
        return None
    score = columns[:, 1:] if columns.shape[1] > 1 else None
    predicted = columns[:, 0]
    return Predictions(predicted.astype(np.int64) if n_classes else predicted, score)


def remove_predictions(folder: Path, kept: Iterable[Path]) -> None:
    """Remove the files of pieces of work that no longer matter, and drafts of a killed study."""
    names = {path.name for path in kept}
    for path in [*folder.glob("*.npy"), *folder.glob(".*.tmp")]:
        if path.name not in names:
            drop_file(path)


@dataclass(frozen=True)
class PredictionRequest:
    """One part of the rows, and a file of each member's answers for it."""

    rows: Rows
    paths: tuple[Path, ...]


def outputs_of_rows(
    names: Sequence[str],
    parts: Sequence[PredictionRequest],
    n_table_rows: int,
    classes: Sequence[str] = (),
) -> MemberOutputs | None:
    """The matrix of members by rows (by classes) from the files.

    A row of several parts has the mean of what was said; one of none is left out.

    Parameters
    ----------
    names : sequence of str
        Of the members.
    parts : sequence of Asked
        As the folds of a cross-validation, or the test rows alone.
    n_table_rows : int
    classes : sequence of str, default=()
        Labels; none in a regression.

    Returns
    -------
    outputs : MemberOutputs or None
        None if a file is missing or is not what it should be. ``rows`` are the table's.
    """
    times = np.zeros(n_table_rows)
    for part in parts:
        times[part.rows] += 1.0
    rows = np.flatnonzero(times)
    shape = (len(rows), len(classes)) if classes else (len(rows),)
    outputs = np.zeros((len(names), *shape))
    for part in parts:
        places = np.searchsorted(rows, part.rows)
        for number, path in enumerate(part.paths):
            said = load_predictions(path, len(part.rows), len(classes))
            if said is None:
                return None
            outputs[number, places] += (
                said.probabilities(len(classes)) if classes else said.predicted
            )
    if times[rows].max(initial=1.0) > 1.0:
        outputs /= times[rows].reshape(-1, *(1,) * (len(shape) - 1))
    labels = np.asarray(classes, dtype=object) if classes else None
    return MemberOutputs(list(names), outputs, labels, rows, n_table_rows)
