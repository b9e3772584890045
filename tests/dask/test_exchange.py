"""What a worker holds for the shards of others."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from arboleda.dask.exchange import Item, Outbox


def test_items_are_taken_in_order() -> None:
    # Of two shards, one may offer the next item before the other has taken the one before.
    async def take_both() -> list[bytes]:
        outbox = Outbox()
        for sequence, value in [(1, b"first"), (2, b"second")]:
            outbox.offer(7, sequence, Item("add", [value]))
        messages = [await asyncio.wait_for(outbox.take(7, n), timeout=10) for n in (1, 2)]
        return [message["values"][0] for message in messages]

    with ThreadPoolExecutor(1) as thread:  # other tests may leave a running loop in this one
        values = thread.submit(lambda: asyncio.run(take_both())).result()
    assert values == [b"first", b"second"]
