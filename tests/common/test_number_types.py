"""Numbers of any library are numbers, and texts are not."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from arboleda._utils.number_types import is_integer, is_real


@pytest.mark.parametrize(("value", "integer", "real"), [
    (3, True, True), (np.int8(3), True, True), (np.uint64(3), True, True), (True, True, True),
    (3.0, False, True), (np.float32(3), False, True), (Fraction(1, 2), False, True),
    (float("nan"), False, True), (Decimal(3), False, False), (1j, False, False),
    ("3", False, False), (None, False, False), (np.array(3), False, False),
])  # fmt: skip
def test_integers_and_real_numbers(value: Any, integer: bool, real: bool) -> None:
    assert (is_integer(value), is_real(value)) == (integer, real)
