"""Cells of tables: the text shown and the value by which the table is sorted."""

from typing import Any, NamedTuple

from arboleda._numbers import integer, percent, plain
from arboleda.report._texts import text

__all__ = ["Cell", "format_setting", "format_with_share"]


class Cell(NamedTuple):
    """A cell of a table: its text and the number or text by which it is sorted."""

    text: str
    value: float | str | None
    tint: str = ""


def format_setting(value: Any) -> str:
    """Format the value of a setting of a model.

    Examples
    --------
    >>> [format_setting(value) for value in (None, True, 0.5, "gini")]
    ['none', 'yes', '0.5', 'gini']
    """
    if value is None:
        return text("value.none")
    if isinstance(value, bool):
        return text("value.yes" if value else "value.no")
    return plain(value, 6) if isinstance(value, int | float) else str(value)


def format_with_share(count: int, total: int) -> str:
    """Format a count with its share of the total, if neither is zero.

    Examples
    --------
    >>> format_with_share(5, 20).replace("\N{NO-BREAK SPACE}", " "), format_with_share(0, 20)
    ('5 (25.0 %)', '0')
    """
    return f"{integer(count)} ({percent(count / total)})" if count and total else integer(count)
