"""Preparation of many rows with less memory than a `ColumnTransformer` takes by itself."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator

__all__ = ["CROSS_FITTED", "fit_transform_in_parts"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

# The transformer that transforms its training rows in another way than others.
CROSS_FITTED = "target"
# Bytes of the rows that are transformed at a time: their output, and copies of it, take more.
PART_BYTES = 8 * 2**20


def fit_transform_in_parts(
    preparation: ColumnTransformer, x: Floats, y: npt.NDArray[Any], rows: Rows
) -> Floats:
    """Fit a preparation to some rows of a matrix, and return these rows transformed.

    The preparation and the rows are those of `ColumnTransformer.fit_transform`, which holds the
    rows to fit, the output of every transformer and their concatenation at the same time. Here each
    transformer is fitted to its own columns, one after the other, and then the rows are transformed
    in parts.

    Parameters
    ----------
    preparation : ColumnTransformer
        Its selections of columns, if they are functions, have a method ``select(x, rows)``.
    x, y : ndarray
        All rows.
    rows : ndarray
        Indices of the training rows.
    """
    given, fitted, selected = preparation.transformers, {}, []
    cross_fitted: Floats | None = None
    for name, transformer, columns in given:
        chosen = columns.select(x, rows) if callable(columns) else columns
        if chosen and transformer != "passthrough":
            fitted[name] = clone(transformer)
            if name == CROSS_FITTED:
                cross_fitted = fitted[name].fit_transform(_take(x, rows, chosen), y[rows])
            else:
                fitted[name].fit(_take(x, rows, chosen), y[rows])
        frozen = FrozenEstimator(fitted[name]) if name in fitted else transformer
        selected.append((name, frozen, chosen))
    # A fit to frozen transformers sets all else that a fit sets.
    preparation.set_params(transformers=selected)
    width = preparation.fit_transform(x[rows[:1]], y[rows[:1]]).shape[1]
    preparation.set_params(transformers=given)
    preparation.transformers_ = [
        (name, fitted.get(name, transformer), columns)
        for name, transformer, columns in preparation.transformers_
    ]
    transformed = np.empty((len(rows), width))
    for part in _split(x, rows):
        transformed[part] = preparation.transform(x[rows[part]])
    if cross_fitted is not None:
        transformed[:, preparation.output_indices_[CROSS_FITTED]] = cross_fitted
    return transformed


def _take(x: Floats, rows: Rows, columns: list[int]) -> Floats:
    """Return some columns of some rows, column by column in memory as `x[rows][:, columns]`."""
    taken = np.empty((len(rows), len(columns)), order="F")
    for part in _split(x, rows):
        taken[part] = x[rows[part]][:, columns]
    return taken


def _split(x: Floats, rows: Rows) -> Iterator[slice]:
    size = max(1, PART_BYTES // (x.itemsize * x.shape[1]))
    return (slice(start, start + size) for start in range(0, len(rows), size))
