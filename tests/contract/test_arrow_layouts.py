"""Columns of Arrow's views and runs give the model and predictions of plain columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from arboleda import (
    BaggingClassifier,
    DecisionTreeClassifier,
    HistGradientBoostingRegressor,
    StackingClassifier,
)
from arboleda.tables.reading import read_table

_TEXTS = ["red", "red", None, "blue", "blue", "blue", "green", None, None, "red"] * 6
_NUMBERS = [1.0, 1.0, 1.0, None, None, 4.0, 4.0, 7.5, 7.5, 0.0] * 6


def in_runs(values: list[Any], kind: Any) -> Any:
    """Values as runs, written out by hand instead of converted from the plain layout."""
    ends, kept = [], []
    for place, value in enumerate(values):
        if place + 1 == len(values) or values[place + 1] != value:
            ends.append(place + 1)
            kept.append(value)
    return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(kept, kind))


def coded(values: list[Any], kind: Any) -> Any:
    levels = sorted({value for value in values if value is not None})
    places = [None if value is None else levels.index(value) for value in values]
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(levels, kind))


def runs_of_codes(values: list[Any]) -> Any:
    plain = in_runs(values, pa.string())
    codes = coded(plain.values.to_pylist(), pa.string())
    return pa.RunEndEncodedArray.from_arrays(plain.run_ends, codes)


_TEXT_LAYOUTS: dict[str, Callable[[list[Any]], Any]] = {
    "view": lambda v: pa.array(v, pa.string_view()),
    "runs": lambda v: in_runs(v, pa.string()),
    "runs of views": lambda v: in_runs(v, pa.string_view()),
    "codes": lambda v: coded(v, pa.string()),
    "codes of views": lambda v: coded(v, pa.string_view()),
    "runs of codes": runs_of_codes,
}


def chunked(array: Any) -> Any:
    """In parts that begin within runs, one of them empty."""
    return pa.chunked_array([array.slice(0, 7), array.slice(7, 0), array.slice(7, 12), array[19:]])


def plain() -> pa.Table:
    return pa.table({"text": pa.array(_TEXTS), "number": pa.array(_NUMBERS)})


def target() -> Any:
    return np.arange(60) % 10 < 4


@pytest.mark.parametrize("split", [False, True], ids=["whole", "chunked"])
@pytest.mark.parametrize("texts", _TEXT_LAYOUTS)
def test_models_and_predictions_match_those_of_plain_columns(texts: str, split: bool) -> None:
    columns = [_TEXT_LAYOUTS[texts](_TEXTS), in_runs(_NUMBERS, pa.float64())]
    table = pa.table([chunked(c) if split else c for c in columns], ["text", "number"])
    for model in (
        DecisionTreeClassifier(categorical_features="from_dtype", random_state=0),
        BaggingClassifier(
            DecisionTreeClassifier(categorical_features="from_dtype"), 3, random_state=0
        ),
        HistGradientBoostingRegressor(categorical_features="from_dtype", max_iter=3),
        StackingClassifier(
            [("tree", DecisionTreeClassifier(categorical_features="from_dtype", random_state=0))],
            cv=3,
        ),
    ):
        expected = model.fit(plain(), target()).predict(plain())
        np.testing.assert_array_equal(model.predict(table), expected)
        np.testing.assert_array_equal(model.fit(table, target()).predict(plain()), expected)
    found, known = read_table(table), read_table(plain())
    for mine, theirs in zip(found.columns, known.columns, strict=True):
        assert (mine.kind, mine.levels) == (theirs.kind, theirs.levels)
        np.testing.assert_array_equal(mine.values, theirs.values)


@pytest.mark.parametrize("texts", _TEXT_LAYOUTS)
def test_targets_match_plain_columns(texts: str) -> None:
    labels = ["no" if text is None else text for text in _TEXTS]
    X = np.arange(60.0)[:, np.newaxis]
    expected = DecisionTreeClassifier().fit(X, labels).predict(X)
    array = _TEXT_LAYOUTS[texts](labels)
    for y in (array, chunked(array), pa.table({"y": array}).column("y")):
        np.testing.assert_array_equal(DecisionTreeClassifier().fit(X, y).predict(X), expected)


@pytest.mark.parametrize("layout", ["view", "runs"])
def test_pandas_columns_of_these_types_match(layout: str) -> None:
    array = pa.chunked_array([_TEXT_LAYOUTS[layout](_TEXTS)])
    frame = pd.DataFrame({"text": pd.arrays.ArrowExtensionArray(array), "number": _NUMBERS})
    model = DecisionTreeClassifier(categorical_features=["text"])
    expected = model.fit(plain(), target()).predict(plain())
    np.testing.assert_array_equal(model.predict(frame), expected)
    np.testing.assert_array_equal(model.fit(frame, target()).predict(frame), expected)
    assert str(frame.dtypes["text"]) != "string"  # the caller's frame is unchanged


def test_views_from_polars_match() -> None:
    frame = pl.DataFrame({"text": _TEXTS, "number": _NUMBERS})
    table = frame.to_arrow(compat_level=pl.CompatLevel.newest())
    assert table.schema.field("text").type == pa.string_view()
    model = DecisionTreeClassifier(categorical_features=["text"])
    expected = model.fit(frame, target()).predict(frame)
    np.testing.assert_array_equal(model.fit(table, target()).predict(table), expected)


def test_bytes_in_views_are_read_like_plain_bytes() -> None:
    values = [b"a", None, b"b", b"a"] * 5
    y = np.arange(20) % 4 == 2
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        table = pa.table({"bytes": pa.array(values, kind)})
        with pytest.raises(ValueError, match="bytes"):
            DecisionTreeClassifier(categorical_features=["bytes"]).fit(table, y)
