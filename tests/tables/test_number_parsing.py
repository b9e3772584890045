"""Numbers are read as people write them, in the convention of their column."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arboleda.tables.number_parsing import (
    NumberFormat,
    has_leading_zeros,
    infer_number_format,
)

NAN = float("nan")


def parse(texts: list[str], *, decimal_comma: bool = False) -> list[float]:
    column = pa.array(texts, pa.large_string())
    counts = np.ones(len(texts), dtype=np.int64)
    form = infer_number_format(column, counts, decimal_comma=decimal_comma)
    return [NAN] * len(texts) if form is None else form.parse(column)[0].tolist()


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["$1,037", "$250", "-$3.50", "($7)", "$ -8"], [1037, 250, -3.5, -7, -8]),
        (["1.234,50 €", "12,00 €", "1.000.000,00 €"], [1234.5, 12, 1e6]),
        (["USD 5.00", "USD 1,200.00"], [5, 1200]),
        (["1,234", "567"], [1234, 567]),
        (["0,125", "0,250"], [0.125, 0.25]),
        (["1.234", "1.234.567"], [1234, 1234567]),
        (["1 234,5", "99\u202f000"], [1234.5, 99000]),
        (["1'234.50", "1\u2019000"], [1234.5, 1000]),
        (["1,00,000", "25,000"], [100000, 25000]),
        (["12.5%", "3 %", "-1%"], [12.5, 3, -1]),
        (["12 kg", "500 g", "1 kg"], [12, 0.5, 1]),
        ([f"{i}.5 °C" for i in range(12)], [i + 0.5 for i in range(12)]),
        (["5 km", "2000 m", "3 km"], [5, 2, 3]),
        (["5k", "3M", "200"], [5e3, 3e6, 200]),
        (["$2.5m", "$3bn", "$100"], [2.5e6, 3e9, 100]),
        (["\u22125", "5-", "+3", "2e3", ".5", "1."], [-5, -5, 3, 2000, 0.5, 1]),
        (["-.25", "Rs.500"], [-0.25, 500]),
    ],
)
def test_numbers_are_read_as_people_write_them(texts: list[str], numbers: list[float]) -> None:
    np.testing.assert_allclose(parse(texts), numbers)


def test_a_comma_is_decimal_in_files_of_semicolons() -> None:
    assert parse(["1,234", "567"], decimal_comma=True) == [1.234, 567]
    assert parse(["1.234,5", "567"], decimal_comma=True) == [1234.5, 567]


def test_one_unit_that_is_not_listed_is_accepted_beside_many_numbers() -> None:
    assert parse([f"{i} bhp" for i in range(12)]) == [*range(12)]
    assert np.isnan(parse(["2 doors", "4 doors"])).all()


def test_units_of_other_dimensions_are_words() -> None:
    texts = ["5 kg", "6 kg", "7 m"]
    np.testing.assert_array_equal(parse(texts), [5, 6, NAN])


@pytest.mark.parametrize(
    "texts",
    [
        [f"k{i}" for i in range(20)],
        ["<=50K", ">50K"],
        ["1e999", "9" * 400],
        ["\u0663", "x" * 100_000, "", "$", "(5", "--5", "1,2,3"],
        ["10.0.0.1", "192.168.0.1"],
    ],
)
def test_other_texts_are_no_numbers(texts: list[str]) -> None:
    assert np.isnan(parse(texts)).all()


def test_words_and_currencies_stand_beside_the_numbers() -> None:
    column = pa.array(["$5", "€7", "unknown"], pa.large_string())
    form = infer_number_format(column, np.ones(3, dtype=np.int64))
    assert form is not None
    values, words = form.parse(column)
    np.testing.assert_array_equal(values, [5, 7, NAN])
    assert words.to_pylist() == ["$", "€", "unknown"]


def test_the_format_is_the_columns_not_the_rows() -> None:
    form = NumberFormat(",", ".")
    values, _ = form.parse(pa.array(["1.234", "1,5", "7"]))
    assert values.tolist() == [1234, 1.5, 7]


def test_codes_with_leading_zeros_are_recognized() -> None:
    assert has_leading_zeros(pa.array(["00501", "10001"]))
    assert not has_leading_zeros(pa.array(["0.51", "10001"]))
    assert not has_leading_zeros(pa.array(["0", "10"]))


@given(st.lists(st.text(max_size=30), max_size=20))
def test_no_text_is_an_error(texts: list[str]) -> None:
    column = pa.array([t.encode("utf-8", "replace").decode() for t in texts], pa.large_string())
    form = infer_number_format(column, np.ones(len(texts), dtype=np.int64)) or NumberFormat()
    values, words = form.parse(column)
    assert len(values) == len(words) == len(texts)
    assert not np.isinf(values).any()


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1), st.sampled_from([",", ".", "'"]))
def test_grouped_numbers_are_read_back(numbers: list[int], mark: str) -> None:
    texts = [f"{n:,}".replace(",", mark) for n in (*numbers, 1234567)]
    assert parse(texts) == [float(n) for n in (*numbers, 1234567)]
