"""A small table whose facts are computed once, and the schema of facts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from tests.browsing import browser, open_page  # noqa: F401 - fixtures

from arboleda.study import Exploration, explore

SCHEMA = Path(__file__).parents[3] / "src/arboleda/facts/exploration.schema.json"
N = 200


@pytest.fixture(scope="session")
def flowers() -> pd.DataFrame:
    """Two kinds of flowers: numbers, a category, gaps, a repeated row and one far out."""
    random = np.random.default_rng(5)
    kind = random.random(N) < 0.4
    length = random.normal(5, 1, N) + 3 * kind
    frame = pd.DataFrame(
        {
            "length": length,
            "width": 0.5 * length + random.normal(0, 0.3, N),
            "height": random.normal(10, 2, N),
            "soil": np.where(random.random(N) < 0.8, np.where(kind, "clay", "sand"), "loam"),
            "kind": np.where(kind, "iris", "rose"),
        }
    )
    frame.loc[3:20, "height"] = np.nan
    frame.loc[10:15, "width"] = np.nan
    frame.loc[7] = [4.0, 9.0, 30.0, "clay", "rose"]
    frame.loc[50] = frame.loc[49]
    return frame


@pytest.fixture(scope="session")
def explored(flowers: pd.DataFrame) -> Exploration:
    return explore(flowers, "kind")


@pytest.fixture(scope="session")
def check_facts() -> Callable[[Any], None]:
    """Return a function that refuses facts that violate the schema."""
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate
