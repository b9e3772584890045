"""Predictions for collections of Dask, computed part by part when they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from arboleda.dask.partitions import count_rows

__all__ = ["compute_all", "is_lazy", "predict_lazily"]


def is_lazy(X: Any) -> bool:
    """Return whether it is a collection of Dask, or a list of delayed parts."""
    try:
        from dask.base import is_dask_collection
    except ImportError:
        return False
    if isinstance(X, list | tuple) and X:
        return all(map(is_dask_collection, X))
    return bool(is_dask_collection(X))


def compute_all(*collections: Any) -> tuple[Any, ...]:
    """Compute collections; a list of delayed parts becomes one array or frame, others stay."""
    return tuple(map(_compute, collections))


def _compute(collection: Any) -> Any:
    if not is_lazy(collection):
        return collection
    dask: Any = import_module("dask")
    (computed,) = dask.compute(collection)
    if not isinstance(computed, list | tuple):
        return computed
    if nw.dependencies.is_into_dataframe(computed[0]):
        return nw.concat([nw.from_native(part) for part in computed]).to_native()
    return np.concatenate(computed)


def predict_lazily(
    model: Any,
    method: str,
    X: Any,
    width: tuple[int, ...],
    dtype: np.dtype[Any],
    arguments: Mapping[str, Any] | None = None,
) -> Any:
    """Return the predictions of each part of X, not computed yet.

    Parameters
    ----------
    model : estimator
        The plain class.
    method : str
        Name of its method.
    X : dask.dataframe, dask.array, or list of delayed parts
    width : tuple of int
        Shape of the prediction for one row.
    dtype : dtype
        Of the predictions.
    arguments : mapping of str, default=None
        Further arguments of the method.

    Returns
    -------
    predictions : dask.array, or list of delayed arrays for a list
        The chunks of rows are those of X; their lengths are unknown for a dask.dataframe.
    """
    dask: Any = import_module("dask")
    array: Any = import_module("dask.array")
    shared = dask.delayed(model, pure=False)
    delayed = dask.delayed(_predict_part, pure=False)

    def predict(part: Any) -> Any:
        return delayed(shared, method, part, width, dtype, dict(arguments or {}))

    lengths: tuple[float, ...] = ()
    if isinstance(X, list | tuple):
        return [predict(part) for part in X]
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1})
        lengths = X.chunks[0]
        parts = list(X.to_delayed().ravel())
    else:
        parts = list(X.to_delayed())
        lengths = (np.nan,) * len(parts)
    blocks = [
        array.from_delayed(predict(part), (n_rows, *width), dtype)
        for part, n_rows in zip(parts, lengths, strict=True)
    ]
    return array.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def _predict_part(
    model: Any,
    method: str,
    part: Any,
    width: tuple[int, ...],
    dtype: np.dtype[Any],
    arguments: Mapping[str, Any],
) -> Any:
    if not count_rows(part):
        return np.empty((0, *width), dtype)
    return getattr(model, method)(part, **arguments)
