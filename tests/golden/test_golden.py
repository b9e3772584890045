"""Files of every version can be loaded for ever, and predict the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.make import MODELS, forest_predictions, model_predictions
from tests.persist.forest_files import from_file, to_file

import arboleda
from arboleda.persist import read_header

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.arboleda"))


def as_native_table(rows: list[list[Any]]) -> Any:
    """The table as it was given: of numbers, or of objects where it holds texts."""
    if any(isinstance(x, str) for row in rows for x in row):
        return np.array(rows, dtype=object)
    return np.array([[np.nan if x is None else x for x in row] for row in rows])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_models_of_all_versions_predict_the_same(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    table = as_native_table(expected.pop("table"))
    model = arboleda.load(path)
    assert model_predictions(model, table) == expected  # every digit
    header = read_header(path)
    assert header["library_version"] == path.parent.name
    assert header["metrics"] == {"rows": len(table)}


EARLIER = [path for path in FILES if path.parent.name != arboleda.__version__]


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_models_of_earlier_versions_can_be_saved_again(path: Path, tmp_path: Path) -> None:
    """Loading and saving upgrades a file: it predicts the same; new parameters are defaults."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    table = as_native_table(expected.pop("table"))
    earlier = read_header(path)
    arboleda.load(path).save(tmp_path / "model.arboleda", metrics=earlier["metrics"])
    upgraded = arboleda.load(tmp_path / "model.arboleda")
    assert model_predictions(upgraded, table) == expected  # every digit
    header = read_header(tmp_path / "model.arboleda")
    assert header["library_version"] == arboleda.__version__ != earlier["library_version"]
    for name in header.keys() - {"library_version", "parameters"}:
        assert header[name] == earlier[name]
    assert header["parameters"] == {**header["parameters"], **earlier["parameters"]}
    upgraded.save(tmp_path / "again.arboleda", metrics=earlier["metrics"])
    assert (tmp_path / "again.arboleda").read_bytes() == (tmp_path / "model.arboleda").read_bytes()


def test_files_of_earlier_versions_exist() -> None:
    assert {path.parent.name for path in EARLIER} >= {"0.1.0"}


def test_files_of_this_version_exist() -> None:
    here = [path.stem for path in FILES if path.parent.name == arboleda.__version__]
    assert sorted(here) == sorted(MODELS)


@pytest.mark.parametrize("path", sorted(HERE.glob("*/*.forest")), ids=lambda p: p.parent.name)
def test_forests_of_all_versions_vote_the_same(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    rows = as_native_table(expected.pop("table"))
    forest = from_file(path.read_bytes())
    assert forest_predictions(forest, rows) == expected  # every digit
    assert to_file(forest) == path.read_bytes()
