"""Sparse rows on workers: the model of the whole matrix, byte for byte."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import arboleda
import arboleda.dask
from arboleda.dask.partitions import PartitionFacts, compute_digest
from arboleda.dask.placement import estimate_memory, place_shards
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")

RANDOM = np.random.default_rng(0)
X = sparse.random_array((600, 40), density=0.1, format="csr", rng=RANDOM)
Y = X @ RANDOM.normal(size=40) + RANDOM.normal(size=600) / 9
LENGTHS = [100, 0, 350, 150]


def cut(table: Any) -> list[Any]:
    return [dask.delayed(table[a:b]) for a, b in pairwise(np.cumsum([0, *LENGTHS]))]


def test_sparse_collections(client: Any, tmp_path: Path) -> None:
    from dask import array

    options: dict[str, Any] = {"max_iter": 5, "early_stopping": True, "random_state": 1}
    here = arboleda.HistGradientBoostingRegressor(**options).fit(X, Y)
    expected = model_to_bytes(here)
    there = arboleda.dask.HistGradientBoostingRegressor(client=client, **options)
    blocks = array.from_array(X.toarray(), chunks=(250, 15)).map_blocks(sparse.csr_array)
    target = array.from_array(Y, chunks=250)
    path = tmp_path / "model.ckpt"
    for table, y, checkpoint in (
        (cut(X), cut(Y), path),
        (blocks, target, path),  # goes on from the same rows, cut elsewhere
        (X, Y, None),
    ):
        there.fit(table, y, checkpoint=checkpoint, checkpoint_every=2)
        assert model_to_bytes(there.to_local()) == expected
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(there.predict(blocks).compute(), here.predict(X))
        np.testing.assert_array_equal(
            np.concatenate(dask.compute(*there.predict(cut(X)))), here.predict(X)
        )
        assert there.score(blocks, target) == here.score(X, Y)


def test_the_digest_is_that_of_any_cut() -> None:
    assert compute_digest([X, Y]) == sum(
        compute_digest([X[a:b], Y[a:b]]) for a, b in ((0, 250), (250, 600))
    ) % (1 << 64)
    other = X.copy()
    other.data[7] += 1.0
    assert compute_digest([X, Y]) != compute_digest([other, Y])


def test_memory_is_that_of_entries() -> None:
    facts = [PartitionFacts(10**6, tuple(range(10**4)), 10**8, n_entries=10**7)]
    (shard,) = place_shards([10**6], [{}], ["a"])
    assert estimate_memory(facts, shard) < 10**9
