"""Small tables and studies shared by the tests of the study."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from arboleda.study import Study, StudyResult


def make_mixed(n: int = 160, seed: int = 0) -> pd.DataFrame:
    """Two informative columns, a category with rare levels, a date, gaps, and columns to drop."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, n).astype(float)
    city = draw.choice(["Rome", "Oslo", "Lima", "Bern"], n, p=[0.5, 0.3, 0.18, 0.02])
    wealth = draw.lognormal(2, 1, n)
    noise = draw.normal(size=n)
    rich = (age / 30 + np.log(wealth) + (city == "Oslo") + noise) > 4.3
    frame = pd.DataFrame(
        {
            "id": np.arange(n) + 100,
            "age": age,
            "city": city,
            "wealth": wealth,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, n), "D"),
            "member": draw.choice([True, False], n),
            "same": "x",
            "comment": [f"text {i}" for i in range(n)],
            "rich": np.where(rich, "yes", "no"),
        }
    )
    frame.loc[draw.choice(n, 20, replace=False), "age"] = np.nan
    frame.loc[draw.choice(n, 9, replace=False), "city"] = None
    return frame


@pytest.fixture(scope="session", autouse=True)
def quick_importances(few_permutations: int) -> None:
    """Hold for all studies of this folder, also those of fixtures."""


@pytest.fixture(scope="session")
def mixed() -> pd.DataFrame:
    return make_mixed()


@contextmanager
def leave_pages_empty() -> Iterator[None]:
    def touch(facts: Any, path: Path, **options: Any) -> None:
        path.touch()
        (path.parent / "figures").mkdir()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arboleda.study.output_folder.write_report", touch)
        yield


@pytest.fixture(scope="module")
def undrawn() -> Iterator[None]:
    """Studies write an empty page: drawing one takes as long as all else of a small study.

    For tests that do not use the page; it is drawn for every odd table in ``test_study``.
    """
    with leave_pages_empty():
        yield


@pytest.fixture
def undrawn_here() -> Iterator[None]:
    """`undrawn` for the studies of one test."""
    with leave_pages_empty():
        yield


@pytest.fixture(scope="session")
def mixed_result(tmp_path_factory: pytest.TempPathFactory, mixed: pd.DataFrame) -> StudyResult:
    """A whole classification study of the mixed table."""
    out = tmp_path_factory.mktemp("mixed")
    return Study(mixed, target="rich", metric="accuracy", output_dir=out).run()


@pytest.fixture(scope="session")
def diabetes_result(tmp_path_factory: pytest.TempPathFactory) -> StudyResult:
    """A whole regression study."""
    return Study("diabetes", target="target", output_dir=tmp_path_factory.mktemp("diabetes")).run()


def without_timing(value: Any) -> Any:
    """Return the facts without everything that depends on the clock."""
    if isinstance(value, dict):
        return {k: without_timing(v) for k, v in value.items() if k != "timing"}
    if isinstance(value, list):
        return [without_timing(v) for v in value]
    return value


@pytest.fixture(scope="session")
def timeless() -> Callable[[Any], Any]:
    return without_timing
