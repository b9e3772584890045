"""Shapley values of a model of any kind, by sampled orders of the columns.

In each order the columns change one by one from those of a background row to those of the row; what
the prediction changes by is the column's share (Castro, Gomez and Tejada 2009; Strumbelj and
Kononenko 2014). Each order is also used backwards, which lowers the variance (Mitchell et al.
2022). The shares of an order sum to the difference of the two predictions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["SampledShapley", "sample_shapley"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SampledShapley:
    """Shapley values of the columns for one row.

    Attributes
    ----------
    values, standard_errors : ndarray of shape (n_columns,)
        ``base`` and the values sum to the prediction of the row.
    base : float
        Mean prediction of the background rows of the sampled orders.
    n_orders : int
        The number of orders, counting each direction.
    """

    values: Floats
    standard_errors: Floats
    base: float
    n_orders: int


def sample_shapley(
    predict: Callable[[Floats], Floats],
    row: Floats,
    background: Floats,
    n_pairs: int,
    random: np.random.Generator,
) -> SampledShapley:
    """Sample the Shapley values of the columns for a row.

    Parameters
    ----------
    predict : callable
        Returns one number for each row of a matrix.
    row : ndarray of shape (n_columns,)
    background : ndarray of shape (n_rows, n_columns)
        Rows whose values replace unknown ones; each is used about equally often.
    n_pairs : int
        Pairs of an order and its reverse, at least 2.
    random : Generator

    Examples
    --------
    >>> add = lambda x: x[:, 0] + 2 * x[:, 1]
    >>> zeros = np.zeros((1, 2))
    >>> found = sample_shapley(add, np.ones(2), zeros, 4, np.random.default_rng(0))
    >>> found.values.tolist(), found.base
    ([1.0, 2.0], 0.0)
    """
    n_columns = len(row)
    cycles = -(-n_pairs // len(background))
    drawn = np.concatenate([random.permutation(len(background)) for _ in range(cycles)])[:n_pairs]
    orders = [random.permutation(n_columns) for _ in range(n_pairs)]
    paths = [
        _walk(row, background[start], way)
        for order, start in zip(orders, drawn, strict=True)
        for way in (order, order[::-1])
    ]
    outputs = predict(np.concatenate(paths)).reshape(n_pairs, 2, n_columns + 1)
    shares = np.zeros((n_pairs, n_columns))
    for pair, order in enumerate(orders):
        steps = np.diff(outputs[pair], axis=1)
        shares[pair, order] += steps[0] / 2
        shares[pair, order[::-1]] += steps[1] / 2
    return SampledShapley(
        shares.mean(axis=0),
        shares.std(axis=0, ddof=1) / np.sqrt(n_pairs),
        float(outputs[:, :, 0].mean()),
        2 * n_pairs,
    )


def _walk(row: Floats, start: Floats, order: npt.NDArray[np.int64]) -> Floats:
    """Return the rows between a background row and the row, one more column changed in each."""
    path = np.repeat(start[None, :], len(order) + 1, axis=0)
    for step, column in enumerate(order, 1):
        path[step:, column] = row[column]
    return path
