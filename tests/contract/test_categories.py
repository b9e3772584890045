"""Levels are learned at fit; equal labels get equal codes whatever container they come in."""

import json
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from arboleda import DecisionTreeClassifier
from arboleda._engine.columns import MISSING, MISSING_OF_MANY, Schema, get_missing_code
from arboleda._engine.labels import label_from_json, label_to_json, sort_labels, to_plain_label
from arboleda._engine.table import check_table

_LABELS = ["b", None, "ä", "b", "a", None, "a"]
_CODES = [1, MISSING, 2, 1, 0, MISSING, 0]


def _arrow_chunks() -> pa.Table:
    parts = [pa.array(["b", None]), pa.array(["ä", "b", "a", None, "a"])]
    return pa.table({"s": pa.chunked_array([part.dictionary_encode() for part in parts])})


CONTAINERS: dict[str, Any] = {
    "pandas category": lambda s: pd.DataFrame({"s": pd.Categorical(s)}),
    "pandas category of odd order": lambda s: pd.DataFrame(
        {"s": pd.Categorical(s, categories=["z", "b", "ä", "y", "a", "ö"])}
    ),
    "pandas text": lambda s: pd.DataFrame({"s": s}),
    "pandas string": lambda s: pd.DataFrame({"s": s}, dtype="string"),
    "pandas object": lambda s: pd.DataFrame({"s": pd.Series(s, dtype=object)}),
    "pandas object with NaN": lambda s: pd.DataFrame(
        {"s": pd.Series([np.nan if v is None else v for v in s], dtype=object)}
    ),
    "pandas arrow text": lambda s: pd.DataFrame({"s": s}, dtype="string[pyarrow]"),
    "pandas arrow dictionary": lambda s: pd.DataFrame(
        {"s": pd.Series(s).astype(pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))}
    ),
    "polars text": lambda s: pl.DataFrame({"s": s}),
    "polars Categorical": lambda s: pl.DataFrame({"s": pl.Series(s, dtype=pl.Categorical)}),
    "polars Enum": lambda s: pl.DataFrame(
        {"s": pl.Series(s, dtype=pl.Enum(["z", "b", "ä", "y", "a", "ö"]))}
    ),
    "arrow text": lambda s: pa.table({"s": s}),
    "arrow large text": lambda s: pa.table({"s": pa.array(s, pa.large_string())}),
    "arrow dictionary": lambda s: pa.table({"s": pa.array(s).dictionary_encode()}),
    "arrow dictionary in chunks": lambda s: _arrow_chunks() if s == _LABELS else pa.table({"s": s}),
    "arrow batch": lambda s: pa.RecordBatch.from_pydict({"s": pa.array(s).dictionary_encode()}),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_text_of_every_container_has_the_same_codes(reader: Any, container: str) -> None:
    X = CONTAINERS[container](_LABELS)
    table = reader.fit(X)
    assert reader.schema_ == Schema(("s",), (("a", "b", "ä"),))
    assert table.n_levels == (3,)
    assert table.columns[0].dtype == np.uint16
    assert table.columns[0].tolist() == _CODES
    assert reader.read(X).columns[0].tolist() == _CODES


