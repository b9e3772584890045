"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def shared_data(relative: str) -> Path:
    """Path of a real data set, or skip the test with the reason where the folder is missing."""
    folder = Path(os.environ.get("ARBOLEDA_DATA", ROOT.parent / "shared" / "data"))
    path = folder / relative
    if not path.exists():
        pytest.skip(f"needs the data set {relative}; set ARBOLEDA_DATA to the folder that holds it")
    return path
