"""Replacing columns of a table in its original container."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from arboleda._engine.frames import as_frame
from arboleda._engine.labels import Label


def with_columns(X: Any, columns: dict[int, npt.NDArray[Any] | list[Label]]) -> Any:
    """Return a copy of a table with some columns replaced.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
    columns : dict
        Column indices and their new values: numbers or labels.

    Returns
    -------
    table : ndarray, or frame of the same library
        An array of float64, or of objects if X contains objects or text. Label columns of a frame
        keep their type.
    """
    frame = as_frame(X)
    if frame is None:
        array = np.array(X, dtype=object if np.asarray(X).dtype.kind in "OUS" else np.float64)
        for j, values in columns.items():
            array[:, j] = values
        return array
    backend = nw.get_native_namespace(frame)
    series = []
    for j, values in columns.items():
        before = frame.get_column(frame.columns[j])
        # Create with the values' own type first, then cast text labels to categories or enums.
        made = nw.new_series(before.name, values, backend=backend)
        series.append(made.cast(before.dtype) if isinstance(values, list) else made)
    return frame.with_columns(*series).to_native()
