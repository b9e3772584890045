"""Shards of a fit on workers: their sums are those of one table, also when workers are lost."""

import logging
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.dask.shard_work import SummingWork, sum_at_once

from arboleda._utils.errors import ClusterError, ShardLostError
from arboleda.dask import watch
from arboleda.dask.attempts import ShardedFit
from arboleda.dask.partitions import NAMES, read_collections
from arboleda.dask.placement import PlacedShard
from arboleda.dask.worker_shards import ShardStatus, find_children, find_parent

dask = pytest.importorskip("dask")


def make_table(n_rows: int = 40) -> Any:
    return np.random.default_rng(0).integers(0, 1000, (n_rows, 3)).astype(np.float64)


def cut(X: Any, lengths: list[int]) -> list[Any]:
    limits = np.cumsum([0, *lengths])
    return [dask.delayed(X[a:b]) for a, b in pairwise(limits)]


def fit(client: Any, X: Any, lengths: list[int], work: Any) -> ShardedFit:
    parts, target = cut(X, lengths), cut(X[:, 0], lengths)
    return ShardedFit(
        client, "Sums", work, lambda: (read_collections(client, parts, target, names=NAMES), None)
    )


def test_the_tree_has_every_shard_once() -> None:
    for count in (1, 2, 9, 10, 100):
        merged = [child for shard in range(count) for child in find_children(shard, count)]
        assert sorted(merged) == list(range(1, count))
        for shard in range(1, count):
            assert shard in find_children(find_parent(shard) or 0, count)


@pytest.mark.parametrize("lengths", [[40], [13, 27], [0, 5, 0, 20, 1, 14, 0]])
def test_sums_of_shards_are_those_of_the_table(client: Any, lengths: list[int]) -> None:
    X = make_table()
    fitted = fit(client, X, lengths, SummingWork(3))
    assert fitted.run() == sum_at_once(X, 3)
    assert [t.calls for t in fitted.traffic] == [9] * len(fitted.traffic)
    if len(lengths) == 2:
        # Three numbers up and down in two calls, and rows of three numbers.
        assert [t.items for t in fitted.traffic] == [9, 9]
        down = 3 * (24 + 24 + 40 * 24)
        assert sorted(t.bytes for t in fitted.traffic)[1] == down


def test_ten_workers_are_two_levels_of_the_tree(many_clients: Any) -> None:
    X = make_table(200)
    assert fit(many_clients, X, [20] * 10, SummingWork(2)).run() == sum_at_once(X, 2)


def test_the_error_of_a_shard_is_raised_here_at_once(client: Any) -> None:
    start = time.monotonic()
    with pytest.raises(ValueError, match="column 'x' has the value 7"):
        fit(client, make_table(), [20, 20], SummingWork(5, fails=(1, 2))).run()
    assert time.monotonic() - start < 20


def test_endless_losses_end_with_a_sentence(client: Any) -> None:
    class Losing(SummingWork):
        def run(self, *arguments: Any) -> Any:
            raise ShardLostError("shard 0 is lost")

    with pytest.raises(ClusterError, match="lost 8 times after 0 rounds, .* shard 0 is lost"):
        fit(client, make_table(), [20, 20], Losing(2)).run()


def test_lengths_that_differ_name_the_partition(client: Any) -> None:
    X = make_table()
    parts, target = cut(X, [20, 20]), cut(X[:, 0], [20, 19])
    with pytest.raises(ValueError, match="partition 1 has 20 rows in X and 19 in y"):
        ShardedFit(
            client,
            "Sums",
            SummingWork(1),
            lambda: (read_collections(client, parts, target, names=NAMES), None),
        ).run()
    with pytest.raises(ValueError, match="y has 1 partitions, X has 2"):
        read_collections(client, parts, target[:1], names=NAMES)


def test_a_slow_worker_is_named(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("arboleda.dask.watch._SLOW", 0.3)
    monkeypatch.setattr("arboleda.dask.watch._LOOK", 0.1)

    class Slow(SummingWork):
        def run(self, parts: Any, validation: Any, shards: Any, *others: Any) -> Any:
            time.sleep(2.0 * shards.number)
            return super().run(parts, validation, shards, *others)

    with caplog.at_level(logging.WARNING, logger="arboleda.dask"):
        fit(client, make_table(), [20, 20], Slow(1)).run()
    assert any("shard 1 (20 rows)" in record.getMessage() for record in caplog.records)


def test_an_interrupt_here_ends_the_shards(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(watch: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("arboleda.dask.watch.Watch._look", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit(client, make_table(), [20, 20], SummingWork(10**6, str(tmp_path), pause=0.01)).run()
    end = time.monotonic() + 20
    while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lost-0", "lost-1"]


def test_a_result_that_is_lost_at_the_end_is_that_of_the_second_shard(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch = watch.fetch_result

    def lose_first(client: Any, future: Any, *arguments: Any) -> Any:
        if future.key.startswith("shard 0 "):
            raise TimeoutError
        return fetch(client, future, *arguments)

    monkeypatch.setattr(watch, "fetch_result", lose_first)
    X = make_table()
    fitted = fit(client, X, [20, 20], SummingWork(3))
    assert fitted.run() == sum_at_once(X, 3)
    assert fitted._n_attempts == 1


def test_after_a_loss_a_fit_waits_for_memory(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("arboleda.dask.attempts._GRACE", 0.1)
    monkeypatch.setattr("arboleda.dask.attempts._ALONE", 0.2)
    monkeypatch.setattr("arboleda.dask.placement._ROW_BYTES", 10**12)
    fitted = fit(client, make_table(), [20, 20], SummingWork(1))
    sentence = "start more workers, or raise memory_limit"
    with pytest.raises(ClusterError, match=sentence):
        fitted.run()
    assert fitted._n_attempts == 0
    fitted._n_workers = 3
    with (
        caplog.at_level(logging.WARNING, logger="arboleda.dask"),
        pytest.raises(ClusterError, match=sentence),
    ):
        fitted.run()
    assert caplog.text.count("waiting for more workers") == 1


def test_a_worker_that_does_not_reply_is_named(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    shards = [PlacedShard(f"tcp://{n}", n, n + 1, 5) for n in range(2)]
    watched = watch.Watch(fit(client, make_table(), [40], SummingWork(1)), None, shards, [])
    watched._pending = {0, 1}
    with caplog.at_level(logging.WARNING, logger="arboleda.dask"):
        watched._name_slow_workers({"tcp://0": ShardStatus(0, 7, 1, 40.0)})
    assert caplog.messages == [
        "1 of 2 shards have waited for 40 s; shard 1 (5 rows) on tcp://1 does not reply"
    ]


def test_a_killed_worker_changes_nothing(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arboleda.dask.attempts._GRACE", 0.1)
    X = make_table()
    work = SummingWork(5, str(tmp_path), dies=((0, 2),))
    assert fit(client, X, [9, 11, 20], work).run() == sum_at_once(X, 5)
    assert Path(tmp_path, "0-2").exists()
