"""The engine's rules: one answer of what many members say of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda import _native

__all__ = ["mean_of_members", "order_statistic_of_members", "sum_tables", "sum_votes"]

Floats = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.int32]


def mean_of_members(
    outputs: Floats,
    kept: Sequence[int],
    weights: Floats | None,
    *,
    geometric: bool = False,
    n_threads: int,
) -> Floats:
    """Weighted mean of the kept members, of shape (rows, classes) or (rows,).

    A geometric one has rows that sum to 1; where members give every class 0, it is the arithmetic
    one.
    """
    mean = _native.mean_of_members(
        _three_dimensional(outputs), list(kept), _numbers(weights), geometric, n_threads
    )
    return mean.reshape(outputs.shape[1:])


def order_statistic_of_members(
    outputs: Floats,
    kept: Sequence[int],
    statistic: str,
    *,
    n_trimmed: int = 0,
    n_threads: int,
) -> Floats:
    """Minimum, maximum, median or trimmed mean of the kept members; of classes as shares."""
    found = _native.order_statistic_of_members(
        _three_dimensional(outputs),
        list(kept),
        statistic,
        n_trimmed,
        outputs.ndim == 3,
        n_threads,
    )
    return found.reshape(outputs.shape[1:])


def sum_votes(
    said: Floats | Chosen,
    n_classes: int,
    kept: Sequence[int],
    weights: Floats | None,
    *,
    shares_of_exp: bool = False,
    n_threads: int,
) -> Floats:
    """Weights of the members that choose each class: (rows, classes).

    ``said`` is (members, rows, classes), or (members, rows) of numbers of classes; the sums may be
    log-probabilities, of which ``shares_of_exp`` makes probabilities.
    """
    votes: Callable[..., Floats] = _native.sum_votes
    return votes(*_said(said, n_classes), list(kept), _numbers(weights), shares_of_exp, n_threads)


def sum_tables(
    said: Floats | Chosen,
    kept: Sequence[int],
    start: Floats,
    table: Floats,
    *,
    shares_of_exp: bool = False,
    n_threads: int,
) -> Floats:
    """Start of each class, and of each kept member the row of its table for the class it chooses.

    ``start`` is (classes,), ``table`` (kept members, chosen class, class).
    """
    tables: Callable[..., Floats] = _native.sum_tables
    return tables(
        *_said(said, len(start)),
        list(kept),
        _numbers(start),
        _numbers(table.ravel()),
        shares_of_exp,
        n_threads,
    )


def _said(said: Floats | Chosen, n_classes: int) -> tuple[Any, ...]:
    if said.ndim == 2:
        return np.ascontiguousarray(said, dtype=np.int32), n_classes
    return (_three_dimensional(said),)


def _three_dimensional(outputs: Any) -> Floats:
    whole = outputs[:, :, np.newaxis] if outputs.ndim == 2 else outputs
    return np.ascontiguousarray(whole, dtype=np.float64)


def _numbers(values: Floats | None) -> Any:
    return None if values is None else np.ascontiguousarray(values, dtype=np.float64)
