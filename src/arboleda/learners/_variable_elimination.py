"""Variable elimination: products of tables summed over their variables, one after the other.

    tables     P(b | a)   P(c | b)   P(d | b, c)          of which b and c are summed out
    b first:   f(a, b, c, d) = P(b | a) P(c | b) P(d | b, c)  ->  g(a, c, d) = sum_b f
    c next:    g(a, c, d)                                     ->  h(a, d)    = sum_c g

Going back over the steps, sums become distributions: P(c | a, d) = g / h, P(b | a, c, d) = f / g,
and from these every part of the joint distribution of b and c follows (Lauritzen and Spiegelhalter
1988). Many rows are computed at once, and in logarithms, so that nothing underflows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Scope = tuple[int, ...]

__all__ = ["Elimination"]


@dataclass(frozen=True)
class _Step:
    """One variable summed out: of which factors the product is taken, and what is left of it.

    Factors are the tables, numbered as they were given, and after these the results of the steps.
    """

    variable: int
    factors: tuple[int, ...]
    scope: Scope  # ascending, the variable included

    @property
    def axis(self) -> int:
        """Axis of the variable, after that of the rows."""
        return 1 + self.scope.index(self.variable)

    @property
    def left(self) -> Scope:
        """Variables of the result."""
        return tuple(other for other in self.scope if other != self.variable)


class Elimination:
    """The steps that sum variables out of a product of tables, in an order that fills in least.

    Parameters
    ----------
    variables : sequence of int
        Those to be summed out.
    scopes : sequence of tuple of int
        For each table its variables, ascending; others than the ``variables`` are kept.
    """

    def __init__(self, variables: Sequence[int], scopes: Sequence[Scope]) -> None:
        self.scopes = list(scopes)
        self.steps: list[_Step] = []
        everywhere = list(scopes)
        waiting = set(range(len(scopes)))
        for variable in _min_fill_order(variables, scopes):
            factors = tuple(sorted(f for f in waiting if variable in everywhere[f]))
            scope = tuple(sorted({v for f in factors for v in everywhere[f]}))
            step = _Step(variable, factors, scope)
            self.steps.append(step)
            waiting = (waiting - set(factors)) | {len(everywhere)}
            everywhere.append(step.left)
        self._left = tuple(sorted(waiting))
        self._everywhere = everywhere

    def largest(self, sizes: Sequence[int]) -> int:
        """Entries of the largest product, for one row, given the numbers of states."""
        return max(math.prod(sizes[v] for v in step.scope) for step in self.steps)

    def sum_out(self, tables: Sequence[Floats]) -> Floats:
        """Logarithm of the sum over the variables.

        Parameters
        ----------
        tables : sequence of ndarray
            Logarithms; the first axis is that of the rows (of length 1 if all rows have the same
            table), the others are the variables of the scope.

        Returns
        -------
        total : ndarray
            The axes are the rows and the variables kept, ascending.
        """
        return self._total(self._up(tables)[0])

    def posteriors(self, tables: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
        """Logarithm of the sum, and for each table the distribution of its variables.

        All variables of the tables must be summed out.

        Parameters
        ----------
        tables : sequence of ndarray
            As for `sum_out`; in every row some combination of values must be possible.

        Returns
        -------
        total : ndarray of shape (n_rows,)
        posteriors : list of ndarray
            Of the shapes of the tables, probabilities.
        """
        factors, conditionals = self._up(tables)
        posteriors: list[Floats] = [np.empty(0)] * len(factors)
        for place in self._left:
            posteriors[place] = np.ones(1)
        for number in reversed(range(len(self.steps))):
            step, result = self.steps[number], len(self.scopes) + number
            # P(variable | rest) P(rest)
            joint = conditionals[number] * np.expand_dims(posteriors[result], step.axis)
            for factor in step.factors:
                gone = [
                    1 + axis
                    for axis, variable in enumerate(step.scope)
                    if variable not in self._everywhere[factor]
                ]
                posteriors[factor] = joint.sum(axis=tuple(gone))
        return self._total(factors), posteriors[: len(self.scopes)]

    def _up(self, tables: Sequence[Floats]) -> tuple[list[Floats], list[Floats]]:
        """All factors, and for each step the distribution of its variable given what is left."""
        factors, conditionals = list(tables), []
        for step in self.steps:
            product = self._product(factors, step.factors, step.scope)
            peak = product.max(axis=step.axis, keepdims=True)
            peak[np.isneginf(peak)] = 0.0
            shares = np.exp(product - peak)
            total = shares.sum(axis=step.axis, keepdims=True)
            with np.errstate(divide="ignore"):
                factors.append((np.log(total) + peak).squeeze(step.axis))
            conditionals.append(shares / np.where(total > 0.0, total, 1.0))
        return factors, conditionals

    def _total(self, factors: Sequence[Floats]) -> Floats:
        scope = tuple(sorted({v for place in self._left for v in self._everywhere[place]}))
        return self._product(factors, self._left, scope)

    def _product(self, factors: Sequence[Floats], places: Sequence[int], scope: Scope) -> Floats:
        total: Floats = np.zeros((1,) * (1 + len(scope)))
        for place in places:
            own = self._everywhere[place]
            index = tuple(slice(None) if variable in own else None for variable in scope)
            total = total + factors[place][(slice(None), *index)]
        return total


def _min_fill_order(variables: Sequence[int], scopes: Sequence[Scope]) -> list[int]:
    """Order of the variables in which each one joins as few pairs that shared no table as it can.

    Ties go to the variable with the fewest neighbours, then to the smallest number. On a tree it
    begins at the leaves, and no pair is ever joined.
    """
    inside = set(variables)
    neighbours: dict[int, set[int]] = {variable: set() for variable in variables}
    for scope in scopes:
        for variable in inside.intersection(scope):
            neighbours[variable] |= inside.intersection(scope) - {variable}
    order = []
    while neighbours:
        chosen = min(neighbours, key=lambda variable: (len(neighbours[variable]), variable))
        if len(neighbours[chosen]) > 1:  # with one neighbour at most there is nothing to join
            chosen = min(
                neighbours,
                key=lambda variable: (
                    _fill(neighbours, variable),
                    len(neighbours[variable]),
                    variable,
                ),
            )
        around = neighbours.pop(chosen)
        for other in around:
            neighbours[other] |= around - {other}
            neighbours[other].discard(chosen)
        order.append(chosen)
    return order


def _fill(neighbours: dict[int, set[int]], variable: int) -> int:
    """Pairs of neighbours that are no neighbours themselves, each counted twice."""
    around = neighbours[variable]
    return sum(len(around - neighbours[other]) - 1 for other in around)
