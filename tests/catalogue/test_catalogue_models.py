"""Every model of the catalogue learns a small table, is kept in files and reads back the same."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline

from arboleda.catalogue import Model, Setting, select_models
from arboleda.catalogue.preparation import make_preparation
from arboleda.study import Study
from arboleda.study.artifacts.model_files import read_model, save_model
from arboleda.tables.features import Features

N = 120
# Predictions of these hardly depend on the columns: the level of the others.
BASELINES = {"most_frequent", "mean"}


def table(task: str) -> tuple[Features, np.ndarray[Any, Any]]:
    """Two informative numbers, one of them with gaps, noise, a category and a truth value."""
    draw = np.random.default_rng(5)
    x = draw.normal(size=(N, 3))
    city = draw.integers(0, 3, N)
    member = draw.integers(0, 2, N)
    signal = 2.0 * x[:, 0] + x[:, 1] + 1.5 * (city == 1) + 0.2 * draw.normal(size=N)
    x[draw.choice(N, 6, replace=False), 2] = np.nan
    matrix = np.column_stack([x, city, member]).astype(float)
    names = ("a", "b", "noise", "city", "member")
    features = Features(matrix, names, (3,), {3: ("Rome", "Oslo", "Lima")}, (4,))
    if task == "regression":
        return features, np.exp(signal / 4.0)
    cuts = [0.5] if task == "binary" else [-0.5, 1.5]
    return features, np.digitize(signal, cuts)


def cases() -> list[Any]:
    return [
        pytest.param(task, model, id=f"{task}-{model.key}")
        for task in ("binary", "multiclass", "regression")
        for model in select_models(task, ["all"])
    ]


def fitted(task: str, model: Model, params: dict[str, Any]) -> tuple[Pipeline, Any, Any, float]:
    features, y = table(task)
    n_classes = 0 if task == "regression" else len(np.unique(y))
    setting = Setting(N, n_classes, 0, features.categorical, features.binary)
    pipeline = Pipeline(
        [
            ("preparation", make_preparation(features, model.style, task, 0)),
            ("model", model.make(setting, params)),
        ]
    )
    pipeline.fit(features.x[:90], y[:90])
    seen, truth = features.x[:90], y[:90]
    score = (accuracy_score if n_classes else r2_score)(truth, pipeline.predict(seen))
    return pipeline, features.x[90:], truth, score


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("task", "model"), cases())
def test_models_are_fitted_and_saved(task: str, model: Model, tmp_path: Path) -> None:
    n_classes = {"binary": 2, "multiclass": 3, "regression": 0}[task]
    grid = model.grid(Setting(N, n_classes, 0, (3,), (4,)))
    pipeline, rest, truth, score = fitted(task, model, grid[-1])
    guess = np.bincount(truth).max() / len(truth) if n_classes else 0.0
    if model.key not in BASELINES:
        assert score > guess + 0.05
    kept = save_model(pipeline, tmp_path, model.key)
    assert kept["error"] is None
    again = read_model(tmp_path, model.key, kept["files"])
    assert np.array_equal(again.predict(rest), pipeline.predict(rest))
    if hasattr(pipeline, "predict_proba"):
        assert np.array_equal(again.predict_proba(rest), pipeline.predict_proba(rest))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("sizes", [(190, 10), (170, 20, 10)])
def test_class_switching_learns_tables_with_a_rare_class(sizes: tuple[int, ...]) -> None:
    """Also where a class has fewer rows than the share of labels that are switched."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.column_stack([y + 0.4 * np.random.default_rng(0).normal(size=200), y * 0.0])
    task = "binary" if len(sizes) == 2 else "multiclass"
    setting = Setting(200, len(sizes), 0)
    (switching,) = [m for m in select_models(task, ["all"]) if m.key == "class_switching"]
    for params in switching.grid(setting):
        assert switching.make(setting, params).fit(X, y).score(X, y) > 0.97


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_every_selection_method_is_saved(task: str, tmp_path: Path) -> None:
    (model,) = select_models(task, ["dynamic_selection"])
    n_classes = {"binary": 2, "multiclass": 3, "regression": 0}[task]
    for params in model.grid(Setting(N, n_classes, 0)):
        pipeline, rest, *_ = fitted(task, model, params)
        kept = save_model(pipeline, tmp_path, model.key)
        assert kept["error"] is None, params
        again = read_model(tmp_path, model.key, kept["files"])
        assert np.array_equal(again.predict(rest), pipeline.predict(rest)), params


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_costs_and_low_fidelity_candidates_belong_to_the_grid(task: str) -> None:
    from arboleda.catalogue.model import Size

    n_classes = {"binary": 2, "multiclass": 3, "regression": 0}[task]
    for model in select_models(task, ["all"]):
        for params in model.grid(Setting(10_000, n_classes, 0)):
            few, many = (model.cost(Size(n, 20, n_classes), params) for n in (1_000, 10_000))
            assert 0 < few < many
            if model.fidelity is not None:
                look = model.fidelity(params, 0.25)
                assert model.make(Setting(10_000, n_classes, 0), look) is not None


def test_prediction_rows_add_cost_where_each_is_compared_with_all() -> None:
    from arboleda.catalogue.model import Size

    (model,) = select_models("binary", ["neighbours"])
    params = model.grid(Setting(1_000, 2, 0))[0]
    one, five_folds, many = (
        model.cost(Size(1_000, 20, 2, n_predicted), params) for n_predicted in (1, 250, 10_000)
    )
    assert five_folds == pytest.approx(2 * one, rel=0.01)
    assert many == pytest.approx(41 * one, rel=0.01)


def test_neighbours_do_not_exceed_the_smallest_fit(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(110, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(y=x[:, 0] > 0, day=np.arange(110))
    keys = "neighbours,best_neighbours,jmi"
    options = {"target": "y", "time": "day", "cv": "time:8", "models": keys, "n_jobs": 1}
    facts = Study(frame, output_dir=tmp_path, search="random:5", **options).run().facts
    alone = [model for model in facts["models"] if not model["ensemble"]]
    assert len(alone) >= 3
    assert all(c["status"] == "ok" for model in alone for c in model["candidates"])


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_search_spaces_contain_the_parameters_of_the_grids(task: str) -> None:
    from arboleda.catalogue.model import Choice

    setting = Setting(N, {"binary": 2, "multiclass": 3, "regression": 0}[task], 0)
    features, y = table(task)
    x = np.nan_to_num(features.x)
    found = 0
    for model in select_models(task, ["all"]):
        if model.space is None:
            continue
        found += 1
        space = model.space(setting)
        assert space.keys() == model.grid(setting)[0].keys()
        ends = [(r.values if isinstance(r, Choice) else (r.low, r.high)) for r in space.values()]
        for corner in (0, -1):
            params = {name: end[corner] for name, end in zip(space, ends, strict=True)}
            if params.get("max_iter", 0) > 100:
                params["max_iter"] = 100
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.make(setting, params).fit(x, y)
    assert found >= 15
