"""Every model of the catalogue is kept and read back; nothing in a hostile file is run."""

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, SVR
from skops.io import dumps

from arboleda.study import StudyError
from arboleda.study.artifacts.files import put
from arboleda.study.artifacts.model_files import keep_model, read_model
from arboleda.study.artifacts.skops_file import (
    SkopsFileError,
    estimators_from_bytes,
    estimators_to_bytes,
)
from arboleda.study.catalogue import ALL, kernels
from arboleda.study.config.settings import Settings
from arboleda.study.data.reading import read_table
from arboleda.study.plan import Plan, make_plan

IRIS = load_iris(return_X_y=True)


def plan_of(mixed: pd.DataFrame, target: str) -> Plan:
    """A plan with every model, over a table that also has a column of many levels."""
    streets = np.random.default_rng(0).choice([f"street {i}" for i in range(40)], len(mixed))
    table = read_table(mixed.assign(street=streets))
    return make_plan(table, target, Settings(models=(ALL,)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("target", ["rich", "wealth"])
def test_every_model_is_kept(mixed: pd.DataFrame, tmp_path: Path, target: str) -> None:
    plan = plan_of(mixed, target)
    assert len(plan.models) > 15
    x, train = plan.features.x, plan.split.train
    for model in plan.models:
        pipeline = plan.test_job(model, plan.candidates(model)[0]).pipeline
        pipeline.fit(x[train], plan.target.y[train])
        before = answers(pipeline, x)
        kept = keep_model(pipeline, tmp_path, model.key)
        assert kept["error"] is None, model.key
        ours = model.engine == "arboleda" and hasattr(pipeline[-1], "save")
        assert (f"{model.key}.arboleda" in kept["files"]) == ours
        assert (answers(read_model(tmp_path, model.key, kept["files"]), x) == before).all()
        # Keeping a model leaves it as it is.
        assert (answers(pipeline, x) == before).all()


def answers(pipeline: Any, x: Any) -> Any:
    return pipeline.predict_proba(x) if hasattr(pipeline, "predict_proba") else pipeline.predict(x)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("target", ["rich", "wealth"])
def test_kernels_of_many_rows_are_kept(
    mixed: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(kernels, "EXACT_ROWS", 50)
    monkeypatch.setattr(kernels, "SVM_POINTS", 20)
    monkeypatch.setattr(kernels, "RIDGE_POINTS", 20)
    monkeypatch.setattr("arboleda.study.plan._exact_seconds", lambda *_: 0.0)
    plan = plan_of(mixed, target)
    for model in (m for m in plan.models if m.key in ("svm", "kernel_ridge")):
        pipeline = plan.test_job(model, plan.candidates(model)[0]).pipeline
        pipeline.fit(plan.features.x, plan.target.y)
        kept = keep_model(pipeline, tmp_path, model.key)
        again = read_model(tmp_path, model.key, kept["files"])
        assert (again.predict(plan.features.x) == pipeline.predict(plan.features.x)).all()


def bare(model: Any) -> Pipeline:
    return Pipeline([("preparation", "passthrough"), ("model", model)]).fit(*IRIS)


@pytest.mark.parametrize("model", [KNeighborsClassifier(), KNeighborsRegressor(weights="distance")])
def test_a_search_tree_is_not_kept_but_grown_again(tmp_path: Path, model: Any) -> None:
    pipeline = bare(model)
    assert model._tree is not None
    kept = keep_model(pipeline, tmp_path, "neighbours")
    assert model._tree is not None
    again = read_model(tmp_path, "neighbours", kept["files"])
    assert type(again[-1]._tree) is type(model._tree)
    assert (again.predict(IRIS[0]) == pipeline.predict(IRIS[0])).all()


def test_what_is_not_trusted_is_not_kept(tmp_path: Path) -> None:
    kept = keep_model(bare(RandomForestClassifier(n_estimators=2)), tmp_path, "forest")
    assert kept["files"] == {}
    assert "sklearn.ensemble._forest.RandomForestClassifier, which is not trusted" in kept["error"]
    assert list(tmp_path.iterdir()) == []


def rewritten(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The archive with another description."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "schema.json":
                description = json.loads(data)
                change(description)
                data = json.dumps(description).encode()
            new.writestr(name, data)
    return out.getvalue()


def logistic() -> bytes:
    pipeline = make_pipeline(LogisticRegression(max_iter=500)).fit(*IRIS)
    return estimators_to_bytes([None, pipeline])


def node(module: str, name: str, loader: str, **more: Any) -> dict[str, Any]:
    return {"__module__": module, "__class__": name, "__loader__": loader, **more}


JSON_ARGS = node("builtins", "tuple", "TupleNode", content=[])
HOSTILE = {
    "a function": node("os", "system", "FunctionNode"),
    "a type of the system": node("subprocess", "Popen", "TypeNode"),
    "a constructor": node("os", "system", "ConstructorFromReduceNode", content=JSON_ARGS),
    "a trusted type's constructor": node(
        "sklearn.pipeline", "Pipeline", "ConstructorFromReduceNode", content=JSON_ARGS
    ),
    "a method": node("builtins", "str", "MethodNode", content={"func": "format", "obj": JSON_ARGS}),
    "an operator": node("operator", "methodcaller", "OperatorFuncNode", attrs=JSON_ARGS),
    "a partial": node("functools", "partial", "PartialNode", content={}),
    "an estimator that is not listed": node(
        "sklearn.tree._classes", "ExtraTreeClassifier", "ObjectNode"
    ),
    "a compiled tree": node("sklearn.tree._tree", "Tree", "TreeNode"),
    "a reference": {"__loader__": "CachedNode", "__id__": 1, "__module__": "a", "__class__": "b"},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_descriptions_of_other_things_are_refused(name: str) -> None:
    content = rewritten(logistic(), lambda d: d["content"].append(HOSTILE[name]))
    with pytest.raises(SkopsFileError):
        estimators_from_bytes(content)


def test_a_pipelines_cache_is_refused(tmp_path: Path) -> None:
    pipeline = make_pipeline(LogisticRegression(max_iter=500), memory=str(tmp_path)).fit(*IRIS)
    with pytest.raises(TypeError, match="memory of its Pipeline is not None"):
        estimators_to_bytes([None, pipeline])

    def cache(description: dict[str, Any]) -> None:
        attributes = description["content"][1]["content"]["content"]
        attributes["memory"]["content"] = json.dumps(str(tmp_path))
        del attributes["memory"]["__id__"]  # or it is the first None of the file

    with pytest.raises(SkopsFileError, match="memory of its Pipeline is not None"):
        estimators_from_bytes(rewritten(logistic(), cache))


def test_arrays_that_promise_more_than_they_hold_are_refused() -> None:
    content = logistic()
    out = io.BytesIO()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, header.getvalue() if name.endswith(".npy") else old.read(name))
    with pytest.raises(SkopsFileError, match="not as long as it says"):
        estimators_from_bytes(out.getvalue())


def test_compressed_archives_and_pickles_are_refused() -> None:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(logistic())) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(SkopsFileError, match="compressed"):
        estimators_from_bytes(out.getvalue())
    with pytest.raises(SkopsFileError):
        estimators_from_bytes(pickle.dumps([None, None]))
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(logistic())) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, objects.getvalue() if name.endswith(".npy") else old.read(name))
    with pytest.raises(SkopsFileError, match="of the type object"):
        estimators_from_bytes(out.getvalue())


def test_damaged_bytes_are_one_error() -> None:
    content = logistic()
    draw = np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(content[: draw.integers(len(content)) + 1])
        for place in draw.integers(len(damaged), size=3):
            damaged[place] = draw.integers(256)
        try:
            found = estimators_from_bytes(bytes(damaged))
        except SkopsFileError:
            continue
        assert isinstance(found, list)


@pytest.mark.parametrize(
    "change",
    [
        {"_n_support": np.array([10**6, 1, 1], dtype=np.int32)},
        {"support_vectors_": np.zeros((1, 4))},
        {"_dual_coef_": np.zeros((2, 3))},
        {"_intercept_": np.zeros(1)},
        {"_probA": np.zeros(7)},
        {"kernel": "precomputed"},
        {"support_": None},
    ],
)
@pytest.mark.parametrize("machine", [SVC, SVR])
def test_machines_whose_parts_do_not_fit_are_refused(
    tmp_path: Path, machine: Any, change: dict[str, Any]
) -> None:
    pipeline = bare(machine())
    good = keep_model(pipeline, tmp_path, "svm")
    assert is_classifier(read_model(tmp_path, "svm", good["files"])) == (machine is SVC)
    if machine is SVR and "_intercept_" in change:
        change = {"_intercept_": np.zeros(2)}
    vars(pipeline[-1]).update(change)
    assert "of its SV" in keep_model(pipeline, tmp_path, "svm")["error"]
    files = {"svm.skops": put(tmp_path, "svm.skops", dumps([None, pipeline[-1]]))}
    with pytest.raises(StudyError, match="of its SV"):
        read_model(tmp_path, "svm", files)


def test_keys_that_leave_the_folder_are_refused(tmp_path: Path) -> None:
    for key in ("../svm", "a/b", "", "A", "x" * 70):
        with pytest.raises(ValueError, match="no model's key"):
            read_model(tmp_path, key, {})
