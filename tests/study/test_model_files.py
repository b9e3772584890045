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
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC, SVR
from skops.io import dumps
from tests.survival.times import structured

import arboleda
from arboleda import (
    BayesianNetworkClassifier,
    DiagonalLDA,
    ForestSelector,
    JMISelector,
    KernelDensityClassifier,
    MixedNaiveBayes,
    MRMRSelector,
    NearestShrunkenCentroids,
    RegularizedDiscriminantAnalysis,
)
from arboleda.catalogue import ALL, kernels
from arboleda.persist.object_rules.own import OWN
from arboleda.persist.skops_file import (
    SkopsFileError,
    deserialize_estimators,
    serialize_estimators,
)
from arboleda.study import StudyError, StudyFormatError
from arboleda.study.artifacts.files import write_file
from arboleda.study.artifacts.model_files import read_model, save_model
from arboleda.study.config.settings import Settings
from arboleda.study.plan import Plan, make_plan
from arboleda.tables.reading import read_table

IRIS = load_iris(return_X_y=True)


def plan_for(mixed: pd.DataFrame, target: str) -> Plan:
    """A plan with every model, over a table that also has a column of many levels."""
    streets = np.random.default_rng(0).choice([f"street {i}" for i in range(40)], len(mixed))
    table = read_table(mixed.assign(street=streets))
    return make_plan(table, target, Settings(models=(ALL,)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("target", ["rich", "wealth"])
def test_every_model_is_saved(mixed: pd.DataFrame, tmp_path: Path, target: str) -> None:
    plan = plan_for(mixed, target)
    assert len(plan.models) > 15
    x, train = plan.features.x, plan.split.train
    for model in plan.models:
        # The last candidate of a selection is the one that keeps most columns.
        pipeline = plan.test_job(model, plan.candidates(model)[-1]).pipeline
        pipeline.fit(x[train], plan.target.y[train])
        before = predict_outputs(pipeline, x)
        kept = save_model(pipeline, tmp_path, model.key)
        assert kept["error"] is None, model.key
        ours = model.engine == "arboleda" and hasattr(pipeline[-1], "save")
        assert (f"{model.key}.arboleda" in kept["files"]) == ours
        assert (predict_outputs(read_model(tmp_path, model.key, kept["files"]), x) == before).all()
        # Keeping a model leaves it as it is.
        assert (predict_outputs(pipeline, x) == before).all()


def predict_outputs(pipeline: Any, x: Any) -> Any:
    return pipeline.predict_proba(x) if hasattr(pipeline, "predict_proba") else pipeline.predict(x)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("target", ["rich", "wealth"])
def test_kernels_of_many_rows_are_saved(
    mixed: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(kernels, "EXACT_ROWS", 50)
    monkeypatch.setattr(kernels, "SVM_POINTS", 20)
    monkeypatch.setattr(kernels, "RIDGE_POINTS", 20)
    monkeypatch.setattr("arboleda.study.problem._exact_seconds", lambda *_: 0.0)
    plan = plan_for(mixed, target)
    for model in (m for m in plan.models if m.key in ("svm", "kernel_ridge")):
        pipeline = plan.test_job(model, plan.candidates(model)[0]).pipeline
        pipeline.fit(plan.features.x, plan.target.y)
        kept = save_model(pipeline, tmp_path, model.key)
        again = read_model(tmp_path, model.key, kept["files"])
        assert (again.predict(plan.features.x) == pipeline.predict(plan.features.x)).all()


def bare(model: Any) -> Pipeline:
    return Pipeline([("preparation", "passthrough"), ("model", model)]).fit(*IRIS)


@pytest.mark.parametrize("model", [KNeighborsClassifier(), KNeighborsRegressor(weights="distance")])
def test_a_neighbour_search_tree_is_rebuilt_on_load(tmp_path: Path, model: Any) -> None:
    pipeline = bare(model)
    assert model._tree is not None
    kept = save_model(pipeline, tmp_path, "neighbours")
    assert model._tree is not None
    again = read_model(tmp_path, "neighbours", kept["files"])
    assert type(again[-1]._tree) is type(model._tree)
    assert (again.predict(IRIS[0]) == pipeline.predict(IRIS[0])).all()


def test_untrusted_objects_are_not_saved(tmp_path: Path) -> None:
    kept = save_model(bare(RandomForestClassifier(n_estimators=2)), tmp_path, "forest")
    assert kept["files"] == {}
    assert (
        "sklearn.ensemble._forest.RandomForestClassifier, a type that such files" in kept["error"]
    )
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
    return serialize_estimators([None, pipeline])


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
def test_descriptions_of_other_objects_are_refused(name: str) -> None:
    content = rewritten(logistic(), lambda d: d["content"].append(HOSTILE[name]))
    with pytest.raises(SkopsFileError):
        deserialize_estimators(content)


def rename_class(description: dict[str, Any]) -> None:
    description["content"][1]["__module__"] = "sklearn.formerly"


def drop_attribute(description: dict[str, Any]) -> None:
    model = description["content"][1]["content"]["content"]["steps"]["content"][0]["content"][1]
    del model["content"]["content"]["coef_"]


@pytest.mark.parametrize("change", [rename_class, drop_attribute])
def test_objects_of_an_older_version_are_refused_in_one_sentence(
    tmp_path: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    files = {"ridge.skops": write_file(tmp_path, "ridge.skops", rewritten(logistic(), change))}
    message = r"written by an older version of arboleda, or changed \(.*; run the study again"
    with pytest.raises(StudyFormatError, match=message):
        read_model(tmp_path, "ridge", files)


def test_the_cache_of_a_pipeline_is_refused(tmp_path: Path) -> None:
    pipeline = make_pipeline(LogisticRegression(max_iter=500), memory=str(tmp_path)).fit(*IRIS)
    with pytest.raises(TypeError, match="memory of its Pipeline is not None"):
        serialize_estimators([None, pipeline])

    def cache(description: dict[str, Any]) -> None:
        attributes = description["content"][1]["content"]["content"]
        attributes["memory"]["content"] = json.dumps(str(tmp_path))
        del attributes["memory"]["__id__"]  # or it is the first None of the file

    with pytest.raises(SkopsFileError, match="memory of its Pipeline is not None"):
        deserialize_estimators(rewritten(logistic(), cache))


def test_arrays_larger_than_their_data_are_refused() -> None:
    content = logistic()
    out = io.BytesIO()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, header.getvalue() if name.endswith(".npy") else old.read(name))
    with pytest.raises(SkopsFileError, match="not as long as its header states"):
        deserialize_estimators(out.getvalue())


def test_compressed_archives_and_pickles_are_refused() -> None:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(logistic())) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(SkopsFileError, match="compressed"):
        deserialize_estimators(out.getvalue())
    with pytest.raises(SkopsFileError):
        deserialize_estimators(pickle.dumps([None, None]))
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(logistic())) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, objects.getvalue() if name.endswith(".npy") else old.read(name))
    with pytest.raises(SkopsFileError, match="has the type object"):
        deserialize_estimators(out.getvalue())


