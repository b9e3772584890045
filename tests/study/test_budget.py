"""What a time budget sets aside."""

import time

import pytest

from arboleda.study.budget import MOST_FOR_AFTERWARDS, Budget


@pytest.mark.parametrize(
    ("parts", "kept"),
    [([], 0.0), ([3.0, 30.0, 5.0], 8.0), ([25.0], 25.0), ([25.1], 0.0), ([10.0, 9.0, 8.0], 17.0)],
)
def test_quick_parts_of_what_follows_the_tests_have_their_time(
    parts: list[float], kept: float
) -> None:
    budget = Budget(100.0, time.monotonic(), 1)
    assert budget.kept_for_tests == 0.0
    budget.keep_afterwards(parts)
    assert MOST_FOR_AFTERWARDS == 0.25
    assert budget.kept_for_tests == pytest.approx(kept)
