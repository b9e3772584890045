"""A separate test table, read with the column kinds of the first table."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from arboleda.reports.fact_messages import write_message
from arboleda.study.artifacts.layout import RawColumn, as_known, as_text
from arboleda.study.data.reading import RawTable, read_raw
from arboleda.study.data.recipe import Recipe, Step, apply_recipe
from arboleda.study.data.table import MISSING, Column, Note, Table, check_names, compute_digest
from arboleda.study.data.target import StudyTarget, format_class, make_target
from arboleda.study.errors import TableError

__all__ = ["ExternalTest", "join_test", "make_joint_target"]

# With fewer rows no metric has a standard error.
MIN_ROWS = 2


@dataclass(frozen=True)
class ExternalTest:
    """Both tables as one: the ``n_train`` rows of the first, then those of the test.

    ``steps`` are the recipe's steps that prepared both.
    """

    table: Table
    n_train: int
    sha256: str
    steps: tuple[Step, ...] = ()


def join_test(
    table: Table,
    source: Any,
    recipe: Recipe | None = None,
    *,
    max_table_size: int | None = None,
) -> ExternalTest:
    """Append the rows of a test table to those of the first, and apply a recipe to both.

    Columns are found by name; other columns of the test are ignored and reported. A category that
    is absent from the first table becomes a level of its column: models treat it as unseen.

    Parameters
    ----------
    table : Table
    source : str, path or frame
        As for a study.
    recipe : Recipe, optional
        A recipe that was not yet applied to either table.
    max_table_size : int, optional
        As for `read_table`.

    Returns
    -------
    ExternalTest

    Raises
    ------
    TableError
        If the test table cannot be read, has too few rows, lacks a column, or a column holds
        another kind of values.
    """
    texts = [column.name for column in table.columns if column.kind == "string"]
    raw = read_raw(source, as_text=texts, max_table_size=max_table_size)
    check_names(raw.names, raw.name)
    if raw.data.num_rows < MIN_ROWS:
        raise TableError(
            f"The test table {raw.name} has {raw.data.num_rows} row; give it at least {MIN_ROWS}."
        )
    where = {name: i for i, name in enumerate(raw.names)}
    missing = [c.name for c in table.columns if c.name not in where]
    if missing:
        raise TableError(
            f"The test table {raw.name} lacks the column {missing[0][:60]!r} "
            f"({len(missing):,} of {len(table.columns):,} are missing); add what is missing."
        )
    tested = [_read_test_column(column, raw, where[column.name]) for column in table.columns]
    joined = tuple(_join_columns(a, b) for a, b in zip(table.columns, tested, strict=True))
    notes = (*table.notes, *_write_notes(table, raw))
    sha256 = raw.sha256 or compute_digest(tuple(tested))
    both = replace(table, columns=joined, notes=notes)
    prepared = apply_recipe(both, recipe or Recipe(), table.n_rows)
    n_tested = prepared.table.n_rows - prepared.n_first
    if n_tested < MIN_ROWS:
        raise TableError(
            f"{n_tested} row of the test table {raw.name} is left of {raw.data.num_rows:,} after "
            f"the steps that prepare it; at least {MIN_ROWS} are needed."
        )
    return ExternalTest(prepared.table, prepared.n_first, sha256, prepared.steps)


def make_joint_target(goal: StudyTarget, given: ExternalTest) -> StudyTarget:
    """Return the target of both tables; ``goal``, the first table's, defines the task.

    Raises
    ------
    TableError
        If the test lacks a value, or has a class that the first table lacks.
    """
    task = "regression" if goal.task == "regression" else "classification"
    column = given.table.column(goal.name)
    n_missing = int(column.missing.sum())
    if n_missing:
        raise TableError(
            f"The target column {goal.name!r} is missing in {n_missing:,} rows of the test table; "
            "remove those rows or fill them in."
        )
    strange = np.setdiff1d(column.values[given.n_train :], column.values[: given.n_train])
    if goal.labels and strange.size:
        raise TableError(
            f"The class {format_class(column, strange[0])!r} of the target {goal.name!r} occurs in "
            "the test table alone, so it cannot be learned; remove its rows or add some to the "
            "first table."
        )
    return replace(make_target(given.table, goal.name, task), why=goal.why)


def _read_test_column(column: Column, raw: RawTable, place: int) -> Column:
    data = raw.data.column(place)
    if column.kind == "string":
        known = RawColumn(column.name, "categorical", column.levels)
        return _encode_text(column.name, as_text(known, data))
    kind = "numeric" if column.missing.all() else column.kind
    return as_known(RawColumn(column.name, kind), data, raw.decimal_comma)


def _encode_text(name: str, text: pa.ChunkedArray) -> Column:
    """Return a text column with its sorted levels."""
    gone = pc.is_in(pc.utf8_trim_whitespace(text), pa.array(MISSING, pa.large_string()))
    present = pc.if_else(gone, None, text)
    levels = sorted(pc.drop_null(pc.unique(present)).to_pylist())
    codes = pc.index_in(present, value_set=pa.array(levels, pa.large_string()))
    values = pc.fill_null(pc.cast(codes, pa.float64()), np.nan)
    return Column(name, "string", np.asarray(values.to_numpy()), tuple(levels))


def _join_columns(first: Column, second: Column) -> Column:
    if first.kind != "string":
        values = np.concatenate([first.values, second.values])
        return Column(first.name, second.kind if first.missing.all() else first.kind, values)
    levels = sorted({*first.levels, *second.levels})
    place = {level: float(code) for code, level in enumerate(levels)}
    return Column(
        first.name,
        "string",
        np.concatenate([_recode(first, place), _recode(second, place)]),
        tuple(levels),
    )


def _recode(column: Column, place: dict[str, float]) -> Any:
    codes = np.array([*(place[level] for level in column.levels), np.nan])
    return codes[np.where(column.missing, len(column.levels), column.values).astype(np.int64)]


def _write_notes(table: Table, raw: RawTable) -> list[Note]:
    names = {column.name for column in table.columns}
    strange = [name for name in raw.names if name not in names]
    text = write_message("given_test", name=raw.name, count=raw.data.num_rows)
    notes = [Note("info", None, text)]
    if strange:
        more = f" and {len(strange) - 5} more" if len(strange) > 5 else ""
        shown = ", ".join(repr(name[:60]) for name in strange[:5])
        columns = f"{shown}{more}"
        text = write_message("test_columns", name=raw.name, table=table.name, columns=columns)
        notes.append(Note("info", None, text))
    return notes
