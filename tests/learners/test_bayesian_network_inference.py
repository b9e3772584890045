"""Probabilities of a network against an exhaustive sum, written as in the textbook."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from arboleda import DirectedGraph
from arboleda.learners import _bayesian_network_inference as inference
from arboleda.learners._bayesian_network_inference import log_joint
from arboleda.learners._bayesian_network_tables import (
    MISSING,
    Network,
    count,
    estimate,
    logarithms,
)
from arboleda.learners._variable_elimination import Elimination, find_gaps


def random_network(seed: int) -> tuple[Network, list[Any], np.random.Generator]:
    """Network of at most seven nodes, tables with some zeros, and the generator."""
    random = np.random.default_rng(seed)
    n_nodes = int(random.integers(2, 8))
    order = random.permutation(n_nodes).tolist()
    edges = [pair for pair in itertools.combinations(order, 2) if random.random() < 0.4]
    sizes = tuple(random.integers(1, 4, size=n_nodes).tolist())
    network = Network(DirectedGraph(edges, range(n_nodes)), sizes)
    counts = [random.exponential(size=network.shape(v)) for v in range(n_nodes)]
    counts = [np.where(random.random(c.shape) < 0.1, 0.0, c) for c in counts]
    return network, estimate(network, counts, 0.0), random


def probability(network: Network, tables: list[Any], values: tuple[int, ...]) -> float:
    """Product of the tables at one combination of all values."""
    return math.prod(
        tables[node][tuple(values[member] for member in network.family(node))]
        for node in range(network.n_nodes)
    )


def all_values(network: Network, row: Any) -> Any:
    """Every combination that has the row's known values."""
    return itertools.product(
        *(
            range(size) if state == MISSING else [int(state)]
            for size, state in zip(network.sizes, row, strict=True)
        )
    )


def random_rows(network: Network, n_rows: int, random: np.random.Generator) -> Any:
    states = np.column_stack([random.integers(size, size=n_rows) for size in network.sizes])
    states[random.random(states.shape) < random.choice([0.2, 0.5, 0.9])] = MISSING
    states[:, np.array(network.sizes) == 1] = 0
    return states.astype(np.int32)


