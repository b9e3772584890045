"""What the best model said of rows that it had not learned from, kept beside the models.

Intervals, sets of classes and calibrated decisions about new rows rest on it. The file is a plain
array (``.npy``): a line for each row, its target, then the model's answer as
`arboleda.study.execution.prediction_store` keeps it.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.study.artifacts.files import FileList, checked_bytes, put
from arboleda.study.errors import StudyFormatError
from arboleda.study.execution.prediction_store import Predictions

__all__ = ["HeldOut", "read_held_out", "save_held_out"]

HELD_OUT = "held_out.npy"
# More rows make no quantile better that anybody would see.
MOST_ROWS = 100_000
# What the seed is mixed with, so that two uses of it draw different numbers.
_PURPOSE = 13

# Targets (numbers of classes, or values), and what was said of their rows.
HeldOut = tuple[npt.NDArray[Any], Predictions]


def save_held_out(held_out: HeldOut | None, folder: Path, seed: int) -> dict[str, Any]:
    """Write the answers, or those about a random part of the rows.

    Returns
    -------
    kept : dict
        ``files``, the list of files, and ``error``, why it is not there, or None.
    """
    if held_out is None:
        return {"files": {}, "error": "what the best model said of held-out rows is not known"}
    y, said = held_out
    columns = [y, said.predicted] if said.score is None else [y, said.predicted, said.score]
    table = np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)
    if len(table) > MOST_ROWS:
        draw = np.random.default_rng([seed, _PURPOSE])
        table = table[np.sort(draw.choice(len(table), MOST_ROWS, replace=False))]
    content = io.BytesIO()
    np.lib.format.write_array(content, table, (1, 0), allow_pickle=False)
    try:
        return {"files": {HELD_OUT: put(folder, HELD_OUT, content.getvalue())}, "error": None}
    except OSError as error:
        return {"files": {}, "error": error.strerror or str(error)}


def read_held_out(folder: Path, files: FileList, n_classes: int) -> HeldOut:
    """The targets and answers that were kept; ``n_classes`` is 0 in a regression.

    Raises
    ------
    StudyFormatError
        If the file is missing or damaged.
    """
    content = checked_bytes(folder, HELD_OUT, files)
    try:
        table = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        _check(table, n_classes)
    except (ValueError, TypeError, EOFError) as error:
        raise StudyFormatError(
            f"The file {folder / HELD_OUT} is damaged ({str(error)[:200]}); run the study's "
            "command again: what is done is kept."
        ) from error
    kind = np.int64 if n_classes else np.float64
    score = table[:, 2:] if table.shape[1] > 2 else None
    return table[:, 0].astype(kind), Predictions(table[:, 1].astype(kind), score)


def _check(table: Any, n_classes: int) -> None:
    if table.dtype != np.float64 or table.ndim != 2 or not len(table):
        raise ValueError("it is no table of numbers")
    if table.shape[1] not in (2, 2 + n_classes):
        raise ValueError(f"it has {table.shape[1]} columns")
    codes = table[:, :2]
    if not np.isfinite(codes).all():
        raise ValueError("it holds answers that are no numbers")
    if n_classes and not ((codes >= 0) & (codes < n_classes) & (codes % 1 == 0)).all():
        raise ValueError("it holds classes that there are not")
