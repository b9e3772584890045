"""Work of shards that only adds up integers, in place of a model, for tests of what carries it."""

import hashlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from arboleda._utils.errors import ShardLostError
from arboleda.dask.trees import TreeWork


@dataclass(frozen=True)
class SummingWork:
    """Rounds that depend on the sums, the largest values and the bytes of all rows.

    ``dies`` has shards and the rounds in which their workers are killed, once: then there is a file
    in the folder ``marks``, and another one for each shard that loses others.
    """

    n_rounds: int
    marks: str = ""
    dies: tuple[tuple[int, int], ...] = ()
    fails: tuple[int, int] | None = None
    pause: float = 0.0

    def run(
        self,
        parts: Sequence[tuple[Any, Any, Any]],
        validation: Any,
        shards: Any,
        rounds: Any,
        keep: Any,
        keep_every: int | None,
    ) -> list[str]:
        done = list(rounds or [])
        X = np.concatenate([np.empty((0, 3)), *(np.asarray(part[0]) for part in parts)])
        try:
            for number in range(len(done), self.n_rounds):
                self._break(shards.number, number)
                done.append(sum_round(X, number, shards))
                if keep_every is not None and not len(done) % keep_every:
                    keep(len(done), "".join(done).encode())
                time.sleep(self.pause)
        except ShardLostError as error:
            error.rounds = done
            if self.marks:
                Path(self.marks, f"lost-{shards.number}").touch()
            raise
        return done

    def count_rounds(self, rounds: Any) -> int:
        return len(rounds or [])

    def _break(self, shard: int, number: int) -> None:
        if self.fails == (shard, number):
            raise ValueError("column 'x' has the value 7")
        mark = Path(self.marks, f"{shard}-{number}")
        if (shard, number) in self.dies and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def sum_round(X: Any, number: int, shards: Any) -> str:
    """Return what one round computes, from the rows of a shard and those of all others."""
    words = (X.astype(np.uint64) + np.uint64(number)) * np.uint64(0x9E3779B97F4A7C15)
    sums = words.sum(axis=0, dtype=np.uint64)
    largest = words.max(axis=0, initial=0)
    shards.add(sums)
    shards.maximum(largest)
    rows = b"".join(shards.gather(words.tobytes()))
    return hashlib.sha256(sums.tobytes() + largest.tobytes() + rows).hexdigest()


class OneShard:
    """A table in one piece."""

    number, count = 0, 1

    def add(self, values: Any) -> None:
        """Leave the sums of all rows."""

    def maximum(self, values: Any) -> None:
        """Leave the largest of all rows."""

    def gather(self, item: bytes) -> list[bytes]:
        return [item]


def sum_at_once(X: Any, n_rounds: int) -> list[str]:
    """Return the rounds of a table in one piece."""
    return [sum_round(X, number, OneShard()) for number in range(n_rounds)]


class DyingShards:
    """A connection whose worker is killed at a call of the engine, once."""

    def __init__(self, shards: Any, mark: Path) -> None:
        self._shards = shards
        self._mark = mark
        self._n_calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shards, name)

    def add(self, values: Any) -> None:
        self._n_calls += 1
        if self._shards.number == 1 and self._n_calls == 12 and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self._shards.add(values)


@dataclass(frozen=True)
class DyingTreeWork(TreeWork):
    """The fit of a tree, during which a worker is killed once; ``marks`` is a folder."""

    marks: str = ""

    def run(self, parts: Any, validation: Any, shards: Any, *others: Any) -> dict[str, Any]:
        dying: Any = DyingShards(shards, Path(self.marks, "killed"))
        return super().run(parts, validation, dying, *others)
