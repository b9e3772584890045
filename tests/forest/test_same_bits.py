"""The same bytes with any number of threads, of callers, and from any order of columns."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from tests.forest.tables import FORESTS, Array, bytes_of, classes, numbers, table_for

from arboleda import RandomForestClassifier, RandomForestRegressor
from arboleda._engine import parallel as threads


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run eight threads where eight are requested, whatever the number of processors."""
    monkeypatch.setattr(threads, "count_available_cores", lambda: 8)


def large(forest: Any) -> tuple[Array, Array]:
    X, y = table_for(forest, 6_000)
    X = np.column_stack([X, np.round(X[:, :2] * 2), X[:, :1]])  # ties, and a column twice
    X[::7, 1] = np.nan
    return X, y


@pytest.mark.parametrize("forest", FORESTS)
def test_threads_change_no_byte(forest: Any, cores: None) -> None:
    X, y = large(forest)
    weight = np.random.default_rng(0).random(len(y)) * (np.arange(len(y)) % 5 > 0)
    seen = []
    # More threads than trees: the trees themselves grow on several.
    for n_jobs in (1, 2, 8):
        grown = forest(3, bootstrap=True, oob_score=True, random_state=0, n_jobs=n_jobs)
        with pytest.warns(UserWarning, match="left out by no"):
            grown.fit(X, y, weight)
        predicted = grown.predict_proba(X) if is_classifier(grown) else grown.predict(X)
        seen.append(
            [
                *bytes_of(grown),
                pickle.dumps(grown.forest_),
                predicted.tobytes(),
                grown.feature_importances_.tobytes(),
                grown.oob_curve().error.tobytes(),
                str(grown.oob_score_),
                grown.oob_permutation_importance(X, y).importances.tobytes(),
                grown.apply(X).tobytes(),
            ]
        )
    assert seen[0] == seen[1] == seen[2]


def test_concurrent_callers_get_the_same_bits(cores: None) -> None:
    X, y = large(RandomForestClassifier)
    alone = RandomForestClassifier(4, random_state=0, n_jobs=1).fit(X, y)

    def fitted(seed: int) -> tuple[list[bytes], bytes]:
        grown = RandomForestClassifier(4, random_state=0, n_jobs=2).fit(X, y)
        return bytes_of(grown), alone.predict_proba(X).tobytes()

    expected = bytes_of(alone), alone.predict_proba(X).tobytes()
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(fitted, range(8)))


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_moved_columns_give_the_same_forest(forest: Any) -> None:
    """Where all columns are tried, in nodes so large that no two of them part the rows alike."""
    X, y = table_for(forest, 2_000)
    order = [3, 1, 5, 0, 2, 4]
    kind = {"max_features": None, "random_state": 0, "max_depth": 3, "min_samples_leaf": 50}
    mine, moved = forest(5, **kind).fit(X, y), forest(5, **kind).fit(X[:, order], y)
    for tree, other in zip(mine.estimators_, moved.estimators_, strict=True):
        feature = other.tree_.feature
        np.testing.assert_array_equal(
            tree.tree_.feature, np.where(feature < 0, feature, np.array(order)[feature])
        )
        np.testing.assert_array_equal(tree.tree_.threshold, other.tree_.threshold)
    np.testing.assert_array_equal(mine.predict(X), moved.predict(X[:, order]))


def test_renamed_labels_give_the_same_forest() -> None:
    X, y = classes()
    mine = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    renamed = RandomForestClassifier(40, oob_score=True, random_state=0)
    renamed.fit(X, np.char.add("class ", y))
    assert bytes_of(mine) == bytes_of(renamed)
    assert mine.oob_score_ == renamed.oob_score_


def test_batches_give_the_same_predictions() -> None:
    X, y = numbers()
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    whole = forest.predict(X)
    parts = [forest.predict(X[i : i + 7]) for i in range(0, 200, 7)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    np.testing.assert_array_equal(whole[::-1], forest.predict(X[::-1]))