@pytest.mark.parametrize("at_fit", ["pandas category of odd order", "polars Enum", "arrow text"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_another_container_can_be_used_at_prediction(
    reader: Any, at_fit: str, container: str
) -> None:
    reader.fit(CONTAINERS[at_fit](_LABELS))
    found = reader.read(CONTAINERS[container](["a", "ö", None, "b"])).columns[0]
    assert found.tolist() == [0, MISSING, MISSING, 1]


def test_a_shared_pool_of_labels_does_not_shift_codes(reader: Any) -> None:
    kept = pl.Series([f"other{i}" for i in range(300)], dtype=pl.Categorical)
    reader.fit(pl.DataFrame({"s": pl.Series(["q", "p"], dtype=pl.Categorical)}))
    assert reader.schema_.levels == (("p", "q"),)
    assert kept.len() == 300
    found = reader.read(pl.DataFrame({"s": pl.Series(["p", "new", "q"], dtype=pl.Categorical)}))
    assert found.columns[0].tolist() == [0, MISSING, 1]


_DAYS = [date(2020, 2, 1), None, date(2019, 1, 1)]
_TIMES = [datetime(2020, 2, 1, 3, 4, 5, 6), None, datetime(2020, 2, 1)]


@pytest.mark.parametrize(
    ("X", "levels", "codes"),
    [
        (pd.DataFrame({"s": [10, 2, 2]}), (2, 10), [1, 0, 0]),
        (pd.DataFrame({"s": pd.array([10, None, 2], dtype="Int64")}), (2, 10), [1, MISSING, 0]),
        (pd.DataFrame({"s": [0.5, np.nan, -1.0]}), (-1.0, 0.5), [1, MISSING, 0]),
        (pd.DataFrame({"s": [True, False, True]}), (False, True), [1, 0, 1]),
        (pd.DataFrame({"s": pd.Categorical([7, 3, None])}), (3, 7), [1, 0, MISSING]),
        (pd.DataFrame({"s": pd.to_datetime(_DAYS)}), (_DAYS[2], _DAYS[0]), [1, MISSING, 0]),
        (pd.DataFrame({"s": pd.to_timedelta([9, 4, 4], "s")}), None, [1, 0, 0]),
        (pd.DataFrame({"s": [b"x".decode(), 3, None]}, dtype=object), (3, "x"), [1, 0, MISSING]),
        (pl.DataFrame({"s": [10, None, 2]}), (2, 10), [1, MISSING, 0]),
        (pl.DataFrame({"s": [True, None, False]}), (False, True), [1, MISSING, 0]),
        (pl.DataFrame({"s": _DAYS}), (_DAYS[2], _DAYS[0]), [1, MISSING, 0]),
        (pl.DataFrame({"s": _TIMES}), (date(2020, 2, 1), _TIMES[0]), [1, MISSING, 0]),
        (pl.DataFrame({"s": [time(1), time(0, 30), None]}), None, [1, 0, MISSING]),
        (pl.DataFrame({"s": [None, None, None]}), (), [MISSING] * 3),
        (pa.table({"s": _DAYS}), (_DAYS[2], _DAYS[0]), [1, MISSING, 0]),
        (pa.table({"s": [0.5, None, float("nan")]}), (0.5,), [0, MISSING, MISSING]),
        (pa.table({"s": pa.nulls(3)}), (), [MISSING] * 3),
        (np.array([[10], [2], [2]], dtype="i1"), (2, 10), [1, 0, 0]),
        (np.array([[10], [np.nan], [2]], dtype="f4"), (2, 10), [1, MISSING, 0]),
        (np.array([["x"], ["y"], ["x"]]), ("x", "y"), [0, 1, 0]),
        (np.array([["x"], [None], [1.0]], dtype=object), (1.0, "x"), [1, MISSING, 0]),
        (np.array([["2020"], ["NaT"], ["2019"]], dtype="M8[D]"), None, [1, MISSING, 0]),
        ([["x"], [None], [3]], (3, "x"), [1, MISSING, 0]),
    ],
)
def test_named_columns_of_any_type_can_be_categorical(
    reader: Any, X: Any, levels: Any, codes: list[int]
) -> None:
    for named in ([0], [True], (0,), np.array([0])):
        table = reader.fit(X, categorical_features=named)
        assert table.columns[0].tolist() == codes
        assert reader.read(X).columns[0].tolist() == codes
    if levels is not None:
        assert reader.schema_.levels == (levels,)
    data = json.loads(json.dumps(reader.schema_.to_dict()))
    assert Schema.from_dict(data) == reader.schema_
    assert Schema.from_dict(data).to_dict() == reader.schema_.to_dict()


def test_numbers_are_the_same_level_in_every_type(reader: Any) -> None:
    reader.fit(pd.DataFrame({"s": [1, 0, 3]}), categorical_features=["s"])
    for X in (
        pl.DataFrame({"s": [1.0, None, 3.0]}),
        pd.DataFrame({"s": pd.Categorical([1, None, 3])}),
        pd.DataFrame({"s": pd.Series([True, None, 3], dtype=object)}),
        pa.table({"s": pa.array([1, None, 3], pa.uint8()).dictionary_encode()}),
    ):
        assert reader.read(X).columns[0].tolist() == [1, MISSING, 2]


def test_days_are_the_same_level_in_every_type(reader: Any) -> None:
    reader.fit(pl.DataFrame({"s": _DAYS}), categorical_features=["s"])
    found = reader.read(pd.DataFrame({"s": pd.to_datetime(_DAYS)}))
    assert found.columns[0].tolist() == [1, MISSING, 0]


@pytest.mark.parametrize(
    ("chosen", "kinds"),
    [
        ("from_dtype", "ncc"),
        (["n", "t"], "cnc"),
        ([0, 2], "cnc"),
        ([False, True, True], "ncc"),
        (np.array(["t", "c"], dtype=object), "ncc"),
    ],
)
def test_categorical_columns_are_inferred(reader: Any, chosen: Any, kinds: str) -> None:
    X = pd.DataFrame({"n": [1, 2], "c": pd.Categorical([5, 6]), "t": ["x", "y"]})
    reader.fit(X, categorical_features=chosen)
    assert "".join(kind[0] for kind in reader.schema_.kinds) == kinds


@pytest.mark.parametrize("chosen", [None, [], [False]])
def test_no_column_needs_to_be_categorical(reader: Any, chosen: Any) -> None:
    X = pd.DataFrame({"c": pd.Categorical([5, None, 6])})
    table = reader.fit(X, categorical_features=chosen)
    np.testing.assert_array_equal(table.columns[0], [5, np.nan, 6])
    with pytest.raises(ValueError, match="column 'c' of X has 'x' in row 1: .*categorical_feat"):
        reader.fit(pd.DataFrame({"c": ["1", "x", "y"]}), categorical_features=chosen)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (["a", "d"], r"item value 'd' which is not a valid feature name .* columns are 'a', 'b'"),
        ([0, 2], r"must be in \[0, n_features - 1\] = \[0, 1\], got 2"),
        ([-1], "got -1"),
        ([True], "got 1 entries for 2 columns"),
        ([0.5], "got: float64"),
        ([["a"]], "array-like of bool, int or str"),
        ([None, 0], r"got: NoneType \(None\)"),
    ],
)
def test_an_invalid_choice_is_explained(reader: Any, chosen: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        reader.fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), categorical_features=chosen)


