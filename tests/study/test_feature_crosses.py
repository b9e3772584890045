"""A study with generated columns: its facts about them, and its models on new tables."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from arboleda.analysis.explanation.contributions import compute_contributions
from arboleda.catalogue.model import Setting
from arboleda.catalogue.portfolio import PORTFOLIO
from arboleda.catalogue.preparation import make_preparation
from arboleda.features.cross_search import CrossedColumns
from arboleda.features.feature_crosses import FeatureCross, fit_cross
from arboleda.onnx_export import ModelContext, coded_to_onnx
from arboleda.onnx_export._graph import GivenMatrix, Graph
from arboleda.study import Study, StudyResult
from arboleda.study.artifacts.exports import convert_crosses_to_onnx
from arboleda.study.results.explained_model import ExplainedModel, RowSubset
from arboleda.tables.features import Features

KEY = "best_crossed_leafwise"


def cars(n: int = 900) -> pd.DataFrame:
    """What a car is worth beyond the mean of its brand."""
    draw = np.random.default_rng(0)
    brand = draw.integers(0, 40, n)
    price = 10 * draw.normal(size=40)[brand] + draw.normal(size=n)
    means = pd.Series(price).groupby(brand).transform("mean")
    names = np.array([f"brand {k}" for k in range(40)])
    return pd.DataFrame({"price": price, "brand": names[brand], "worth": price - means})


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    out = tmp_path_factory.mktemp("crossed")
    return Study(
        cars(), target="worth", output_dir=out, preset="best", models=KEY, cv=2, lang="es", n_jobs=1
    ).run()


def test_the_facts_name_the_generated_columns(result: StudyResult) -> None:
    schema = json.loads(files("arboleda.facts").joinpath("study.schema.json").read_text("utf-8"))
    jsonschema.validate(result.facts, schema)
    (model,) = (m for m in result.facts["models"] if m["key"] == KEY)
    assert model["preparation"] == "original columns and feature crosses"
    assert model["generated"]["fits"] == 2
    assert model["generated"]["columns"][0] == {
        "name": "price less its mean within brand",
        "kind": "distance",
        "numbers": ["price"],
        "groups": ["brand"],
        "class": None,
        "fits": 2,
    }
    page = (result.folder / "report.html").read_text("utf-8")
    assert "price menos su media en brand" in page
    # Importance is that of the table's own columns.
    assert {c["name"] for c in result.facts["importance"]["columns"]} == {"price", "brand"}


def test_saved_models_predict_new_tables(result: StudyResult) -> None:
    study = Study.load(result.folder)
    rows = study.test_rows()
    model = study.model(KEY)
    rmse = np.sqrt(np.mean((model.predict(rows.X) - rows.y) ** 2))
    model_facts = next(m for m in result.facts["models"] if m["key"] == KEY)
    assert rmse == pytest.approx(model_facts["test"]["metrics"]["rmse"])
    odd = pd.DataFrame({"price": [np.nan, 1.0, 1.0], "brand": ["brand 1", "unknown", None]})
    assert np.isfinite(model.predict(odd)).all()


def subject_of(pipeline: Any, x: np.ndarray, y: np.ndarray) -> ExplainedModel:
    part = RowSubset(x, y, np.arange(len(x)))
    names = tuple(f"c{j}" for j in range(x.shape[1]))
    return ExplainedModel("", {}, "k", pipeline, names, {}, (), (), part, part, 0)


def fitted(n: int = 600) -> tuple[Any, np.ndarray, np.ndarray]:
    """A pipeline of numbers alone, two of which matter by their ratio."""
    draw = np.random.default_rng(0)
    x = draw.lognormal(0, 1, (n, 3))
    x[::9, 0] = np.nan
    y = np.nan_to_num(np.log(x[:, 0] / x[:, 1])) + 0.1 * draw.normal(size=n)
    model = next(m for m in PORTFOLIO if m.key == KEY and m.task == "regression")
    features = Features(x, ("a", "b", "c"), (), {})
    setting = Setting(n, 0, 0)
    made = make_preparation(features, model.style, "regression", 0)
    estimator = model.build(setting, model.grid(setting)[0])
    pipeline = Pipeline([("preparation", made), ("model", estimator)]).fit(x, y)
    assert pipeline[0].crosses_
    return pipeline, x, y


def test_shapley_values_are_divided_among_the_sources() -> None:
    pipeline, x, y = fitted()
    shares = compute_contributions(subject_of(pipeline, x, y), x[:20], 0, 2)
    assert shares is not None
    assert shares.contributions.shape == (20, 3)
    np.testing.assert_allclose(
        shares.base + shares.contributions.sum(axis=1), pipeline.predict(x[:20]), atol=1e-6
    )


def test_generated_numeric_columns_are_exported_to_onnx() -> None:
    ort = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    pipeline, x, _ = fitted()
    x[:4] = [[1, 0, 1], [0, 0, 1], [1e308, 1e-308, 1], [-1e308, 1e308, 0]]
    found = coded_to_onnx(
        pipeline,
        ["a", "b", "c"],
        {},
        missing=[],
        extra_converters={CrossedColumns: convert_crosses_to_onnx},
    )
    session = ort.InferenceSession(found.SerializeToString(), providers=["CPUExecutionProvider"])
    predicted = session.run(None, {name: x[:, [j]] for j, name in enumerate("abc")})[0]
    np.testing.assert_allclose(predicted.ravel(), pipeline.predict(x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["mean", "sd", "distance", "count", "target"])
@pytest.mark.parametrize("groups", [(2,), (2, 3)], ids=["level", "pair"])
def test_generated_group_columns_are_exported_to_onnx(kind: Any, groups: tuple[int, ...]) -> None:
    ort = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    draw = np.random.default_rng(1)
    x = np.column_stack([draw.normal(size=(300, 2)), draw.integers(-1, 9, 300), np.arange(300) % 4])
    x[::7, 0] = np.nan
    x[::11, 2] = np.nan
    y = draw.normal(size=300)
    idea = FeatureCross(kind, () if kind in ("count", "target") else (0,), groups)
    made = CrossedColumns(("a", "b", "c", "d"), (2, 3), "regression").fit(x, y)
    made.made_ = [fit_cross(idea, x, y[:, np.newaxis], 0)[0]]
    x[:9, 2], x[9:18, 3], x[3] = 77.0, 77.0, [1e308, 1, 77, 77]  # levels that no row had
    graph = Graph()
    matrix = graph.input("X", "float64", 4)
    found = convert_crosses_to_onnx(made, ModelContext(graph, GivenMatrix(graph, matrix)))
    graph.output("found", found, "float64", [None, 5])
    session = ort.InferenceSession(graph.model("a test").SerializeToString())
    (predicted,) = session.run(None, {"X": x})
    np.testing.assert_array_equal(predicted, made.transform(x))
