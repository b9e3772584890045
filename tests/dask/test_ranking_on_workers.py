"""Rankings of rows on workers are those of the plain class, byte for byte."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.dask.test_boosting_on_workers import cut

import arboleda
import arboleda.dask
from arboleda.dask.partitions import _move_limits
from arboleda.persist import model_to_bytes

dask = pytest.importorskip("dask")

RANDOM = np.random.default_rng(0)
SIZES = RANDOM.integers(2, 20, 40)
ENDS = np.cumsum(SIZES)
FRAME = pd.DataFrame(RANDOM.normal(size=(ENDS[-1], 3)).round(1), columns=list("abc"))
FRAME["query"] = np.repeat([f"q{i}" for i in RANDOM.permutation(40)], SIZES)
FRAME["y"] = np.digitize(FRAME["a"] + RANDOM.normal(size=len(FRAME)), [0.0, 1.0])
X, Y, QID = FRAME[["a", "b", "c"]], FRAME["y"], FRAME["query"]
# Partitions that end with a query; one of them is empty.
LENGTHS = [int(ENDS[9]), 0, int(ENDS[24] - ENDS[9]), int(ENDS[-1] - ENDS[24])]
OPTIONS: dict[str, Any] = {"max_iter": 6, "random_state": 1, "early_stopping": True}


def make_pair(client: Any, **options: Any) -> tuple[Any, Any]:
    here = arboleda.HistGradientBoostingRanker(**OPTIONS | options)
    return here, arboleda.dask.HistGradientBoostingRanker(client=client, **OPTIONS | options)


def get_bytes(model: Any) -> bytes:
    return model_to_bytes(model.to_local())


def test_queries_in_parts_in_a_column_and_in_files(client: Any, tmp_path: Path) -> None:
    here, there = make_pair(client, n_iter_no_change=2)
    expected = model_to_bytes(here.fit(X, Y, qid=QID))
    there.fit(cut(X, LENGTHS), cut(Y, LENGTHS), qid=cut(QID, LENGTHS))
    assert get_bytes(there) == expected

    from dask import dataframe

    expected = model_to_bytes(here.fit(FRAME.drop(columns="y"), Y, qid="query"))
    parts = dataframe.from_delayed(cut(FRAME, LENGTHS), meta=FRAME)
    table, target = parts.drop(columns="y"), parts["y"]
    there.fit(table, target, qid="query", checkpoint=tmp_path / "c.ckpt", checkpoint_every=2)
    assert get_bytes(there) == expected
    assert arboleda.load(tmp_path / "c.ckpt").n_iter_ >= 2
    there.fit(table, target, qid="query", checkpoint=tmp_path / "c.ckpt")
    assert get_bytes(there) == expected
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(there.predict(table).compute(), here.predict(X))
        assert there.score(table, target) == here.score(X, Y, qid=QID)

    for number, (start, end) in enumerate([(0, ENDS[9]), (ENDS[9], ENDS[-1])]):
        FRAME.iloc[start:end].to_parquet(tmp_path / f"part-{number}.parquet")
    there.fit(tmp_path / "part-*.parquet", "y", qid="query")
    assert get_bytes(there) == expected
    there.save(tmp_path / "model.arboleda")
    assert arboleda.load(tmp_path / "model.arboleda").predict(X).tolist() == [*here.predict(X)]


def test_sizes_and_tables_of_this_process(client: Any) -> None:
    here, there = make_pair(client, loss="yetirank")
    n_val = int(ENDS[9])
    val = {"X_val": X[:n_val], "y_val": Y[:n_val]}
    expected = model_to_bytes(here.fit(X, Y, group=SIZES, **val, group_val=SIZES[:10]))
    there.fit(
        cut(X, LENGTHS),
        cut(Y, LENGTHS),
        group=cut(SIZES, [10, 0, 15, 15]),
        X_val=cut(X, [n_val]),
        y_val=cut(Y, [n_val]),
        group_val=cut(SIZES, [10]),
    )
    assert get_bytes(there) == expected
    there.fit(X, Y, group=SIZES, **val, group_val=SIZES[:10])
    assert get_bytes(there) == expected
    # No query is on two workers, although rows of all queries are mixed.
    order = RANDOM.permutation(len(X))
    mixed = FRAME.iloc[order].drop(columns="y")
    there.fit(mixed, Y.iloc[order], qid="query")
    assert get_bytes(there) == model_to_bytes(here.fit(mixed, Y.iloc[order], qid="query"))


def test_errors(client: Any) -> None:
    _, there = make_pair(client)
    lengths = [LENGTHS[0] - 1, len(X) - LENGTHS[0] + 1]
    with pytest.raises(ValueError, match=rf"^query {QID[LENGTHS[0] - 1]} has rows in two part"):
        there.fit(cut(X, lengths), cut(Y, lengths), qid=cut(QID, lengths))
    with pytest.raises(ValueError, match="partition . has .* rows in X and .* in group"):
        there.fit(cut(X, lengths), cut(Y, lengths), group=cut(SIZES, [10, 30]))
    with pytest.raises(TypeError, match="qid must be the name of a column of the files"):
        there.fit("nothing-*.parquet", "y", qid=QID)
    with pytest.raises(ValueError, match="qid and group are both given"):
        there.fit(X, Y, qid=QID, group=SIZES)
    assert not hasattr(there, "ensemble_")


@pytest.mark.parametrize(
    ("limits", "numbers", "moved"),
    [
        ([0, 2, 4, 6], [0, 0, 1, 1, 2, 2], [0, 2, 4, 6]),
        ([0, 1, 3, 6], [5, 5, 1, 1, 2, 2], [0, 2, 4, 6]),
        ([0, 2, 4, 6], [0, 1, 2, 3, 4, 0], [0, 6, 6, 6]),
    ],
)
def test_limits_separate_no_query(limits: Any, numbers: Any, moved: Any) -> None:
    assert _move_limits(limits, np.array(numbers)) == moved
