"""A table in its own container with other values in some columns."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from arboleda._engine.frames import as_frame
from arboleda._engine.labels import Label


def with_columns(X: Any, columns: dict[int, npt.NDArray[Any] | list[Label]]) -> Any:
    """Return a copy of a table in which some columns hold other values.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
    columns : dict
        Numbers of columns and the numbers, or labels, that they shall hold.

    Returns
    -------
    table : ndarray, or frame of the same library
        An array of float64, or of objects where X was of objects or text. A frame's columns of
        labels keep their type.
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
        # By the values' own type first: labels of text become categories or enumerated ones.
        made = nw.new_series(before.name, values, backend=backend)
        series.append(made.cast(before.dtype) if isinstance(values, list) else made)
    return frame.with_columns(*series).to_native()
