"""Rows of one shard for a fit to the rows of all shards: table, target and weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import AllShards
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.shard_weights import read_shard_weights
from arboleda._engine.target import check_total_weight
from arboleda.boosting._rows import TrainingRows

if TYPE_CHECKING:
    from arboleda.boosting._boosting import Boosting

__all__ = ["read_shard_rows"]

Floats = npt.NDArray[np.float64]


def read_shard_rows(
    model: Boosting, X: ShardParts, y: Sequence[Any], sample_weight: Any, *, reset: bool
) -> TrainingRows:
    """Check and return the rows of a shard; `reset` learns schema and classes from all shards.

    Parameters
    ----------
    model : Boosting
    X : ShardParts
    y : sequence of array-likes
        The target of each partition.
    sample_weight : sequence of array-likes, or None
        The weights of each partition.
    reset : bool

    Raises
    ------
    ValueError, TypeError
        As for a table that is not cut, in all shards: the message names the partition in which a
        value is wrong.
    """
    shards = X.shards
    if reset:
        table = X.learn_table(
            model,
            model.categorical_features,
            many_levels=model.category_encoding != "native",
        )
    else:
        table = X.read_table(model)

    read_part = model._make_part_reader(X, y)

    def read() -> Floats | None:
        values = X.join(y, read_part, "y")
        if values is None:
            return None
        with X.naming():
            return model._encode_shard_target(values) if reset else model._encode_new_target(values)

    target = _match_shapes(shards.run_together(read), shards)
    if reset:
        target = model._unite_target(target, shards)
    weight = read_shard_weights(X, sample_weight)
    weight = model._compute_row_weight(target, weight, shards)
    check_total_weight(weight, shards)
    return TrainingRows.of_weight(X, table, target, weight, shards, X.first_row)


def _match_shapes(target: Floats | None, shards: AllShards) -> Floats:
    """Return the target of a shard; of one without rows it is empty and has the others' shape."""
    shapes = shards.gather(None if target is None else target.shape[1:])
    known = [(number, shape) for number, shape in enumerate(shapes) if shape is not None]
    for number, shape in known:
        if shape != known[0][1]:
            sizes = [
                f"{each[0] if each else 1} in shard {k}" for k, each in (known[0], (number, shape))
            ]
            raise ValueError(
                f"y has another number of columns in some shards, {' and '.join(sizes)}: give as "
                "many everywhere"
            )
    return np.empty((0, *known[0][1])) if target is None else target
