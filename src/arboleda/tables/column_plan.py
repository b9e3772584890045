"""What becomes of each column, in lines that the terminal shows before the first fit."""

from collections.abc import Iterator, Mapping, Sequence

from arboleda.tables.describe import describe_format, describe_use
from arboleda.tables.features import Role
from arboleda.tables.table import Column

__all__ = ["write_column_lines"]

# Characters of a name, and lines of a plan that is shown in passing.
MAX_NAME, MAX_LINES = 32, 40
_TYPES = {
    "numeric": "number",
    "categorical": "category",
    "boolean": "boolean",
    "datetime": "date",
    "text": "text",
    "list": "list",
}


def write_column_lines(
    columns: Sequence[Column], roles: Mapping[str, Role], max_lines: int | None = MAX_LINES
) -> list[str]:
    """Write a line for each column: its name, its type, its source and its use.

    Parameters
    ----------
    columns : sequence of Column
    roles : mapping
        The role of each column, by its name.
    max_lines : int or None, default=40
        With more columns, the number of the others is the last line. None: all are shown.
    """
    width = min(MAX_NAME, max(len(column.name) for column in columns))
    lines = [_write_line(column, roles[column.name], width) for column in columns]
    if max_lines is None or len(lines) <= max_lines:
        return lines
    n_others = len(lines) - max_lines
    return [*lines[:max_lines], f"  and {n_others:,} more columns; --dry-run shows all of them."]


def _write_line(column: Column, role: Role, width: int) -> str:
    name = column.name if len(column.name) <= width else f"{column.name[: width - 1]}…"
    return f"  {name:<{width}}  {_TYPES[role.kind]:<8}  {'; '.join(_write_parts(column, role))}"


def _write_parts(column: Column, role: Role) -> Iterator[str]:
    if role.role == "target":
        yield "the target"
    elif role.role == "left_out":
        yield f"left out ({role.reason})"
    else:
        yield describe_use(column, role)
    parsing = column.parsing
    if parsing is None:
        return
    if parsing.part == "words":
        yield f"the words beside the values of {parsing.source}"
        return
    examples = ", ".join(parsing.examples)
    yield f"from texts such as {examples} ({describe_format(parsing.format)})"
    if parsing.share < 1:
        others = ", ".join(parsing.unparsed)
        yield f"{100 * parsing.share:.1f} % of the values can be read, unlike {others}"
    if getattr(parsing.format, "is_ambiguous", False):
        yield "day or month first? Write dates as 2020-12-31 if this is wrong"
