"""No memory leaks, in short."""

from pathlib import Path

from tests.persist.leaks import growth


def test_memory_does_not_grow(tmp_path: Path) -> None:
    assert growth(60, tmp_path) < 2**20
