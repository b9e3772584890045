"""Clusters of Dask on this machine."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import pytest

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'arboleda[dask]'")


@contextmanager
def open_cluster(n_workers: int, **options: Any) -> Iterator[Any]:
    """Run a scheduler in this process, and workers of one thread each if not given otherwise."""
    options = {"threads_per_worker": 1, "dashboard_address": ":0", **options}
    with ExitStack() as stack:
        # They fail to remove a callback of garbage collection that tests/conftest.py has removed.
        for module in ("scheduler", "worker"):
            for name in ("disable_gc_diagnosis", "enable_gc_diagnosis"):
                stack.enter_context(patch(f"distributed.{module}.{name}"))
        yield stack.enter_context(
            distributed.LocalCluster(n_workers=n_workers, silence_logs=logging.CRITICAL, **options)
        )
