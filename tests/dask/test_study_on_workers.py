"""A study on the workers of Dask: the same facts and files, also when workers are killed."""

import hashlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.study.conftest import make_mixed, without_timing

from arboleda import CodedTable
from arboleda.study import Study
from arboleda.study.execution.ledger import Ledger
from arboleda.tables import sampled_table

# A model whose fold models are saved, one without a model file, one that is never saved.
MODELS = "most_frequent,cart,logistic,best_linear"


def run(folder: Path, **options: Any) -> Any:
    study = Study(
        make_mixed(120),
        target="rich",
        output_dir=folder,
        models=MODELS,
        search="random:2",
        cv=3,
        **options,
    )
    return study.run(progress=False).facts


def hash_files(folder: Path) -> dict[str, str]:
    """The digests of models and predictions; archives (``.skops``) contain dates."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        for part in ("models", "predictions")
        for path in sorted((folder / part).iterdir())
        if path.suffix in (".arboleda", ".combined", ".npy")
    }


def read_held(client: Any) -> list[str]:
    """The keys that workers hold after the scheduler has seen what was released."""
    end = time.monotonic() + 30.0
    while client.who_has() and time.monotonic() < end:
        time.sleep(0.1)
    return list(client.who_has())


@pytest.fixture(scope="module")
def expected(
    tmp_path_factory: pytest.TempPathFactory, few_permutations: int
) -> tuple[Any, dict[str, str]]:
    """The facts and files of the study in one process."""
    folder = tmp_path_factory.mktemp("here") / "study"
    facts = run(folder, n_jobs=1)
    return without_timing(facts), hash_files(folder)


@pytest.mark.parametrize("n_jobs", [pytest.param(1, marks=pytest.mark.slow), None])
def test_any_number_of_workers_gives_the_same_facts_and_files(
    n_jobs: int | None, client: Any, expected: tuple[Any, dict[str, str]], tmp_path: Path
) -> None:
    facts = run(tmp_path / "study", client=client, n_jobs=n_jobs)
    assert without_timing(facts) == expected[0]
    assert hash_files(tmp_path / "study") == expected[1]
    assert read_held(client) == []


@pytest.mark.slow
def test_four_workers_give_the_same_facts_and_files(
    client: Any, expected: tuple[Any, dict[str, str]], tmp_path: Path
) -> None:
    client.cluster.scale(4)
    try:
        client.wait_for_workers(4, timeout=60)
        facts = run(tmp_path / "study", client=client)
    finally:
        client.cluster.scale(2)
    assert without_timing(facts) == expected[0]
    assert hash_files(tmp_path / "study") == expected[1]


def act_after_six(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]
) -> list[tuple[Any, ...]]:
    """Do something when six results are stored; return the list that gets all stored ones."""
    put: Callable[..., None] = Ledger.put
    stored: list[tuple[Any, ...]] = []

    def store(self: Ledger, *work: Any) -> None:
        put(self, *work)
        stored.append((work[0], str(work[1]), work[2]))
        if len(stored) == 6:
            act()

    monkeypatch.setattr(Ledger, "put", store)
    return stored


def kill_worker(client: Any) -> None:
    """Kill a worker, which its nanny starts again."""
    os.kill(next(nanny.pid for nanny in client.cluster.workers.values()), signal.SIGKILL)


def test_a_killed_worker_costs_only_its_tasks(
    client: Any,
    expected: tuple[Any, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = act_after_six(monkeypatch, lambda: kill_worker(client))
    facts = run(tmp_path / "study", client=client)
    assert without_timing(facts) == expected[0]
    assert hash_files(tmp_path / "study") == expected[1]
    assert len(stored) == len(set(stored)) > 6


@pytest.mark.slow
def test_a_study_that_ctrl_c_has_stopped_resumes_with_the_same_facts(
    client: Any,
    expected: tuple[Any, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = act_after_six(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "study", client=client)
    n_stored = len(stored)
    facts = run(tmp_path / "study", client=client)
    assert without_timing(facts) == expected[0]
    assert hash_files(tmp_path / "study") == expected[1]
    assert len(stored) == len(set(stored)) > n_stored >= 6  # nothing ran twice


@pytest.mark.slow
def test_a_coded_table_has_its_whole_fit_in_this_process(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled_table, "MAX_ROWS", 1_000)
    frame = make_mixed(1500).drop(columns=["id", "since", "comment"])
    coded = CodedTable.from_frames([frame], target="rich", path=tmp_path / "table.coded")

    def run_coded(folder: Path, **options: Any) -> Any:
        study = Study(
            coded,
            target="rich",
            output_dir=folder,
            models="cart,gradient_boosting",
            cv=3,
            **options,
        )
        return study.run(progress=False).facts

    here = run_coded(tmp_path / "here", n_jobs=1)
    there = run_coded(tmp_path / "there", client=client)
    assert any("fitted to" in (model["note"] or "") for model in here["models"])
    assert without_timing(there) == without_timing(here)
    assert hash_files(tmp_path / "there") == hash_files(tmp_path / "here")
