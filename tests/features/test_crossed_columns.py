"""Which columns are made, what a model makes of them, and odd tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.catalogue.preparation import (
    find_prepared_sources,
    make_preparation,
    name_prepared_columns,
)
from arboleda.features.cross_search import MAX_CROSSES, CrossedColumns
from arboleda.features.feature_crosses import FeatureCross
from arboleda.study.artifacts.model_files import read_model, save_model
from arboleda.tables.features import Features

N = 600


def ratios(n: int = N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A target that rises with the ratio of two columns, and a third column of noise."""
    draw = np.random.default_rng(seed)
    x = np.column_stack([draw.lognormal(0, 1, (n, 2)), draw.normal(size=n)])
    return x, np.log(x[:, 0] / x[:, 1]) + 0.1 * draw.normal(size=n)


def grouped(n: int = 900, seed: int = 0) -> tuple[Features, np.ndarray]:
    """A target that is how far a number is from its group's mean."""
    draw = np.random.default_rng(seed)
    group = draw.integers(0, 40, n)
    number = 10 * draw.normal(size=40)[group] + draw.normal(size=n)
    means = np.array([number[group == g].mean() for g in range(40)])
    x = np.column_stack([number, group, draw.normal(size=n)])
    levels = {1: tuple(f"g{k}" for k in range(40))}
    return Features(x, ("price", "brand", "noise"), (1,), levels), number - means[group]


def test_an_informative_ratio_is_generated_and_helps() -> None:
    x, y = ratios()
    crossed = CrossedColumns(("price", "size", "noise"), (), "regression").fit(x, y)
    assert crossed.crosses_[0] in (FeatureCross("ratio", (0, 1)), FeatureCross("ratio", (1, 0)))
    x_new, y_new = ratios(400, 1)
    options = {"max_iter": 60, "early_stopping": False, "random_state": 0, "n_jobs": 1}
    alone = HistGradientBoostingRegressor(**options).fit(x, y)
    both = make_pipeline(clone(crossed), clone(alone)).fit(x, y)
    errors = [np.mean((model.predict(x_new) - y_new) ** 2) for model in (both, alone)]
    assert errors[0] < 0.7 * errors[1]


def test_the_distance_from_a_groups_mean_is_found() -> None:
    features, y = grouped()
    crossed = make_preparation(features, "crossed", "regression", 0).fit(features.x, y)
    assert crossed.crosses_[0] == FeatureCross("distance", (0,), (1,))
    names = name_prepared_columns(crossed, features, ())
    assert names[:4] == ["price", "brand", "noise", "price less its mean within brand"]
    assert names == crossed.get_feature_names_out().tolist()
    assert find_prepared_sources(crossed, 0)[:4] == [(0,), (1,), (2,), (0, 1)]


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_noise_of_many_levels_does_not_leak_the_target(task: str) -> None:
    """A random category of nearly as many levels as rows is uninformative."""
    draw = np.random.default_rng(3)
    n_classes = 2 if task == "binary" else 3
    x = np.column_stack([draw.integers(0, 500, 800), draw.normal(size=800)])
    y = draw.integers(0, n_classes, 800)
    crossed = CrossedColumns(("who", "noise"), (0,), task)
    prepared = crossed.fit_transform(x[:600], y[:600])
    assert prepared.shape[1] == 2  # nothing is worth making
    model = HistGradientBoostingClassifier(
        max_iter=20, categorical_features=[0], random_state=0, n_jobs=1
    )
    fitted = make_pipeline(crossed, model).fit(x[:600], y[:600])
    assert fitted.score(x[600:], y[600:]) < 1 / n_classes + 0.1


