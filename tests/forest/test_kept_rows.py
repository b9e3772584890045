"""Targets and weights that a forest stores, saved in and loaded from a model file."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from arboleda import ModelFormatError, RandomForestClassifier
from arboleda.forest._training_rows import KeptRows, KeptRowsField
from arboleda.persist.fields import Sections

TARGET = np.array([[0.0], [1.0], [2.0]])
WEIGHT = np.array([1.0, 0.0, 2.5])


def stored(weight: Any) -> tuple[Any, Sections]:
    """Return what a file stores for three rows."""
    sections = Sections()
    header = KeptRowsField().encode("kept_", KeptRows(TARGET, weight, True), sections)
    return header, Sections(arrays=sections.arrays.items())


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_stored_rows_are_restored(weight: Any) -> None:
    header, sections = stored(weight)
    found = KeptRowsField().decode("kept_", header, sections)
    sections.check_all_taken()
    assert found is not None
    assert found.is_same_as(KeptRows(TARGET, weight, True))
    assert not found.is_same_as(KeptRows(TARGET, weight, False))
    assert not found.is_same_as(KeptRows(TARGET + 1, weight, True))
    assert not found.is_same_as(KeptRows(TARGET, WEIGHT if weight is None else None, True))


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("target", np.full((3, 1), np.nan)),
        ("target", np.empty((0, 1))),
        ("target", np.zeros(3)),
        ("weight", np.array([1.0, -1.0, 1.0])),
        ("weight", np.array([1.0, np.inf, 1.0])),
        ("weight", np.ones(2)),
    ],
)
def test_invalid_numbers_are_refused(part: str, values: Any) -> None:
    header, sections = stored(WEIGHT)
    sections.arrays[f"kept_.{part}"] = values
    with pytest.raises(ModelFormatError):
        KeptRowsField().decode("kept_", header, sections)


@pytest.mark.parametrize("header", [{}, 3, {"balances_classes": 1, "target": {}}, "rows"])
def test_incomplete_headers_are_refused(header: Any) -> None:
    with pytest.raises(ModelFormatError):
        KeptRowsField().decode("kept_", header, Sections())


@pytest.mark.parametrize(
    ("target", "defect"),
    [
        (np.zeros((149, 1)), "do not belong to the rows"),
        (np.zeros((150, 2)), "a different number of outputs"),
        (np.full((150, 1), 3.0), "not one of the classes"),
        (np.full((150, 1), 0.5), "not one of the classes"),
    ],
)
def test_rows_of_another_forest_are_refused(target: Any, defect: str) -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2, keep_rows=True, random_state=0).fit(X, y)
    assert forest._defect() is None
    forest.kept_ = KeptRows(target, None, False)
    assert defect in forest._defect()
