"""Weights of a linear combination that are not negative, or that are shares of one.

The combination of members f_1..f_L that comes nearest to a target t in squared error,

    minimise over a:  sum_i w_i sum_k (t_ik - sum_l a_l f_l,ik)^2,

subject to a >= 0 (Breiman 1996), or to a >= 0 and sum a = 1 as well (the simplex). Without
constraints the weights of members that are much alike grow large with opposite signs; with them
most become zero.

The simplex is reduced to the first problem. Where sum a = 1 the residual is R a with the columns
r_l = f_l - t, so the smallest |R a|^2 is wanted. For u = s a with s > 0,

    |R u|^2 + (sum u - 1)^2 = s^2 q + (s - 1)^2,   q = |R a|^2,

is least at s = 1/(1 + q), where it is q/(1 + q): it rises with q. So the u >= 0 that minimises the
left side, divided by its sum, is the a on the simplex that minimises q.

References
----------
L. Breiman (1996), "Stacked regressions", Machine Learning 24, 49-64.
C. L. Lawson, R. J. Hanson (1974), "Solving least squares problems", chapter 23.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

__all__ = ["Constraint", "constrained_weights"]

Constraint = Literal["simplex", "nonnegative"]
Floats = npt.NDArray[np.float64]
# Equations that are held at a time.
_BLOCK = 65_536


def constrained_weights(
    outputs: Floats,
    target: npt.NDArray[Any],
    constraint: Constraint,
    sample_weight: Floats | None = None,
) -> Floats:
    """Weights of the members' best linear combination under a constraint.

    Parameters
    ----------
    outputs : ndarray of shape (n_members, n_rows) or (n_members, n_rows, n_classes)
        Values, or probabilities.
    target : ndarray of shape (n_rows,)
        Values, or numbers of classes: a class stands for 1 where it is and 0 elsewhere.
    constraint : {"simplex", "nonnegative"}
    sample_weight : ndarray of shape (n_rows,), default=None

    Returns
    -------
    weights : ndarray of shape (n_members,)
        All zero if no member helps and nothing asks for a sum of one.
    """
    n_members = len(outputs)
    if constraint == "nonnegative":
        factor = _triangle(outputs, target, sample_weight, _side_by_side)
        return np.asarray(_nnls(factor[:, :n_members], factor[:, n_members]))
    factor = _triangle(outputs, target, sample_weight, _differences)
    # The sum counts as much as a member's error does, whatever the units of the target.
    size = np.sqrt((factor**2).sum() / n_members)
    equations = np.vstack([factor / (size or 1.0), np.ones(n_members)])
    weights = _nnls(equations, np.append(np.zeros(len(factor)), 1.0))
    return np.asarray(weights / weights.sum())


def _nnls(equations: Floats, right: Floats) -> Floats:
    """Solve least squares without negative weights; steps are cheap beside the members' fits."""
    weights: Floats = nnls(equations, right, maxiter=100 * (equations.shape[1] + 1))[0]
    return weights


def _triangle(
    outputs: Floats,
    target: npt.NDArray[Any],
    sample_weight: Floats | None,
    columns_of: Callable[[Floats, Floats], Floats],
) -> Floats:
    """Triangular factor of all equations, from a few rows at a time.

    For every vector it gives the length that the equations give, so a problem of millions of rows
    becomes one of as many as there are members. Squares of the columns are never formed, which
    would cost half of the digits.
    """
    n_rows = len(target)
    n_each = 1 if outputs.ndim == 2 else outputs.shape[2]
    step = max(1, _BLOCK // n_each)
    factor = np.zeros((0, len(outputs) + (columns_of is _side_by_side)))
    for first in range(0, n_rows, step):
        rows = slice(first, first + step)
        wanted = np.asarray(target[rows], dtype=np.float64)
        if outputs.ndim == 3:
            wanted = (target[rows, None] == np.arange(n_each)).astype(np.float64)
        said = outputs[:, rows].reshape(len(outputs), -1)
        block = columns_of(said, wanted.ravel())
        if sample_weight is not None:
            block *= np.sqrt(np.repeat(sample_weight[rows], n_each))[:, None]
        factor = np.asarray(np.linalg.qr(np.vstack([factor, block]), mode="r"))
    return factor


def _side_by_side(said: Floats, wanted: Floats) -> Floats:
    return np.column_stack([*said, wanted])


def _differences(said: Floats, wanted: Floats) -> Floats:
    return np.column_stack([values - wanted for values in said])
