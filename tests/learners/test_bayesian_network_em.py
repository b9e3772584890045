"""Expectation-maximization: never down, one iteration as in the textbook, and what it recovers."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from arboleda import BayesianNetworkClassifier, DirectedGraph
from arboleda.learners._bayesian_network_inference import learn_tables
from arboleda.learners._bayesian_network_tables import MISSING, Network, count, estimate


def some_rows(seed: int) -> tuple[Network, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = tuple(random.integers(2, 4, size=5).tolist())
    order = random.permutation(5).tolist()
    edges = [pair for pair in itertools.combinations(order, 2) if random.random() < 0.5]
    states = random.integers(0, 100, size=(60, 5))
    states[:, 1:] += states[:, :-1] // 2  # columns depend on each other
    states = (states % np.array(sizes)).astype(np.int32)
    states[random.random(states.shape) < 0.3] = MISSING
    states[0] = MISSING  # a row of which nothing is known
    return Network(DirectedGraph(edges, range(5)), sizes), states, random.random(60) + 0.1


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_em_objective_never_decreases(seed: int, alpha: float) -> None:
    network, states, weight = some_rows(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learned = learn_tables(network, states, weight, alpha, 40, 0.0)
    assert (np.diff(learned.log_posterior) >= -1e-9).all()
    assert learned.log_posterior[-1] > learned.log_posterior[0]
    if alpha == 0.0:
        np.testing.assert_array_equal(learned.log_likelihood, learned.log_posterior)
    for node, table in enumerate(learned.tables):
        np.testing.assert_allclose(table.sum(axis=network.family(node).index(node)), 1.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_one_iteration_matches_the_textbook(seed: int, alpha: float) -> None:
    """Every row is completed in every way, each with its probability as its weight."""
    network, states, weight = some_rows(seed)
    tables = estimate(network, count(network, states, weight), 1.0)
    for n_iterations in (1, 2):
        expected = [np.full(network.shape(node), alpha) for node in range(5)]
        for row, w in zip(states, weight, strict=True):
            free = [
                range(size) if state == MISSING else [state]
                for size, state in zip(network.sizes, row, strict=True)
            ]
            ways = list(itertools.product(*free))
            places = [
                [tuple(way[member] for member in network.family(node)) for node in range(5)]
                for way in ways
            ]
            chances = np.array(
                [np.prod([tables[node][at[node]] for node in range(5)]) for at in places]
            )
            for at, share in zip(places, chances / chances.sum(), strict=True):
                for node in range(5):
                    expected[node][at[node]] += w * share
        tables = [
            table / table.sum(axis=network.family(node).index(node), keepdims=True)
            for node, table in enumerate(expected)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learned = learn_tables(network, states, weight, alpha, n_iterations, 0.0)
        for ours, theirs in zip(learned.tables, tables, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    likelihood = sum(
        w
        * np.log(
            sum(
                np.prod([tables[v][tuple(way[m] for m in network.family(v))] for v in range(5)])
                for way in itertools.product(
                    *(
                        range(s) if x == MISSING else [x]
                        for s, x in zip(network.sizes, row, strict=True)
                    )
                )
            )
        )
        for row, w in zip(states, weight, strict=True)
    )
    assert learned.log_likelihood[-1] == pytest.approx(likelihood)


def test_em_corrects_values_missing_at_random() -> None:
    """The rows that have a value are no fair sample, yet the tables are those of all rows."""
    random = np.random.default_rng(0)
    n_rows = 20_000
    a = random.integers(2, size=n_rows)
    b = (random.random(n_rows) < 0.2 + 0.6 * a) * 1
    y = (random.random(n_rows) < 0.3 + 0.4 * b) * 1
    X = pd.DataFrame({"a": a, "b": b}).astype(float)
    X.loc[(y == 1) & (random.random(n_rows) < 0.8), "b"] = np.nan
    edges = [("a", "b"), ("b", "y")]
    model = BayesianNetworkClassifier(edges, alpha=0.0, n_bins=2, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.tables_["b"][:, 1], [0.2, 0.8], atol=0.02)
    np.testing.assert_allclose(model.tables_["y"][:, 1], [0.3, 0.7], atol=0.02)
    complete = X["b"].notna()
    biased = BayesianNetworkClassifier(edges, alpha=0.0, n_bins=2).fit(X[complete], y[complete])
    assert biased.tables_["y"][1, 1] < 0.4


def test_too_few_iterations_raise_a_warning() -> None:
    network, states, weight = some_rows(0)
    del network, weight
    X = np.where(states == MISSING, np.nan, states)
    y = np.arange(60) % 2
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        model = BayesianNetworkClassifier(n_bins=3, max_iter=1, tol=0.0).fit(X, y)
    assert model.n_iter_ == len(model.log_likelihood_) == 1
