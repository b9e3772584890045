"""Combinations in model files: complete with their members, or refused by the member's name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from tests.combine.saved import CLASSES, LABELS, MODELS, VALUES, X, tree
from tests.persist.twin import FileTwin, array_content

import arboleda
from arboleda import ModelFormatError, StackingClassifier, VotingClassifier
from arboleda.persist import read_header
from arboleda.persist._files import model_from_bytes, model_to_bytes

_METHODS = ("predict", "predict_proba", "transform")


def _predictions(model: Any) -> list[Any]:
    return [getattr(model, name)(X) for name in _METHODS if hasattr(model, name)]


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_combination_predicts_like_the_saved_one(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    model.save(tmp_path / "model", metrics={"rows": len(X)})
    again = arboleda.load(tmp_path / "model")
    for ours, theirs in zip(_predictions(again), _predictions(model), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    again.save(tmp_path / "again", metrics={"rows": len(X)})
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert [name for name, _ in again.estimators] == [name for name, _ in model.estimators]
    assert again.named_estimators_.keys() == model.named_estimators_.keys()
    y = VALUES if not hasattr(model, "classes_") else LABELS
    y = VALUES > 0 if name == "two classes" else y
    np.testing.assert_array_equal(again.fit(X, y).predict(X), model.predict(X))
    assert type(clone(again)) is type(model)


def test_learned_attributes_are_saved() -> None:
    for name, attributes in {
        "weighted": ["vote_weights_"],
        "naive Bayes": ["confusion_"],
        "simplex": ["weights_"],
        "selected": ["weights_", "scores_"],
        "averaged": ["weights_", "log_likelihood_"],
        "values averaged": ["variances_"],
        "majority": ["classes_", "reject_label_"],
    }.items():
        model = MODELS[name]()
        again = model_from_bytes(model_to_bytes(model))
        for attribute in attributes:
            np.testing.assert_array_equal(getattr(again, attribute), getattr(model, attribute))
    model = MODELS["selected"]()
    assert model_from_bytes(model_to_bytes(model)).selections_ == model.selections_


def test_the_header_shows_the_members(tmp_path: Path) -> None:
    MODELS["stack"]().save(tmp_path / "model")
    header = read_header(tmp_path / "model")
    members = dict(header["fitted"]["named_estimators_"])
    assert members["gone"] == "drop"
    assert members["forest"]["class"] == "RandomForestClassifier"
    assert members["forest"]["parameters"]["n_estimators"] == 3
    assert len(members["forest"]["columns"]) == 3
    assert header["columns"] == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: VotingClassifier([*CLASSES, ("bayes", GaussianNB())]).fit(X, LABELS),
            "the member 'bayes' is a GaussianNB of sklearn, .* with pickle, joblib or skops",
        ),
        (
            lambda: StackingClassifier(CLASSES, GaussianNB(), cv=3).fit(X, LABELS),
            "the final estimator is a GaussianNB of sklearn",
        ),
    ],
)
def test_members_of_other_libraries_are_refused_by_name(
    make: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=message):
        make().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_members_nested_too_deeply_are_refused() -> None:
    model: Any = VotingClassifier([("tree", tree())])
    for _ in range(5):
        model = VotingClassifier([("inner", model)])
    with pytest.raises(TypeError, match="too deep for a model file"):
        model_to_bytes(model.fit(X, LABELS))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if len(path) == 7:  # what is deeper is a member's, whose own files are tested elsewhere
        return
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _changed(header: Any, path: tuple[Any, ...], change: Any) -> bytes:
    header = deepcopy(header)
    owner = header
    for key in path[:-1]:
        owner = owner[key]
    if change is _GONE:
        del owner[path[-1]]
    else:
        owner[path[-1]] = change
    return json.dumps(header, ensure_ascii=False).encode()


_GONE = object()
_CHANGES = [_GONE, None, 0, -1, 2.5, "tree", [], {}, [["tree", None]]]


@pytest.mark.parametrize("name", ["majority", "naive Bayes", "stack", "prefit", "selected"])
def test_an_invalid_header_is_refused_or_harmless(name: str) -> None:
    good = FileTwin.read(model_to_bytes(MODELS[name]()))
    header = json.loads(good.header)
    places = [
        path
        for path in _places(header)
        if path
        and path[0] in {"fitted", "parameters"}
        and path[-1] != "n_jobs"  # any value is valid
    ]
    random = np.random.default_rng(0)
    refused = 0
    for number in random.choice(len(places), 60):
        change = _CHANGES[random.integers(len(_CHANGES))]
        bad = FileTwin(_changed(header, places[number], change), good.sections).write()
        try:
            model = model_from_bytes(bad)
        except ModelFormatError:
            refused += 1
            continue
        for predicted in _predictions(model):
            assert predicted.dtype.kind in "UO" or np.isfinite(predicted).all()
    assert refused > 25


@pytest.mark.parametrize("name", ["weighted", "naive Bayes", "stack", "values averaged"])
@pytest.mark.parametrize("change", ["nan", "shape", "less"])
def test_invalid_arrays_are_refused(name: str, change: str) -> None:
    good = FileTwin.read(model_to_bytes(MODELS[name]()))
    names = json.loads(good.header)["arrays"]
    first = len(good.sections) - len(names)
    own = [n for n in names if "." not in n or n.startswith("f.")]
    assert own
    for array in own:
        sections = list(good.sections)
        at = first + names.index(array)
        size = len(sections[at][1])
        wrong = {"nan": np.full(3, np.nan), "shape": np.ones((1, 1, 1, 1)), "less": np.ones(0)}
        sections[at] = (b"ARRY", array_content(array, wrong[change]))
        assert size
        with pytest.raises(ModelFormatError):
            model_from_bytes(FileTwin(good.header, sections).write())


def test_incompatible_members_are_refused() -> None:
    good = FileTwin.read(model_to_bytes(MODELS["simplex"]()))
    header = json.loads(good.header)
    for path, change, message in [
        (("fitted", "named_estimators_", 0, 0), "forest", "'forest' twice"),
        (
            ("fitted", "named_estimators_", 0, 0),
            "other",
            "the fitted members and the estimators have different names",
        ),
        (
            ("parameters", "estimators", 1, 1),
            {"class": "DecisionTreeClassifier", "parameters": {}},
            "the dropped members differ",
        ),
        (
            ("parameters", "estimators", 0, 1),
            {"class": "builtins.eval", "parameters": {}},
            "a class that is unknown to this version",
        ),
        (("parameters", "cv"), "prefit", "has classes that the combination does not have"),
        (("fitted", "classes_"), {"dtype": "<U1", "values": ["a", "b"]}, "has classes"),
        (("fitted", "stack_method_", 0), "fit", "does not have its method 'fit'"),
        (("fitted", "named_estimators_", 2, 1, "class"), "VotingClassifier", "VotingClassifier"),
        (("columns",), [{"kind": "numeric"}], "has no columns except those of its members"),
    ]:
        bad = FileTwin(_changed(header, path, change), good.sections).write()
        with pytest.raises(ModelFormatError, match=message):
            model_from_bytes(bad)


def test_a_file_of_endlessly_nested_members_is_refused() -> None:
    good = FileTwin.read(model_to_bytes(VotingClassifier([("t", tree())]).fit(X, LABELS)))
    header = json.loads(good.header)
    for _ in range(200):
        inner = {key: header[key] for key in ("class", "parameters", "fitted", "columns")}
        header["fitted"] = {**inner["fitted"], "named_estimators_": [["t", inner]]}
    with pytest.raises(ModelFormatError, match="nested too deeply"):
        model_from_bytes(FileTwin(json.dumps(header).encode(), good.sections).write())
