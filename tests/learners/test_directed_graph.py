"""Directed graphs: d-separation against networkx, the course's exercise, edges that are refused."""

import itertools
import pickle
import re
from typing import Any

import networkx as nx
import numpy as np
import pytest

from arboleda import DirectedGraph


def random_edges(n_nodes: int, share: float, random: np.random.Generator) -> list[tuple[int, int]]:
    order = random.permutation(n_nodes).tolist()
    pairs = itertools.combinations(order, 2)
    return [pair for pair in pairs if random.random() < share]


@pytest.mark.parametrize("seed", range(60))
def test_d_separation_matches_networkx(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_nodes = int(random.integers(2, 11))
    edges = random_edges(n_nodes, random.choice([0.1, 0.25, 0.5]), random)
    ours = DirectedGraph(edges, range(n_nodes))
    theirs = nx.DiGraph(edges)
    theirs.add_nodes_from(range(n_nodes))
    for _ in range(40):
        part = random.integers(0, 4, size=n_nodes)  # 3: in no set
        a, b, given = ({int(v) for v in np.flatnonzero(part == k)} for k in range(3))
        if a and b:
            assert ours.d_separated(a, b, given) == nx.is_d_separator(theirs, a, b, given)


def test_d_separation_matches_the_exercise_of_the_course() -> None:
    """Bishop (2006), figure 8.2; the way from x1 to x3 by x4 is open, for x6 is below it."""
    pairs = ["14", "24", "34", "15", "35", "46", "47", "57"]
    graph = DirectedGraph([(f"x{parent}", f"x{child}") for parent, child in pairs])
    assert not graph.d_separated("x1", "x3", given="x6")
    assert graph.d_separated("x1", "x3")
    assert graph.d_separated("x6", {"x1", "x5"}, given=["x4"])


def test_names_of_any_type_are_supported() -> None:
    graph = DirectedGraph([(("a", 1), 2), (2, "three")], nodes=["three", 2, ("a", 1), "alone"])
    assert graph.nodes == ("three", 2, ("a", 1), "alone")
    assert graph.edges == ((2, "three"), (("a", 1), 2))
    assert graph.parents(2) == (("a", 1),)
    assert graph.children(2) == ("three",)
    assert graph.d_separated(("a", 1), "three", 2)
    assert graph.d_separated([("a", 1), 2], "alone")
    assert not graph.d_separated(("a", 1), "three")
    assert pickle.loads(pickle.dumps(graph)).edges == graph.edges


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (
            ["ab", "bc", "ca"],
            "cycle 'a' -> 'b' -> 'c' -> 'a': remove one of them, such as 'a' -> 'b'",
        ),
        (["aa"], "cycle 'a' -> 'a'"),
        (["xa", "ab", "bc", "cb", "cy"], "cycle 'b' -> 'c' -> 'b'"),
        (["ab", "bc", "ab"], "'a' -> 'b' is given twice"),
        (["abc"], "('a', 'b', 'c') is not an edge"),
    ],
)
def test_invalid_edges_are_refused(edges: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DirectedGraph([tuple(edge) for edge in edges])


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        (
            [("a", "z")],
            ["a", "b"],
            "'a' -> 'z' names 'z', which is not a node; the nodes are 'a', 'b'",
        ),
        ([], ["a", "b", "a"], "the node 'a' is given twice"),
        (["ab"], None, "'ab' is not an edge: give a pair"),
        ([(["a"], "b")], None, "(['a'], 'b') is not an edge: give a pair"),
        ([("a", "b")], [], "names 'a', which is not a node; the nodes are none"),
    ],
)
def test_unknown_nodes_are_refused(edges: Any, nodes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DirectedGraph(edges, nodes)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("a", "nobody"), "b names 'nobody'"),
        (("a", 3), "b names 3"),
        (("a", "b", "a"), "'a' is in given and a or b"),
        ((["a", "b"], ["b"]), "'b' is in a and b"),
        (([], "b"), "a is empty"),
    ],
)
def test_invalid_queries_are_refused(question: tuple[Any, ...], message: str) -> None:
    graph = DirectedGraph([("a", "b"), ("b", "c")])
    with pytest.raises(ValueError, match=re.escape(message)):
        graph.d_separated(*question)


def test_a_long_chain_is_supported() -> None:
    graph = DirectedGraph([(v, v + 1) for v in range(5000)])
    assert graph.d_separated(0, 5000, given=2500)
    assert not graph.d_separated(0, 5000)
