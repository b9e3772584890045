"""The target: two fields in any container, and messages where it is not clear what they mean."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.survival.times import structured

from arboleda._utils.survival_times import read_survival_times

EVENT = [True, False, True]
TIME = [3.0, 1.5, 0.0]


@pytest.mark.parametrize(
    "y",
    [
        structured(EVENT, TIME),
        np.array([(t, e) for e, t in zip(EVENT, TIME, strict=True)], dtype="f4,?"),
        pd.DataFrame({"time": TIME, "status": EVENT}),
        pd.DataFrame({"status": [1, 0, 1], "time": TIME}),
        pd.DataFrame({"status": pd.array([1, 0, 1], "Int64"), "time": pd.array(TIME, "Float64")}),
        pd.DataFrame({"time": TIME, "status": ["dead", "alive", "Dead"]}, index=[5, 6, 7]),
        pd.DataFrame({"time": TIME, "status": pd.Categorical(["yes", "no", "yes"])}),
        pl.DataFrame({"time": TIME, "status": EVENT}),
        pl.DataFrame({"relapse": ["true", "false", "true"], "time": TIME}),
        pa.table({"time": TIME, "status": EVENT}),
        pa.RecordBatch.from_pydict({"time": TIME, "status": [1.0, 0.0, 1.0]}),
    ],
)
def test_containers_and_codings(y: Any) -> None:
    times = read_survival_times(y)
    assert times.event.dtype == bool
    assert times.event.tolist() == EVENT
    assert times.time.tolist() == TIME


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(3.0), r"y is a ndarray of shape \(3,\), but .* structured array"),
        (pd.DataFrame({"a": EVENT, "b": TIME, "c": TIME}), "3 fields"),
        (
            pd.DataFrame({"status": [1, 2, 2], "time": TIME}),
            r"y\['status'\] == 1; if 2 means the event, write y\['status'\] == 2",
        ),
        (
            pd.DataFrame({"status": ["A", "B", "A"], "time": TIME}),
            r"if 'A' means the event, write y\['status'\] == 'A'; if 'B' means the event",
        ),
        (
            pd.DataFrame({"status": ["dead", "alive", "lost"], "time": TIME}),
            "'alive', 'dead', 'lost', and it is not clear",
        ),
        (pd.DataFrame({"a": [1, 0, 1], "b": [1, 1, 0]}), "either field of y could be the event"),
        (pd.DataFrame({"a": [5, 7, 9], "b": TIME}), "neither field of y"),
        (structured(EVENT, [3.0, -1.0, 0.0]), r"y\['time'\] is -1.0 in row 1"),
        (structured(EVENT, [3.0, 1.0, np.nan]), "is nan in row 2"),
        (structured(EVENT, [np.inf, 1.0, 1.0]), "is inf in row 0"),
        (pd.DataFrame({"status": EVENT, "time": [1.0, None, 2.0]}), "missing in row 1"),
        (structured([False] * 3, TIME), "no row of y has the event: all 3 are censored"),
        (structured([], []), "0 rows"),
        (
            pd.DataFrame({"status": EVENT, "time": pd.to_datetime(["2020-01-01"] * 3)}),
            "times are numbers",
        ),
    ],
)
def test_messages(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_survival_times(y)


def test_a_lone_word_is_no_coding() -> None:
    with pytest.raises(ValueError, match="an event: write"):
        read_survival_times(pd.DataFrame({"status": ["relapse?"], "time": [1.0]}))
