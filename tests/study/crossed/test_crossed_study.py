"""A study that makes columns: what it tells of them, and its models on new tables."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline

from arboleda.explanations._shap import shares_of
from arboleda.onnx_export import coded_to_onnx
from arboleda.study import Study, StudyResult
from arboleda.study.catalogue.model import Setting
from arboleda.study.catalogue.portfolio import PORTFOLIO
from arboleda.study.crossed import CrossedColumns
from arboleda.study.crossed.as_onnx import of_crossed
from arboleda.study.features import Features
from arboleda.study.preparation import make_preparation
from arboleda.study.subject import Part, Subject

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
        cars(), target="worth", out=out, preset="best", models=KEY, cv=2, lang="es", jobs=1
    ).run()


def test_the_facts_name_what_was_made(result: StudyResult) -> None:
    schema = json.loads(files("arboleda.study").joinpath("facts.schema.json").read_text("utf-8"))
    jsonschema.validate(result.facts, schema)
    (model,) = (m for m in result.facts["models"] if m["key"] == KEY)
    assert model["preparation"] == "columns made of others beside its own"
    assert model["made"]["fits"] == 2
    assert model["made"]["columns"][0] == {
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


def test_kept_models_answer_new_tables(result: StudyResult) -> None:
    study = Study.load(result.folder)
    rows = study.test_rows()
    model = study.model(KEY)
    rmse = np.sqrt(np.mean((model.predict(rows.X) - rows.y) ** 2))
    told = next(m for m in result.facts["models"] if m["key"] == KEY)
    assert rmse == pytest.approx(told["test"]["metrics"]["rmse"])
    odd = pd.DataFrame({"price": [np.nan, 1.0, 1.0], "brand": ["brand 1", "unknown", None]})
    assert np.isfinite(model.predict(odd)).all()


def subject_of(pipeline: Any, x: np.ndarray, y: np.ndarray) -> Subject:
    part = Part(x, y, np.arange(len(x)))
    names = tuple(f"c{j}" for j in range(x.shape[1]))
    return Subject("", {}, "k", pipeline, names, {}, (), (), part, part, 0)


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
    assert pipeline[0].ideas_
    return pipeline, x, y


def test_shapley_values_are_shared_out_among_the_sources() -> None:
    pipeline, x, y = fitted()
    shares = shares_of(subject_of(pipeline, x, y), x[:20], 0)
    assert shares is not None
    assert shares.pushes.shape == (20, 3)
    np.testing.assert_allclose(
        shares.base + shares.pushes.sum(axis=1), pipeline.predict(x[:20]), atol=1e-6
    )


def test_columns_of_numbers_go_into_onnx() -> None:
    ort = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    pipeline, x, _ = fitted()
    x[:4] = [[1, 0, 1], [0, 0, 1], [1e308, 1e-308, 1], [-1e308, 1e308, 0]]
    found = coded_to_onnx(
        pipeline, ["a", "b", "c"], {}, missing=[], more={CrossedColumns: of_crossed}
    )
    session = ort.InferenceSession(found.SerializeToString(), providers=["CPUExecutionProvider"])
    said = session.run(None, {name: x[:, [j]] for j, name in enumerate("abc")})[0]
    np.testing.assert_allclose(said.ravel(), pipeline.predict(x), rtol=1e-6, atol=1e-6)


def test_columns_of_groups_are_refused_in_onnx() -> None:
    pytest.importorskip("onnx")
    frame = cars()
    codes = np.unique(frame["brand"], return_inverse=True)[1].astype(float)
    x = np.column_stack([frame["price"], codes])
    levels = {1: tuple(f"b{k}" for k in range(40))}
    features = Features(x, ("price", "brand"), (1,), levels)
    pipeline, _, _ = fitted()
    made = make_preparation(features, "crossed", "regression", 0)
    pipeline.steps[0] = ("preparation", made.fit(x, frame["worth"].to_numpy()))
    with pytest.raises(TypeError, match="within brand' is made of groups of rows"):
        coded_to_onnx(pipeline, features.names, {}, missing=[], more={CrossedColumns: of_crossed})