@pytest.mark.parametrize("seed", range(60))
def test_the_posterior_matches_an_exhaustive_sum(seed: int) -> None:
    network, tables, random = random_network(seed)
    states = random_rows(network, 30, random)
    target = int(random.integers(network.n_nodes))
    found = np.exp(log_joint(network, logarithms(tables), states, target))
    for row, ours in zip(states, found, strict=True):
        row[target] = MISSING
        expected = np.zeros(network.sizes[target])
        for values in all_values(network, row):
            expected[values[target]] += probability(network, tables, values)
        if expected.sum() > 0.0:
            np.testing.assert_allclose(ours / ours.sum(), expected / expected.sum(), atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_the_distribution_of_a_missing_value_matches_an_exhaustive_sum(seed: int) -> None:
    network, tables, random = random_network(seed)
    states = random_rows(network, 12, random)
    log_tables = logarithms(tables)
    for gap in find_gaps(network, states):
        for sums in inference.iter_sums(network, gap):
            total, posteriors = sums.elimination.posteriors(sums.read(log_tables))
            n_cases = len(gap.cases[sums.cases])
            total = np.broadcast_to(total, n_cases)
            for number, case in enumerate(gap.cases[sums.cases]):
                row = case.copy()
                row[list(gap.nodes)] = MISSING
                scopes = [
                    tuple(m for m in network.family(owner) if m in gap.nodes)
                    for owner in sums.owners
                ]
                expected = [np.zeros(shape) for shape in sums.shapes]
                whole = 0.0
                free = [range(network.sizes[node]) for node in gap.nodes]
                for values in itertools.product(*free):
                    row[list(gap.nodes)] = values
                    chance = math.prod(
                        tables[owner][tuple(row[m] for m in network.family(owner))]
                        for owner in sums.owners
                    )
                    whole += chance
                    for share, scope in zip(expected, scopes, strict=True):
                        share[tuple(row[m] for m in scope)] += chance
                np.testing.assert_allclose(np.exp(total[number]), whole, atol=1e-12)
                if whole == 0.0:
                    continue
                for share, posterior in zip(expected, posteriors, strict=True):
                    ours = posterior[number if len(posterior) > 1 else 0]
                    np.testing.assert_allclose(ours, share / whole, atol=1e-12)


def test_rows_are_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    network, tables, random = random_network(3)
    states = random_rows(network, 200, random)
    whole = log_joint(network, logarithms(tables), states, 0)
    monkeypatch.setattr(inference, "_AT_ONCE", 1)
    np.testing.assert_array_equal(log_joint(network, logarithms(tables), states, 0), whole)


def test_missing_values_are_grouped_by_dependence() -> None:
    """In a chain, a known value separates the missing ones on its two sides."""
    network = Network(DirectedGraph([(v, v + 1) for v in range(4)]), (2,) * 5)
    states = np.array([[0, -1, 0, -1, 0], [1, -1, 0, -1, 0], [0, 0, -1, -1, -1], [0, 0, 0, 0, 0]])
    gaps = {gap.nodes: gap for gap in find_gaps(network, states)}
    assert set(gaps) == {(1,), (3,), (2, 3, 4)}
    assert gaps[1,].owners == (1, 2)
    assert gaps[1,].rows.tolist() == [0, 1]
    assert len(gaps[1,].cases) == 2
    assert len(gaps[3,].cases) == 1  # the rows differ at 0 alone, which 3 does not see
    # For node 0, node 4 of the third row is uninformative, and so are its ancestors.
    assert {gap.nodes for gap in find_gaps(network, states, 0)} == {(1,), (3,)}


def test_a_star_with_a_thousand_leaves_does_not_underflow() -> None:
    n_leaves = 1000
    graph = DirectedGraph([("class", "hub"), *(("hub", v) for v in range(n_leaves))])
    nodes = {name: place for place, name in enumerate(graph.nodes)}
    network = Network(graph, (2,) * len(graph.nodes))
    tables = [np.full(network.shape(v), 0.5) for v in range(network.n_nodes)]
    tables[nodes["hub"]] = np.array([[0.9, 0.1], [0.2, 0.8]])
    for v in range(n_leaves):
        tables[nodes[v]] = np.array([[0.7, 0.3], [0.3, 0.7]])
    states = np.zeros((1, network.n_nodes), dtype=np.int32)
    states[0, nodes["hub"]] = MISSING
    half = [nodes[v] for v in range(n_leaves // 2)]
    states[0, half] = 1  # as many leaves support the hub's one value as the other
    joint = np.exp(log_joint(network, logarithms(tables), states, nodes["class"]))
    assert joint.min() == 0.0  # the joint probability itself is beyond float64 ...
    log_p = log_joint(network, logarithms(tables), states, nodes["class"])[0]
    assert np.exp(log_p[0] - np.logaddexp(*log_p)) == pytest.approx(0.5)  # ... its logarithm is not


def test_elimination_starts_with_unconnected_nodes() -> None:
    """On a tree no product has more than a node and its parent, wherever the numbers begin."""
    random = np.random.default_rng(0)
    edges = [(int(random.integers(v)), v) for v in range(1, 200)]
    elimination = Elimination(range(200), [(0,), *edges])
    assert elimination.largest((3,) * 200) == 9
    ring = [(v, (v + 1) % 8) for v in range(8)]
    assert Elimination(range(8), [tuple(sorted(pair)) for pair in ring]).largest((2,) * 8) == 8


def test_counts_and_estimates_match_values_by_hand() -> None:
    network = Network(DirectedGraph([(0, 1)]), (2, 3))
    states = np.array([[0, 0], [0, 2], [1, 1], [1, MISSING], [MISSING, 0]], dtype=np.int32)
    of_parent, of_both = count(network, states, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    np.testing.assert_array_equal(of_parent, [3, 7])
    np.testing.assert_array_equal(of_both, [[1, 0, 2], [0, 3, 0]])
    _, table = estimate(network, [of_parent, of_both], 1.0)
    np.testing.assert_allclose(table, [[2 / 6, 1 / 6, 3 / 6], [1 / 6, 4 / 6, 1 / 6]])
    nothing = [np.zeros(2), np.array([[0.0, 0, 0], [1, 0, 3]])]
    _, table = estimate(network, nothing, 0.0)
    np.testing.assert_allclose(table, [[1 / 3] * 3, [0.25, 0, 0.75]])


def test_too_large_tables_are_refused() -> None:
    graph = DirectedGraph([(v, "sum") for v in "abcdefghij"])
    with pytest.raises(
        ValueError, match=r"the table of 'sum' given 'a', 'b', .* have 100,000,000,000 entries"
    ):
        Network(graph, (10,) * 11)
