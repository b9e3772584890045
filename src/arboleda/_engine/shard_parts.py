"""The partitions of one shard of a table, in any container, read with the schema of all shards."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, issparse, vstack
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from arboleda._engine.all_shards import AllShards, join_arrays, join_columns
from arboleda._engine.arrays import read_array
from arboleda._engine.column_options import Source, selects_categories
from arboleda._engine.columns import (
    Column,
    DenseTable,
    FileTable,
    Schema,
    SparseTable,
    set_columns,
)
from arboleda._engine.encoding import LabelColumn, check_level_count, encode, learn_levels
from arboleda._engine.frames import Frame, as_frame, get_column_names, read_frame
from arboleda._engine.joined_tables import join_tables
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
from arboleda._engine.sparse_shard_table import SparseShardTable
from arboleda._engine.table import check_table
from arboleda._utils.memory import available_memory

__all__ = ["ShardParts"]

Array = npt.NDArray[Any]
Item = TypeVar("Item")


# Rows that a function scores are at most this share of the memory that is available to a shard.
_SHARE_OF_MEMORY = 0.1


def _read_memory(shards: AllShards) -> int | None:
    """Return the bytes that are available to this shard's process; None if they are not known."""
    limit = None if shards.connection is None else shards.connection.memory_limit
    known = [size for size in (available_memory(), limit) if size is not None]
    return min(known, default=None)


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

    def gather_rows(self, numbers: npt.NDArray[np.integer[Any]]) -> Any:
        """Return rows of all shards in one table, in the first shard; None in the others.

        ``numbers`` are those of this shard's rows, ascending. The table is of the kind of the
        partitions; see `join_tables`.

        Raises
        ------
        ValueError, TypeError
            If the rows take too much of the memory of a shard, or partitions are of several kinds.
        """
        shards = self.shards
        packed = pickle.dumps(self._take(numbers), protocol=pickle.HIGHEST_PROTOCOL)
        facts = shards.gather((len(numbers), len(packed), _read_memory(shards)))
        lengths, sizes, memories = zip(*facts, strict=True)
        memory = min((each for each in memories if each is not None), default=None)
        if memory is not None and sum(sizes) > _SHARE_OF_MEMORY * memory:
            raise ValueError(
                f"a function as scoring needs its {sum(lengths):,} rows of X in one place, where "
                f"their {sum(sizes) / 1e6:,.1f} MB are more than {_SHARE_OF_MEMORY:.0%} of the "
                f"available memory of {memory / 1e6:,.0f} MB: set scoring to the name of a metric, "
                "or give fewer validation rows"
            )
        gathered = shards.gather_in_first(packed)
        if gathered is None:
            return shards.run_together(lambda: None)
        return shards.run_together(lambda: join_tables([*chain(*gathered)]))

    def _take(self, numbers: npt.NDArray[np.integer[Any]]) -> list[Any]:
        """Return rows of this shard, of each partition that has some of them."""
        limits = np.cumsum([0, *(part.n_rows for part in self._partitions)])
        places = np.searchsorted(numbers, limits)
        return [
            _safe_indexing(part.X, numbers[start:end].astype(np.intp) - first)
            for part, first, start, end in zip(
                self._partitions, limits, places, places[1:], strict=False
            )
            if end > start
        ]

    @property
    def places(self) -> list[str]:
        """How messages name each partition that has rows."""
        return [part.place for part in self._partitions]

    def learn_table(
        self, estimator: Any, categorical_features: Any, *, many_levels: bool
    ) -> ShardTable | SparseShardTable:
        """Return the columns of this shard, and set the schema of the estimator from all shards.

        Raises
        ------
        ValueError, TypeError
            Those of `check_table` and `agree_on_columns`.
        """
        if self.n_rows_of_all == 0:
            raise ValueError("X has 0 sample(s): at least 1 is required")
        shards = self.shards
        if self._is_sparse():
            return self._read_sparse(estimator, reset=True, categorical=categorical_features)
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

    def read_table(self, estimator: Any) -> ShardTable | SparseShardTable:
        """Return the columns of this shard as a fitted estimator has them.

        Raises
        ------
        ValueError, TypeError
            Those of `check_table`.
        """
        if self._is_sparse():
            return self._read_sparse(estimator, reset=False)

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

    def _is_sparse(self) -> bool:
        """Return whether the partitions of all shards are sparse.

        Raises
        ------
        ValueError
            If some are, and others are not.
        """
        own = {issparse(part.X): part.place for part in reversed(self._partitions)}
        places: dict[bool, str] = {}
        for each in reversed(self.shards.gather(own)):
            places |= each
        if len(places) > 1:
            raise ValueError(
                f"{places[True]} is sparse, and {places[False]} is not: give partitions of one kind"
            )
        return True in places

    def _read_sparse(
        self, estimator: Any, *, reset: bool, categorical: Any = None
    ) -> SparseShardTable:
        def read() -> list[SparseTable]:
            tables = []
            for part in self._partitions:
                with _naming(part.place):
                    table = check_table(
                        estimator, part.X, reset=reset, categorical_features=categorical
                    )
                    assert isinstance(table, SparseTable)
                    tables.append(table)
            return tables

        tables = self.shards.run_together(read)
        own = [table.n_columns for table in tables]
        facts = self.shards.gather([*zip(self.places, own, strict=True)])
        known = [each for part in facts for each in part]
        place, n_columns = known[0] if known else ("", estimator.schema_.n_columns)
        for other, n_others in known:
            if n_others != n_columns:
                raise ValueError(
                    f"{other} has {n_others} columns, and {place} has {n_columns}: give as many"
                )
        if reset:
            estimator.schema_ = Schema(None, (None,) * n_columns)
            set_columns(estimator, estimator.schema_)
        matrices = [table.matrix for table in tables] or [csr_matrix((0, n_columns))]
        whole = matrices[0] if len(matrices) == 1 else vstack(matrices, format="csr")
        return SparseShardTable(whole, self.shards)

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
