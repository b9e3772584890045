"""Models of a study as ONNX: from the table's columns to the prediction."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboleda.catalogue import kernels
from arboleda.cli import main
from arboleda.study import Study, StudyError
from arboleda.study.artifacts.exports import export
from arboleda.study.artifacts.loaded import load_study
from arboleda.study.combination.estimators import CombinedClassifier, CombinedRegressor

pytestmark = pytest.mark.usefixtures("undrawn")

ort = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """A study of models with either preparation, and their combinations."""
    out = tmp_path_factory.mktemp("exports") / "study"
    keys = "random_forest,logistic"
    Study(mixed, target="rich", output_dir=out, models=keys, cv=2, n_jobs=1).run()
    return out


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """A study of a target of values."""
    out = tmp_path_factory.mktemp("exports") / "study"
    keys = "cart,linear"
    table = mixed[["age", "city", "wealth"]].dropna(subset=["age"])
    Study(table, target="age", output_dir=out, models=keys, cv=2, n_jobs=1).run()
    return out


@pytest.fixture(scope="module")
def portfolio(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """A study of configurations of preset "best", one of each kind."""
    out = tmp_path_factory.mktemp("exports") / "study"
    kinds = "symmetric leafwise linear_leaves dart crossed_leafwise extra_trees network"
    kinds += " ranked_linear svm neighbours"
    keys = ",".join(f"best_{kind}" for kind in kinds.split())
    Study(mixed, target="rich", output_dir=out, preset="best", models=keys, cv=2, n_jobs=1).run()
    return out


@pytest.fixture(scope="module", params=[2, 3, 0], ids=["two classes", "three", "values"])
def layered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of so many rows that trees are the second layer."""
    out = tmp_path_factory.mktemp("exports") / "study"
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.normal(size=(300, 4)), columns=list("abcd"))
    target = table["a"] + table["b"] * table["c"] + draw.normal(scale=0.3, size=300)
    n_classes = request.param
    table["y"] = pd.qcut(target, n_classes, labels=list("xyz"[:n_classes])) if n_classes else target
    models = "cart,logistic" if n_classes else "cart,linear"
    Study(table, target="y", output_dir=out, models=models, cv=2, n_jobs=1).run()
    return out


