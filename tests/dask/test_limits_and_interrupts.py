"""Limits of a fit and Ctrl-C with workers of Dask: they end jobs, not the study or the workers."""

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sklearn.preprocessing import FunctionTransformer
from tests.study.conftest import make_mixed

from arboleda.study import Study
from arboleda.study.execution.dask_pool import DaskPool
from arboleda.study.execution.job import Job, JobStatus, Limits
from arboleda.study.plan import Plan
from arboleda.study.search.strategies import Trial


def is_job_of_baseline(y_pred: Any) -> bool:
    """Whether this is the process of a job, and the predictions are constant."""
    return sys.argv[0] == "-c" and len(y_pred) > 20 and (y_pred == y_pred[0]).all()


def sleepy(y_true: Any, y_pred: Any) -> float:
    """Score a constant prediction without end."""
    if is_job_of_baseline(y_pred):
        time.sleep(600)
    return float(np.mean(y_true == y_pred))


sleepy.greater_is_better = True  # type: ignore[attr-defined]


def make_jobs(metric: Any, models: str) -> tuple[Plan, list[Job]]:
    plan = Study(make_mixed(120), target="rich", models=models, cv=3, metric=metric).make_plan()
    trials = [(model, Trial(plan.candidates(model)[0])) for model in plan.models]
    return plan, [job for model, trial in trials for job in plan.trial_jobs(model, trial)]


def count_job_processes(client: Any) -> int:
    """Count the processes that run jobs, on all workers."""

    def count() -> int:
        children = psutil.Process(os.getpid()).children(recursive=True)
        return sum("run_worker" in " ".join(child.cmdline()) for child in children)

    return sum(client.run(count).values())


def wait_until(condition: Any, seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def press_ctrl_c(client: Any) -> None:
    """Interrupt this process when both workers run a job."""
    wait_until(lambda: count_job_processes(client) == 2)
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        pytest.param(
            Limits(seconds=4.0),
            "Stopped: it took more than 4 s, the limit of a fit",
            marks=pytest.mark.slow,
        ),
        (Limits(memory=500_000_000), "Stopped: it ran out of memory, of which it may take 500 MB"),
    ],
)
def test_a_fit_beyond_a_limit_is_recorded_and_others_go_on(
    client: Any, tmp_path: Path, limits: Limits, reason: str
) -> None:
    workers = set(client.nthreads())
    plan, jobs = make_jobs(sleepy if limits.seconds else "accuracy", "most_frequent,cart")
    baseline = jobs[0]
    if limits.memory:
        wide = FunctionTransformer(np.tile, kw_args={"reps": (1, 2_000_000)})
        baseline.pipeline.steps[0] = "preparation", wide
        baseline = replace(baseline, style="scaled")  # prepared apart from the others
    with DaskPool(client, plan.shared, tmp_path, limits, {}, None) as pool:
        results = {job.model: result for job, result in pool.run([baseline, *jobs[3:4]])}
    assert results["cart"]["status"] is JobStatus.DONE
    assert results["most_frequent"]["status"] is JobStatus.STOPPED
    assert results["most_frequent"]["error"].startswith(reason)
    assert set(client.nthreads()) == workers  # none has died


@pytest.mark.slow
def test_ctrl_c_ends_the_jobs_of_workers(client: Any, tmp_path: Path) -> None:
    plan, jobs = make_jobs(sleepy, "most_frequent,cart")
    keys = threading.Thread(target=press_ctrl_c, args=(client,))
    keys.start()
    # The jobs of the baseline sleep on both workers.
    with (
        pytest.raises(KeyboardInterrupt),
        DaskPool(client, plan.shared, tmp_path, Limits(), {}, None) as pool,
    ):
        list(pool.run(jobs[:2]))
    keys.join()
    del pool
    assert wait_until(lambda: not any(client.processing().values()))
    assert wait_until(lambda: count_job_processes(client) == 0)
    with DaskPool(client, plan.shared, tmp_path, Limits(), {}, None) as pool:
        assert [result["status"] for _, result in pool.run(jobs[3:4])] == [JobStatus.DONE]
