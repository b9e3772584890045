"""Targets and weights of any container; missing or invalid values are refused with their row."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from arboleda import DecisionTreeClassifier, DecisionTreeRegressor

_X = np.arange(4.0).reshape(-1, 1)
_TEXT = ["no", "yes", "no", "maybe"]
_INTS = [2, 1, 2, 5]

_LABELS: list[Any] = [
    *(_TEXT, tuple(_TEXT), np.array(_TEXT), np.array(_TEXT, dtype=object)),
    *(pd.Series(_TEXT), pd.Series(_TEXT, dtype="string"), pd.Series(_TEXT, dtype=object)),
    *(pd.Series(_TEXT, dtype="category"), pd.Series(_TEXT, dtype="string[pyarrow]")),
    pd.Series(pd.Categorical(_TEXT, categories=["yes", "unused", "no", "maybe"])),
    pd.Categorical(_TEXT),
    *(pl.Series(_TEXT), pl.Series(_TEXT, dtype=pl.Categorical)),
    pl.Series(_TEXT, dtype=pl.Enum(["yes", "unused", "no", "maybe"])),
    *(
        pa.array(_TEXT),
        pa.array(_TEXT).dictionary_encode(),
        pa.chunked_array([_TEXT[:1], _TEXT[1:]]),
    ),
    pa.chunked_array([_TEXT]).dictionary_encode(),
    *(_INTS, np.array(_INTS, dtype="u1"), np.array(_INTS, dtype=">i2"), pd.Series(_INTS)),
    *(pd.Series(_INTS, dtype="Int64"), pd.Series(_INTS, dtype="category"), pl.Series(_INTS)),
    *(pd.Series(_INTS, dtype="int32[pyarrow]"), pa.array(_INTS), pa.chunked_array([_INTS])),
    *(pa.array(_INTS).dictionary_encode(), np.array(_INTS, dtype=object), np.array(_INTS) * 1.0),
    *([True, False, True, False], pd.Series([True, False, True, False], dtype="boolean")),
    *(pl.Series([True, False, True, False]), pa.array([True, False, True, False])),
]


@pytest.mark.parametrize("y", _LABELS, ids=lambda y: f"{type(y).__module__} {type(y).__name__}")
def test_labels_of_every_container_match(y: Any) -> None:
    plain = y.to_pylist() if hasattr(y, "to_pylist") else list(y)
    model = DecisionTreeClassifier().fit(_X, y)
    assert model.classes_.tolist() == sorted(set(plain))
    assert model.predict(_X).tolist() == plain


@pytest.mark.parametrize(
    "y",
    [
        *(_INTS, pd.Series(_INTS, dtype="Float64"), pl.Series(_INTS), pa.array(_INTS)),
        *(pa.chunked_array([_INTS]), pd.Series(_INTS, dtype="float[pyarrow]")),
        *(pl.Series(_INTS).cast(pl.Decimal(8, 2)), np.array(["2", "1", "2", "5"])),
        *(pd.Series(_INTS, dtype=object), np.array(_INTS, dtype="f2")),
    ],
)
def test_numbers_of_every_container_match(y: Any) -> None:
    np.testing.assert_array_equal(DecisionTreeRegressor().fit(_X, y).predict(_X), _INTS)


_GAPPED: list[Any] = [
    *([1, None, 2, 3], ["a", None, "b", "c"], ["a", float("nan"), "b", "c"], [1.0, np.nan, 2, 3]),
    *(np.array(["a", None, "b", "c"], dtype=object), pd.Series(["a", None, "b", "c"])),
    *(pd.Series([1, None, 2, 3], dtype="Int64"), pd.Series([1, None, 2, 3], dtype="int8[pyarrow]")),
    *(
        pd.Series(["a", None, "b", "c"], dtype="category"),
        pd.Series([1, pd.NA, 2, 3], dtype=object),
    ),
    *(pl.Series([1, None, 2, 3]), pl.Series(["a", None, "b", "c"])),
    pl.Series(["a", None, "b", "c"], dtype=pl.Categorical),
    *(pa.array([1, None, 2, 3]), pa.array(["a", None, "b", "c"]).dictionary_encode()),
    *(pa.chunked_array([["a"], [None, "b", "c"]]), pl.Series([True, None, False, True])),
]


@pytest.mark.parametrize("y", _GAPPED, ids=lambda y: f"{type(y).__module__} {type(y).__name__}")
def test_a_missing_label_is_named(y: Any) -> None:
    with pytest.raises(
        ValueError, match="y (contains NaN|has a missing value).* row 1 .*drop such"
    ):
        DecisionTreeClassifier().fit(_X, y)
    with pytest.raises(ValueError, match="row 1|could not convert"):
        DecisionTreeRegressor().fit(_X, y)


@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_errors_name_non_numeric_targets(make: Any, bad: float) -> None:
    kind = "NaN" if np.isnan(bad) else "infinity"
    for y in (np.array([0, 1, bad, 1]), [0.0, 1.0, bad, 1.0], pl.Series([0.0, 1.0, bad, 1.0])):
        with pytest.raises(ValueError, match=f"Input y contains {kind}: row 2 is {bad}"):
            make().fit(_X, y)


def test_text_is_not_a_numeric_target() -> None:
    for y in (_TEXT, np.array(_TEXT), pd.Series(_TEXT), pl.Series(_TEXT, dtype=pl.Categorical)):
        with pytest.raises(ValueError, match="y has 'no' in row 0: a regressor requires numbers"):
            DecisionTreeRegressor().fit(_X, y)


@pytest.mark.parametrize(
    "y",
    [
        *(["a", 1, "b", 2], ("a", 1, "b", 2), np.array(["a", 1, "b", 2], dtype=object)),
        *(pd.Series(["a", 1, "b", 2]), pl.Series(["a", 1, "b", 2], dtype=pl.Object)),
    ],
)
def test_mixed_labels_are_refused(y: Any) -> None:
    with pytest.raises(ValueError, match="y mixes text and other labels: 'a' in row 0, 1 in row 1"):
        DecisionTreeClassifier().fit(_X, y)


def test_one_class_is_a_tree_of_one_leaf() -> None:
    model = DecisionTreeClassifier().fit(_X, ["only"] * 4)
    assert model.predict_proba(_X).tolist() == [[1.0]] * 4


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, 1, 1], r"`sample_weight`: -2.0 in row 1"),
        ([1, 1, np.nan, 1], "sample_weight contains NaN: row 2 is nan; weights must be finite"),
        ([1, 1, 1, np.inf], "sample_weight contains infinity: row 3"),
        ([0, 0, 0, 0], "zero for every row"),
        (pl.Series([1, None, 1, 1]), "sample_weight contains NaN: row 1"),
        (pd.Series([1, None, 1, 1], dtype="Int64"), "sample_weight contains NaN: row 1"),
        (["a", "b", "c", "d"], "has 'a' in row 0: weights must be numbers"),
        ([1, 1, 1], "3"),
        (np.ones((4, 1)), "1D"),
    ],
)
@pytest.mark.parametrize("make", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_invalid_weights_are_refused(make: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().fit(_X, _INTS, sample_weight=weight)


@pytest.mark.parametrize(
    "weight",
    [
        *([0, 1, 1, 2], np.array([0, 1, 1, 2], dtype="u1"), pd.Series([0, 1, 1, 2], dtype="Int8")),
        *(pl.Series([0, 1, 1, 2]), pa.array([0, 1, 1, 2]), pa.chunked_array([[0, 1, 1, 2]])),
        *(pd.Series([0.0, 1.0, 1.0, 2.0], index=[3, 2, 1, 0]), (0, 1, 1, 2)),
    ],
)
def test_weights_of_every_container_match(weight: Any) -> None:
    model = DecisionTreeRegressor(max_depth=1).fit(_X, [9.0, 1.0, 1.0, 4.0], sample_weight=weight)
    np.testing.assert_array_equal(model.predict(_X), [1, 1, 1, 4])
    assert model.tree_.weighted_n_node_samples[0] == 4


def test_dates_can_be_labels() -> None:
    days = [date(2020, 1, 1), date(2021, 1, 1), date(2020, 1, 1), date(2021, 1, 1)]
    model = DecisionTreeClassifier().fit(_X, pl.Series(days))
    assert model.predict(_X).tolist() == days
    with pytest.raises(ValueError, match="dates"):
        DecisionTreeRegressor().fit(_X, pl.Series(days))


_DAYS = [date(2020, 1, 2), date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 9)]


@pytest.mark.parametrize(
    "y",
    [
        np.array(["NaT", "2020", "2021", "2022"], dtype="M8[D]"),
        pd.Series([pd.NaT, *_DAYS[1:]], dtype="datetime64[ns]"),
        pl.Series([None, *_DAYS[1:]]),
        pa.array([None, *_DAYS[1:]]),
        pd.Series([None, *_DAYS[1:]], dtype=object),
    ],
    ids=["numpy", "pandas", "polars", "arrow", "objects"],
)
def test_a_missing_date_is_not_a_class(y: Any) -> None:
    with pytest.raises(ValueError, match=r"y has a missing value in row 0 .*: drop such rows"):
        DecisionTreeClassifier().fit(_X, y)


@pytest.mark.parametrize("y", [_DAYS, pd.Series(_DAYS, dtype=object), pa.array(_DAYS)])
def test_dates_are_labels(y: Any) -> None:
    assert DecisionTreeClassifier().fit(_X, y).predict(_X).tolist() == _DAYS


@pytest.mark.parametrize("label", [Decimal(1), time(1), datetime.fromisoformat("2020-01-01T00Z")])
def test_errors_name_objects_that_are_not_labels(label: Any) -> None:
    with pytest.raises(ValueError, match=r"y has .* in row 0: labels must be text, numbers"):
        DecisionTreeClassifier().fit(_X, pd.Series([label] * 4, dtype=object))


@pytest.mark.parametrize(
    "y",
    [
        [["no", 2], ["yes", 1], ["no", 2], ["maybe", 5]],
        pd.DataFrame({"number": _INTS, "text": _TEXT})[["text", "number"]],
        pl.DataFrame({"text": _TEXT, "number": _INTS}),
        pl.DataFrame({"text": _TEXT, "number": _INTS}).cast({"text": pl.Categorical}),
    ],
    ids=["lists", "pandas", "polars", "categorical"],
)
@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_several_targets_can_have_different_types(y: Any, order: list[int]) -> None:
    y = (
        [[row[k] for k in order] for row in y]
        if isinstance(y, list)
        else y[:, order]
        if (isinstance(y, pl.DataFrame))
        else y.iloc[:, order]
    )
    model = DecisionTreeClassifier().fit(_X, y)
    both = [_TEXT, _INTS]
    assert [part.tolist() for part in model.classes_] == [sorted(set(both[k])) for k in order]
    assert model.predict(_X).T.tolist() == [both[k] for k in order]


@pytest.mark.parametrize("unit", ["ns", "us"])
def test_dates_can_be_one_of_several_targets(unit: str) -> None:
    y = pd.DataFrame({"day": pd.Series(_DAYS, dtype=f"datetime64[{unit}]"), "number": _INTS})
    model = DecisionTreeClassifier().fit(_X, y.assign(number=_TEXT))
    days, texts = model.predict(_X).T
    assert days.astype("M8[D]").tolist() == _DAYS
    assert texts.tolist() == _TEXT
    with pytest.raises(ValueError, match=r"output 0 of y has .* in row 0: a regressor requires"):
        DecisionTreeRegressor().fit(_X, y)


def test_errors_name_the_invalid_one_of_several_targets() -> None:
    classifier, regressor = DecisionTreeClassifier(), DecisionTreeRegressor()
    with pytest.raises(
        ValueError, match=r"output 1 of y mixes text and other labels: 'a' in row 2"
    ):
        classifier.fit(_X, np.array([["x", 1], ["y", 1], ["x", "a"], ["y", 1]], dtype=object))
    with pytest.raises(ValueError, match=r"output 1 of y has a missing value in row 3"):
        classifier.fit(_X, [["x", "a"], ["y", "b"], ["x", "a"], ["y", None]])
    with pytest.raises(ValueError, match=r"output 0 of y has 'x' in row 1: a regressor"):
        regressor.fit(_X, np.array([[1, 2], ["x", 1], [3, 4], [5, 6]], dtype=object))


@pytest.mark.parametrize("weight", [[1.0, None, 1.0, 1.0], ["1", "heavy", "1", "1"]])
def test_errors_name_non_numeric_weights(weight: Any) -> None:
    with pytest.raises(ValueError, match=r"sample_weight (has|contains) .* ?row 1"):
        DecisionTreeClassifier().fit(_X, _INTS, sample_weight=weight)
