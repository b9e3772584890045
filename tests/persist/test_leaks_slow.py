"""No memory leaks, at length."""

from pathlib import Path

import pytest
from tests.persist.leaks import growth

pytestmark = pytest.mark.slow


def test_memory_does_not_grow(tmp_path: Path) -> None:
    assert growth(500, tmp_path) < 2**20
