"""Consecutive partitions for each worker: evenly by rows, near where they are, within memory."""

import numpy as np
import pytest

from arboleda._utils.errors import ClusterError
from arboleda.dask.partitions import PartitionFacts
from arboleda.dask.placement import PlacedShard, check_memory, place_shards


def test_every_partition_is_placed_once_and_evenly() -> None:
    draw = np.random.default_rng(0)
    for n_workers in (1, 2, 7, 30):
        workers = [f"w{number}" for number in range(n_workers)]
        n_rows = draw.integers(0, 100, 200).tolist()
        shards = place_shards(n_rows, [{}] * 200, workers)
        assert [p for shard in shards for p in shard.partitions] == list(range(200))
        assert len({shard.address for shard in shards}) == len(shards) == n_workers
        sizes = [sum(n_rows[p] for p in shard.partitions) for shard in shards]
        assert sizes == [shard.n_rows for shard in shards]
        assert max(sizes) - min(sizes) <= 200  # two partitions


def test_a_large_partition_leaves_workers_without_rows() -> None:
    shards = place_shards([0, 5, 1000, 0, 5], [{}] * 5, ["a", "b", "c", "d"])
    assert sum(shard.n_rows for shard in shards) == 1010
    assert all(shard.n_rows for shard in shards)
    assert len(place_shards([3], [{}], ["a", "b"])) == 1


def test_shards_are_near_their_rows() -> None:
    held = [{"a": 5}, {"a": 5, "c": 9}, {"b": 1}, {"b": 1}, {"c": 1}, {"c": 1}]
    shards = place_shards([10] * 6, held, ["c", "b", "a"])
    assert [shard.address for shard in shards] == ["a", "b", "c"]


def test_too_little_memory_is_a_sentence() -> None:
    facts = [PartitionFacts(10**7, tuple(range(20)), 16 * 10**8)]
    shards = [PlacedShard("tcp://a:1", 0, 1, 10**7)]
    needed = check_memory(facts, shards, {"tcp://a:1": 0})
    assert 4e9 < needed["tcp://a:1"] < 8e9
    with pytest.raises(ClusterError, match=r"tcp://a:1 would need about 5.85 GB for 10,000,000"):
        check_memory(facts, shards, {"tcp://a:1": 3 * 10**9})
