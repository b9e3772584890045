"""Small studies whose best model is explained once, and the schema of facts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from tests.browsing import browser, open_page  # noqa: F401 - fixtures

from arboleda.analysis.explanation.explain import load_subject
from arboleda.catalogue import ensembles as forests
from arboleda.study import Explanation, Study, explain
from arboleda.study.results.explained_model import ExplainedModel

SCHEMA = Path(__file__).parents[3] / "src/arboleda/analysis/explanation/facts.schema.json"
N = 260


def flowers() -> pd.DataFrame:
    """Two kinds of flowers: numbers, categories, truth values, few whole numbers, and gaps."""
    random = np.random.default_rng(5)
    kind = random.random(N) < 0.4
    length = random.normal(5, 1, N) + 2 * kind
    soil = np.where(random.random(N) < 0.8, np.where(kind, "clay", "sand"), "loam")
    frame = pd.DataFrame(
        {
            "length": length,
            "width": 0.5 * length + random.normal(0, 0.05, N),
            "height": random.normal(10, 2, N),
            "soil": soil,
            "wild": random.random(N) < 0.5,
            "petals": random.integers(3, 7, N),
            "kind": np.where(kind, "iris", "rose"),
        }
    )
    frame.loc[3:20, "height"] = np.nan
    frame.loc[30:35, "soil"] = None
    return frame


def _study(folder: Path, target: str, models: str, preset: str = "quick") -> Path:
    frame = flowers()
    if target == "soil":
        frame = frame.dropna(subset=["soil"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forests, "TREES", 30)
        options = {"target": target, "models": models, "preset": preset}
        Study(frame, output_dir=folder, n_jobs=1, **options).run()
    return folder


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A forest of two classes, a model of three without probabilities, and one of a quantity."""
    folder = tmp_path_factory.mktemp("studies")
    return {
        "binary": _study(folder / "binary", "kind", "extra_trees,most_frequent"),
        "multiclass": _study(folder / "multiclass", "soil", "svm", preset="thesis"),
        "regression": _study(folder / "regression", "width", "cart"),
    }


@pytest.fixture(scope="session", params=["binary", "multiclass", "regression"])
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def subject(studies: dict[str, Path], task: str) -> ExplainedModel:
    return load_subject(studies[task], 0)


@pytest.fixture(scope="session")
def of_model(studies: dict[str, Path], task: str) -> Explanation:
    return explain(studies[task])


@pytest.fixture(scope="session")
def of_row(studies: dict[str, Path], subject: ExplainedModel, task: str) -> Explanation:
    """The first test row."""
    return explain(studies[task], int(subject.test.numbers[0]) + 1)


@pytest.fixture(scope="session")
def check_facts() -> Callable[[Any], None]:
    """Return a function that refuses facts that violate the schema."""
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate
