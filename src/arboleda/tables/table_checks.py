"""Files that are no plain tables: no header, rows of units or totals, other separators."""

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import TableError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.table import Column, Note

__all__ = ["check_separator", "find_foreign_rows", "find_repeated_header", "has_no_header"]

# Characters that separate columns in some files, but are not tried.
_OTHER_SEPARATORS = ("::", ":", "^", "~", "\x1f", "  ", " ")
_TOTAL = re.compile(r"(grand |sub)?totals?:?|sum|overall|suma|totales|summe|gesamt|somme")
_UNIT = re.compile(r"[(\[]?[^\W\d_%°]{0,12}[%°]?[^\W\d_]{0,4}[²³23]?(?:/[^\W\d_]{1,4})?[)\]]?")
# Lines that are compared, and the share of them that must have equally many fields.
_LINES, _ALIKE = 21, 0.9


def check_separator(text: str, names: Sequence[str], table: str) -> None:
    """Raise a TableError if a text of one column has another separator.

    Parameters
    ----------
    text : str
        The first part of the file.
    names : sequence of str
        The fields of the first line, by the separator that was found.
    table : str
        The table's name, for the message.
    """
    if len(names) != 1:
        return
    lines = [line.strip() for line in text[: 1 << 16].splitlines()[:_LINES] if line.strip()]
    for separator in _OTHER_SEPARATORS:
        counts = [line.count(separator) for line in lines]
        n_alike = sum(count == counts[0] for count in counts)
        if len(lines) > 2 and counts[0] > 0 and n_alike >= _ALIKE * len(lines):
            shown = {" ": "blanks", "  ": "blanks"}.get(separator, repr(separator))
            raise TableError(
                f"The columns of {table} seem to be separated by {shown}, which is not supported; "
                "save the table with commas, semicolons, tabs or | between its columns."
            )


def has_no_header(names: Sequence[str], table: pa.Table) -> bool:
    """Return whether the first line holds values rather than names of columns.

    It does if half of its fields are numbers above columns of numbers, or if its fields stand in
    their columns again.
    """
    n_values = 0
    for place, name in enumerate(names):
        if place >= table.num_columns or not name.strip():
            continue
        column = table.column(place)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            n_values += _is_number(name)
        elif len(column):
            n_values += name in set(column.slice(0, 1000).to_pylist())
    return n_values >= max(1, len(names) / 2)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def find_repeated_header(table: pa.Table) -> int | None:
    """Return the first row that repeats the names of all columns, as in joined files."""
    is_repeated = None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            return None
        is_name = pc.fill_null(pc.equal(column, name), False)
        is_repeated = is_name if is_repeated is None else pc.and_(is_repeated, is_name)
    row = -1 if is_repeated is None else pc.index(is_repeated, True).as_py()
    return None if row < 0 else int(row)


def find_foreign_rows(data: pa.Table, columns: Sequence[Column]) -> Iterator[Note]:
    """Yield notes on a row of units below the header, on repeated headers, and on final totals.

    Parameters
    ----------
    data : pyarrow.Table
        The table as read.
    columns : sequence of Column
        Its columns.
    """
    if data.num_rows < 3:
        return
    raw = dict(zip(data.column_names, data.columns, strict=True))
    for column in columns:
        text = _read_text(raw.get(column.source), 0)
        if text and _is_unparsed(column, text) and _UNIT.fullmatch(text):
            message = write_message("units_row", column=column.name, value=text, same=column.name)
            yield Note("warning", None, message)
            break
    row = find_repeated_header(data)
    for column in columns:
        if row is None:
            break
        if column.kind == "string" or _is_unparsed(column, column.source):
            same = f"{_quote(column.name)} is not missing"
            if column.kind == "string":
                same = f"{_quote(column.name)} != {_quote(column.source)}"
            message = write_message("header_row", number=row + 1, same=same)
            yield Note("warning", None, message)
            break
    for column in columns:
        text = _read_text(raw.get(column.source), data.num_rows - 1)
        if not text or not _TOTAL.fullmatch(text.strip().casefold()):
            continue
        if column.kind == "string":
            same = f"{_quote(column.name)} != {_quote(text)}"
        elif _is_unparsed(column, text):
            same = f"{_quote(column.name)} is not missing"
        else:
            continue
        yield Note("warning", None, write_message("totals_row", value=text, same=same))
        break


def _read_text(column: pa.ChunkedArray | None, row: int) -> str | None:
    if column is None or not len(column):
        return None
    value = column[row].as_py()
    return value.strip() if isinstance(value, str) else None


def _is_unparsed(column: Column, text: str) -> bool:
    """Return whether a text is the only value of a column that is no number or date."""
    parsing = column.parsing
    return parsing is not None and parsing.part == "values" and parsing.unparsed == (text,)


def _quote(text: str) -> str:
    """Quote a name or value of a condition if it needs it."""
    return text if re.fullmatch(r"\w+", text) else f'"{text}"'
