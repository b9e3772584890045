"""Workers of Dask on this machine, for the tests of a module."""

from collections.abc import Iterator
from typing import Any

import pytest

dask = pytest.importorskip("dask", reason="needs Dask: pip install 'arboleda[dask]'")
distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'arboleda[dask]'")

from tests.dask.clusters import open_cluster  # noqa: E402 - it imports Dask

# What jobs need, imported before the first one is sent to a worker.
PRELOAD = "arboleda.study.execution.dask_jobs"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two worker processes of one thread."""
    with (
        # A busy machine takes its time to start a worker again.
        dask.config.set({"distributed.comm.timeouts.connect": "100s"}),
        open_cluster(2, preload=PRELOAD) as cluster,
        distributed.Client(cluster, timeout=5, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def many_clients() -> Iterator[Any]:
    """A client of ten workers in this process."""
    with (
        open_cluster(10, processes=False) as cluster,
        distributed.Client(cluster, timeout=5, set_as_default=False) as client,
    ):
        yield client
