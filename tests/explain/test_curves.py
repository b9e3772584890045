"""Trees that evaluate all grid points at once predict bitwise the same as point by point."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_regression
from sklearn.dummy import DummyRegressor

from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    PrunedTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from arboleda.explain import _curves
from arboleda.explain._curves import iter_ice_curves, predict_with
from arboleda.explain._outputs import Method, make_output_reader
from arboleda.explain._rows import TableRows, read_rows

DRAW = np.random.default_rng(3)
N = 120
TABLE = pd.DataFrame(
    {
        "size": np.where(DRAW.random(N) < 0.1, np.nan, DRAW.normal(size=N)),
        "colour": pd.Categorical(
            np.where(DRAW.random(N) < 0.1, None, DRAW.choice(["red", "green", "blue"], N))
        ),
        "count": DRAW.integers(0, 9, N),
        "text": DRAW.choice(["a", "b"], N),
    }
)
VALUES = np.nan_to_num(TABLE["size"]) * 3 + (TABLE["colour"] == "red") * TABLE["count"]
CLASSES = np.array(["low", "middle", "high"])[np.digitize(VALUES, [0.0, 2.0])]
MODELS: dict[str, tuple[Any, Any, tuple[Method, ...]]] = {
    "tree of classes": (DecisionTreeClassifier(random_state=0), CLASSES, ("predict_proba",)),
    "tree of numbers": (DecisionTreeRegressor(random_state=0), VALUES, ("predict",)),
    "forest of classes": (
        RandomForestClassifier(7, random_state=0, voting="laplace"),
        CLASSES,
        ("predict_proba",),
    ),
    "forest of medians": (
        RandomForestRegressor(5, criterion="absolute_error", random_state=0),
        VALUES,
        ("predict",),
    ),
    "extra trees": (ExtraTreesRegressor(5, random_state=0), VALUES, ("predict",)),
    "two targets": (
        RandomForestRegressor(5, random_state=0),
        np.column_stack([VALUES, -VALUES]),
        ("predict",),
    ),
    "pruned tree": (PrunedTreeClassifier(cv=3, random_state=0), CLASSES, ("predict_proba",)),
    "bagged trees": (
        BaggingClassifier(n_estimators=5, voting="hard", random_state=0),
        CLASSES,
        ("predict_proba",),
    ),
    "random subspaces": (
        RandomSubspaceRegressor(n_estimators=5, random_state=0),
        VALUES,
        ("predict",),
    ),
    "boosting of classes": (
        HistGradientBoostingClassifier(max_iter=9, random_state=0),
        CLASSES,
        ("predict_proba",),
    ),
    "margins": (
        GradientBoostingClassifier(n_estimators=9, random_state=0),
        CLASSES == "low",
        ("decision_function",),
    ),
    "boosting of counts": (
        HistGradientBoostingRegressor(loss="poisson", max_iter=9, random_state=0),
        np.exp(VALUES / 4),
        ("predict",),
    ),
    "boosting of numbers": (
        GradientBoostingRegressor(n_estimators=9, random_state=0),
        VALUES,
        ("predict",),
    ),
}


def all_of(read: Any, rows: TableRows, axes: Any, **options: Any) -> Any:
    parts = list(iter_ice_curves(read, rows, axes, **options))
    n_points = int(np.prod([len(points) for points in axes.values()]))
    found = np.full((rows.n_rows, n_points, parts[0][2].shape[2]), np.nan)
    for part, points, predictions in parts:
        found[part, points] = predictions
    assert not np.isnan(found).any()
    return found


def grid_of(rows: TableRows, column: int) -> Any:
    distinct = np.unique(rows.values(column)[~rows.missing(column)])[::-2]
    return np.append(distinct, np.nan) if rows.missing(column).any() else distinct


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("columns", [[0], [1], [2], [3], [0, 1], [1, 2]], ids=str)
def test_one_pass_matches_separate_predictions(name: str, columns: list[int]) -> None:
    estimator, y, methods = MODELS[name]
    read = make_output_reader(estimator.fit(TABLE, y), methods)
    rows = read_rows(TABLE, estimator)
    axes = {j: grid_of(rows, j) for j in columns}
    assert _curves._make_tree_curves(read, rows, tuple(columns)) is not None
    expected = all_of(read, rows, axes, by_trees=False)
    np.testing.assert_array_equal(all_of(read, rows, axes), expected)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_change_no_bit(n_jobs: int) -> None:
    estimator = RandomForestRegressor(5, random_state=0).fit(TABLE, VALUES)
    rows = read_rows(TABLE, estimator)
    axes = {0: grid_of(rows, 0)}
    expected = all_of(make_output_reader(estimator.set_params(n_jobs=1)), rows, axes)
    found = all_of(make_output_reader(estimator.set_params(n_jobs=n_jobs)), rows, axes)
    np.testing.assert_array_equal(found, expected)


def test_block_sizes_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(TABLE, CLASSES)
    rows, read = read_rows(TABLE, estimator), make_output_reader(estimator)
    axes = {0: grid_of(rows, 0)}
    expected = all_of(read, rows, axes)
    monkeypatch.setattr(_curves, "_MAX_VALUES", 1000)
    assert len(list(iter_ice_curves(read, rows, axes))) > 1
    np.testing.assert_array_equal(all_of(read, rows, axes), expected)


def test_columns_of_frames_are_matched_by_name() -> None:
    estimator = RandomForestRegressor(5, random_state=0).fit(TABLE, VALUES)
    shuffled = pl.from_pandas(TABLE[["text", "count", "size", "colour"]])
    rows, read = read_rows(shuffled, estimator), make_output_reader(estimator)
    axes = {
        rows.find_column("size"): np.array([-1.0, 0.5]),
        rows.find_column("colour"): np.arange(3.0),
    }
    assert _curves._make_tree_curves(read, rows, tuple(axes)) is not None
    expected = all_of(read, rows, axes, by_trees=False)
    np.testing.assert_array_equal(all_of(read, rows, axes), expected)


def test_sparse_tables_are_supported() -> None:
    X, y = make_regression(60, 4, random_state=0)
    table = sparse.csr_array(np.where(np.abs(X) < 0.7, 0.0, X))
    estimator = RandomForestRegressor(5, random_state=0).fit(table, y)
    rows, read = read_rows(table, estimator), make_output_reader(estimator)
    axes = {1: np.array([-1.0, 0.0, 1.0])}
    expected = all_of(read, rows, axes, by_trees=False)
    np.testing.assert_array_equal(all_of(read, rows, axes), expected)


class Doubled(RandomForestRegressor):
    """A user-defined class whose predictions differ from its trees'."""

    def predict(self, X: Any) -> Any:
        return 2 * super().predict(X)


