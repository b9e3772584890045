"""Queries of the rows of one shard, which are numbered as those of the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.all_shards import AllShards
from arboleda._engine.shard_parts import ShardParts
from arboleda._utils.ranking import NdcgMeasure, mean_of_known, number_queries, read_query_values
from arboleda.boosting._queries import check_one_list, split_queries
from arboleda.boosting._round_monitor import EnsembleScorer
from arboleda.boosting._rows import TrainingRows

__all__ = ["make_ndcg_scorer", "read_shard_queries"]

Codes = npt.NDArray[np.uint32]
Values = npt.NDArray[Any]


def read_shard_queries(
    X: ShardParts, qid: Sequence[Any] | str | None, suffix: str = ""
) -> tuple[ShardParts, Codes]:
    """Return a shard without the column of its queries, and the query of each of its rows.

    Parameters
    ----------
    X : ShardParts
    qid : sequence of array-likes, str or None
        The queries of each partition, or the name of a column.
    suffix : str
        End of the arguments' names in messages.

    Raises
    ------
    ValueError
        As for a table that is not cut, in all shards; also if a query has rows in two partitions.
    """
    shards = X.shards
    if qid is None:
        check_one_list(X.n_rows_of_all, suffix)
        _check_one_partition(X, suffix)
        return X, np.zeros(X.n_rows, dtype=np.uint32)
    if isinstance(qid, str):
        X, values = shards.run_together(
            lambda: X.split_each(lambda part: split_queries(part, qid, suffix))
        )
    else:
        values = shards.run_together(
            lambda: X.read_each(
                qid, lambda part: read_query_values(part, len(part), f"qid{suffix}"), f"qid{suffix}"
            )
        )
    return X, _number_queries(values, X.places, shards)


def _check_one_partition(X: ShardParts, suffix: str) -> None:
    places = [place for own in X.shards.gather(X.places) for place in own]
    if len(places) > 1:
        raise ValueError(
            f"qid{suffix} and group{suffix} are None, so that all rows are one list, but they are "
            f"in {len(places)} partitions: give the query of each row as qid{suffix}, or all rows "
            "in one partition"
        )


def _number_queries(values: Sequence[Values], places: Sequence[str], shards: AllShards) -> Codes:
    """Return the number of each row's query among those of all shards."""
    are_objects = shards.is_any(np.array([any(part.dtype.kind == "O" for part in values)]))
    if are_objects[0]:
        values = [part.astype(object) for part in values]
    own = [number_queries(part) for part in values]
    gathered = shards.gather(
        [(place, names) for place, (names, _) in zip(places, own, strict=True)]
    )
    parts = [part for of_shard in gathered for part in of_shard]
    names, numbers = number_queries(np.concatenate([names for _, names in parts]))
    if len(names) < len(numbers):
        _raise_cut_query(parts, names, numbers)
    first = sum(len(names) for of_shard in gathered[: shards.number] for _, names in of_shard)
    codes = []
    for own_names, own_numbers in own:
        codes.append(numbers[first : first + len(own_names)][own_numbers])
        first += len(own_names)
    return np.concatenate([np.empty(0, dtype=np.uint32), *codes])


def _raise_cut_query(
    parts: Sequence[tuple[str, Values]], names: Values, numbers: npt.NDArray[np.integer]
) -> None:
    query = int(np.argmax(np.bincount(numbers) > 1))
    ends = np.cumsum([len(own) for _, own in parts])
    first, second = np.searchsorted(ends, np.flatnonzero(numbers == query)[:2], side="right")
    raise ValueError(
        f"query {names[query]!s} has rows in two partitions ({parts[first][0]}; "
        f"{parts[second][0]}): each query must be whole in one; cut the table between queries, or "
        "gather the rows of each by dask.dataframe's shuffle(on=...) with their column"
    )


def make_ndcg_scorer(rows: TrainingRows, gains: npt.NDArray[np.float64], at: int) -> EnsembleScorer:
    """Return the mean NDCG of rows as a function of their raw scores.

    Of a table in shards it is that of the queries of all, each of which is in one of them.

    Parameters
    ----------
    rows : TrainingRows
    gains : ndarray
        Of these rows.
    at : int
        Number of ranks.
    """
    assert rows.query is not None
    query, shards = rows.query[rows.numbers], rows.shards
    measure = NdcgMeasure(query, gains, at)
    order = np.argsort(shards.join(np.unique(query)))
    return lambda raw: mean_of_known(shards.join(measure.by_query(raw.ravel()))[order])
