"""Out-of-fold and test predictions of models, one file per job.

Combinations of models are fitted to these files alone, without refitting a model. A file is a plain
array (``.npy``, read without executing code) with one row per scored row of the job, in order: the
predicted class number or value, then the scores of all classes if the model has any.
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

from arboleda._utils.files import drop_file, write_atomically
from arboleda.combine import MemberOutputs
from arboleda.scoring.scores import Predictions

__all__ = [
    "PREDICTIONS_DIR",
    "PredictionRequest",
    "hash_params",
    "load_member_outputs",
    "load_predictions",
    "predictions_path",
    "remove_predictions",
    "save_predictions",
    "write_predictions",
]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
# The folder within the study's folder.
PREDICTIONS_DIR = "predictions"


def predictions_path(folder: Path, model: str, params: Mapping[str, Any], fold: str) -> Path:
    """Return the file of one job; its name contains a hash of the parameters."""
    return folder / f"{model}-{hash_params(params)}-{fold}.npy"


def hash_params(params: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits that identify a candidate's files."""
    text = json.dumps(params, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def save_predictions(path: Path, predictions: Predictions) -> str | None:
    """Write a file atomically; return the reason why it could not be written, or None."""
    blocks = [predictions.predicted]
    if predictions.score is not None:
        blocks.append(predictions.score)
    content = io.BytesIO()
    columns = np.ascontiguousarray(np.column_stack(blocks), dtype=np.float64)
    np.lib.format.write_array(content, columns, (1, 0), allow_pickle=False)
    return write_predictions(path, content.getvalue())


def write_predictions(path: Path, content: bytes) -> str | None:
    """Write the bytes of a file atomically; return the reason why they could not be, or None."""
    try:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, content)
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror or error}"
    return None


def load_predictions(
    path: Path, n_rows: int, n_classes: int, n_scores: int | None = None
) -> Predictions | None:
    """Read a model's predictions for ``n_rows`` rows; None if the file is missing or unusable.

    Parameters
    ----------
    path : Path
    n_rows : int
    n_classes : int
        0 in a regression.
    n_scores : int, optional
        Scores of each row; by default as many as classes.
    """
    try:
        columns = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    widths = {1, 1 + (n_classes if n_scores is None else n_scores)}
    if columns.dtype != np.float64 or columns.ndim != 2 or len(columns) != n_rows:
        return None
    if columns.shape[1] not in widths:
        return None
    score = columns[:, 1:] if columns.shape[1] > 1 else None
    predicted = columns[:, 0]
    return Predictions(predicted.astype(np.int64) if n_classes else predicted, score)


def remove_predictions(folder: Path, kept: Iterable[Path]) -> None:
    """Remove all files except those to keep, and temporary files of a killed study."""
    names = {path.name for path in kept}
    for path in [*folder.glob("*.npy"), *folder.glob(".*.tmp")]:
        if path.name not in names:
            drop_file(path)


@dataclass(frozen=True)
class PredictionRequest:
    """A subset of the rows, and the file of each member's predictions for it."""

    rows: Rows
    paths: tuple[Path, ...]


def load_member_outputs(
    names: Sequence[str],
    parts: Sequence[PredictionRequest],
    n_table_rows: int,
    classes: Sequence[str] = (),
) -> MemberOutputs | None:
    """Read the matrix of members by rows (by classes) from the files.

    A row in several parts has the mean of its predictions; a row in none is left out.

    Parameters
    ----------
    names : sequence of str
        Names of the members.
    parts : sequence of PredictionRequest
        For example the folds of a cross-validation, or the test rows alone.
    n_table_rows : int
    classes : sequence of str, default=()
        Labels; none in a regression.

    Returns
    -------
    outputs : MemberOutputs or None
        None if a file is missing or unusable. ``rows`` are row numbers of the table.
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
            loaded = load_predictions(path, len(part.rows), len(classes))
            if loaded is None:
                return None
            outputs[number, places] += (
                loaded.probabilities(len(classes)) if classes else loaded.predicted
            )
    if times[rows].max(initial=1.0) > 1.0:
        outputs /= times[rows].reshape(-1, *(1,) * (len(shape) - 1))
    labels = np.asarray(classes, dtype=object) if classes else None
    return MemberOutputs(list(names), outputs, labels, rows, n_table_rows)
