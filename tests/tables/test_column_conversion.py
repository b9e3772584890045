"""Columns of new tables are read in the formats of the study, each value by itself."""

from datetime import time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from arboleda._utils.errors import StudyError
from arboleda.tables.column_conversion import RawColumn, convert_column
from arboleda.tables.column_formats import ColumnFormat
from arboleda.tables.column_reading import columns_from_arrow
from arboleda.tables.date_parsing import ClockFormat, DateFormat
from arboleda.tables.number_parsing import NumberFormat

MONEY = NumberFormat(".", ",", {"": 1.0}, ("$",))
NAN = float("nan")


def convert(column: RawColumn, values: Any, *, decimal_comma: bool = False) -> list[float]:
    data = pa.chunked_array([pa.array(values)])
    return convert_column(column, data, decimal_comma).values.tolist()


def make_column(
    kind: Any, form: ColumnFormat | None = None, *, has_words: bool = False
) -> RawColumn:
    return RawColumn("c", kind, format=form, has_words=has_words)


@pytest.mark.parametrize(
    ("column", "good", "bad", "message"),
    [
        (
            make_column("numeric", MONEY),
            "$1,037",
            "1.037,50",
            (
                "holds numbers (decimal mark “.”, thousands separated by “,”) in the study, but "
                "'1.037,50' in data row 4 is not such a number"
            ),
        ),
        (make_column("numeric", MONEY), "$5", "€5", "'€5' in data row 4 is not such a number"),
        (
            make_column("numeric", NumberFormat(".", "", {"kg": 1.0, "": 1.0})),
            "12 kg",
            "12 lb",
            "holds numbers (decimal mark “.”, units kg) in the study, but '12 lb'",
        ),
        (
            make_column("numeric", NumberFormat(".", "", {"%": 1.0, "": 1.0})),
            "12 %",
            "12 ‰",
            "'12 ‰' in data row 4 is not such a number",
        ),
        (
            make_column("datetime", DateFormat("dmy")),
            "31/12/2020",
            "12/31/2020",
            (
                "holds dates with the day first in the study, but '12/31/2020' in data row 4 is "
                "not such a date"
            ),
        ),
        (
            make_column("datetime", DateFormat(epoch=1.0)),
            "1600000000",
            "yesterday",
            "holds seconds since 1970 in the study, but 'yesterday' in data row 4",
        ),
        (
            make_column("numeric", ClockFormat()),
            "10:30",
            "25:00",
            "holds times of day such as 10:30 in the study, but '25:00' in data row 4 is not such",
        ),
        (make_column("numeric"), "1.5", "much", "'much' in data row 4 is not a number"),
        (make_column("numeric"), "1.5", "1,5", "'1,5' in data row 4 is not a number"),
        (make_column("numeric"), "5", "$5", "'$5' in data row 4 is not a number"),
        (make_column("datetime"), "2020-12-31", "soon", "'soon' in data row 4 is not a date"),
        (make_column("datetime"), "2020-12-31", "1/2/2020", "'1/2/2020' in data row 4 is not"),
        (make_column("boolean"), "yes", "perhaps", "'perhaps' in data row 4 is not a Boolean"),
    ],
)
def test_a_text_that_does_not_parse_is_refused(
    column: RawColumn, good: str, bad: str, message: str
) -> None:
    assert np.isfinite(convert(column, [good, "no"] if column.kind == "boolean" else [good])[0])
    with pytest.raises(StudyError) as error:
        convert(column, [good, None, "NA", bad, good])
    assert message in str(error.value)
    assert str(error.value).startswith("Column 'c' holds ")
    assert str(error.value).endswith("; correct it or leave it blank.")


def test_texts_beside_values_are_missing_if_the_study_had_some() -> None:
    column = make_column("numeric", MONEY, has_words=True)
    np.testing.assert_array_equal(convert(column, ["$1,037", "call us"]), [1037, NAN])


def test_other_currencies_are_categories_only_beside_several() -> None:
    form = NumberFormat(".", ",", {"": 1.0}, ("$", "€"))
    words = RawColumn("c (words)", "categorical", ("$", "€"), format=form, words_of="c")
    assert convert(make_column("numeric", form), ["$5", "¥6"]) == [5, 6]
    np.testing.assert_array_equal(convert(words, ["€5", "¥6", "7"]), [1, 2, NAN])


@pytest.mark.parametrize(
    "values", [[1.5, None], [2, None], [time(10, 30), None], [pd.Timestamp("2020-01-01"), None]]
)
def test_typed_values_have_no_words_beside_them(values: list[Any]) -> None:
    form = DateFormat() if isinstance(values[0], pd.Timestamp) else ClockFormat()
    words = RawColumn("c (words)", "categorical", ("unknown",), format=form, words_of="c")
    assert np.isnan(convert(words, values)).all()


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        # A data frame converts whole numbers to floats if one is missing.
        (make_column("datetime", DateFormat(epoch=1.0)), [1.6e9, None], [1.6e9, NAN]),
        (make_column("datetime", DateFormat("ymd")), [19700102.0, None], [86400.0, NAN]),
        (make_column("datetime", DateFormat("dmy")), [pd.Timestamp("1970-01-02")], [86400.0]),
        (make_column("numeric", MONEY), [1037.5, None], [1037.5, NAN]),
        (make_column("numeric", ClockFormat()), [time(10, 30)], [10.5]),
        (make_column("datetime"), ["1970-01-02", "02.01.1970", " "], [86400.0, 86400.0, NAN]),
        (make_column("boolean"), ["Yes", "no", None], [1.0, 0.0, NAN]),
        (make_column("boolean"), ["no"], [0.0]),
    ],
)
def test_values_of_other_types_are_read(
    column: RawColumn, values: list[Any], expected: list[float]
) -> None:
    np.testing.assert_array_equal(convert(column, values), expected)


def test_the_decimal_comma_of_the_file_counts() -> None:
    assert convert(make_column("numeric"), ["1,5", "2"], decimal_comma=True) == [1.5, 2]
    with pytest.raises(StudyError, match="'much' in data row 2"):
        convert(make_column("numeric"), ["1,5", "much"], decimal_comma=True)


@pytest.mark.parametrize("texts", [["1,234"], ["1,234", "5,678", "9,012"]])
def test_a_row_is_read_alike_whatever_rows_are_beside_it(texts: list[str]) -> None:
    with pytest.raises(StudyError, match="'1,234' in data row 1 is not a number"):
        convert(make_column("numeric"), texts)


def test_columns_of_text_learn_their_currency() -> None:
    texts = pa.chunked_array([[f"${i},000" for i in range(1, 40)]])
    (column,) = columns_from_arrow("c", texts)
    assert column.parsing is not None
    assert column.parsing.format == MONEY


def test_blanks_around_a_category_count_only_if_levels_differ_by_them() -> None:
    column = RawColumn("c", "categorical", ("Private", "State"))
    assert convert(column, [" Private", "State ", "Other"]) == [0, 1, 2]
    column = RawColumn("c", "categorical", (" a", "a"))
    assert convert(column, [" a", "a"]) == [0, 1]
