"""Reading a table copies nothing that the engine can read in place, and starts no thread."""

import subprocess
import sys
import time
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

_ROWS = 100_000
_NUMBERS = np.random.default_rng(0).normal(size=(_ROWS, 8))


@pytest.mark.parametrize(
    "X",
    [
        *(_NUMBERS, np.asfortranarray(_NUMBERS), _NUMBERS.astype(np.float32), _NUMBERS[:, ::-1]),
        *(pd.DataFrame(_NUMBERS), pd.DataFrame({"a": _NUMBERS[:, 0].copy(), "b": _NUMBERS[:, 1]})),
        pd.DataFrame(_NUMBERS.astype(np.float32)).rename(columns=str),
        pl.DataFrame({str(j): _NUMBERS[:, j].copy() for j in range(8)}),
        pa.table({str(j): _NUMBERS[:, j].copy() for j in range(8)}),
        np.arange(_ROWS * 8).reshape(_ROWS, 8),
    ],
    ids=["C", "F", "float32", "reversed", "frame", "two", "frame32", "polars", "arrow", "int"],
)
def test_numbers_are_not_copied(reader: Any, X: Any) -> None:
    reader.fit(X)
    for read in (reader.fit, reader.read):
        tracemalloc.start()
        table = read(X)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2 * _ROWS  # less than half of the smallest column: buffers, not a copy
        assert not any(column.flags.owndata for column in table.columns)


def test_views_of_an_array_are_not_copied(reader: Any) -> None:
    table = reader.fit(_NUMBERS)
    assert all(np.shares_memory(column, _NUMBERS) for column in table.columns)
    frame = pd.DataFrame(_NUMBERS)
    first = reader.fit(frame).columns[0]
    assert np.shares_memory(first, frame[0].to_numpy())


def test_categories_use_the_memory_of_their_codes(reader: Any) -> None:
    labels = pd.DataFrame({"s": pd.Categorical.from_codes(np.arange(_ROWS) % 9, list("abcdefghi"))})
    reader.fit(labels)
    tracemalloc.start()
    reader.read(labels)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * _ROWS


@pytest.mark.parametrize("library", ["numpy", "objects", "pandas", "polars", "arrow"])
def test_a_column_of_identifiers_is_refused_early(reader: Any, library: str) -> None:
    names = np.arange(1_000_000).astype(str)
    X = {
        "numpy": lambda: names.reshape(-1, 1),
        "objects": lambda: names.astype(object).reshape(-1, 1),
        "pandas": lambda: pd.DataFrame({"0": names}),
        "polars": lambda: pl.DataFrame({"0": names}),
        "arrow": lambda: pa.table({"0": names}),
    }[library]()
    start = time.perf_counter()
    with pytest.raises(ValueError, match="1,000,000 categories, .*drop it if it is an identifier"):
        reader.fit(X, categorical_features=[0])
    assert time.perf_counter() - start < 20  # seconds; it takes about one


_COUNT_THREADS = """
import pathlib
import numpy as np
import pandas as pd
from arboleda import DecisionTreeClassifier

def threads():
    return len(list(pathlib.Path("/proc/self/task").iterdir()))

frame = pd.DataFrame({"a": np.arange(200.0), "b": ["x", "y"] * 100})
before = threads()
most = before
for X in (frame, frame[["a"]].to_numpy()):
    model = DecisionTreeClassifier(n_jobs=None).fit(X, np.arange(200) % 3)
    most = max(most, threads())
    model.predict(X), model.apply(X)
    most = max(most, threads())
print(most - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
def test_a_small_table_starts_no_thread() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _COUNT_THREADS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"
