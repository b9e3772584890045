"""Dates and times are read in the order of day and month that their column shows."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arboleda.tables.column_reading import columns_from_arrow
from arboleda.tables.date_parsing import (
    ClockFormat,
    DateFormat,
    infer_clock_format,
    infer_date_format,
    infer_epoch,
)


def parse(texts: list[str]) -> list[str | None]:
    column = pa.array(texts, pa.large_string())
    form = infer_date_format(column)
    if form is None:
        return [None] * len(texts)
    seconds = form.parse(column)[0]
    return [
        None if np.isnan(s) else datetime.fromtimestamp(s, UTC).isoformat()[:19] for s in seconds
    ]


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["31/12/2020 10:00", "01/02/2020 9:05"], "2020-12-31T10:00:00"),
        (["31.12.2020", "1.2.2020"], "2020-12-31T00:00:00"),
        (["12/31/2020", "1/2/2020"], "2020-12-31T00:00:00"),
        (["2020-12-31T10:15:00Z"], "2020-12-31T10:15:00"),
        (["2020-12-31 10:15:00+02:00"], "2020-12-31T08:15:00"),
        (["2020/12/31 23:59:59.5"], "2020-12-31T23:59:59"),
        (["31 Dec 2020"], "2020-12-31T00:00:00"),
        (["December 31, 2020 5:06 PM"], "2020-12-31T17:06:00"),
        (["Thu, 31 Dec 2020 10:00:00 +0000"], "2020-12-31T10:00:00"),
        (["31-Dec-20"], "2020-12-31T00:00:00"),
        (["3 de enero de 2021"], "2021-01-03T00:00:00"),
        (["20201231"], "2020-12-31T00:00:00"),
        (["2020-12"], "2020-12-01T00:00:00"),
        (["Dec 2020"], "2020-12-01T00:00:00"),
        (["10:30 31/12/2020"], "2020-12-31T10:30:00"),
        (["31.12.99"], "1999-12-31T00:00:00"),
    ],
)
def test_dates_are_read_in_every_common_order(texts: list[str], first: str) -> None:
    assert parse(texts)[0] == first


def test_the_column_decides_whether_the_day_is_first() -> None:
    assert parse(["1/2/2020", "13/2/2020"])[0] == "2020-02-01T00:00:00"
    assert parse(["1/2/2020", "2/13/2020"])[0] == "2020-01-02T00:00:00"


def test_the_order_of_rows_decides_when_no_day_is_above_twelve() -> None:
    by_day = [f"{d}/{m}/2020" for m in (1, 2, 3) for d in (1, 5, 9)]
    form = infer_date_format(pa.array(by_day))
    assert form == DateFormat("dmy")
    by_month = [f"{m}/{d}/2020" for m in (1, 2, 3) for d in (1, 5, 9)]
    assert infer_date_format(pa.array(by_month)) == DateFormat("mdy")


def test_years_of_two_digits_have_a_century() -> None:
    texts = pa.chunked_array([["31.12.20", "01.02.69", "15.06.68"]])
    (column,) = columns_from_arrow("day", texts)
    found = [datetime.fromtimestamp(s, UTC).year for s in column.values.tolist()]
    assert (column.kind, found) == ("datetime", [2020, 1969, 2068])


def test_an_order_that_the_column_does_not_show_is_ambiguous() -> None:
    form = infer_date_format(pa.array(["1/2/2020", "4/3/2020", "2/5/2020"]))
    assert form == DateFormat("dmy", is_ambiguous=True)


def test_dates_of_the_other_order_are_words() -> None:
    column = pa.array(["31/12/2020", "12/31/2020", "13/01/2020"])
    form = infer_date_format(column)
    assert form is not None
    assert form.parse(column)[1].to_pylist() == [None, "12/31/2020", None]


@pytest.mark.parametrize(
    "text",
    [
        "30/02/2020",
        "hello",
        "1.2.3",
        "10.0.0.1",
        "",
        "2020-13-01",
        "99999-01-01",
        "1/2",
        "x" * 10**6,
    ],
)
def test_other_texts_are_no_dates(text: str) -> None:
    assert parse([text]) == [None]


def test_times_of_day_are_hours() -> None:
    column = pa.array(["10:30", "7:06 PM", "12:00 am", "23:59:30"])
    form = infer_clock_format(column)
    assert form == ClockFormat()
    np.testing.assert_allclose(form.parse(column)[0], [10.5, 19.1, 0, 23 + 59.5 / 60])
    assert infer_clock_format(pa.array(["10:30", "25:00"])) is None


def test_numbers_are_times_if_the_name_and_their_range_show_it() -> None:
    seconds = np.array([1.6e9, 1.7e9])
    assert infer_epoch("created_at", seconds) == DateFormat(epoch=1.0)
    assert infer_epoch("timestamp", seconds * 1000) == DateFormat(epoch=1e3)
    assert infer_epoch("date", np.array([20200101.0, 20211231.0])) == DateFormat("ymd")
    assert infer_epoch("date", np.array([20200101.0, 20211331.0])) is None
    assert infer_epoch("price", seconds) is None
    assert infer_epoch("date", np.array([])) is None
    values, _ = DateFormat(epoch=1e3).parse(pa.array(["1600000000500", "soon"]))
    np.testing.assert_array_equal(values, [1_600_000_000.5, np.nan])


@given(st.lists(st.text(max_size=40), min_size=1, max_size=20))
def test_no_text_is_an_error(texts: list[str]) -> None:
    column = pa.array([t.encode("utf-8", "replace").decode() for t in texts], pa.large_string())
    for form in (DateFormat(), DateFormat("mdy"), DateFormat("ymd"), ClockFormat()):
        values, words = form.parse(column)
        assert len(values) == len(words) == len(texts)
    infer_date_format(column)


@given(st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2099, 1, 1)), min_size=1))
def test_dates_with_day_first_are_read_back(times: list[datetime]) -> None:
    times = [*times, datetime(2020, 12, 31)]
    texts = [time.strftime("%d/%m/%Y %H:%M:%S") for time in times]
    assert parse(texts) == [time.isoformat()[:19] for time in times]
