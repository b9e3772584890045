"""Workers of Dask on this machine, for the tests of a module."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'arboleda[dask]'")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two worker processes of one thread."""
    with (
        # It fails to remove a callback of garbage collection that tests/conftest.py has removed.
        patch("distributed.scheduler.disable_gc_diagnosis"),
        patch("distributed.scheduler.enable_gc_diagnosis"),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout=5, set_as_default=False) as client,
    ):
        yield client
