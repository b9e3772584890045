"""Variable elimination: products of tables summed over variables and groups of missing values.

    tables     P(b | a)   P(c | b)   P(d | b, c)          of which b and c are summed out
    b first:   f(a, b, c, d) = P(b | a) P(c | b) P(d | b, c)  ->  g(a, c, d) = sum_b f
    c next:    g(a, c, d)                                     ->  h(a, d)    = sum_c g

The reverse pass turns sums into distributions: P(c | a, d) = g / h, P(b | a, c, d) = f / g, which
give every marginal of the joint distribution of b and c (Lauritzen and Spiegelhalter 1988). Batches
of rows are computed in logarithms, which prevents underflow.

Given the observed values of a row, the missing ones form parts that are independent of each other.
Few distinct parts occur, many rows share each of them, and rows with the same observed values
around a part are one case:

    a -> b -> c -> d -> e      a row without b and d has the gaps {b} and {d}, since c is observed;
         ?         ?           {b} depends on a and c only, {d} on c and e only
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda.learners._bayesian_network_tables import MISSING, Integers, Network, States

__all__ = ["Elimination"]

Floats = npt.NDArray[np.float64]
Scope = tuple[int, ...]


@dataclass(frozen=True)
class _Step:
    """Elimination of one variable: the factors of the product, and the scope of the product.

    Factors are numbered: first the tables in their order, then the results of the steps.
    """

    variable: int
    factors: tuple[int, ...]
    scope: Scope  # ascending, including the variable

    @property
    def axis(self) -> int:
        """Axis of the variable, after that of the rows."""
        return 1 + self.scope.index(self.variable)

    @property
    def left(self) -> Scope:
        """Variables of the result."""
        return tuple(other for other in self.scope if other != self.variable)


class Elimination:
    """The steps that sum variables out of a product of tables, in min-fill order.

    Parameters
    ----------
    variables : sequence of int
        Variables to sum out.
    scopes : sequence of tuple of int
        Variables of each table, ascending; variables that are not in ``variables`` are kept.
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
        """Return the entries of the largest product for one row, given the numbers of states."""
        return max(math.prod(sizes[v] for v in step.scope) for step in self.steps)

    def sum_out(self, tables: Sequence[Floats]) -> Floats:
        """Return the logarithm of the sum over the variables.

        Parameters
        ----------
        tables : sequence of ndarray
            Logarithms; the first axis is the rows (of length 1 if all rows share a table), the
            others are the variables of the scope.

        Returns
        -------
        total : ndarray
            The axes are the rows and the variables kept, ascending.
        """
        return self._total(self._up(tables)[0])

    def posteriors(self, tables: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
        """Return the logarithm of the sum, and the distribution of the variables of each table.

        All variables of the tables must be summed out.

        Parameters
        ----------
        tables : sequence of ndarray
            As for `sum_out`; every row must have a possible combination of values.

        Returns
        -------
        total : ndarray of shape (n_rows,)
        posteriors : list of ndarray
            Probabilities, in the shapes of the tables.
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
        """Return all factors, and the conditional distribution of the variable of each step."""
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
    """Return the variables in min-fill order, where each adds as few new edges as possible.

    Ties go to the variable with the fewest neighbours, then to the smallest index. For a tree the
    order begins at the leaves, and no edge is added.
    """
    inside = set(variables)
    neighbours: dict[int, set[int]] = {variable: set() for variable in variables}
    for scope in scopes:
        for variable in inside.intersection(scope):
            neighbours[variable] |= inside.intersection(scope) - {variable}
    order = []
    while neighbours:
        chosen = min(neighbours, key=lambda variable: (len(neighbours[variable]), variable))
        if len(neighbours[chosen]) > 1:  # a single neighbour adds no edge
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
    """Return twice the number of pairs of neighbours without an edge between them."""
    around = neighbours[variable]
    return sum(len(around - neighbours[other]) - 1 for other in around)


Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Gap:
    """Nodes that are missing together, and the rows in which they are missing.

    Parameters
    ----------
    nodes : tuple of int
        The missing nodes.
    owners : tuple of int
        Nodes whose tables contain them.
    rows : ndarray
        Indices of the rows.
    cases : ndarray of shape (n_cases, n_nodes)
        Rows of states that differ in the tables of the owners.
    case_of_row : ndarray
        Index of the case of each row.
    """

    nodes: tuple[int, ...]
    owners: tuple[int, ...]
    rows: Integers
    cases: States
    case_of_row: Integers


def find_gaps(network: Network, states: States, open_node: int | None = None) -> list[Gap]:
    """Return the gaps in a table of states.

    Parameters
    ----------
    network : Network
    states : ndarray of shape (n_rows, n_nodes)
    open_node : int or None
        The node to predict: it is neither observed nor summed out, and nodes that only sum to 1
        are left out. None: the tables of all nodes are needed.
    """
    missing = states == MISSING
    if open_node is not None:
        missing[:, open_node] = False
    rows = np.flatnonzero(missing.any(axis=1))
    if rows.size == 0:
        return []
    missing = missing[rows]
    idle = _idle(network, missing, open_node)
    found: dict[tuple[tuple[int, ...], tuple[int, ...]], list[Integers]] = {}
    neighbours = _neighbours(network, open_node)
    for pattern, members in _patterns(missing):
        unread = {int(node) for node in np.flatnonzero(idle[members[0]])}
        for part in _parts(set(np.flatnonzero(pattern).tolist()) - unread, neighbours):
            readers = {
                reader for node in part for reader in (node, *network.graph.child_places[node])
            }
            key = tuple(sorted(part)), tuple(sorted(readers - unread))
            found.setdefault(key, []).append(members)
    gaps = []
    for (nodes, owners), groups in found.items():
        shared = np.sort(rows[np.concatenate(groups)])
        gaps.append(_gap(network, states, nodes, owners, shared, open_node))
    return gaps


def _gap(
    network: Network,
    states: States,
    nodes: tuple[int, ...],
    owners: tuple[int, ...],
    rows: Integers,
    open_node: int | None,
) -> Gap:
    """Return a gap, with rows that have the same values around it as one case."""
    around = sorted({m for owner in owners for m in network.family(owner)} - {*nodes, open_node})
    seen = states[rows][:, around]
    if math.prod(network.sizes[node] for node in around) < 2**62:
        keys = np.zeros(len(rows), dtype=np.int64)
        for column, node in zip(seen.T, around, strict=True):
            keys = keys * network.sizes[node] + column
        _, first, case_of_row = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, case_of_row = np.unique(seen, axis=0, return_index=True, return_inverse=True)
    return Gap(nodes, owners, rows, states[rows[first]], case_of_row.reshape(-1))


def _patterns(missing: Bools) -> Iterator[tuple[Bools, Integers]]:
    """Yield each set of missing nodes that occurs, with the rows that miss exactly these."""
    packed = np.packbits(missing, axis=1)
    lines = packed.view([("", packed.dtype)] * packed.shape[1]).reshape(-1)
    _, first, number = np.unique(lines, return_index=True, return_inverse=True)
    order = np.argsort(number.reshape(-1), kind="stable")
    ends = np.cumsum(np.bincount(number.reshape(-1)))
    for row, members in zip(first, np.split(order, ends[:-1]), strict=True):
        yield missing[row], members


def _idle(network: Network, missing: Bools, open_node: int | None) -> Bools:
    """Return the missing nodes without observed or open descendants, whose tables sum to 1."""
    idle = np.zeros_like(missing)
    if open_node is None:
        return idle
    children = network.graph.child_places
    for node in reversed(network.graph.order):
        idle[:, node] = missing[:, node] & idle[:, children[node]].all(axis=1)
    return idle


def _neighbours(network: Network, open_node: int | None) -> list[set[int]]:
    """Return the nodes that share a table with each node."""
    found: list[set[int]] = [set() for _ in range(network.n_nodes)]
    for owner in range(network.n_nodes):
        family = set(network.family(owner)) - {open_node}
        for node in family:
            found[node] |= family - {node}
    return found


def _parts(nodes: set[int], neighbours: Sequence[set[int]]) -> Iterator[set[int]]:
    """Yield the connected components of a set of nodes."""
    left = set(nodes)
    while left:
        part: set[int] = set()
        todo = [left.pop()]
        while todo:
            node = todo.pop()
            part.add(node)
            reached = neighbours[node] & left
            left -= reached
            todo += reached
        yield part
