"""Requests to workers end in time, whatever becomes of the workers."""

import asyncio
import threading
import time
from typing import Any

import pytest

from arboleda.dask import calls
from arboleda.dask.calls import call_workers, fetch_result

ended = threading.Event()  # of this process, in which the workers are


def wait_for_the_end() -> None:
    """Keep a worker busy."""
    ended.wait(60)


async def sleep_on(address: str, dask_worker: Any) -> int:
    """Reply at once, except on one worker."""
    await asyncio.sleep(60 if dask_worker.address == address else 0)
    return 7


def test_who_does_not_reply_is_left_out(many_clients: Any) -> None:
    first, *others = sorted(many_clients.nthreads())
    start = time.monotonic()
    assert call_workers(many_clients, sleep_on, first, timeout=0.1) == dict.fromkeys(others, 7)
    assert call_workers(many_clients, sleep_on, first, workers=others[:2], timeout=60) == {
        others[0]: 7,
        others[1]: 7,
    }
    assert time.monotonic() - start < 30


def test_nobody_waits_for_a_worker_that_is_gone(
    many_clients: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "_MAX_REQUESTS", 2)
    first, *others = sorted(many_clients.nthreads())
    n_looks = 0

    async def forget() -> list[str]:
        nonlocal n_looks
        n_looks += 1
        return [first, *others] if n_looks == 1 else others

    monkeypatch.setattr(many_clients.scheduler, "ncores", forget, raising=False)
    start = time.monotonic()
    assert call_workers(many_clients, sleep_on, first, timeout=60) == dict.fromkeys(others, 7)
    future = many_clients.submit(wait_for_the_end, workers=[first], key="waiting")
    try:
        with pytest.raises(TimeoutError, match="is gone"):
            fetch_result(many_clients, future, first, timeout=60)
    finally:
        ended.set()
    assert time.monotonic() - start < 30


def test_errors_are_replies(many_clients: Any) -> None:
    first = min(many_clients.nthreads())
    replies = call_workers(many_clients, int, "seven", workers=[first], timeout=60)
    assert [type(reply) for reply in replies.values()] == [ValueError]
