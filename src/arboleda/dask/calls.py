"""Requests to workers that wait for nobody who is gone.

Dask tries for half a minute to connect to a worker, also if the scheduler has removed it meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["call_workers", "fetch_result"]

# Seconds between looks at the workers while a request is not answered.
_LOOK = 0.5
# Requests at a time: each has a connection to the scheduler.
_MAX_REQUESTS = 32


def call_workers(
    client: Any,
    function: Callable[..., Any],
    *arguments: Any,
    workers: Iterable[str] | None = None,
    timeout: float,
) -> dict[str, Any]:
    """Run a function on the event loops of workers.

    Parameters
    ----------
    client : distributed.Client
    function : callable
        It may be called more than once; ``dask_worker`` is the worker, if it has that argument.
    *arguments : object
    workers : iterable of str, default=None
        Their addresses; None: all.
    timeout : float
        Seconds to wait for replies.

    Returns
    -------
    replies : dict
        What the function returned or raised, by address; workers that are gone or do not reply in
        time are left out.

    Raises
    ------
    OSError
        If the scheduler cannot be reached.
    """
    end = time.monotonic() + timeout

    async def call(addresses: list[str]) -> dict[str, Any]:
        while addresses:
            run = client.run(function, *arguments, workers=addresses, on_error="return")
            request = asyncio.ensure_future(run)
            if await _finish(client, request, addresses, end):
                replies: dict[str, Any] = request.result()
                return replies
            alive = await client.scheduler.ncores()
            addresses = [a for a in addresses if a in alive and time.monotonic() < end]
        return {}

    async def call_all() -> dict[str, Any]:
        alive = await client.scheduler.ncores()
        addresses = sorted(alive if workers is None else set(alive).intersection(workers))
        groups = [addresses[k::_MAX_REQUESTS] for k in range(min(_MAX_REQUESTS, len(addresses)))]
        replies: dict[str, Any] = {}
        for found in await asyncio.gather(*map(call, groups)):
            replies.update(found)
        return replies

    found: dict[str, Any] = client.sync(call_all)
    return found


def fetch_result(client: Any, future: Any, address: str, timeout: float) -> Any:
    """Return the result of a task that has ended on a worker.

    Raises
    ------
    TimeoutError
        If the worker is gone, or does not send the result in time.
    Exception
        That of the task.
    """
    end = time.monotonic() + timeout

    async def fetch() -> Any:
        request = asyncio.ensure_future(future.result())
        if not await _finish(client, request, [address], end):
            raise TimeoutError(f"the worker {address} is gone")
        return request.result()

    return client.sync(fetch)


async def _finish(client: Any, request: Any, addresses: Iterable[str], end: float) -> bool:
    """Wait for a request; cancel it if one of its workers is gone, or at the end of time."""
    try:
        while True:
            await asyncio.wait([request], timeout=_LOOK)
            if request.done():
                return True
            alive = await client.scheduler.ncores()
            if time.monotonic() >= end or not set(addresses).issubset(alive):
                return False
    finally:
        request.cancel()
