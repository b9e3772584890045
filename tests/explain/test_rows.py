"""Tables in any container, read by columns and copied with other values."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from arboleda import DecisionTreeClassifier
from arboleda.explain._rows import TableRows, read_rows

COLUMNS: dict[str, list[Any]] = {
    "age": [3, 1, 2, 2],
    "size": [0.5, None, 2.5, 1.0],
    "colour": ["red", "blue", None, "blue"],
    "old": [True, False, False, True],
}


def pandas_table() -> pd.DataFrame:
    frame = pd.DataFrame(COLUMNS, index=[7, 5, 5, 1])
    return frame.astype({"colour": pd.CategoricalDtype(["red", "green", "blue"], ordered=True)})


def tables() -> dict[str, Any]:
    return {
        "pandas": pandas_table(),
        "pandas text": pd.DataFrame(COLUMNS),
        "polars": pl.DataFrame(COLUMNS),
        "polars enum": pl.DataFrame(COLUMNS).cast({"colour": pl.Enum(["red", "green", "blue"])}),
        "arrow": pa.table(COLUMNS),
        "arrow dictionary": pa.table(
            {**COLUMNS, "colour": pa.array(COLUMNS["colour"]).dictionary_encode()}
        ),
        "objects": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    }


def read_back(native: Any, column: int) -> list[Any]:
    """The column as Python has it, None where missing."""
    if isinstance(native, pd.DataFrame):
        values = native.iloc[:, column].tolist()
    elif isinstance(native, np.ndarray):
        values = native[:, column].tolist()
    else:
        values = pa.table(native).column(column).to_pylist()
    return [None if value is None or value != value else value for value in values]


@pytest.fixture(params=tables(), ids=lambda name: name.replace(" ", "_"))
def native(request: pytest.FixtureRequest) -> Any:
    return tables()[request.param]


def test_columns_are_numbers_or_codes_of_levels(native: Any) -> None:
    rows = read_rows(native)
    assert rows.categorical == (False, False, True, False)
    np.testing.assert_array_equal(rows.values(0), [3, 1, 2, 2])
    np.testing.assert_array_equal(rows.values(1), [0.5, np.nan, 2.5, 1.0])
    assert rows.levels(2) == ("blue", "red")
    np.testing.assert_array_equal(rows.values(2), [1, 0, np.nan, 0])
    np.testing.assert_array_equal(rows.values(3), [1, 0, 0, 1])
    np.testing.assert_array_equal(rows.missing(2), [False, False, True, False])


def test_replaced_values_keep_the_container_and_the_types(native: Any) -> None:
    rows = read_rows(native)
    before = [read_back(native, j) for j in range(4)]
    put = rows.put({0: np.array([9.0, 8, 7, 6]), 2: np.array([np.nan, 1, 0, 0])})
    assert type(put) is type(native)
    assert read_back(put, 0) == [9, 8, 7, 6]
    assert read_back(put, 2) == [None, "red", "blue", "blue"]
    assert read_back(put, 1) == before[1]
    assert [read_back(native, j) for j in range(4)] == before
    if isinstance(native, pd.DataFrame):
        pd.testing.assert_series_equal(put.dtypes, native.dtypes)
        assert put.index.equals(native.index)
    if isinstance(native, pl.DataFrame | pa.Table):
        assert put.schema == native.schema


def test_a_number_that_the_type_cannot_hold_widens_the_column(native: Any) -> None:
    put = read_rows(native).put({0: np.array([0.5, 1, np.nan, 1]), 3: np.array([1, 0, 0.5, 1])})
    assert read_back(put, 0) == [0.5, 1, None, 1]
    assert read_back(put, 3) == [1, 0, 0.5, 1]


def test_values_are_gathered_from_other_rows(native: Any) -> None:
    order = np.array([3, 2, 1, 0])
    put = read_rows(native).gather({1: order, 2: order})
    assert read_back(put, 1) == read_back(native, 1)[::-1]
    assert read_back(put, 2) == read_back(native, 2)[::-1]
    assert read_back(put, 0) == read_back(native, 0)


def test_selected_rows_keep_their_codes(native: Any) -> None:
    taken = read_rows(native).take(np.array([1, 1, 3]))
    assert taken.n_rows == 3
    assert taken.levels(2) == ("blue", "red")
    np.testing.assert_array_equal(taken.values(2), [0, 0, 0])
    assert read_back(taken.put({2: np.array([1.0, 0.0, np.nan])}), 2) == ["red", "blue", None]


@pytest.mark.parametrize("most_rows", [1, 3, 4, 8, 9, 100])
def test_blocks_contain_every_row_at_every_point(native: Any, most_rows: int) -> None:
    rows = read_rows(native)
    grid = {0: np.array([10.0, 20, 30, 40, 50]), 2: np.array([0.0, 1, 1, 0, 1])}
    seen: list[tuple[int, int]] = []
    for which, points, table in rows.iter_blocks(grid, most_rows):
        held = [(p, r) for p in range(5)[points] for r in range(4)[which]]
        assert len(held) <= max(most_rows, 1)
        assert read_back(table, 0) == [grid[0][p] for p, _ in held]
        assert read_back(table, 2) == [("blue", "red")[int(grid[2][p])] for p, _ in held]
        assert read_back(table, 1) == [read_back(native, 1)[r] for _, r in held]
        seen += held
    assert sorted(seen) == [(p, r) for p in range(5) for r in range(4)]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_sparse_matrices_stay_sparse(form: str) -> None:
    array = np.array([[0.0, 1, 0], [2, 0, 0], [0, 0, 3]])
    for native in (sparse.csr_array(array).asformat(form), sparse.csr_matrix(array).asformat(form)):
        rows = read_rows(native)
        np.testing.assert_array_equal(rows.values(0), [0, 2, 0])
        put = rows.put({2: np.array([0.0, 7, 8]), 0: np.array([1.0, 0, 0])})
        assert type(put) is type(native)
        np.testing.assert_array_equal(put.toarray(), [[1, 1, 0], [0, 0, 7], [0, 0, 8]])
        gathered = rows.take(np.array([2, 0])).gather({0: np.array([1, 0])})
        np.testing.assert_array_equal(gathered.toarray(), [[0, 0, 3], [0, 1, 0]])


def test_arrays_of_numbers_keep_their_type_and_order() -> None:
    array = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(4, 3))
    put = read_rows(array).put({1: np.array([0.5, 1, 2, 3])})
    assert put.dtype == np.float32
    assert put.flags.f_contiguous
    assert read_rows(array).put({1: np.full(4, 0.1)})[0, 1] == 0.1
    assert read_rows(array.astype(int)).put({1: np.full(4, 2.0)}).dtype == array.astype(int).dtype


def test_columns_can_be_declared_categorical() -> None:
    array = np.array([[1, 5], [2, 5], [1, 6]])
    assert read_rows(array, categorical_features=[1]).levels(1) == (5, 6)
    model = DecisionTreeClassifier(categorical_features=[0]).fit(array, [0, 1, 0])
    assert read_rows(array, model).categorical == (True, False)
    assert read_rows(pd.DataFrame(array, columns=["a", "b"]), model).categorical == (True, False)


def test_names_come_from_the_table_the_model_or_numbers() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    model = DecisionTreeClassifier().fit(frame, [0, 1])
    assert read_rows(frame).names == ("a", "b")
    assert read_rows(frame.to_numpy(), model).names == ("a", "b")
    assert read_rows(frame.to_numpy()).names == ("x[0]", "x[1]")
    rows = read_rows(frame)
    assert [rows.find_column(what) for what in ("b", 1, np.int64(0))] == [1, 1, 0]


def rows_of_two() -> TableRows:
    return read_rows(pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]}))


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: read_rows([1, 2]), ValueError, "1 dimension"),
        (lambda: read_rows(np.empty((0, 2))), ValueError, r"0 sample\(s\)"),
        (lambda: read_rows(np.empty((2, 0))), ValueError, r"0 feature\(s\)"),
        (lambda: read_rows(pl.LazyFrame({"a": [1]})), ValueError, "lazy"),
        (lambda: read_rows([[1]], categorical_features=[3]), ValueError, "3"),
        (lambda: read_rows([[1]], categorical_features="a"), ValueError, r"give \['a'\]"),
        (lambda: rows_of_two().find_column("c"), ValueError, "'c' is not a column of X"),
        (lambda: rows_of_two().find_column(2), ValueError, "column 2 does not exist"),
        (lambda: rows_of_two().find_column(-1), ValueError, "column -1 does not exist"),
        (lambda: rows_of_two().find_column(True), TypeError, "True"),
        (
            lambda: rows_of_two().put({1: np.array([0.0, np.nan])}),
            ValueError,
            "no missing value in any row",
        ),
        (lambda: read_rows([[1.0], [np.inf]]).values(0), ValueError, "infinity"),
    ],
)
def test_invalid_arguments_are_refused(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()