@pytest.mark.parametrize(
    "estimator",
    [
        Doubled(3, random_state=0),
        BaggingRegressor(Doubled(3, random_state=0), n_estimators=2, random_state=0),
        GradientBoostingRegressor(n_estimators=3, init=DummyRegressor(), random_state=0),
        HistGradientBoostingRegressor(max_iter=3, category_encoding="ordered", random_state=0),
        HistGradientBoostingRegressor(max_iter=3, linear_leaves=True, random_state=0),
    ],
    ids=["derived", "any members", "init", "statistics", "linear"],
)
def test_models_with_more_than_trees_predict_every_point(estimator: Any) -> None:
    estimator.fit(TABLE, VALUES)
    rows, read = read_rows(TABLE, estimator), make_output_reader(estimator)
    assert _curves._make_tree_curves(read, rows, (1,)) is None
    found = all_of(read, rows, {1: np.array([2.0, 0.0])})
    np.testing.assert_array_equal(found[:, 0, 0], estimator.predict(TABLE.assign(colour="red")))


def test_many_rows_are_predicted_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = RandomForestRegressor(3, random_state=0).fit(TABLE, VALUES)
    rows, read = read_rows(TABLE, estimator), make_output_reader(estimator)
    values = {0: np.linspace(-1, 1, N)}
    expected = predict_with(read, rows, values)
    monkeypatch.setattr(_curves, "MAX_ROWS", 50)
    np.testing.assert_array_equal(predict_with(read, rows, values), expected)
