"""Workers of Dask on this machine, for the tests of a module."""

import logging
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

dask = pytest.importorskip("dask", reason="needs Dask: pip install 'arboleda[dask]'")
distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'arboleda[dask]'")

# What jobs need, imported before the first one is sent to a worker.
PRELOAD = "arboleda.study.execution.dask_jobs"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two worker processes of one thread."""
    with (
        # It fails to remove a callback of garbage collection that tests/conftest.py has removed.
        patch("distributed.scheduler.disable_gc_diagnosis"),
        patch("distributed.scheduler.enable_gc_diagnosis"),
        # A busy machine takes its time to start a worker again.
        dask.config.set({"distributed.comm.timeouts.connect": "100s"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            preload=PRELOAD,
        ) as cluster,
        distributed.Client(cluster, timeout=5, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def many_clients() -> Iterator[Any]:
    """A client of ten workers in this process."""
    with (
        patch("distributed.scheduler.disable_gc_diagnosis"),
        patch("distributed.scheduler.enable_gc_diagnosis"),
        patch("distributed.worker.disable_gc_diagnosis"),
        patch("distributed.worker.enable_gc_diagnosis"),
        distributed.LocalCluster(
            n_workers=10,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, timeout=5, set_as_default=False) as client,
    ):
        yield client
