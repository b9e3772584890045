"""Sequence of trees that are converted to estimators on access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

Item = TypeVar("Item")


class LazySequence(Sequence[Item], Generic[Item]):
    """Sequence whose entries are created on each access and not stored.

    As an estimator, a tree takes several times the memory that it takes in its forest.

    Parameters
    ----------
    make : callable
        Creates the entry of an index.
    length : int

    Examples
    --------
    >>> squares = LazySequence(lambda i: i * i, 4)
    >>> squares[-1], squares[1:3], list(squares)
    (9, [1, 4], [0, 1, 4, 9])
    """

    def __init__(self, make: Callable[[int], Item], length: int) -> None:
        self._make = make
        self._numbers = range(length)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, number: int) -> Item: ...

    @overload
    def __getitem__(self, number: slice) -> list[Item]: ...

    def __getitem__(self, number: int | slice) -> Item | list[Item]:
        if isinstance(number, slice):
            return [self._make(i) for i in self._numbers[number]]
        return self._make(self._numbers[number])

    def copy(self) -> list[Item]:
        """Create all entries and return them in a list, like `list.copy`."""
        return list(self)

    def __repr__(self) -> str:
        return f"<{len(self)} entries, created on access>"
