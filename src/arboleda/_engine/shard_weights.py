"""Weights of the rows of one shard of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.columns import DenseTable
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.target import ALL_ZERO, read_weight

__all__ = ["read_shard_weights"]

Floats = npt.NDArray[np.float64]


def read_shard_weights(X: ShardParts, sample_weight: Sequence[Any] | None) -> Floats | None:
    """Return the weights of the shard's rows; None if there are none in any shard.

    Raises
    ------
    ValueError, TypeError
        Those of `read_weight`, in all shards; and if only some shards have weights.
    """
    shards = X.shards
    given = shards.gather(sample_weight is not None)
    if sample_weight is None or not all(given):
        if any(given):
            raise ValueError(
                f"sample_weight is given in shard {given.index(True)}, but not in shard "
                f"{given.index(False)}: give it everywhere, or nowhere"
            )
        return None

    def read(part: Any) -> Floats:
        n_rows = len(part)
        weight = read_weight(part, DenseTable([], n_rows, ()), may_be_zero=True)
        assert weight is not None
        return weight

    joined = shards.run_together(lambda: X.join(sample_weight, read, "sample_weight"))
    weight = np.empty(0) if joined is None else joined
    if not shards.is_any(np.array([weight.any()])).all():
        raise ValueError(ALL_ZERO)
    return weight
