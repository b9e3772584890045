"""Workers of Dask on this machine, for the tests of a module."""

from collections.abc import Iterator
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'arboleda[dask]'")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of two worker processes of one thread."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, timeout=5, set_as_default=False) as client,
    ):
        yield client