@pytest.fixture(scope="module", params=["exact", "mapped"])
def machines(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three classes with a model that has no probabilities."""
    out = tmp_path_factory.mktemp("exports") / "study"
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "mapped":
            patch.setattr(kernels, "EXACT_ROWS", 10)
            patch.setattr(kernels, "SVM_POINTS", 40)
            patch.setattr("arboleda.study.problem._exact_seconds", lambda *_: 0.0)
        options = {"target": "target", "preset": "thesis", "models": "svm,lda,cart"}
        Study("wine", output_dir=out, cv=3, n_jobs=1, **options).run()
    return out


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> Path:
    """A study of a model that has no operators in ONNX."""
    out = tmp_path_factory.mktemp("exports") / "study"
    Study(mixed[["age", "rich"]], target="rich", output_dir=out, models="qda", cv=2, n_jobs=1).run()
    return out


def run_session(path: Path, folder: Path, frame: pd.DataFrame) -> list[np.ndarray]:
    """Return the outputs of onnxruntime for the rows of a frame."""
    session = ort.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    x = load_study(folder).encode(frame)
    given = {}
    for item in session.get_inputs():
        if "string" in item.type:
            text = frame[item.name].astype(object).where(frame[item.name].notna(), "")
            given[item.name] = text.astype(str).to_numpy(dtype=object)[:, None]
        else:
            given[item.name] = x.x[:, [x.names.index(item.name)]]
    return session.run(None, given)


@pytest.mark.parametrize("key", ["random_forest", "logistic"])
def test_every_preparation_is_exported(
    key: str, folder: Path, mixed: pd.DataFrame, tmp_path: Path
) -> None:
    found = export(folder, tmp_path / "model.onnx", model=key)
    study = load_study(folder)
    frame = mixed.copy()
    text = [c for c in study.layout.levels if c >= 0]
    name = study.layout.names[text[0]]
    frame[name] = frame[name].astype(object)
    frame.loc[:4, name] = "nobody has seen this"
    label, shares = run_session(found.path, folder, frame)
    model = study.model(key)
    predicted = model.predict_proba(frame)
    np.testing.assert_allclose(shares, predicted, atol=1e-9)
    assert (label == model.predict(frame)).all()


def test_the_command_exports_the_model(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "best.onnx"
    with pytest.raises(SystemExit) as stop:
        main(["export", str(folder), "--onnx", "--model", "random_forest", "-o", str(out)])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"Model: {out} (Random forest)\n"
    assert out.stat().st_size > 0
    with pytest.raises(SystemExit) as stop:
        main(["export", str(folder), "--model", "random_forest"])
    assert stop.value.code == 0
    assert (folder / "random_forest.onnx").read_bytes() == out.read_bytes()


def test_the_whole_portfolio_is_exported(
    portfolio: Path, mixed: pd.DataFrame, tmp_path: Path
) -> None:
    read = load_study(portfolio)
    assert len(read.keys) > 12
    # With more than 15 features, scikit-learn's neighbours take distances from matrix products:
    # that of a training row to itself is then a rest of rounding; the exported model has exactly 0.
    rows = mixed.assign(wealth=mixed["wealth"] + 0.01)
    for key in read.keys:
        found = export(portfolio, tmp_path / f"{key}.onnx", model=key)
        predicted = read.model(key).predict_proba(rows)
        shares = run_session(found.path, portfolio, rows)[1]
        np.testing.assert_allclose(shares, predicted, rtol=1e-9, atol=1e-9, err_msg=key)


@pytest.mark.parametrize("study", ["folder", "values"])
def test_combinations_are_exported(
    study: str, request: pytest.FixtureRequest, mixed: pd.DataFrame, tmp_path: Path
) -> None:
    made: Path = request.getfixturevalue(study)
    mixed = mixed.dropna(subset=["age"])
    read = load_study(made)
    combined = (CombinedClassifier, CombinedRegressor)
    last = {key: read.model(key).pipeline_.steps[-1][1] for key in read.keys}
    keys = [key for key, model in last.items() if isinstance(model, combined)]
    assert keys
    for key in keys:
        found = export(made, tmp_path / f"{key}.onnx", model=key)
        outputs = run_session(found.path, made, mixed)
        model = read.model(key)
        predicted = model.predict_proba(mixed) if len(outputs) == 2 else model.predict(mixed)
        np.testing.assert_allclose(outputs[-1], predicted, rtol=1e-9, atol=1e-9)


def test_a_model_without_probabilities_and_its_combinations_are_exported(
    machines: Path, tmp_path: Path
) -> None:
    read = load_study(machines)
    draw = np.random.default_rng(0)
    rows = read.test_rows().X.to_pandas()
    frame = pd.concat([rows, rows * draw.normal(1.0, 0.2, rows.shape)], ignore_index=True)
    combined = [key for key in read.keys if "stack" in key or "vote" in key or "greedy" in key]
    assert len(combined) >= 3
    for key in ["svm", *combined]:
        model = read.model(key)
        found = export(machines, tmp_path / f"{key}.onnx", model=key)
        label, predicted = run_session(found.path, machines, frame)
        assert (label == model.predict(frame)).all()
        scores = read.encode(frame).x
        expected = (
            model.pipeline_.decision_function(scores)
            if key == "svm"
            else model.predict_proba(frame)
        )
        np.testing.assert_allclose(predicted, expected, rtol=1e-9, atol=1e-9, err_msg=key)


def test_a_second_layer_is_exported(layered: Path, tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    table = pd.DataFrame(draw.normal(scale=2.0, size=(2_000, 4)), columns=list("abcd"))
    model = load_study(layered).model("boosted_stacking")
    found = export(layered, tmp_path / "model.onnx", model="boosted_stacking")
    outputs = run_session(found.path, layered, table)
    predicted = model.predict_proba(table) if len(outputs) == 2 else model.predict(table)
    np.testing.assert_allclose(outputs[-1], predicted, rtol=1e-9, atol=1e-9)
    assert len(np.unique(predicted)) > 100


def test_errors_name_what_cannot_be_exported(folder: Path, unknown: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.onnx"
    with pytest.raises(StudyError, match="cannot be exported: QuadraticDiscriminantAnalysis"):
        export(unknown, out)
    assert not out.exists()
    with pytest.raises(StudyError, match="has no model 'nothing'"):
        export(folder, model="nothing")
    with pytest.raises(StudyError, match="cannot be written"):
        export(folder, tmp_path / "nowhere" / "model.onnx", model="random_forest")
