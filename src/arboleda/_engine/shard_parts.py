"""The partitions of one shard of a table, in any container, read with the schema of all shards."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from arboleda._engine.all_shards import AllShards, join_arrays, join_columns
from arboleda._engine.arrays import read_array
from arboleda._engine.column_options import Source, selects_categories
from arboleda._engine.columns import Column, DenseTable, FileTable, Schema, set_columns
from arboleda._engine.encoding import LabelColumn, check_level_count, encode, learn_levels
from arboleda._engine.frames import Frame, as_frame, get_column_names, read_frame
from arboleda._engine.labels import Label, sort_labels
from arboleda._engine.shard_schema import (
    AgreedColumns,
    PartitionFacts,
    agree_on_columns,
    find_doubtful_columns,
    has_only_missing,
)
from arboleda._engine.shard_table import ShardTable
from arboleda._engine.shards import Shards
from arboleda._engine.table import check_table

__all__ = ["ShardParts"]

Array = npt.NDArray[Any]
Item = TypeVar("Item")


def _describe_place(what: str, first_row: int) -> str:
    """Return the name of some rows in messages, which number them from 0."""
    return f"{what}, whose row 0 is row {first_row:,} of the table" if first_row else what


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Name a place in errors."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{place}: {error}") from error


@dataclass(frozen=True)
class _Partition:
    """A partition that has rows, and its place in messages."""

    number: int
    place: str
    X: Any
    n_rows: int


@dataclass(frozen=True)
class _OpenPartition:
    """A partition whose columns can be read."""

    partition: _Partition
    frame: Frame | None
    source: Source
    facts: PartitionFacts

    def in_order(self, agreed: AgreedColumns) -> Source:
        """Return the columns in the order of the table."""
        order = self.facts.find_order(agreed.names)
        if self.frame is None or order == list(range(len(order))):
            return self.source
        return read_frame(self.frame, order)


class ShardParts:
    """The rows of one shard, passed to `fit` instead of X; the target and weights are such lists.

    Fitting on it in all shards gives the estimator that fitting on all rows gives.

    Parameters
    ----------
    partitions : sequence of arrays or frames
        In the order of the rows; may be empty, or have partitions without rows.
    shards : Shards
    finished : object, default=None
        Rounds of an interrupted fit to the same rows, which this fit resumes.
    keeping : object, default=None
        Where rounds are kept during the fit.
    """

    def __init__(
        self,
        partitions: Sequence[Any],
        shards: Shards,
        finished: Any = None,
        keeping: Any = None,
    ) -> None:
        self.shards = AllShards(shards)
        self.finished = finished
        self.keeping = keeping
        lengths = self.shards.run_together(lambda: list(map(_count_rows, partitions)))
        of_all = [sum(own) for own in self.shards.gather(lengths)]
        self.n_rows = sum(lengths)
        self.first_row = sum(of_all[: self.shards.number])
        self.n_rows_of_all = sum(of_all)
        self._n_partitions = len(lengths)
        self._partitions = []
        first = self.first_row
        for number, (X, n_rows) in enumerate(zip(partitions, lengths, strict=True)):
            place = _describe_place(f"partition {number} of shard {self.shards.number}", first)
            if n_rows:
                self._partitions.append(_Partition(number, place, X, n_rows))
            first += n_rows

    def naming(self) -> AbstractContextManager[None]:
        """Return a context that names the shard in errors about its rows."""
        return _naming(_describe_place(f"shard {self.shards.number}", self.first_row))

    def join(self, values: Sequence[Any], read: Callable[[Any], Array], name: str) -> Array | None:
        """Return the target or the weights of all partitions; None if there is no row.

        Raises
        ------
        ValueError, TypeError
            Those of `read_each`.
        """
        arrays = self.read_each(values, read, name)
        return join_arrays(arrays) if arrays else None

    def read_each(
        self, values: Sequence[Any], read: Callable[[Any], Array], name: str
    ) -> list[Array]:
        """Return an array for each partition that has rows.

        Raises
        ------
        ValueError, TypeError
            If there are not as many as partitions and rows; and the errors of `read`, which are
            raised with the place of the partition.
        """
        arrays = self.apply_each(values, read, name)
        for part, array in zip(self._partitions, arrays, strict=True):
            with _naming(part.place):
                if len(array) != part.n_rows:
                    raise ValueError(f"X has {part.n_rows:,} rows, and {name} {len(array):,}")
        return arrays

    def apply_each(
        self, values: Sequence[Any], apply: Callable[[Any], Item], name: str
    ) -> list[Item]:
        """Return the results of a function of the values of each partition that has rows.

        Raises
        ------
        ValueError, TypeError
            If there are not as many as partitions; and the errors of the function, which are
            raised with the place of the partition.
        """
        if len(values) != self._n_partitions:
            raise ValueError(
                f"shard {self.shards.number} has {self._n_partitions} partitions of X and "
                f"{len(values)} of {name}: give as many"
            )
        results = []
        for part in self._partitions:
            with _naming(part.place):
                results.append(apply(values[part.number]))
        return results

    def split_each(
        self, split: Callable[[Any], tuple[Any, Array]]
    ) -> tuple[ShardParts, list[Array]]:
        """Return these rows without some column, and that column of each partition with rows.

        ``split`` returns both for a partition. Its errors are raised with the place.
        """
        rest, arrays = copy.copy(self), []
        rest._partitions = []
        for part in self._partitions:
            with _naming(part.place):
                X, array = split(part.X)
            rest._partitions.append(replace(part, X=X))
            arrays.append(array)
        return rest, arrays

    @property
    def places(self) -> list[str]:
        """How messages name each partition that has rows."""
        return [part.place for part in self._partitions]

    def learn_table(
        self, estimator: Any, categorical_features: Any, *, many_levels: bool
    ) -> ShardTable:
        """Return the columns of this shard, and set the schema of the estimator from all shards.

        Raises
        ------
        ValueError, TypeError
            Those of `check_table` and `agree_on_columns`.
        """
        if self.n_rows_of_all == 0:
            raise ValueError("X has 0 sample(s): at least 1 is required")
        shards = self.shards
        labelled = selects_categories(categorical_features)
        opened = shards.run_together(
            lambda: [_open(part, estimator, labelled) for part in self._partitions]
        )
        agreed = self._agree(opened, categorical_features)
        read = shards.run_together(
            lambda: [_read_columns(part, agreed, many_levels) for part in opened]
        )
        estimator.schema_ = self._unite_levels(read, agreed, many_levels)
        set_columns(estimator, estimator.schema_)
        return self._encode(read, estimator.schema_)

    def read_table(self, estimator: Any) -> ShardTable:
        """Return the columns of this shard as a fitted estimator has them.

        Raises
        ------
        ValueError, TypeError
            Those of `check_table`.
        """

        def read() -> list[DenseTable]:
            tables = []
            for part in self._partitions:
                with _naming(part.place):
                    _check_container(part.X)
                    table = check_table(estimator, part.X, reset=False)
                    assert isinstance(table, DenseTable)
                    tables.append(table)
            return tables

        tables = self.shards.run_together(read)
        return self._join_columns([table.columns for table in tables], estimator.schema_)

    def _agree(self, opened: Sequence[_OpenPartition], categorical_features: Any) -> AgreedColumns:
        gathered = self.shards.gather([part.facts for part in opened])
        facts = [each for own in gathered for each in own]
        doubtful = find_doubtful_columns(facts)
        only_missing: list[list[bool]] = [[]] * len(facts)
        if doubtful:
            order = AgreedColumns(facts[0].names, ())
            own = [
                [has_only_missing(part.in_order(order), j, order.describe(j)) for j in doubtful]
                for part in opened
            ]
            only_missing = [each for flags in self.shards.gather(own) for each in flags]
        return agree_on_columns(facts, doubtful, only_missing, categorical_features)

    def _unite_levels(
        self, read: Sequence[_ReadColumns], agreed: AgreedColumns, many_levels: bool
    ) -> Schema:
        """Return the schema with the sorted categories of all shards."""
        own = [[levels for _, levels in part] for part in read]
        parts = [part for shard in self.shards.gather(own) for part in shard]
        levels: list[tuple[Label, ...] | None] = []
        for j, is_category in enumerate(agreed.categorical):
            if not is_category:
                levels.append(None)
                continue
            found = dict.fromkeys(label for part in parts for label in part[j] or ())
            if not many_levels:
                check_level_count(len(found), agreed.describe(j))
            levels.append(sort_labels(found))
        return Schema(agreed.names, tuple(levels))

    def _encode(self, read: Sequence[_ReadColumns], schema: Schema) -> ShardTable:
        parts = []
        for part in read:
            columns: list[Column] = []
            for j, (values, _) in enumerate(part):
                codes = schema.codes[j]
                if isinstance(values, LabelColumn):
                    assert codes is not None
                    columns.append(encode(values, codes, schema.describe(j)))
                else:
                    columns.append(values)
            parts.append(columns)
        return self._join_columns(parts, schema)

    def _join_columns(self, parts: Sequence[Sequence[Column]], schema: Schema) -> ShardTable:
        if parts:
            columns = join_columns(parts)
        else:
            columns = [np.empty(0, np.uint16 if n else np.float64) for n in schema.n_levels]
        return ShardTable(columns, self.n_rows, schema.n_levels, None, self.shards)


# The columns of a partition: numbers, or labels with their sorted categories.
_ReadColumns = list[tuple[Column | LabelColumn, tuple[Label, ...] | None]]


def _count_rows(X: Any) -> int:
    """Return the number of rows of an array or a frame."""
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def _check_container(X: Any) -> None:
    if issparse(X):
        raise ValueError("X is sparse, which a table in shards does not support: use dense parts")
    if isinstance(getattr(X, "_file_rows", None), FileTable):
        raise TypeError("X is a CodedTable, which cannot be a part of a table: pass its rows")


def _open(part: _Partition, estimator: Any, labelled: bool) -> _OpenPartition:
    with _naming(part.place):
        _check_container(part.X)
        frame = as_frame(part.X)
        names = None
        if frame is None:
            source: Source = read_array(estimator, part.X, reset=True, labelled=labelled)
            types = (str(np.asarray(part.X).dtype),) * source.n_columns
        else:
            validate_data(estimator, frame.to_native(), reset=True, skip_check_array=True)
            source, names = read_frame(frame), get_column_names(frame)
            types = tuple(str(frame.get_column(name).dtype) for name in frame.columns)
        kinds = tuple(source.is_labelled(j) for j in range(source.n_columns))
        facts = PartitionFacts(part.place, source.n_columns, names, types, kinds)
        return _OpenPartition(part, frame, source, facts)


def _read_columns(opened: _OpenPartition, agreed: AgreedColumns, many_levels: bool) -> _ReadColumns:
    """Return the columns of a partition in the order of the table."""
    columns: _ReadColumns = []
    with _naming(opened.partition.place):
        source = opened.in_order(agreed)
        for j, is_category in enumerate(agreed.categorical):
            place = agreed.describe(j)
            if is_category:
                labels = source.labels(j, place)
                columns.append((labels, learn_levels(labels, place, many=many_levels)))
            else:
                columns.append((source.numbers(j, place), None))
    return columns