def test_names_require_a_frame(reader: Any) -> None:
    with pytest.raises(ValueError, match="fitted on data without feature names. Got the name 'a'"):
        reader.fit(np.ones((2, 2)), categorical_features=["a"])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pl.DataFrame({"s": [[1], [2]]}), "'s' of X: .*List"),
        (pa.table({"s": [[1], [2]]}), "'s' of X: .*list"),
        (pa.table({"s": [b"x", b"y"]}), "'s' of X, row 0: b'x' is not a text"),
        (pd.DataFrame({"s": [[1], [2]]}), "'s' of X: it has unhashable values such as lists"),
        (pd.DataFrame({"s": [1.0, np.inf]}), "'s' of X, row 1: inf is not a category"),
        (pd.DataFrame({"s": pd.period_range("2020", periods=2)}), "'s' of X, row 0: Period"),
        (pd.DataFrame({"s": pd.interval_range(0, 2)}), "'s' of X, row 0: Interval"),
        (pd.DataFrame({"s": pd.to_datetime([1, 2], unit="ns")}), "more precise than a microsecond"),
        (np.array([[1j], [2]]), "Complex data not supported"),
    ],
)
def test_values_that_are_no_category_are_refused(reader: Any, X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reader.fit(X, categorical_features=[0])


def test_an_estimator_can_read_more_levels_than_the_engine_limit(reader: Any) -> None:
    labels = [f"user{number}" for number in range(65_536)] + [None]
    X = pd.DataFrame({"s": labels})
    table = check_table(reader, X, reset=True, categorical_features="from_dtype", many_levels=True)
    assert table.n_levels == (65_536,)
    codes = table.columns[0]
    assert codes.dtype == np.uint32
    assert np.array_equal(np.unique(codes[:-1]), np.arange(65_536))
    assert codes[-1] == get_missing_code(65_536) == MISSING_OF_MANY
    found = reader.read(pd.DataFrame({"s": ["user7", "new", None]})).columns[0]
    assert found.tolist() == [codes[7], MISSING_OF_MANY, MISSING_OF_MANY]
    tree = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    assert tree.tree_.categories_are_below([0])
    assert not tree.tree_.categories_are_below([65_536])  # no tree can split such a column


@pytest.mark.parametrize("count", [65_535, 65_536, 200_000])
@pytest.mark.parametrize("library", [pd, pl, np])
def test_levels_up_to_the_engine_limit_are_read(reader: Any, library: Any, count: int) -> None:
    numbers = np.arange(count)[::-1]
    X = numbers.reshape(-1, 1) if library is np else library.DataFrame({"0": numbers.astype(str)})
    if count == 65_535:
        table = reader.fit(X, categorical_features=[0])
        assert table.n_levels == (count,)
        assert table.columns[0].max() == count - 1
        assert np.unique(table.columns[0]).size == count
    else:
        with pytest.raises(ValueError, match=f"column .*0.* has {count:,} categories, more than"):
            reader.fit(X, categorical_features=[0])


def test_levels_are_sorted() -> None:
    noon = datetime(2020, 1, 1, 12)
    zoned = datetime(2020, 1, 1, tzinfo=UTC)
    labels = [
        *("b", "a", 2, 1.5, True, date(2021, 1, 1), date(2020, 1, 1), noon, zoned),
        *(time(4), time(3), timedelta(2), timedelta(1)),
    ]
    found = sort_labels(labels)  # type: ignore[arg-type]
    assert found == (
        *(date(2020, 1, 1), noon, date(2021, 1, 1), zoned, timedelta(1), timedelta(2)),
        *(True, 1.5, 2, "a", "b", time(3), time(4)),
    )
    assert sort_labels(found[::-1]) == found
    for label in found:
        written = json.loads(json.dumps(label_to_json(label)))
        assert label_from_json(written) == label
        assert type(label_from_json(written)) is type(label)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (np.str_("x"), "x"),
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.datetime64("2020-01-02"), date(2020, 1, 2)),
        (np.datetime64("2020-01-02T03", "ns"), datetime(2020, 1, 2, 3)),
        (np.timedelta64(3, "s"), timedelta(seconds=3)),
        (pd.Timestamp("2020-01-02 03:00"), datetime(2020, 1, 2, 3)),
        (pd.Timestamp("2020-01-02", tz="UTC"), datetime(2020, 1, 2, tzinfo=UTC)),
        (pd.Timedelta("3s"), timedelta(seconds=3)),
        (pd.NaT, None),
        (pd.NA, None),
        (float("nan"), None),
        (np.datetime64("NaT"), None),
    ],
)
def test_labels_are_plain_values(value: Any, label: Any) -> None:
    assert to_plain_label(value) == label
    assert type(to_plain_label(value)) is type(label)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"names": None, "columns": None},
        {"names": "ab", "columns": []},
        {"names": ["a"], "columns": []},
        {"names": ["a", "a"], "columns": [{"kind": "numeric"}] * 2},
        {"names": [1.5], "columns": [{"kind": "numeric"}]},
        {"names": [True], "columns": [{"kind": "numeric"}]},
        {"names": None, "columns": [{"kind": "odd"}]},
        {"names": None, "columns": [{"kind": "numeric", "levels": []}]},
        {"names": None, "columns": ["numeric"]},
        *(
            {"names": None, "columns": [{"kind": "categorical", "levels": levels}]}
            for levels in (
                *(None, "ab", [None], [[1]], ["a", "a"], [1, 1.0], [float("nan")]),
                *(
                    [{"type": "date"}],
                    [{"type": "date", "value": "x"}],
                    [{"type": "x", "value": ""}],
                ),
                [{"type": ["date"], "value": "2020-01-01"}],
                [{"type": "duration", "microseconds": 1.5}],
                [{"type": "duration", "microseconds": 10**30}],
            )
        ),
    ],
)
def test_invalid_schemas_are_refused(data: Any) -> None:
    with pytest.raises(ValueError, match="schema|names|name|level|label"):
        Schema.from_dict(data)
