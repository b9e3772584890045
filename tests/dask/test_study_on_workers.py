"""A study on the workers of Dask: the same facts and files, also when workers are killed."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from sklearn.pipeline import Pipeline
from tests.study.conftest import make_mixed, without_timing
from tests.study.odd import Odd

from arboleda.study import Study
from arboleda.study.config.settings import Settings
from arboleda.study.execution.dask_pool import DaskPool
from arboleda.study.execution.job import Job, Limits
from arboleda.study.execution.ledger import Ledger
from arboleda.study.plan import Plan, make_plan
from arboleda.tables.reading import read_table

# A model whose fold models are saved, one without a model file, one that is never saved.
MODELS = "most_frequent,cart,logistic,best_linear"


def run(folder: Path, **options: Any) -> Any:
    study = Study(
        make_mixed(120), target="rich", output_dir=folder, models=MODELS, search="random:2",
        cv=3, **options,
    )
    return study.run(progress=False).facts


def read_files(folder: Path) -> dict[str, bytes]:
    """The models and predictions of a study; ``.skops`` files are archives with dates."""
    return {
        str(path.relative_to(folder)): b"" if path.suffix == ".skops" else path.read_bytes()
        for part in ("models", "predictions")
        for path in sorted((folder / part).iterdir())
    }


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory, few_permutations: int
) -> tuple[Any, dict[str, bytes]]:
    """The facts and files of the study in one process."""
    folder = tmp_path_factory.mktemp("here") / "study"
    facts = run(folder, n_jobs=1)
    return without_timing(facts), read_files(folder)


def test_any_number_of_workers_gives_the_same_facts_and_files(
    client: Any, expected: tuple[Any, dict[str, bytes]], tmp_path: Path
) -> None:
    facts = run(tmp_path / "one", client=client, n_jobs=1)
    assert without_timing(facts) == expected[0]
    facts = run(tmp_path / "two", client=client)
    assert without_timing(facts) == expected[0]
    assert read_files(tmp_path / "two") == expected[1]
    assert [key for key in client.who_has() if "fold" in str(key)] == []


def kill_workers(client: Any, count: int) -> None:
    """Kill some of the workers, which their nannies start again."""
    pids = [nanny.pid for nanny in client.cluster.workers.values() if nanny.pid]
    for pid in pids[:count]:
        os.kill(pid, signal.SIGKILL)


def test_killed_workers_cost_only_their_tasks(
    client: Any,
    expected: tuple[Any, dict[str, bytes]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments = {6: 2}  # after so many results, so many workers: the data die with all of them
    put: Callable[..., None] = Ledger.put
    stored: list[tuple[Any, ...]] = []

    def store(self: Ledger, *work: Any) -> None:
        put(self, *work)
        stored.append((work[0], str(work[1]), work[2]))
        if len(stored) in moments:
            kill_workers(client, moments[len(stored)])

    monkeypatch.setattr(Ledger, "put", store)
    facts = run(tmp_path / "study", client=client)
    assert without_timing(facts) == expected[0]
    assert read_files(tmp_path / "study") == expected[1]
    assert len(stored) == len(set(stored)) > 6
