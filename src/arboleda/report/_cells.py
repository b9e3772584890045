"""Cells of tables: what is read, and what they are sorted by."""

from typing import NamedTuple

from arboleda._numbers import integer, percent

__all__ = ["Cell", "with_share"]


class Cell(NamedTuple):
    """A table's cell: what is read, and the number (or text) by which it is sorted."""

    text: str
    value: float | str | None
    tint: str = ""


def with_share(count: int, total: int) -> str:
    """Write a count and its share of the total, where there is something to share.

    Examples
    --------
    >>> with_share(5, 20).replace("\N{NO-BREAK SPACE}", " "), with_share(0, 20)
    ('5 (25.0 %)', '0')
    """
    return f"{integer(count)} ({percent(count / total)})" if count and total else integer(count)
