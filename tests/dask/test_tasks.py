"""Errors of Dask's own that are no errors of a task."""

import asyncio
from typing import Any

import pytest

from arboleda.dask.tasks import _is_cancelled_wait


def test_a_cancelled_wait_of_dask_is_no_error_of_a_task(client: Any) -> None:
    async def cancel() -> None:
        raise asyncio.CancelledError

    def fail() -> None:
        raise UnboundLocalError("cannot access local variable 'result'")

    with pytest.raises(UnboundLocalError) as cancelled:
        client.sync(cancel)
    assert _is_cancelled_wait(cancelled.value)
    with pytest.raises(UnboundLocalError) as failed:
        client.submit(fail).result()
    assert not _is_cancelled_wait(failed.value)
