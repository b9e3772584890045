"""An ensemble is restored from its model file; the file matches its description."""

import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.boosting.ensembles import mixed_ensemble, mixed_table
from tests.boosting.loop import Problem
from tests.persist.ensemble_files import from_file, to_file
from tests.persist.twin import FileTwin, TreeTwin, array_content

from arboleda import DecisionTreeRegressor
from arboleda._engine.columns import DenseTable
from arboleda._engine.ensemble import Ensemble
from arboleda._engine.table import check_table


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_an_ensemble_is_restored_completely(n_outputs: int) -> None:
    ensemble, reader = mixed_ensemble(mixed_table(), n_outputs)
    again = from_file(to_file(ensemble))
    assert (again.n_outputs, again.n_rounds, again.n_trees) == (n_outputs, 5, 5 * n_outputs)
    assert_array_equal(again.start, ensemble.start, strict=True)
    assert to_file(again) == to_file(ensemble)
    table = check_table(reader, mixed_table(50, seed=1), reset=False)
    assert again.scores(table).tobytes() == ensemble.scores(table).tobytes()
    assert_array_equal(again.gain_importances(), ensemble.gain_importances())


def test_an_ensemble_without_rounds_is_its_start() -> None:
    again = from_file(to_file(Ensemble.from_trees([1.5, -0.0], [])))
    assert again.n_rounds == 0
    assert again.start.tobytes() == np.array([1.5, -0.0]).tobytes()


def test_scores_can_be_computed_from_the_description() -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    models = [DecisionTreeRegressor(max_depth=d).fit(X, X[:, 0] * X[:, 1]) for d in (2, 3, 4, 5)]
    ensemble = Ensemble.from_trees([0.5, -1.0], [model.tree_ for model in models])
    twin = FileTwin.read(to_file(ensemble))
    entry = twin.json
    assert entry == {"first_tree": 0, "n_trees": 4, "start": {"array": "ensemble_.start"}}
    assert twin.sections[4] == (b"ARRY", array_content("ensemble_.start", [0.5, -1.0]))
    expected = ensemble.scores(check_table(models[0], X, reset=False))
    for row, scores in zip(X, expected, strict=True):
        found = [0.5, -1.0]
        for i in range(entry["n_trees"]):
            tree = TreeTwin.read(twin.sections[entry["first_tree"] + i][1]).arrays
            node = 0
            while tree["right"][node] >= 0:
                left = row[tree["feature"][node]] <= tree["threshold"][node]
                node = node + 1 if left else tree["right"][node]
            found[i % 2] += tree["value"][node]
        assert_array_equal(scores, found)


def test_scores_of_linear_leaves_can_be_computed_from_the_description() -> None:
    problem = Problem.make(200)
    options = {"exact": False, "linear_leaves": True, "n_rounds": 4}
    ensemble = problem.fit("squared_error", **options).ensemble
    twin = FileTwin.read(to_file(ensemble))
    assert twin.json["linear"] is True
    parts = ensemble.linear
    for name in ("start", "intercept", "feature", "coefficient", "low", "high"):
        numbers = parts[f"linear.{name}"].tolist()
        assert (b"ARRY", array_content(f"ensemble_.linear.{name}", numbers)) in twin.sections
    start, intercept = parts["linear.start"], parts["linear.intercept"]
    terms = [parts[f"linear.{name}"] for name in ("feature", "coefficient", "low", "high")]
    rows = 3.0 * problem.X[:50]
    rows[::5, 1] = np.nan
    expected = ensemble.scores(DenseTable(list(rows.T), 50, (0, 0, 0)))[:, 0]
    for row, score in zip(rows, expected, strict=True):
        found, first = ensemble.start[0], 0
        for kind, content in twin.sections[:4]:
            assert kind == b"TREE"
            tree = TreeTwin.read(content).arrays
            node = 0
            while tree["right"][node] >= 0:
                x = row[tree["feature"][node]]
                left = tree["missing_left"][node] if np.isnan(x) else x <= tree["threshold"][node]
                node = node + 1 if left else tree["right"][node]
            output = intercept[first + node]
            own = range(start[first + node], start[first + node + 1])
            for feature, coefficient, low, high in ([part[e] for part in terms] for e in own):
                output += coefficient * (min(max(row[feature], low), high) - low)
            lacks = any(np.isnan(row[terms[0][e]]) for e in own)
            found += output if own and not lacks else tree["value"][node]
            first += len(tree["right"])
        assert score == found


def test_a_thousand_trees_are_read_quickly() -> None:
    X = np.random.default_rng(1).normal(size=(2000, 8))
    tree = DecisionTreeRegressor(max_leaf_nodes=31).fit(X, X[:, 0] * X[:, 1]).tree_
    data = to_file(Ensemble.from_trees([0.0], [tree] * 1000))
    assert len(data) < 3_500_000
    begin = time.perf_counter()
    assert from_file(data).n_rounds == 1000
    assert time.perf_counter() - begin < 2.0  # 0.01 s on an idle machine
