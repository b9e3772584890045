"""The same at length: a hundred thousand damaged models in all."""

from pathlib import Path

import pytest
from tests.security.test_damaged_models_in_use import damage_imports, damage_saved
from tests.security.test_hostile_imports import NAMES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", NAMES)
def test_damaged_imports_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    damage_imports(name, tmp_path / "model", 4000)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_of_imports_are_refused_or_usable(name: str, tmp_path: Path) -> None:
    damage_saved(name, tmp_path / "model.arboleda", 4000)
