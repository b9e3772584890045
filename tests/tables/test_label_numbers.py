"""The numbers of labels are those of `numpy.unique`, whatever their type."""

from typing import Any

import numpy as np
import pytest

from arboleda._engine.target import number_labels

TYPES = [np.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4")]


def check_numbers(y: np.ndarray[Any, Any]) -> None:
    labels, numbers = number_labels(y)
    expected, expected_numbers = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(labels, expected, strict=True)
    np.testing.assert_array_equal(numbers, expected_numbers)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("span", [1, 2, 3, 200, 60_000, 10**6])
def test_integers_from_anywhere_in_their_type(dtype: np.dtype[Any], span: int) -> None:
    random = np.random.default_rng(span)
    limits = np.iinfo(dtype)
    span = min(span, limits.max - limits.min)
    for low in (limits.min, limits.max - span, min(max(limits.min, -7), limits.max - span)):
        above = random.integers(0, span + 1, 70_000 if span == 60_000 else 500)
        y = (above + np.array(low % 2**64, dtype=np.uint64).view(np.int64)).astype(dtype)
        assert int(y.min()) >= low
        check_numbers(y)
        check_numbers(y[::-3])


@pytest.mark.parametrize(
    "y",
    [
        np.array([True, False, True]),
        np.array([False]),
        np.array([2.5, -0.0, 0.0, 2.5]),
        np.array(["b", "a", "b"]),
        np.array([3], dtype=np.int32),
        np.array([], dtype=np.int64),
        np.array(["2020-01-02", "2020-01-01"], dtype="datetime64[D]"),
    ],
    ids=lambda y: str(y.dtype),
)
def test_other_labels(y: np.ndarray[Any, Any]) -> None:
    check_numbers(y)
