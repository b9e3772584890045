"""Edges of bins from the rows of all shards are those of the engine on all rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from arboleda._native import BinnedDataset
from tests.thread_shards import ThreadShards, run_shards

from arboleda._engine import shard_edges
from arboleda._engine.all_shards import AllShards, join_columns
from arboleda._engine.shard_edges import Edges, learn_edges
from arboleda._engine.value_runs import count_below

Floats = npt.NDArray[np.float64]


def make_column(kind: str, random: np.random.Generator) -> Floats:
    """Return values in random order, with ties of many kinds."""
    n = 3000
    match kind:
        case "distinct":
            return random.normal(size=n)
        case "many ties":
            return np.round(random.normal(size=n), 1)
        case "half zero":
            return np.where(random.random(n) < 0.5, -0.0, random.normal(size=n))
        case "repeated":
            return random.permutation(np.repeat(random.normal(size=n // 3), 3))
        case "twice":  # the second copy of each row is in another shard
            return np.tile(np.round(random.normal(size=n // 2), 3), 2)
        case "large last":
            return np.minimum(random.pareto(1.0, size=n), 20.0)
        case "missing":
            return np.where(random.random(n) < 0.3, np.nan, random.normal(size=n))
        case _:
            return np.full(n, np.nan)


KINDS = (
    "distinct",
    "many ties",
    "half zero",
    "repeated",
    "twice",
    "large last",
    "missing",
    "empty",
)


@pytest.mark.parametrize("few_runs", [4, 2048])
@pytest.mark.parametrize("max_bins", [2, 7, 60])
@pytest.mark.parametrize("n_shards", [1, 2, 5])
def test_same_edges(
    n_shards: int, max_bins: int, few_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_edges, "_FEW_RUNS", few_runs)
    random = np.random.default_rng(max_bins)
    columns = [make_column(kind, random) for kind in KINDS]
    columns.append(columns[0].astype(np.float32))
    cuts = np.sort(random.integers(0, 3001, n_shards - 1))
    parts = [np.split(column, cuts) for column in columns]
    rows = [np.flatnonzero(random.random(part.size) < 0.9).astype(np.uint32) for part in parts[0]]
    starts = [0, *cuts]

    def learn(shards: ThreadShards) -> list[Edges]:
        own = [part[shards.number] for part in parts]
        return learn_edges(own, rows[shards.number], max_bins, AllShards(shards))

    chosen = np.concatenate([part + start for part, start in zip(rows, starts, strict=True)])
    whole = BinnedDataset(columns, 3000, 1, (0,) * len(columns), max_bins, chosen.astype(np.uint32))
    for edges in run_shards(n_shards, learn):
        for j, found in enumerate(edges):
            lower, upper = whole.edges(j)
            assert found.lower.tobytes() == lower.tobytes()
            assert (found.upper if found.upper.size else found.lower).tobytes() == upper.tobytes()


def test_shards_with_values_of_different_types() -> None:
    random = np.random.default_rng(5)
    parts: list[npt.NDArray[Any]] = [
        np.round(random.normal(size=4000), 2).astype(np.float32),
        np.round(random.normal(size=3000), 2),
        random.integers(-3, 4, 5000).astype(np.int32),
        np.empty(0, dtype=np.float32),
        np.append(random.normal(size=3000) * 1e-46, [1e300, -1e300, 3.5e38]),
    ]

    def learn(shards: ThreadShards) -> Edges:
        return learn_edges([parts[shards.number]], None, 60, AllShards(shards))[0]

    column = np.concatenate(parts)
    lower, upper = BinnedDataset([column], column.size, 1, (0,), 60, None).edges(0)
    for found in run_shards(5, learn):
        assert found.lower.tobytes() == lower.tobytes()
        assert found.upper.tobytes() == upper.tobytes()


def test_limits_that_are_no_float32() -> None:
    ordered = np.sort(np.random.default_rng(3).normal(size=50)).astype(np.float32)
    wide = ordered.astype(np.float64)
    limits = np.concatenate(
        [wide, np.nextafter(wide, -np.inf), np.nextafter(wide, np.inf), [1e300, -1e300, -np.inf]]
    )
    below, up_to = count_below(ordered, limits), count_below(ordered, limits, equal=True)
    np.testing.assert_array_equal(below, [(wide < limit).sum() for limit in limits])
    np.testing.assert_array_equal(up_to, [(wide <= limit).sum() for limit in limits])


def test_joined_columns_are_concatenated_ones() -> None:
    random = np.random.default_rng(4)
    matrix = random.normal(size=(10_000, 2)).astype(np.float32)
    parts: list[list[npt.NDArray[Any]]] = [
        [matrix[:, 0], matrix[:, 1], np.arange(10_000, dtype=np.int8)],
        [np.ones(5), np.arange(5, dtype=np.int32), np.arange(5, dtype=np.uint8)],
        [matrix[::-3, 1], matrix[::-3, 0], np.ones(3334, dtype=bool)],
    ]
    for joined, own in zip(join_columns(parts), zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(joined, np.concatenate(own), strict=True)


def test_few_values_are_sent_of_a_long_column() -> None:
    column = np.random.default_rng(0).normal(size=200_000)
    parts = np.array_split(column, 2)

    def learn(shards: ThreadShards) -> int:
        learn_edges([parts[shards.number]], None, 255, AllShards(shards))
        return shards.n_bytes

    assert max(run_shards(2, learn)) < 250_000  # of 1,600,000 in which the values are held
