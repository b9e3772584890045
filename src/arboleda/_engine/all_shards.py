"""Sums, positions, small facts and errors over all shards of a table.

A fit computes with them whatever depends on all rows. A table that is not cut is one shard,
`ALONE`, and every result is that of its own rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from arboleda._engine.shards import Shards

__all__ = ["ALONE", "AllShards", "join_arrays", "join_columns"]

Counts = npt.NDArray[np.int64]
Item = TypeVar("Item")

_JOINED_ROWS = 4096


class AllShards:
    """The shards of a table, as one of them sees them.

    Every shard calls the same methods in the same order.

    Parameters
    ----------
    connection : Shards or None
        None: there is one shard only.
    """

    def __init__(self, connection: Shards | None = None) -> None:
        self.connection = connection

    @property
    def is_alone(self) -> bool:
        """Whether the table is not cut."""
        return self.connection is None

    @property
    def number(self) -> int:
        """The number of this shard, from 0."""
        return 0 if self.connection is None else self.connection.number

    @property
    def n_shards(self) -> int:
        """How many shards there are."""
        return 1 if self.connection is None else self.connection.count

    @contextmanager
    def naming(self, function: str) -> Iterator[None]:
        """Note in errors that a function of the caller raised them, and in which shard."""
        try:
            yield
        except Exception as error:
            if self.connection is not None:
                error.add_note(f"raised by {function} in {self.connection.place}")
            raise

    def gather(self, item: Item) -> list[Item]:
        """Return the items of all shards, in their order. They are pickled."""
        if self.connection is None:
            return [item]
        packed = pickle.dumps(item, protocol=pickle.HIGHEST_PROTOCOL)
        return [pickle.loads(other) for other in self.connection.gather(packed)]

    def gather_in_first(self, packed: bytes) -> list[Any] | None:
        """Return the objects of all shards, given pickled; None in all shards but the first."""
        parts = [packed] if self.connection is None else self.connection.gather(packed)
        return [pickle.loads(part) for part in parts] if self.number == 0 else None

    def choose_first(self, decide: Callable[[], Item]) -> Item:
        """Return the decision of the first shard, which alone makes it; all raise its errors."""
        if self.connection is None:
            return decide()
        own, error = _attempt(decide) if self.number == 0 else (None, None)
        chosen: Any
        chosen, fault = self.gather((own, _describe(error)))[0]
        _raise_fault(fault, error)
        return chosen  # type: ignore[no-any-return]

    def add(self, counts: npt.NDArray[np.integer[Any]]) -> Counts:
        """Return the sums of integers over all shards."""
        if self.connection is None:
            return counts.astype(np.int64)
        sums = np.ascontiguousarray(counts, dtype=np.int64).view(np.uint64).copy()
        self.connection.add(sums)
        return sums.view(np.int64)

    def count(self, n: int) -> int:
        """Return the sum of an integer over all shards."""
        return n if self.connection is None else int(self.add(np.array([n]))[0])

    def count_before(self, n: int) -> int:
        """Return the sum of an integer over the shards before this one."""
        return 0 if self.connection is None else sum(self.gather(n)[: self.number])

    def is_any(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return where a flag is set in any shard."""
        if self.connection is None:
            return flags
        largest = flags.astype(np.uint64)
        self.connection.maximum(largest)
        return largest.astype(bool)

    def join(self, part: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the rows of the arrays of all shards in one array."""
        return part if self.connection is None else np.concatenate(self.gather(part))

    def run_together(self, compute: Callable[[], Item]) -> Item:
        """Return the result of a computation on this shard's rows; all raise its errors.

        The computation does not communicate with other shards.

        Raises
        ------
        ValueError, TypeError
            The first error of a shard.
        """
        if self.connection is None:
            return compute()
        result, error = _attempt(compute)
        for fault in self.gather(_describe(error)):
            _raise_fault(fault, error)
        return result  # type: ignore[no-any-return]


class _Fault(NamedTuple):
    """What other shards have to know of an error."""

    is_type_error: bool
    message: str
    notes: Sequence[str]


def _attempt(compute: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Return the result of a computation, or its error."""
    try:
        return compute(), None
    except (TypeError, ValueError) as error:
        return None, error


def _describe(error: Exception | None) -> _Fault | None:
    if error is None:
        return None
    return _Fault(isinstance(error, TypeError), str(error), getattr(error, "__notes__", ()))


def _raise_fault(fault: _Fault | None, own: Exception | None) -> None:
    """Raise the error of a shard, if there is one, which may be caused by that of this one."""
    if fault is None:
        return
    error = (TypeError if fault.is_type_error else ValueError)(fault.message)
    for note in fault.notes:
        error.add_note(note)
    raise error from own


ALONE = AllShards()


def join_arrays(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the rows of some arrays in one array; the array itself if there is one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def join_columns(parts: Sequence[Sequence[npt.NDArray[Any]]]) -> list[npt.NDArray[Any]]:
    """Return the rows of all parts column by column; the columns themselves if there is one part.

    Examples
    --------
    >>> join_columns([[np.array([1, 2])], [np.array([0.5])]])
    [array([1. , 2. , 0.5])]
    """
    if len(parts) == 1 or not parts[0]:
        return list(parts[0])
    n_rows = sum(len(part[0]) for part in parts)
    types = [np.result_type(*{each.dtype for each in own}) for own in zip(*parts, strict=True)]
    columns = [np.empty(n_rows, dtype) for dtype in types]
    first = 0
    for part in parts:
        # Columns of one matrix are copied together, so that its rows are read once.
        for begin in range(0, len(part[0]), _JOINED_ROWS):
            for column, own in zip(columns, part, strict=True):
                rows = own[begin : begin + _JOINED_ROWS]
                column[first + begin : first + begin + len(rows)] = rows
        first += len(part[0])
    return columns
