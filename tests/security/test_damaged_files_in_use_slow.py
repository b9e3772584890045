"""The same at length: a hundred thousand damaged files in all."""

from pathlib import Path

import pytest
from tests.security.test_damaged_files_in_use import NAMES, damage

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    assert 0 < damage(name, tmp_path / "model.arboleda", 2000) < 2000
