"""Trees and forests of augmented naive Bayes, against the formula and networkx's spanning tree."""

import itertools

import networkx as nx
import numpy as np
import pytest

from arboleda.learners import _bayesian_network_structure as _tree_augmented
from arboleda.learners._bayesian_network_structure import (
    build_augmenting_tree,
    compute_joining_gains,
)


def some_rows(seed: int) -> tuple[np.ndarray, tuple[int, ...], np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = (2, 3, 1, 4, 2, 3)
    labels = random.integers(3, size=500)
    states = random.integers(0, 50, size=(500, 6)) + labels[:, np.newaxis]
    states[:, 1:] += 40 * states[:, :-1] * (random.random(5) < 0.7)
    states = (states // 20 % np.array(sizes)).astype(np.int32)
    states[random.random(states.shape) < 0.1] = -1
    states[:, 2] = 0
    return states, sizes, labels, random.random(500)


def naive_information(a: np.ndarray, b: np.ndarray, c: np.ndarray, w: np.ndarray) -> float:
    """Sum of P(a, b, c) log [P(a, b | c) / (P(a | c) P(b | c))] over the rows that have both."""
    both = (a >= 0) & (b >= 0)
    a, b, c, w = a[both], b[both], c[both], w[both]
    total = 0.0
    for i, j, k in itertools.product(set(a.tolist()), set(b.tolist()), set(c.tolist())):
        joint = w[(a == i) & (b == j) & (c == k)].sum()
        if joint > 0:
            of_class = w[c == k].sum()
            product = w[(a == i) & (c == k)].sum() * w[(b == j) & (c == k)].sum() / of_class
            total += joint * np.log(joint / product)
    return total


@pytest.mark.parametrize("penalized", [False, True])
@pytest.mark.parametrize("at_once", [2**22, 1])
@pytest.mark.parametrize("seed", range(3))
def test_information_matches_its_formula(
    seed: int, at_once: int, penalized: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tree_augmented, "_AT_ONCE", at_once)
    states, sizes, labels, weight = some_rows(seed)
    found = compute_joining_gains(states, sizes, labels, 3, weight, penalized=penalized)
    np.testing.assert_array_equal(found, found.T)
    for i, j in itertools.combinations(range(6), 2):
        if 2 in {i, j}:
            assert found[i, j] == -np.inf
            continue
        price = (sizes[i] - 1) * (sizes[j] - 1) * 3 * penalized
        expected = naive_information(states[:, i], states[:, j], labels, weight) - price
        assert found[i, j] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("penalized", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_tree_has_more_information(seed: int, penalized: bool) -> None:
    states, sizes, labels, weight = some_rows(seed)
    information = compute_joining_gains(states, sizes, labels, 3, weight, penalized=penalized)
    edges = build_augmenting_tree(states, sizes, labels, 3, weight, penalized=penalized)
    graph = nx.Graph()
    graph.add_nodes_from(range(6))
    for i, j in itertools.combinations(range(6), 2):
        if information[i, j] > (0 if penalized else -np.inf):
            graph.add_edge(i, j, weight=information[i, j])
    best = nx.maximum_spanning_tree(graph)
    assert {frozenset(edge) for edge in edges} == {frozenset(edge) for edge in best.edges}
    children = [child for _, child in edges]
    assert len(set(children)) == len(children)  # one parent at most
    assert 0 not in children  # the first column is a root
    if not penalized:  # a tree of all columns, but the one of one state
        assert sorted({*children, 0}) == [0, 1, 3, 4, 5]


def test_independent_columns_are_rarely_joined() -> None:
    joined = 0
    for seed in range(50):
        random = np.random.default_rng(seed)
        states = random.integers(6, size=(2000, 2)).astype(np.int32)
        labels = random.integers(2, size=2000)
        joined += len(
            build_augmenting_tree(states, (6, 6), labels, 2, np.ones(2000), penalized=True)
        )
        assert build_augmenting_tree(states, (6, 6), labels, 2, np.ones(2000), penalized=False) == [
            (0, 1)
        ]
    assert joined <= 2  # chi squared with 50 degrees of freedom is beyond 100: 3 in 100,000
