"""Rankings of rows on the workers of Dask, each query in one partition."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from arboleda import boosting as local
from arboleda._base.fitted import check_fitted
from arboleda._utils.ranking import read_group_sizes
from arboleda.boosting import read_queries
from arboleda.dask.boosting import BoostedByWorkers, describe_boosting
from arboleda.dask.fit_arguments import refuse_plain_arguments
from arboleda.dask.partitions import (
    Names,
    Partition,
    are_paths,
    delay_partitions,
    is_distributed,
    read_collections,
)
from arboleda.dask.predictions import compute_all, is_lazy

__all__ = ["HistGradientBoostingRanker"]

# Queries that are given by sizes are numbered within their partition, above so many bits.
_PARTITION_SHIFT = 32


class _Sizes(NamedTuple):
    """Sizes of queries, in place of the query of each row."""

    sizes: Any


class HistGradientBoostingRanker(
    BoostedByWorkers,
    local.HistGradientBoostingRanker,
    plain=local.HistGradientBoostingRanker,
):
    """Histogram-based gradient boosting for rankings, of rows on the workers of Dask."""

    _about = describe_boosting("np.arange(20) % 3", "X, y, group=[8, 12]")

    @refuse_plain_arguments
    def fit(  # type: ignore[override]  # has no initial scores
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        qid_val: Any = None,
        group_val: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 10,
    ) -> Self:
        """Boost trees on the rows of the workers, each query in one partition.

        Parameters
        ----------
        X, y, sample_weight, X_val, y_val, sample_weight_val
            See `HistGradientBoostingClassifier.fit`. Tables of this process are cut between
            queries.
        qid : the same as y, or str, default=None
            The query of each row; a str is the name of a column of X, which is then no feature.
            With neither ``qid`` nor ``group`` the rows, at most 10,000 in one partition, are one
            list.
        group : the same, default=None
            Instead of ``qid``, the sizes of the queries in the order of the rows. Of collections of
            Dask it has as many partitions as X, each with the sizes of the queries in it.
        qid_val, group_val : the same, default=None
            Those of the validation rows. Not needed if ``qid`` names a column.
        checkpoint, checkpoint_every
            See `HistGradientBoostingClassifier.fit`.

        Returns
        -------
        self

        Raises
        ------
        ClusterError, ValueError
            As `HistGradientBoostingClassifier.fit`; also if a query has rows in two partitions.
        """
        if qid_val is None and isinstance(qid, str):
            qid_val = qid
        given = X, y, sample_weight, _choose_queries(qid, group, "")
        validation = X_val, y_val, sample_weight_val, _choose_queries(qid_val, group_val, "_val")
        columns = {
            name: value for name, value in (("qid", qid), ("qid_val", qid_val)) if _is_name(value)
        }
        read = partial(_read_ranked_rows, columns)
        return self._fit_rows(given, validation, checkpoint, checkpoint_every, columns, read)

    def score(  # type: ignore[override]  # has queries in place of weights
        self, X: Any, y: Any, *, qid: Any = None, group: Any = None
    ) -> float:
        """Return the mean NDCG@10; predictions, y and queries are brought to this process.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        y : the same
        qid, group : the same, or str, default=None
            As in `fit`. Not needed if ``qid`` named a column there.

        Returns
        -------
        score : float
        """
        if not is_lazy(X):
            return float(self._plain.score(self, X, y, qid=qid, group=group))
        check_fitted(self)
        name = qid if isinstance(qid, str) else self.query_column_
        if group is None and (qid is None or isinstance(qid, str)) and name is not None:
            qid = _take_column(X, name)
        self._check_queries_given(qid, group)
        predicted, y, qid, group = compute_all(self.predict(X), y, qid, group)
        _, queries = read_queries(predicted, qid, group)
        return float(self._compute_ndcg(y, queries, predicted))


def _is_name(qid: Any) -> bool:
    return isinstance(qid, str)


def _choose_queries(qid: Any, group: Any, suffix: str) -> Any:
    """Return the query of each row, or sizes; None if there are none, or they are in a column."""
    if group is None:
        return None if _is_name(qid) else qid
    if qid is not None:
        raise ValueError(f"qid{suffix} and group{suffix} are both given: give one of them")
    return _Sizes(group)


def _read_ranked_rows(
    columns: Mapping[str, str], client: Any, given: Sequence[Any], names: Names
) -> list[Partition]:
    """Return the partitions of rows with queries; ``columns`` are those of queries within X."""
    X, y, sample_weight, queries = given
    name = names[3]
    if are_paths(X):
        if queries is not None:
            raise TypeError(
                f"{names[0]} is a path, so {name} must be the name of a column of the files, got "
                f"{'sizes' if isinstance(queries, _Sizes) else type(queries).__name__}"
            )
        return read_collections(client, X, y, sample_weight, names=names)
    sizes = queries.sizes if isinstance(queries, _Sizes) else None
    qid = queries if sizes is None else None
    if not any(map(is_distributed, (X, y, sample_weight, qid, sizes))):
        suffix = name.removeprefix("qid")
        _, numbers = read_queries(X, columns.get(name, qid), sizes, suffix)
        sent = None if queries is None else numbers
        return read_collections(client, X, y, sample_weight, sent, names=names, kept_whole=numbers)
    if sizes is not None:
        name = name.replace("qid", "group")
        delayed = import_module("dask").delayed(_number_queries)
        parts = delay_partitions(sizes, name)
        qid = [delayed(part, number, name) for number, part in enumerate(parts)]
    return read_collections(
        client, X, y, sample_weight, qid, names=(names[0], names[1], names[2], name)
    )


def _number_queries(sizes: Any, partition: int, name: str) -> npt.NDArray[np.int64]:
    """Return a number for the query of each row of a partition, given the sizes of its queries."""
    n_rows = int(np.nansum(np.asarray(sizes)))
    numbers = read_group_sizes(sizes, n_rows, f"partition {partition} of {name}")
    return numbers.astype(np.int64) + (partition << _PARTITION_SHIFT)


def _take_column(X: Any, name: str) -> Any:
    """Return a column of a dask.dataframe, or of each of some delayed frames."""
    if isinstance(X, list | tuple):
        take = import_module("dask").delayed(operator.getitem)
        return [take(part, name) for part in X]
    return X[name] if hasattr(X, "columns") else None
