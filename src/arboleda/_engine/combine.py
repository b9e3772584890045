"""Rules of the engine for combining the outputs of ensemble members."""

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
    """Compute the weighted mean of the kept members, of shape (rows, classes) or (rows,).

    Rows of a geometric mean are normalised to sum 1; if it is 0 for every class, the arithmetic
    mean is returned.
    """
    mean = _native.mean_of_members(
        _to_three_dimensions(outputs), list(kept), _numbers(weights), geometric, n_threads
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
    """Compute the minimum, maximum, median or trimmed mean of the kept members.

    For classes the results are normalised to sum 1.
    """
    found = _native.order_statistic_of_members(
        _to_three_dimensions(outputs),
        list(kept),
        statistic,
        n_trimmed,
        outputs.ndim == 3,
        n_threads,
    )
    return found.reshape(outputs.shape[1:])


def sum_votes(
    outputs: Floats | Chosen,
    n_classes: int,
    kept: Sequence[int],
    weights: Floats | None,
    *,
    shares_of_exp: bool = False,
    n_threads: int,
) -> Floats:
    """Sum the weights of the members that choose each class: (rows, classes).

    ``outputs`` is (members, rows, classes), or class codes (members, rows). With ``shares_of_exp``
    the sums are log-probabilities, which are converted to probabilities.
    """
    votes: Callable[..., Floats] = _native.sum_votes
    return votes(
        *_prepare_outputs(outputs, n_classes),
        list(kept),
        _numbers(weights),
        shares_of_exp,
        n_threads,
    )


def sum_tables(
    outputs: Floats | Chosen,
    kept: Sequence[int],
    start: Floats,
    table: Floats,
    *,
    shares_of_exp: bool = False,
    n_threads: int,
) -> Floats:
    """Sum the initial values and, for each kept member, the table row of the class it chooses.

    ``start`` is (classes,), ``table`` (kept members, chosen class, class).
    """
    tables: Callable[..., Floats] = _native.sum_tables
    return tables(
        *_prepare_outputs(outputs, len(start)),
        list(kept),
        _numbers(start),
        _numbers(table.ravel()),
        shares_of_exp,
        n_threads,
    )


def _prepare_outputs(outputs: Floats | Chosen, n_classes: int) -> tuple[Any, ...]:
    if outputs.ndim == 2:
        return np.ascontiguousarray(outputs, dtype=np.int32), n_classes
    return (_to_three_dimensions(outputs),)


def _to_three_dimensions(outputs: Any) -> Floats:
    whole = outputs[:, :, np.newaxis] if outputs.ndim == 2 else outputs
    return np.ascontiguousarray(whole, dtype=np.float64)


def _numbers(values: Floats | None) -> Any:
    return None if values is None else np.ascontiguousarray(values, dtype=np.float64)
