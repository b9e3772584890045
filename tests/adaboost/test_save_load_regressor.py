"""Boosted regressors in model files, and headers that are damaged."""

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import arboleda
from arboleda import AdaBoostRegressor, DecisionTreeRegressor, ModelFormatError
from arboleda.adaboost._tree_members import SavedTrees
from arboleda.persist.fields import Sections

X, y = load_diabetes(return_X_y=True)
FRAME = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(
    kind=pd.Categorical(np.where(X[:, 4] > 0, "p", "q"))
)
FRAME.loc[::7, "b"] = np.nan


@pytest.mark.parametrize("algorithm", ["R", "R2"])
def test_a_loaded_model_predicts_like_the_saved_one(algorithm: Any, tmp_path: Path) -> None:
    model = AdaBoostRegressor(algorithm=algorithm, n_estimators=6, random_state=0).fit(FRAME, y)
    model.save(tmp_path / "model")
    loaded = arboleda.load(tmp_path / "model")
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
        for first, second in zip(
            again.staged_predict(FRAME), model.staged_predict(FRAME), strict=True
        ):
            np.testing.assert_array_equal(first, second)
        for name in ("estimator_weights_", "estimator_errors_", "feature_importances_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
        for first, second in zip(again.estimators_, model.estimators_, strict=True):
            assert first.get_params() == second.get_params()
            np.testing.assert_array_equal(first.predict(FRAME), second.predict(FRAME))
        if algorithm == "R":
            bounds = again.training_error_bound_
            np.testing.assert_array_equal(bounds, model.training_error_bound_)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_members_of_another_type_are_refused_by_name(tmp_path: Path) -> None:
    model = AdaBoostRegressor(Ridge(), n_estimators=2).fit(X, y)
    with pytest.raises(TypeError, match=r"of type Ridge, were not grown.*use pickle"):
        model.save(tmp_path / "model")


def test_a_given_tree_is_saved_with_its_parameters(tmp_path: Path) -> None:
    member = DecisionTreeRegressor(max_depth=2, criterion="friedman_mse")
    model = AdaBoostRegressor(member, algorithm="R", n_estimators=3).fit(X, y)
    with pytest.warns(UserWarning, match="estimator is not saved"):
        model.save(tmp_path / "model")
    again = arboleda.load(tmp_path / "model")
    assert again.estimator_.get_params()["criterion"] == "friedman_mse"
    assert again.estimators_[1].max_depth == 2


WRONG: list[tuple[tuple[str, ...], Any]] = [
    (("trees",), None),
    (("trees",), {"forest": 1, "widths": [1]}),
    (("weights",), {"array": "_members.seeds"}),
    (("seeds",), {"array": "_members.weights"}),
    (("tree", "class"), "DecisionTreeClassifier"),
    (("tree", "class"), "Study"),
    (("tree", "missing_columns"), [2**63]),
    (("tree", "missing_columns"), [-1]),
    (("tree_parameters", "criterion"), "none"),
    (("tree_parameters",), []),
    (("more",), 1),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=str)
def test_damaged_headers_are_refused(path: tuple[str, ...], value: Any) -> None:
    header, sections = stored_members()
    place = copy.deepcopy(header)
    whole = place
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ModelFormatError):
        SavedTrees().decode("_members", whole, again(sections))
    assert len(SavedTrees().decode("_members", header, again(sections))) == 3


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("weights", [1.0, 1.0]),
        ("weights", [1.0, -1.0, 1.0]),
        ("weights", [1.0, np.nan, 1.0]),
        ("weights", [1.0, 1e308, 1.0]),
        ("seeds", [1, 2, -3]),
        ("seeds", [1, 2, 2**40]),
    ],
)
def test_damaged_sections_are_refused(name: str, array: Any) -> None:
    header, sections = stored_members()
    sections.arrays[f"_members.{name}"] = np.array(array)
    with pytest.raises(ModelFormatError, match="_members has"):
        SavedTrees().decode("_members", header, again(sections))


def stored_members() -> tuple[dict[str, Any], Sections]:
    model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, y)
    sections = Sections()
    header = SavedTrees().encode("_members", model._members, sections)
    return json.loads(json.dumps(header)), sections


def again(sections: Sections) -> Sections:
    return Sections((), sections.arrays.items(), sections.forests)
