"""Small tables shared by the tests of tables."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from tests.study.conftest import make_mixed


@pytest.fixture(scope="session")
def mixed() -> pd.DataFrame:
    return make_mixed()


@pytest.fixture
def csv(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Write a file and give its path."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "table.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
