"""Shards of a table as threads of one process."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Result = TypeVar("Result")


class _Board:
    """Where the threads put what they share, between two barriers."""

    def __init__(self, count: int) -> None:
        self.barrier = Barrier(count)
        self.items: list[bytes] = [b""] * count


class ThreadShards:
    """The connection of one thread to the others."""

    def __init__(self, board: _Board, number: int) -> None:
        self._board = board
        self.number = number
        self.n_calls = 0
        self.n_bytes = 0
        self.opened = np.zeros(4, dtype=np.int64)  # nodes, histograms, codes, calls

    @property
    def count(self) -> int:
        return len(self._board.items)

    @property
    def place(self) -> str:
        return f"shard {self.number}"

    @property
    def memory_limit(self) -> int | None:
        return None

    def gather(self, item: bytes) -> list[bytes]:
        self.n_calls += 1
        self.n_bytes += len(item)
        self._board.items[self.number] = item
        self._board.barrier.wait()
        items = list(self._board.items)
        self._board.barrier.wait()
        return items

    def _all(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        items = self.gather(values.tobytes())
        if len({len(item) for item in items}) > 1:
            raise AssertionError("shards share arrays of different lengths")
        return np.array([np.frombuffer(item, np.uint64) for item in items])

    def count_opened(self, n_nodes: int, n_histograms: int, n_codes: int) -> None:
        self.opened += [n_nodes, n_histograms, n_codes, 1]

    def add(self, values: NDArray[np.uint64]) -> None:
        values[...] = self._all(values).sum(axis=0, dtype=np.uint64)

    def maximum(self, values: NDArray[np.uint64]) -> None:
        values[...] = self._all(values).max(axis=0)


def cut(values: Any, cuts: Sequence[int]) -> list[list[Any]]:
    """Cut rows into shards, each of two partitions."""
    shards = []
    n_rows = values.shape[0] if hasattr(values, "shape") else len(values)
    for begin, end in zip([0, *cuts], [*cuts, n_rows], strict=True):
        middle = begin + (end - begin) // 3
        shards.append([values[begin:middle], values[middle:end]])
    return shards


def run_shards(count: int, run: Callable[[ThreadShards], Result]) -> list[Result]:
    """Run a function once for each shard, in threads; return their results in order.

    The first error of a shard is raised, which ends the calls of all others.
    """
    board = _Board(count)

    def run_one(number: int) -> Result:
        try:
            return run(ThreadShards(board, number))
        except BaseException:
            board.barrier.abort()
            raise

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(run_one, number) for number in range(count)]
        errors = [future.exception() for future in futures]
        for error in errors:
            if error is not None and not isinstance(error, BrokenBarrierError):
                raise error
        return [future.result() for future in futures]
