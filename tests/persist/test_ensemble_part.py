"""An ensemble in a model file comes back as it was; the file is what its description says."""

import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.boosting.ensembles import mixed_ensemble, mixed_table
from tests.persist.ensemble_files import from_file, to_file
from tests.persist.twin import FileTwin, TreeTwin, array_content

from arboleda import DecisionTreeRegressor
from arboleda._bridge.ensemble import Ensemble
from arboleda._bridge.table import check_table


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_an_ensemble_comes_back_whole(n_outputs: int) -> None:
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


def test_scores_can_be_told_from_the_description() -> None:
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


def test_a_thousand_trees_are_read_in_a_moment() -> None:
    X = np.random.default_rng(1).normal(size=(2000, 8))
    tree = DecisionTreeRegressor(max_leaf_nodes=31).fit(X, X[:, 0] * X[:, 1]).tree_
    data = to_file(Ensemble.from_trees([0.0], [tree] * 1000))
    assert len(data) < 3_500_000
    begin = time.perf_counter()
    assert from_file(data).n_rounds == 1000
    assert time.perf_counter() - begin < 2.0  # 0.01 s on an idle machine
