"""A small table for the tests of the catalogue."""

import pandas as pd
import pytest
from tests.study.conftest import make_mixed


@pytest.fixture(scope="session")
def mixed() -> pd.DataFrame:
    return make_mixed()
