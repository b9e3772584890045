"""Initial raw scores of rows, to which the trees are added."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.target import check_finite

Floats = npt.NDArray[np.float64]


def read_init_score(init_score: Any, n_rows: int, n_outputs: int, name: str) -> Floats:
    """Check initial scores and return them with the shape (n_rows, n_outputs).

    Parameters
    ----------
    init_score : array-like of shape (n_rows,) or (n_rows, n_outputs)
        One raw score for each row and output; the first shape if there is one output.
    n_rows, n_outputs : int
    name : str
        Name of the argument in messages.

    Raises
    ------
    ValueError
        If the shape is another one, or a score is missing or infinite.

    Examples
    --------
    >>> read_init_score([0.5, -0.5], 2, 1, "init_score").shape
    (2, 1)
    """
    scores = np.asarray(init_score, dtype=np.float64)
    shapes = [(n_rows, n_outputs)] + [(n_rows,)] * (n_outputs == 1)
    if scores.shape not in shapes:
        raise ValueError(
            f"{name} has the shape {scores.shape}, but must have {shapes[-1]}: one raw score for "
            f"each row{' and output' if n_outputs > 1 else ''}"
        )
    check_finite(scores, name, "give a finite score for every row; use 0 where none is known")
    return np.ascontiguousarray(scores.reshape(n_rows, n_outputs))