def test_damaged_bytes_raise_one_error() -> None:
    content = logistic()
    draw = np.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(content[: draw.integers(len(content)) + 1])
        for place in draw.integers(len(damaged), size=3):
            damaged[place] = draw.integers(256)
        try:
            found = deserialize_estimators(bytes(damaged))
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
def test_svms_with_mismatched_parts_are_refused(
    tmp_path: Path, machine: Any, change: dict[str, Any]
) -> None:
    pipeline = bare(machine())
    good = save_model(pipeline, tmp_path, "svm")
    assert is_classifier(read_model(tmp_path, "svm", good["files"])) == (machine is SVC)
    if machine is SVR and "_intercept_" in change:
        change = {"_intercept_": np.zeros(2)}
    vars(pipeline[-1]).update(change)
    assert "of its SV" in save_model(pipeline, tmp_path, "svm")["error"]
    files = {"svm.skops": write_file(tmp_path, "svm.skops", dumps([None, pipeline[-1]]))}
    with pytest.raises(StudyError, match="of its SV"):
        read_model(tmp_path, "svm", files)


def test_keys_outside_the_folder_are_refused(tmp_path: Path) -> None:
    for key in ("../svm", "a/b", "", "A", "x" * 70):
        with pytest.raises(ValueError, match="not a model's key"):
            read_model(tmp_path, key, {})


