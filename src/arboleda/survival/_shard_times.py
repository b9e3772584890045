"""Times to an event of a table in shards: what all of them have to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import AllShards
from arboleda._engine.shard_parts import ShardParts
from arboleda._utils.survival_times import (
    check_any_event,
    choose_event_field,
    describe_fields,
    has_intervals,
)

__all__ = ["count_values", "make_part_reader"]

Floats = npt.NDArray[np.float64]
Kinds = Mapping[Any, str]


def make_part_reader(
    X: ShardParts, y: Sequence[Any], read: Callable[..., Floats]
) -> Callable[[Any], Floats]:
    """Return what reads the target of a partition: the same field is the event in all.

    Parameters
    ----------
    X : ShardParts
    y : sequence of array-likes
    read : callable
        Takes a part of y, whether there must be an event, and the field of the event.

    Raises
    ------
    ValueError
        If the fields of partitions differ, no partition has an event, or for the reasons of `read`.
    """
    shards = X.shards

    def describe(part: Any) -> Kinds | None:
        return None if part is None or has_intervals(part) else describe_fields(part)

    own = shards.run_together(lambda: X.apply_each(y, describe, "y"))
    gathered = shards.gather(list(zip(X.places, own, strict=True)))
    described = [(place, kinds) for of_shard in gathered for place, kinds in of_shard if kinds]
    field = _agree_on_event(described) if described else None
    read_part = partial(read, requires_event=False, event_field=field)

    def has_event(part: Any) -> bool:
        values = read_part(part)
        is_event = ~np.signbit(values) if values.ndim == 1 else np.isfinite(values[:, 1])
        return bool(is_event.any())

    events = shards.run_together(lambda: X.apply_each(y, has_event, "y"))
    check_any_event(shards.is_any(np.array([any(events)]))[0], X.n_rows_of_all)
    return read_part


def _agree_on_event(described: Sequence[tuple[str, Kinds]]) -> Any:
    """Return the field of the event, given what the fields of each partition hold."""
    first_place, first = described[0]
    for place, kinds in described:
        if kinds.keys() != first.keys():
            raise ValueError(
                f"y has the fields {list(first)} in {first_place}, and {list(kinds)} in {place}: "
                "give all partitions the same"
            )
    # Partitions with few rows may hold 0 and 1 only where others hold other numbers.
    order = ("text", "number", "zero-one", "truth")
    return choose_event_field(
        {field: min((kinds[field] for _, kinds in described), key=order.index) for field in first},
        "y",
    )


def count_values(values: Floats, shards: AllShards) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the distinct values of all shards, ascending, and how often each occurs."""
    distinct, counts = np.unique(values, return_counts=True)
    if shards.is_alone:
        return distinct, counts
    united, place = np.unique(shards.join(distinct), return_inverse=True)
    return united, np.bincount(place, shards.join(counts)).astype(np.int64)