def test_crosses_depend_on_the_seed_but_not_on_predicted_rows() -> None:
    features, y = grouped()
    one, two = (
        make_preparation(features, "crossed", "regression", 5).fit_transform(features.x, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    crossed = make_preparation(features, "crossed", "regression", 5).fit(features.x, y)
    whole = crossed.transform(features.x)
    np.testing.assert_array_equal(crossed.transform(features.x[17:18]), whole[17:18])
    np.testing.assert_array_equal(whole[:, :3], features.x)


def test_new_rows_with_missing_and_unseen_values_are_crossed() -> None:
    features, y = grouped()
    crossed = make_preparation(features, "crossed", "regression", 0).fit(features.x, y)
    new = np.array([[np.nan, 3.0, 1.0], [5.0, 99.0, 1.0], [5.0, -1.0, np.nan], [1e308, 0, -1e308]])
    found = crossed.transform(new)
    distance = found[:, 3]
    assert np.isnan(distance[0])
    assert distance[1] == distance[2] == pytest.approx(5.0 - features.x[:, 0].mean())
    assert not np.isinf(found).any()
    with pytest.raises(ValueError, match="2 columns"):
        crossed.transform(new[:, :2])
    with pytest.raises(ValueError, match="3 are named"):
        crossed.fit(new[:, :2], y[:4])


@pytest.mark.parametrize("labels", [("no", "yes"), ()])
def test_it_is_saved_and_loaded(tmp_path: Path, labels: tuple[str, ...]) -> None:
    features, y = grouped()
    task = "binary" if labels else "regression"
    if labels:
        y = (y > 0).astype(np.int64)
    kind = HistGradientBoostingClassifier if labels else HistGradientBoostingRegressor
    model = kind(max_iter=10, categorical_features=[1], random_state=0, n_jobs=1)
    preparation = make_preparation(features, "crossed", task, 0)
    pipeline = make_pipeline(preparation, model)
    pipeline.steps = [("preparation", preparation), ("model", model)]
    pipeline.fit(features.x, y)
    kept = save_model(pipeline, tmp_path, "crossed")
    assert kept["error"] is None
    assert {"kind": "distance", "numbers": (0,), "groups": (1,), "output": 0} in kept["made"]
    again = read_model(tmp_path, "crossed", kept["files"])
    new = np.vstack([features.x[:50], [[np.nan, 99.0, 1.0]]])
    np.testing.assert_array_equal(again.predict(new), pipeline.predict(new))
    np.testing.assert_array_equal(again[0].transform(new), pipeline[0].transform(new))


ODD: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "one row": (np.ones((1, 2)), np.zeros(1)),
    "few rows": (np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)),
    "constant columns": (np.ones((300, 2)), np.arange(300.0)),
    "constant target": (np.random.default_rng(0).normal(size=(300, 2)), np.ones(300)),
    "nothing known": (np.full((300, 2), np.nan), np.arange(300.0)),
    "one column": (np.random.default_rng(0).normal(size=(300, 1)), np.arange(300.0)),
    "huge": (np.random.default_rng(0).choice([-1e308, 1e308, 0.0], (300, 2)), np.arange(300.0)),
    "infinite": (np.random.default_rng(0).choice([-np.inf, 1.0, 0.0], (300, 2)), np.arange(300.0)),
}


@pytest.mark.parametrize("name", ODD)
def test_degenerate_tables_are_crossed(name: str) -> None:
    x, y = ODD[name]
    names = tuple(f"c{j}" for j in range(x.shape[1]))
    crossed = CrossedColumns(names, (), "regression")
    found = crossed.fit_transform(x, y)
    np.testing.assert_array_equal(found[:, : x.shape[1]], x)
    assert len(crossed.get_feature_names_out()) == found.shape[1]
    assert not np.isinf(found[:, x.shape[1] :]).any()


def test_rare_classes_are_crossed() -> None:
    draw = np.random.default_rng(0)
    x = np.column_stack([draw.integers(0, 3, 400), draw.normal(size=400)])
    rare = np.where(np.arange(400) < 2, 3, (x[:, 1] > 0).astype(int))  # no row of class 2
    for y, task in ((rare, "multiclass"), (np.zeros(400, dtype=int), "binary")):
        crossed = CrossedColumns(("group", "number"), (0,), task)
        assert crossed.fit_transform(x, y).shape[1] <= 2 + MAX_CROSSES


def test_many_levels_and_rows_are_capped() -> None:
    draw = np.random.default_rng(0)
    n = 100_000
    group = draw.permutation(n).astype(float)
    number = draw.normal(size=n)
    x = np.column_stack([group, number, draw.integers(0, 2, n)])
    crossed = CrossedColumns(("id", "number", "side"), (0, 2), "binary")
    found: Any = crossed.fit_transform(x, (number * (x[:, 2] - 0.5) > 0).astype(int))
    assert found.shape[1] <= 3 + MAX_CROSSES
