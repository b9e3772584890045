"""Ensembles of our trees in model files; unsupported contents, and hostile headers."""

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

import arboleda
from arboleda import (
    BaggingClassifier,
    BaggingRegressor,
    ClassSwitchingClassifier,
    DecisionTreeClassifier,
    ModelFormatError,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from arboleda.bagging._saved_members import SavedMembers
from arboleda.persist.fields import Sections

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    kind=pd.Categorical(np.array(["p", "q", "p"])[y])
)
FRAME.loc[::7, "b"] = np.nan


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (BaggingClassifier(n_estimators=4, voting="hard", random_state=0), NAMES),
        (BaggingClassifier(n_estimators=4, max_samples=0.5, max_features=2, random_state=0), y),
        (BaggingRegressor(n_estimators=3, random_state=0), np.column_stack([y, -y])),
        (RandomSubspaceClassifier(n_estimators=4, random_state=0), NAMES),
        (RandomSubspaceRegressor(n_estimators=4, random_n_features=True, random_state=0), y),
        (ClassSwitchingClassifier(n_estimators=4, random_state=0), NAMES),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_loaded_model_predicts_like_the_saved_one(
    model: Any, target: Any, tmp_path: Path
) -> None:
    weight = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)
    model = clone(model).fit(FRAME, target, weight)
    model.save(tmp_path / "model")
    again = arboleda.load(tmp_path / "model")
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            np.testing.assert_array_equal(
                getattr(again, method)(FRAME), getattr(model, method)(FRAME)
            )
    for name in ("estimators_samples_", "estimators_features_"):
        for first, second in zip(getattr(again, name), getattr(model, name), strict=True):
            np.testing.assert_array_equal(first, second)
    for first, second, columns in zip(
        again.estimators_, model.estimators_, model.estimators_features_, strict=True
    ):
        part = FRAME.iloc[:, columns]
        np.testing.assert_array_equal(first.predict(part), second.predict(part))
        assert first.get_params() == second.get_params()
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    for name in ("p_", "p_limit_"):
        assert getattr(again, name, None) == getattr(model, name, None)


def test_a_loaded_model_can_be_warm_started(tmp_path: Path) -> None:
    bag = BaggingClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    bag.save(tmp_path / "bag")
    more = arboleda.load(tmp_path / "bag").set_params(n_estimators=6).fit(X, y)
    at_once = BaggingClassifier(n_estimators=6, random_state=0).fit(X, y)
    np.testing.assert_array_equal(more.predict_proba(X), at_once.predict_proba(X))


def test_other_members_are_refused_by_name(tmp_path: Path) -> None:
    for member, name in [
        (KNeighborsClassifier(), "KNeighborsClassifier"),
        (DecisionTreeClassifier(ccp_alpha=0.01), "DecisionTreeClassifier"),
    ]:
        bag = BaggingClassifier(member, n_estimators=2).fit(X, y)
        with pytest.raises(TypeError, match=f"of type {name}, were not grown.*use pickle"):
            bag.save(tmp_path / "bag")
    assert not (tmp_path / "bag").exists()


def test_a_given_tree_is_not_saved_but_its_members_are(tmp_path: Path) -> None:
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=2, random_state=0)
    bag.fit(X, y)
    with pytest.warns(UserWarning, match="estimator is not saved"):
        bag.save(tmp_path / "bag")
    again = arboleda.load(tmp_path / "bag")
    np.testing.assert_array_equal(again.predict_proba(X), bag.predict_proba(X))
    assert again.estimators_[0].max_depth == 2


def stored_members() -> tuple[dict[str, Any], Any]:
    weight = np.where(np.arange(150) % 5 == 0, 0.0, 1.0)
    bag = BaggingClassifier(n_estimators=3, max_features=2, random_state=0).fit(X, y, weight)
    sections = Sections()
    header = SavedMembers().encode("_members", bag._members, sections)
    return json.loads(json.dumps(header)), sections


WRONG: list[tuple[tuple[Any, ...], Any]] = [
    (("seed",), -1),
    (("seed",), "x"),
    (("batches",), []),
    (("batches",), None),
    (("batches", 0, "first"), 1),
    (("batches", 0, "n_trees"), 2),
    (("batches", 0, "n_rows"), 3),
    (("batches", 0, "plan", "bag"), "none"),
    (("batches", 0, "plan", "n_columns"), 9),
    (("batches", 0, "plan", "n_drawn"), 0),
    (("batches", 0, "plan", "n_drawn"), True),
    (("batches", 0, "plan", "switch_share"), 2.0),
    (("batches", 0, "plan"), {}),
    (("tree", "class"), "Study"),
    (("tree", "max_features"), 0),
    (("tree", "missing_columns"), ["a"]),
    (("tree_parameters", "criterion"), "none"),
    (("tree_parameters", "x"), 1),
    (("tree_parameters",), []),
    (("trees",), {"forest": 1, "widths": [3]}),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=str)
def test_damaged_headers_are_refused(path: tuple[Any, ...], value: Any) -> None:
    header, sections = stored_members()
    whole = copy.deepcopy(header)
    place = header
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    content = Sections((), sections.arrays.items(), sections.forests)
    with pytest.raises(ModelFormatError):
        SavedMembers().decode("_members", header, content)
    content = Sections((), sections.arrays.items(), sections.forests)
    assert len(SavedMembers().decode("_members", whole, content)) == 3
