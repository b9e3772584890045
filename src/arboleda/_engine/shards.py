"""What passes between the shards of a table while one model is fitted to all of their rows.

A table is cut into shards of consecutive rows, each of which runs the same fit on its rows. They
agree because every decision is made from sums, maxima and small facts of all shards, which are
equal everywhere: sums of integers do not depend on their order.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Shards(Protocol):
    """The connection of one shard to all others.

    Every shard calls the same methods in the same order, with arrays of the same length; a call
    returns when all have called it. An error of one shard, or its loss, raises in all others.
    """

    @property
    def number(self) -> int:
        """The number of this shard, from 0, in the order of the rows."""

    @property
    def count(self) -> int:
        """How many shards there are."""

    @property
    def place(self) -> str:
        """Where this shard is, for messages."""

    @property
    def memory_limit(self) -> int | None:
        """The bytes that the process of this shard may take; None: as many as the machine has."""

    def add(self, values: NDArray[np.uint64]) -> None:
        """Replace each value by its sum over all shards, modulo 2**64."""

    def maximum(self, values: NDArray[np.uint64]) -> None:
        """Replace each value by the largest of all shards."""

    def count_opened(self, n_nodes: int, n_histograms: int, n_codes: int) -> None:
        """Count what the next call adds for nodes of a tree that are opened together.

        Their histograms, and codes whose rows are counted. Nothing is sent.
        """

    def gather(self, item: bytes) -> list[bytes]:
        """Return the items of all shards, in the order of shards."""


def check_fits_shards(estimator: Any) -> None:
    """Raise an error for estimators that need all rows in one place.

    Raises
    ------
    TypeError
    """
    if not getattr(estimator, "_fits_shards", False):
        name = type(estimator).__name__
        raise TypeError(f"{name} does not support a table in shards: fit it on the whole table")