# Every class of this library that a study keeps as an object, with parameters that are not the
# defaults; what is not here is read by `SavedModel` or is no estimator of the user's.
MEMBERS = [("bayes", GaussianNB()), ("lines", LogisticRegression(C=0.1, max_iter=500))]
LINES = [("ridge", Ridge()), ("lines", LinearRegression())]
DES = arboleda.DynamicSelectionClassifier
OWN_MODELS: list[Any] = [
    MRMRSelector(2, preselect=3, n_bins=4, categorical_features=[3], n_jobs=1),
    MRMRSelector(1, preselect=0.5, continuous="neighbors", n_neighbors=2, random_state=0),
    JMISelector(2, preselect=0.6, task="regression", continuous="neighbors", random_state=1),
    JMISelector(3, preselect=3, categorical_features=None, verbose=0),
    ForestSelector(n_permutations=9, alpha=0.2, mode="fpr", task="regression", random_state=0),
    arboleda.SchapireBoostingClassifier(LogisticRegression(max_iter=500), depth=2, random_state=0),
    DES(MEMBERS, method="meta_des", consensus_threshold=0.8, meta_classifier=GaussianNB(), cv=3),
    DES(MEMBERS, method="meta_des", n_neighbors=4, voting="soft"),
    DES(MEMBERS, method="mcb", similarity=0.5, n_neighbors=None, voting="soft"),
    DES(MEMBERS, method="rrc", n_neighbors=20),
    arboleda.DynamicSelectionRegressor(LINES, method="dw", n_neighbors=3, cv=3),
    BayesianNetworkClassifier("naive", alpha=0.5, n_bins=3, target="kind"),
    BayesianNetworkClassifier("tan", categorical_features=[3], max_iter=5, tol=0.01),
    DiagonalLDA(priors=[0.4, 0.6]),
    KernelDensityClassifier(bandwidth=0.3, kernel="tophat", standardize=False, priors=[0.5, 0.5]),
    KernelDensityClassifier(bandwidth="scott", kernel="epanechnikov"),
    MixedNaiveBayes(categorical_features=[3], alpha=0.5, var_smoothing=1e-3, priors=[0.5, 0.5]),
    NearestShrunkenCentroids(shrink_threshold=0.5, priors=[0.3, 0.7]),
    NearestShrunkenCentroids(n_thresholds=5, cv=3, random_state=0),
    RegularizedDiscriminantAnalysis(0.2, 0.3, standardize=False, priors=[0.3, 0.7]),
    RegularizedDiscriminantAnalysis([0.1, 0.9], "cv", cv=3, random_state=0),
    arboleda.CoxRegression(alpha=0.5, ties="breslow", max_iter=20, tol=1e-6),
]


@pytest.mark.parametrize("model", OWN_MODELS, ids=lambda model: type(model).__name__)
def test_own_classes_are_saved_with_any_parameters(tmp_path: Path, model: Any) -> None:
    x = np.column_stack([IRIS[0][:, :3], np.round(IRIS[0][:, 3])])
    y = (IRIS[1] > 0).astype(np.int64)
    if is_regressor(model) or getattr(model, "task", "") == "regression":
        y = IRIS[0][:, 0] + IRIS[0][:, 3]
    if isinstance(model, arboleda.CoxRegression):
        y = structured(y > 0, IRIS[0][:, 0])
    is_selector = hasattr(model, "get_support")
    last = LinearRegression() if y.dtype.kind == "f" else GaussianNB()
    whole = make_pipeline(clone(model), last) if is_selector else clone(model)
    pipeline = Pipeline([("preparation", "passthrough"), ("model", whole)]).fit(x, y)
    before = predict_outputs(pipeline, x)
    kept = save_model(pipeline, tmp_path, "own")
    assert kept["error"] is None
    again = read_model(tmp_path, "own", kept["files"])
    np.testing.assert_array_equal(predict_outputs(again, x), before)
    fitted, read = (p[-1][0] if is_selector else p[-1] for p in (pipeline, again))
    assert vars(read).keys() >= {k for k in vars(fitted) if k.endswith("_")}
    assert repr(read.get_params()) == repr(fitted.get_params())


def test_every_own_estimator_of_the_rules_is_tested() -> None:
    exported = [getattr(arboleda, name) for name in arboleda.__all__]
    public = {cls for cls in exported if isinstance(cls, type) and issubclass(cls, BaseEstimator)}
    with_rules = {cls for cls in public if f"{cls.__module__}.{cls.__qualname__}" in OWN}
    tried = {type(model) for model in OWN_MODELS}
    # Classes that fix the rule of dynamic selection have its attributes.
    assert {cls for cls in with_rules if cls is DES or not issubclass(cls, DES)} == tried
