"""Cells of tables: what is read, and what they are sorted by."""

from typing import Any, NamedTuple

from arboleda._numbers import integer, percent, plain
from arboleda.report._texts import text

__all__ = ["Cell", "setting_text", "with_share"]


class Cell(NamedTuple):
    """A table's cell: what is read, and the number (or text) by which it is sorted."""

    text: str
    value: float | str | None
    tint: str = ""


def setting_text(value: Any) -> str:
    """Write a value of a model's setting.

    Examples
    --------
    >>> [setting_text(value) for value in (None, True, 0.5, "gini")]
    ['none', 'yes', '0.5', 'gini']
    """
    if value is None:
        return text("value.none")
    if isinstance(value, bool):
        return text("value.yes" if value else "value.no")
    return plain(value, 6) if isinstance(value, int | float) else str(value)


def with_share(count: int, total: int) -> str:
    """Write a count and its share of the total, where there is something to share.

    Examples
    --------
    >>> with_share(5, 20).replace("\N{NO-BREAK SPACE}", " "), with_share(0, 20)
    ('5 (25.0 %)', '0')
    """
    return f"{integer(count)} ({percent(count / total)})" if count and total else integer(count)
