"""Errors of Dask's own that are no errors of a task."""

import asyncio
import time
from typing import Any

import pytest

from arboleda._utils.errors import ClusterError
from arboleda.dask.tasks import Tasks, _is_cancelled_wait


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


class Noted:
    """Data that note from where they came: how often they were pickled before."""

    def __init__(self) -> None:
        self.n_sent = 0

    def __getstate__(self) -> dict[str, int]:
        return {"n_sent": self.n_sent + 1}


def count_sent(data: Noted) -> int:
    return data.n_sent


def test_workers_pass_the_data_on(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scattered = []
    scatter = type(client).scatter

    def note(self: Any, data: Any, **options: Any) -> Any:
        scattered.append(options["workers"])
        return scatter(self, data, **options)

    monkeypatch.setattr(type(client), "scatter", note)
    before = set(client.who_has())
    with Tasks(client, Noted()) as tasks:
        addresses = list(client.nthreads())
        assert len(scattered) == 1
        numbers = [tasks.submit(f"count {k}", count_sent) for k in range(12)]
        found = {tasks.result(number) for number in numbers}
        assert found == {1, 2}  # from here, and from the first worker
        held = {where for places in client.who_has().values() for where in places}
        assert held == set(addresses)
        assert len(scattered) == 1
    end = time.monotonic() + 10
    while not set(client.who_has()) <= before and time.monotonic() < end:
        time.sleep(0.05)
    assert set(client.who_has()) <= before


def fail_to_open() -> None:
    raise FileNotFoundError("no such file")


class Unreadable:
    """Data that cannot be read where they arrive."""

    def __reduce__(self) -> Any:
        return fail_to_open, ()


def test_a_worker_that_cannot_read_the_data_is_named(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.dask.tasks._NO_DATA", 2.0)
    monkeypatch.setattr("arboleda.dask.tasks._RETRY", 0.05)
    with (
        pytest.raises(ClusterError, match="The worker tcp.* cannot read the data that are sent"),
        Tasks(client, Unreadable()) as tasks,
    ):
        tasks.result(tasks.submit("read", len))
