"""The trees of a forest as estimators of their own, made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

Item = TypeVar("Item")


class LazySequence(Sequence[Item], Generic[Item]):
    """A sequence whose entries are made each time they are asked for, and not kept.

    Spread out as an estimator, a tree takes several times the memory that it takes in its forest.

    Parameters
    ----------
    make : callable
        Takes the number of an entry.
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
        """Make all entries and return them in a list, as `list.copy` does."""
        return list(self)

    def __repr__(self) -> str:
        return f"<{len(self)} entries, made when asked for>"
