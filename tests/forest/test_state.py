"""A fitted forest survives pickling, copies, files and failed fits."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from tests.forest.tables import FORESTS, bytes_of, classes, table_for
from tests.persist.twin import FileTwin

from arboleda import ModelFormatError, RandomForestClassifier, load
from arboleda.persist._files import model_to_bytes


def everything(forest: Any, X: Any, y: Any) -> list[bytes]:
    predicted = forest.predict_proba(X) if is_classifier(forest) else forest.predict(X)
    return [
        *bytes_of(forest),
        predicted.tobytes(),
        forest.oob_curve(X, y).error.tobytes(),
        *(rows.tobytes() for rows in forest.estimators_samples_),
    ]


@pytest.mark.parametrize("forest", FORESTS)
def test_pickles_and_files_restore_the_forest(forest: Any, tmp_path: Path) -> None:
    X, y = table_for(forest)
    weight = (np.arange(200) % 3).astype(float)
    grown = forest(5, bootstrap=True, random_state=0).fit(X, y, weight)
    grown.save(tmp_path / "forest")
    for again in (
        pickle.loads(pickle.dumps(grown)),
        copy.deepcopy(grown),
        load(tmp_path / "forest"),
    ):
        assert everything(again, X, y) == everything(grown, X, y)
        assert model_to_bytes(again) == model_to_bytes(grown)
        more = again.set_params(n_estimators=8, warm_start=True).fit(X, y, weight)
        assert bytes_of(more) == bytes_of(
            forest(8, bootstrap=True, random_state=0).fit(X, y, weight)
        )


@pytest.mark.parametrize(
    "parameters", [{"bootstrap": "balanced"}, {"bootstrap": False}, {"max_samples": 0.3}]
)
def test_files_restore_the_bags(parameters: dict[str, Any], tmp_path: Path) -> None:
    X, y = classes()
    grown = RandomForestClassifier(5, random_state=0, **parameters).fit(X, y)
    grown.save(tmp_path / "forest")
    again = load(tmp_path / "forest")
    for mine, other in zip(grown.estimators_samples_, again.estimators_samples_, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_files_restore_several_outputs_and_categories(tmp_path: Path) -> None:
    X, y = classes()
    Y = np.column_stack([y, np.where(X[:, 2] > 0, "p", "n")])
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "left", "right"))
    grown = RandomForestClassifier(5, random_state=0, voting="laplace").fit(frame, Y)
    grown.save(tmp_path / "forest")
    again = load(tmp_path / "forest")
    for mine, other in zip(grown.predict_proba(frame), again.predict_proba(frame), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert again.predict(frame).tolist() == grown.predict(frame).tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "by hand"),
        ("kind", "balanced_bootstrap"),
        ("n_drawn", 0),
        ("n_rows", 0),
        ("n_rows", 10),
        ("seed", -1),
        ("seed", "x"),
        ("unused", {"array": "elsewhere"}),
    ],
)
def test_a_file_with_invalid_bags_is_refused(name: str, value: Any, tmp_path: Path) -> None:
    X, y = classes()
    weight = (np.arange(200) > 0).astype(float)
    weight[150] = 0.0
    grown = RandomForestClassifier(3, random_state=0).fit(X, y, weight)
    file = FileTwin.read(model_to_bytes(grown))
    header = file.json
    header["fitted"]["_bags"][name] = value
    (tmp_path / "forest").write_bytes(file.with_json(header).write())
    with pytest.raises(ModelFormatError):
        load(tmp_path / "forest")


@pytest.mark.parametrize("forest", FORESTS)
def test_a_failed_fit_leaves_the_forest_unchanged(forest: Any) -> None:
    X, y = table_for(forest)
    grown = forest(5, bootstrap=True, oob_score=True, random_state=0, warm_start=True)
    with pytest.warns(UserWarning, match="left out by no"):
        grown.fit(X, y)
    before, names = everything(grown, X, y), sorted(vars(grown))
    with pytest.raises(ValueError, match="inconsistent"):
        grown.fit(X, y[:7])
    grown.n_estimators = 3
    with pytest.raises(ValueError, match="larger than or equal"):
        grown.fit(X, y)
    grown.set_params(n_estimators=10**10)
    with pytest.raises(ValueError, match="'n_estimators' parameter.* range .1, 2147483647."):
        grown.fit(X, y)
    assert sorted(vars(grown)) == names
    assert everything(grown, X, y) == before
