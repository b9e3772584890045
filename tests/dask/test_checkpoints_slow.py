"""A fit goes on from its checkpoint after the death of the client and of the scheduler."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arboleda
import arboleda.dask
from arboleda.persist import load, model_to_bytes

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FIT = """
import sys
import distributed
from tests.dask.test_checkpoints_slow import fit

address, path = sys.argv[1:]
fit(distributed.Client(address or distributed.LocalCluster(n_workers=2, processes=False)), path)
"""


def pause(*unused: Any) -> None:
    time.sleep(0.25)


OPTIONS = {"max_iter": 24, "max_leaf_nodes": 7, "random_state": 0, "callbacks": [pause]}


def make_table() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(2_000, 5))
    return X, X[:, 0] * X[:, 1] > X[:, 2]


def fit(client: Any, path: str | Path) -> Any:
    model = arboleda.dask.HistGradientBoostingClassifier(client=client, **OPTIONS)
    return model.fit(*make_table(), checkpoint=path, checkpoint_every=3)


def encode(model: Any) -> bytes:
    """Return the model file, without the function."""
    return model_to_bytes(model.set_params(callbacks=None))


@contextmanager
def run_cluster(folder: Path) -> Iterator[tuple[Any, subprocess.Popen[bytes]]]:
    """Run a scheduler and two workers as processes; yield a client and the scheduler."""
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    with ExitStack() as stack:
        processes = []

        def start(*command: str) -> subprocess.Popen[bytes]:
            processes.append(subprocess.Popen([*dask, *command], cwd=ROOT))
            return processes[-1]

        def stop() -> None:
            for process in reversed(processes):
                process.terminate()
                process.wait(60)

        stack.callback(stop)
        scheduler = start("scheduler", "--port", "0", "--scheduler-file", str(file), "--no-show")
        for _ in range(2):
            start("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")
        wait_until(file.exists)
        client = distributed.Client(scheduler_file=str(file), timeout=10, set_as_default=False)
        stack.enter_context(client)
        client.wait_for_workers(2, timeout=300)
        yield client, scheduler


def wait_until(is_so: Callable[[], Any]) -> None:
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def count_kept(path: Path) -> int:
    return int(load(path).n_iter_) if path.exists() else 0


@pytest.fixture(scope="module")
def expected() -> bytes:
    return encode(arboleda.HistGradientBoostingClassifier(**OPTIONS).fit(*make_table()))


def check_it_goes_on(
    client: Any, path: Path, expected: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    n_kept = count_kept(path)
    assert 6 <= n_kept < 24
    with caplog.at_level(logging.INFO, logger="arboleda.dask"):
        model = fit(client, path)
    assert f"going on after the {n_kept} rounds of the checkpoint" in caplog.messages
    assert encode(model.to_local()) == expected


@pytest.mark.timeout(900)
@pytest.mark.parametrize("has_own_cluster", [False, True])
def test_the_client_is_killed(
    has_own_cluster: bool, tmp_path: Path, expected: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "model.ckpt"
    with run_cluster(tmp_path) as (client, _):
        address = "" if has_own_cluster else client.scheduler.address
        process = subprocess.Popen([sys.executable, "-c", FIT, address, path], cwd=ROOT)
        wait_until(lambda: count_kept(path) >= 6)
        process.send_signal(signal.SIGKILL)
        process.wait()
        check_it_goes_on(client, path, expected, caplog)
        # Nothing of the fit that lost its client is left.
        wait_until(lambda: not any(client.processing().values()) and not client.who_has())


@pytest.mark.timeout(900)
def test_the_scheduler_is_killed(
    tmp_path: Path, expected: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "model.ckpt"
    with run_cluster(tmp_path) as (client, scheduler):

        def kill() -> None:
            wait_until(lambda: count_kept(path) >= 6)
            os.kill(scheduler.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(
            arboleda.dask.ClusterError,
            match=r"^The Dask scheduler tcp://\S+ is gone; start it and its workers, and run this "
            r"again, which goes on after the \d+ rounds of the checkpoint\.$",
        ) as raised:
            fit(client, path)
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__ or raised.value.__context__ is None
        killer.join()
    (tmp_path / "scheduler.json").unlink()
    with run_cluster(tmp_path) as (client, _):
        check_it_goes_on(client, path, expected, caplog)
