"""Base classes of the objects that public functions return, for terminals and notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda._utils.text import visible

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NotebookDisplay", "Result", "format_fact"]

# Largest numbers of rows and columns of a table in a notebook, and of characters of a text.
_MAX_ROWS, _MAX_COLUMNS, _MAX_LETTERS = 10, 8, 60
_MAX_TABLE_SIZE = 6_000  # characters; rows beyond are left out
_MAX_NAMES = 4  # names listed in a summary

# Colours are those of the notebook, so that light and dark themes both are legible.
_STYLE = (
    "<style>.arboleda-result{color:inherit;font-size:90%}"
    ".arboleda-result table{border-collapse:collapse;margin:.4em 0;color:inherit}"
    ".arboleda-result th,.arboleda-result td{padding:.15em .7em;text-align:right;color:inherit;"
    "background:none;border:0;border-bottom:1px solid rgba(128,128,128,.35);white-space:nowrap}"
    ".arboleda-result .text{text-align:left}</style>"
)


class NotebookDisplay:
    """Base of objects with a short ``repr`` and a view for notebooks."""

    __slots__ = ()

    def _summarize(self) -> Mapping[str, Any]:
        """Return the facts of the summary by name: numbers, texts or sequences of names."""
        raise NotImplementedError

    def __repr__(self) -> str:
        facts = ", ".join(
            f"{name}={format_fact(value, quote=True)}" for name, value in self._summarize().items()
        )
        return f"{type(self).__name__}({facts})"

    def _repr_html_(self) -> str:
        facts = " · ".join(
            f"{html.escape(name.replace('_', ' '))}: {html.escape(format_fact(value))}"
            for name, value in self._summarize().items()
        )
        title = f"<b>{type(self).__name__}</b> {facts}"
        return f'{_STYLE}<div class="arboleda-result"><div>{title}</div>{self._make_table()}</div>'

    def _make_table(self) -> str:
        """Return the HTML of a table below the summary."""
        return ""


class Result(NotebookDisplay):
    """Base of results: a short ``repr``, a view for notebooks, ``to_frame()`` and ``plot()``."""

    __slots__ = ()

    def to_frame(self) -> pd.DataFrame:
        """Return the result as a pandas data frame."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Any:
        """Plot the result and return the axes."""
        raise NotImplementedError

    def _make_preview(self) -> pd.DataFrame:
        """Return the frame whose first rows a notebook shows; large results override it."""
        return self.to_frame()

    def _make_table(self) -> str:
        try:
            frame = self._make_preview()
        except ImportError:  # without pandas, the summary stands alone
            return ""
        return format_table(frame)


def format_table(frame: pd.DataFrame) -> str:
    """Return the first rows and columns of a data frame as a compact HTML table."""
    shown = frame.iloc[:_MAX_ROWS, :_MAX_COLUMNS]
    # An index of 0, 1, 2, ... says nothing.
    index = None if frame.index.dtype.kind == "i" else shown.index.tolist()
    columns = [shown.iloc[:, place].tolist() for place in range(shown.shape[1])]
    if index is not None:
        columns.insert(0, index)
    names = ["", *shown.columns] if index is not None else list(shown.columns)
    is_text = [any(isinstance(value, str | tuple | list) for value in values) for values in columns]
    head = "".join(
        _format_cell(str(name), text, tag="th") for name, text in zip(names, is_text, strict=True)
    )
    rows, size = [], len(head)
    for values in zip(*columns, strict=True):
        row = "<tr>" + "".join(map(_format_cell, values, is_text)) + "</tr>"
        size += len(row)
        if size > _MAX_TABLE_SIZE:
            break
        rows.append(row)
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>{_format_rest(frame, len(rows))}"


def format_fact(value: Any, *, quote: bool = False) -> str:
    """Format a number, a text or a short sequence of them in one line.

    Examples
    --------
    >>> format_fact(0.123456), format_fact(("forest", "tree")), format_fact("a", quote=True)
    ('0.1235', 'forest, tree', "'a'")
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return _format_names(value, quote)
    text = str(value)
    if len(text) > _MAX_LETTERS:
        text = f"{text[: _MAX_LETTERS - 1]}…"
    return repr(text) if quote and isinstance(value, str) else visible(text)


def _format_names(names: Sequence[Any], quote: bool) -> str:
    shown = [format_fact(name, quote=quote) for name in names[:_MAX_NAMES]]
    if len(names) > _MAX_NAMES:
        shown.append(f"… {len(names) - _MAX_NAMES} more")
    text = ", ".join(shown)
    return f"[{text}]" if quote else text


def _format_cell(value: Any, text: bool, tag: str = "td") -> str:
    kind = ' class="text"' if text else ""
    return f"<{tag}{kind}>{html.escape(format_fact(value))}</{tag}>"


def _format_rest(frame: pd.DataFrame, n_rows: int) -> str:
    """Return the sentence on rows and columns that are not shown."""
    parts = []
    if len(frame) > n_rows:
        parts.append(f"the first {n_rows} of {len(frame):,} rows")
    if frame.shape[1] > _MAX_COLUMNS:
        parts.append(f"{_MAX_COLUMNS} of {frame.shape[1]:,} columns")
    return f"<div>{' and '.join(parts)}; all are in to_frame()</div>" if parts else ""
