"""Limits of a fit and Ctrl-C with workers of Dask: they end jobs, not the study or the workers."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from tests.study.conftest import make_mixed, without_timing

from arboleda.study import Study
from arboleda.study.execution.ledger import Ledger

MODELS = "most_frequent,cart,logistic"


def is_job_of_baseline(y_pred: Any) -> bool:
    """Whether this is the process of a job, and the predictions are constant."""
    return sys.argv[0] == "-c" and len(y_pred) > 20 and (y_pred == y_pred[0]).all()


def sleepy(y_true: Any, y_pred: Any) -> float:
    """Score a constant prediction without end."""
    if is_job_of_baseline(y_pred):
        time.sleep(600)
    return float(np.mean(y_true == y_pred))


def greedy(y_true: Any, y_pred: Any) -> float:
    """Score a constant prediction in four gigabytes."""
    if is_job_of_baseline(y_pred):
        np.ones(2**29).sum()
    return float(np.mean(y_true == y_pred))


for function in (sleepy, greedy):
    function.greater_is_better = True  # type: ignore[attr-defined]


def run(folder: Path, client: Any, **options: Any) -> dict[str, Any]:
    options = {"models": MODELS, "search": "random:1", "cv": 3, **options}
    study = Study(make_mixed(120), target="rich", output_dir=folder, client=client, **options)
    return study.run(progress=False).facts


def count_job_processes(client: Any) -> int:
    """Count the processes that run jobs, on all workers."""

    def count() -> int:
        children = psutil.Process(os.getpid()).children(recursive=True)
        return sum("run_worker" in " ".join(child.cmdline()) for child in children)

    return sum(client.run(count).values())


def wait_until(condition: Any, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize(
    ("metric", "options", "reason"),
    [
        (sleepy, {"fit_timeout": 2}, "Stopped: it took more than 2 s, the limit of a fit"),
        (greedy, {"fit_memory": "500MB"}, "Stopped: it ran out of memory, of which it may take"),
    ],
)
def test_a_fit_beyond_a_limit_is_recorded_and_others_go_on(
    client: Any, tmp_path: Path, metric: Any, options: dict[str, Any], reason: str
) -> None:
    workers = set(client.nthreads())
    facts = run(tmp_path / "study", client, metric=metric, **options)
    status = {model["key"]: model["status"] for model in facts["models"]}
    assert status["cart"] == status["logistic"] == "ok"
    stopped = next(model for model in facts["models"] if model["key"] == "most_frequent")
    assert stopped["status"] != "ok"
    assert stopped["error"].startswith(reason)
    assert set(client.nthreads()) == workers  # none has died


def test_ctrl_c_ends_the_jobs_of_workers_and_the_study_resumes(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, stored = Ledger.put, list[tuple[str, str]]()

    def interrupt(self: Ledger, *work: Any) -> None:
        put(self, *work)
        stored.append((work[0], work[2]))
        if len(stored) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "put", interrupt)
        with pytest.raises(KeyboardInterrupt):
            # The jobs of the baseline sleep meanwhile.
            run(tmp_path / "study", client, metric=sleepy)
    assert len(stored) == 3
    assert wait_until(lambda: not any(client.processing().values()))
    assert wait_until(lambda: count_job_processes(client) == 0)
    assert client.who_has() == {}

    def record(self: Ledger, *work: Any) -> None:
        put(self, *work)
        stored.append((work[0], work[2]))

    monkeypatch.setattr(Ledger, "put", record)
    learning = "cart,logistic"
    facts = run(tmp_path / "study", client, metric=sleepy, models=learning)
    assert len(stored) == len(set(stored)) > 3  # nothing ran twice
    whole = run(tmp_path / "whole", None, metric=sleepy, models=learning, n_jobs=1)
    assert without_timing(facts)["models"] == without_timing(whole)["models"]
