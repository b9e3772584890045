"""A separate test table: its rows, read as those of the first table, below them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboleda._utils.errors import TableError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.column_conversion import (
    RawColumn,
    convert_column,
    convert_to_text,
    find_source,
)
from arboleda.tables.column_reading import code_texts
from arboleda.tables.reading import RawTable, read_raw
from arboleda.tables.recipe import Recipe, Step, apply_recipe
from arboleda.tables.table import Column, Note, StudyTable, check_names, compute_digest
from arboleda.tables.target import StudyTarget, format_class, make_target
from arboleda.tables.text_columns import read_booleans
from arboleda.tables.timed_target import make_ranking_target, make_survival_target

__all__ = ["ExternalTest", "join_test", "make_joint_target"]

# With fewer test rows, no metric has a standard error.
MIN_ROWS = 2


@dataclass(frozen=True)
class ExternalTest:
    """The first table with the rows of a separate test table appended.

    The first ``n_train`` rows are those of the first table; ``sha256`` is the digest of the test
    table, and ``steps`` are the results of the recipe's steps.
    """

    table: StudyTable
    n_train: int
    sha256: str
    steps: tuple[Step, ...] = ()


def join_test(
    table: StudyTable,
    source: Any,
    recipe: Recipe | None = None,
    *,
    max_table_size: int | None = None,
) -> ExternalTest:
    """Append the rows of a test table to the first table, and apply a recipe to both.

    Columns are found by name; other columns of the test table are ignored and reported. A category
    that the first table lacks becomes a level of its column, which models treat as unseen.

    Parameters
    ----------
    table : StudyTable
    source : str, path or frame
        The test table, as for `read_table`.
    recipe : Recipe, optional
        A recipe that has not been applied to either table.
    max_table_size : int, optional
        As for `read_table`.

    Returns
    -------
    ExternalTest

    Raises
    ------
    TableError
        If the test table cannot be read, has too few rows, lacks a column, or has a column with
        another kind of values.
    """
    texts = [c.source for c in table.columns if c.kind == "string" or c.parsing is not None]
    raw = read_raw(source, as_text=texts, max_table_size=max_table_size)
    check_names(raw.names, raw.name)
    if raw.data.num_rows < MIN_ROWS:
        raise TableError(
            f"The test table {raw.name} has {raw.data.num_rows} row; it needs at least {MIN_ROWS}."
        )
    where = {name: i for i, name in enumerate(raw.names)}
    missing = [c.source for c in table.columns if find_source(_make_known(c), where) is None]
    if missing:
        raise TableError(
            f"The test table {raw.name} lacks the column {missing[0][:60]!r} "
            f"({len(missing):,} of {len(table.columns):,} columns are missing); add them."
        )
    tested = [_read_test_column(column, raw, where) for column in table.columns]
    joined = tuple(_join_columns(a, b) for a, b in zip(table.columns, tested, strict=True))
    notes = (*table.notes, *_write_notes(table, raw))
    sha256 = raw.sha256 or compute_digest(tuple(tested))
    both = replace(table, columns=joined, notes=notes)
    prepared = apply_recipe(both, recipe or Recipe(), table.n_rows)
    n_tested = prepared.table.n_rows - prepared.n_first
    if n_tested < MIN_ROWS:
        raise TableError(
            f"The recipe leaves {n_tested} of {raw.data.num_rows:,} rows of the test table "
            f"{raw.name}; at least {MIN_ROWS} are needed."
        )
    return ExternalTest(prepared.table, prepared.n_first, sha256, prepared.steps)


def make_joint_target(first: StudyTarget, joined: ExternalTest) -> StudyTarget:
    """Make the target of both tables, with the task of ``first``, the target of the first table.

    Raises
    ------
    TableError
        If the test table has a missing value, or a class that the first table lacks.
    """
    if first.second is not None:
        if first.event is not None:
            goal = make_survival_target(joined.table, first.name, first.event)
        else:
            goal = make_ranking_target(joined.table, first.name, first.second)
        return replace(goal, why=first.why)
    task = "regression" if first.task == "regression" else "classification"
    column = joined.table.column(first.name)
    n_missing = int(column.missing.sum())
    if n_missing:
        raise TableError(
            f"The target column {first.name!r} is missing in {n_missing:,} rows of the test table; "
            "remove those rows or fill them in."
        )
    unknown = np.setdiff1d(column.values[joined.n_train :], column.values[: joined.n_train])
    if first.labels and unknown.size:
        raise TableError(
            f"The class {format_class(column, unknown[0])!r} of the target {first.name!r} occurs "
            "in the test table alone, so no model can learn it; remove its rows or add some to the "
            "first table."
        )
    positive = first.positive if first.is_reversed else None
    return replace(make_target(joined.table, first.name, task, positive), why=first.why)


def _make_known(column: Column) -> RawColumn:
    """Describe a column of the first table, as which the test table's is to be read."""
    kind = "categorical" if column.kind == "string" else column.kind
    parsing = column.parsing
    if parsing is None:
        return RawColumn(column.name, kind, column.levels)
    words_of = parsing.source if parsing.part == "words" else None
    return RawColumn(
        column.name,
        kind,
        column.levels,
        format=parsing.format,
        words_of=words_of,
        has_words=parsing.share < 1.0,
    )


def _read_test_column(column: Column, raw: RawTable, where: Mapping[str, int]) -> Column:
    known = _make_known(column)
    data = raw.data.column(where[find_source(known, where) or column.name])
    if column.kind == "string" and known.words_of is None:
        if column.type is None and read_booleans(column.levels) is not None:
            convert_column(replace(known, kind="boolean"), data, raw.decimal_comma)
        return code_texts(column.name, convert_to_text(known, data))
    if column.missing.all():
        known = replace(known, kind="numeric", format=None, words_of=None)
    return convert_column(known, data, raw.decimal_comma)


def _join_columns(first: Column, second: Column) -> Column:
    if first.kind != "string":
        values = np.concatenate([first.values, second.values])
        return replace(
            first, kind=second.kind if first.missing.all() else first.kind, values=values
        )
    levels = sorted({*first.levels, *second.levels})
    place = {level: float(code) for code, level in enumerate(levels)}
    values = np.concatenate([_recode(first, place), _recode(second, place)])
    return replace(first, values=values, levels=tuple(levels))


def _recode(column: Column, place: dict[str, float]) -> Any:
    codes = np.array([*(place[level] for level in column.levels), np.nan])
    return codes[np.where(column.missing, len(column.levels), column.values).astype(np.int64)]


def _write_notes(table: StudyTable, raw: RawTable) -> list[Note]:
    names = {column.name for column in table.columns}
    unused = [name for name in raw.names if name not in names]
    text = write_message("given_test", name=raw.name, count=raw.data.num_rows)
    notes = [Note("info", None, text)]
    if unused:
        more = f" and {len(unused) - 5} more" if len(unused) > 5 else ""
        shown = ", ".join(repr(name[:60]) for name in unused[:5])
        columns = f"{shown}{more}"
        text = write_message("test_columns", name=raw.name, table=table.name, columns=columns)
        notes.append(Note("info", None, text))
    return notes
