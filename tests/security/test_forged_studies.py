"""Forged models of a study are refused in one sentence, or predict; they never end the process."""

import hashlib
import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from skops.io import dumps
from tests.security.forged_studies import fuzz
from tests.study.conftest import make_mixed

import arboleda
from arboleda.persist.object_rules import RULES, BrokenRuleError, check_estimators
from arboleda.persist.skops_file import (
    TRUSTED,
    SkopsFileError,
    deserialize_estimators,
    serialize_estimators,
)
from arboleda.study import Study, StudyError
from arboleda.study.artifacts.model_files import read_model, save_model

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("n", [150, pytest.param(1_000, marks=pytest.mark.slow)])
def test_forged_objects_never_end_the_process(n: int) -> None:
    ends, bad = fuzz(n)
    assert not bad
    assert sum(ends.values()) == n
    assert ends["refused"] > n / 2
    assert ends["predicted"] > n / 25


def test_a_class_without_rules_is_refused() -> None:
    ours = {n for n in TRUSTED if n.split(".")[0] in ("arboleda", "sklearn")}
    assert ours == set(RULES)
    for name, rules in RULES.items():
        # What has no attributes of its own is a dict of others.
        assert rules.attributes or name.endswith(".Bunch")


def test_an_estimator_without_rules_is_refused_at_any_depth() -> None:
    tree = DecisionTreeClassifier(max_depth=1).fit(X, Y)
    model = make_pipeline(CalibratedClassifierCV(SVC(), ensemble=False, cv=2)).fit(X, Y)
    model[0].calibrated_classifiers_[0].estimator = tree
    with pytest.raises(BrokenRuleError, match="DecisionTreeClassifier, which is not allowed"):
        check_estimators([model])


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forged")
    frame = make_mixed(120).drop(columns=["id", "same", "comment", "since"])
    frame.to_csv(folder / "table.csv", index=False)
    table = str(folder / "table.csv")
    Study(table, target="rich", models="svm", cv="2", output_dir=folder / "out", n_jobs=1).run()
    return folder


def forge(folder: Path, change: Callable[[list[Any]], bool]) -> int:
    """Change the models of a study's folder, and the sums with them; how many were changed."""
    path = folder / "models" / "index.json"
    index, n_changed = json.loads(path.read_text()), 0
    sums = {}
    for file in (folder / "models").glob("*.skops"):
        parts = deserialize_estimators(file.read_bytes())
        if change(parts):
            content = dumps(parts)
            file.write_bytes(content)
            sums[file.name] = {
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
            n_changed += 1

    def put_sums(value: Any) -> None:
        for key, inner in value.items() if isinstance(value, dict) else ():
            if key in sums:
                value[key] = sums[key]
            put_sums(inner)

    put_sums(index)
    path.write_text(json.dumps(index))
    return n_changed


def narrow_encoder(parts: list[Any]) -> bool:
    for _, transformer, _ in parts[0].transformers_ if parts[0] is not None else ():
        if isinstance(transformer, OneHotEncoder):
            transformer._n_features_outs = [1]
            return True
    return False


def many_vectors(parts: list[Any]) -> bool:
    x = np.random.default_rng(0).normal(size=(40, parts[1].n_features_in_))
    wrapped = CalibratedClassifierCV(SVC(), ensemble=False, cv=2).fit(x, np.arange(40) % 2)
    machine = wrapped.calibrated_classifiers_[0].estimator
    machine._n_support = np.array([10**6, 10**6], dtype=np.int32)
    parts[1] = wrapped
    return True


@pytest.mark.parametrize(
    ("attack", "attribute"),
    [(narrow_encoder, "OneHotEncoder"), (many_vectors, "_n_support of its SVC")],
)
def test_the_command_refuses_a_forged_study_in_one_sentence(
    study: Path, tmp_path: Path, attack: Callable[[list[Any]], bool], attribute: str
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(study / "out", folder)
    assert forge(folder, attack) > 0
    table = str(study / "table.csv")
    words = ["predict", str(folder), table, "--out", str(tmp_path / "said.csv")]
    done = subprocess.run(
        [sys.executable, "-m", "arboleda", *words], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("arboleda: error: The model svm in ")
    assert attribute in line


def test_a_sound_model_is_read(tmp_path: Path) -> None:
    pipeline = Pipeline([("preparation", "passthrough"), ("model", KNeighborsClassifier())])
    kept = save_model(pipeline.fit(X, Y), tmp_path, "near")
    assert kept["error"] is None
    assert (read_model(tmp_path, "near", kept["files"]).predict(X) == pipeline.predict(X)).all()


ENCODER_FORGERIES: dict[str, dict[str, Any]] = {
    "fewer columns than categories": {"_n_features_outs": [1]},
    "more columns than categories": {"_n_features_outs": [9]},
    "categories that are not sorted": {"categories_": [np.array([2.0, 0.0, 1.0, 3.0])]},
    "a mapping beyond the columns": {
        "_infrequent_indices": [np.array([3])],
        "_default_to_infrequent_mappings": [np.array([0, 1, 2, 10**6])],
    },
    "a mapping without rare categories": {
        "_default_to_infrequent_mappings": [np.array([0, 1, 2, 3])]
    },
    "a sparse matrix": {"sparse_output": True},
    "a method in its way": {"transform": "x"},
}


@pytest.mark.parametrize("name", ENCODER_FORGERIES)
def test_encoders_that_write_out_of_bounds_are_refused(name: str) -> None:
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False
    )
    encoder.fit(np.repeat(np.arange(4.0), 3)[:, None])
    assert deserialize_estimators(serialize_estimators([encoder, None]))
    vars(encoder).update(ENCODER_FORGERIES[name])
    with pytest.raises(SkopsFileError, match="OneHotEncoder"):
        deserialize_estimators(dumps([encoder, None]))


def test_an_svm_of_a_swapped_type_is_refused() -> None:
    machine = SVC().fit(X, Y)
    machine._impl = "nu_svr"
    with pytest.raises(SkopsFileError, match="_impl of its SVC hides"):
        deserialize_estimators(dumps([None, machine]))


def test_random_states_out_of_range_are_refused() -> None:
    with pytest.warns(match="Maximum iterations"):
        network = MLPClassifier(hidden_layer_sizes=(2,), max_iter=1, random_state=0).fit(X, Y)
    state = network._random_state.get_state(legacy=False)
    state["state"]["pos"] = 10**6
    network._random_state.set_state(state)
    with pytest.raises(SkopsFileError, match="RandomState"):
        deserialize_estimators(dumps([None, network]))


def test_references_cannot_create_endless_objects() -> None:
    def listed(number: int, content: list[Any]) -> dict[str, Any]:
        names = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
        return {**names, "__id__": number, "content": content}

    inner = listed(1, [])
    for number in range(2, 60):
        # The second entry names the first one, so that each list is twice as long as the one in it.
        inner = listed(number, [inner, listed(number - 1, [])])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("schema.json", json.dumps({**inner, "protocol": 2}))
    with pytest.raises(SkopsFileError, match="the same number"):
        deserialize_estimators(out.getvalue())


def test_a_model_that_cannot_predict_is_reported_in_one_sentence(
    study: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    shutil.copytree(study / "out", folder)

    def other_width(parts: list[Any]) -> bool:
        parts[1] = GaussianNB().fit(X, Y > 0)
        parts[1].classes_ = np.arange(2)
        return True

    assert forge(folder, other_width) > 0
    loaded = arboleda.Study.load(folder)
    with pytest.raises(StudyError, match="does not match the study's columns"):
        loaded.model("svm")
