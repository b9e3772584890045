"""Description of a table for the report: statistics of each column, and notes."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.reports.fact_messages import Number, write_message
from arboleda.tables.column_formats import ColumnFormat
from arboleda.tables.date_parsing import ClockFormat, DateFormat
from arboleda.tables.date_parts import describe_parts
from arboleda.tables.features import ONE_HOT_LEVELS, Role
from arboleda.tables.table import Column, Note, StudyTable
from arboleda.tables.target import StudyTarget

__all__ = [
    "compute_histogram",
    "describe_column",
    "describe_format",
    "describe_table",
    "describe_use",
    "hash_rows",
]

TOP = 10
# Examples of a column, and their maximum characters.
EXAMPLES, EXAMPLE_LENGTH = 3, 40
BINS = 20
_BLOCK = 8192  # rows that are hashed at a time, to limit memory


def describe_table(
    table: StudyTable, target: StudyTarget, roles: Mapping[str, Role], n_folds: int
) -> dict[str, Any]:
    """Return the ``data`` part of the facts: sizes, each column, duplicates and notes."""
    columns = [describe_column(c, roles[c.name]) for c in table.columns]
    # Rows that repeat an earlier row in all columns, including the target and dropped ones.
    digests = hash_rows([*table.columns, *table.dropped])
    n_duplicates = table.n_rows - len(np.unique(digests))
    notes = [*table.notes, *_write_notes(table, target, roles, n_duplicates, n_folds)]
    return {
        "n_rows": table.n_rows,
        "n_columns": len(table.columns),
        "n_duplicate_rows": n_duplicates,
        "n_missing_cells": sum(c["n_missing"] for c in columns),
        "rows_dropped": 0,
        "columns": columns,
        "notes": [{"level": n.level, "column": n.column, "text": n.text} for n in notes],
    }


def describe_column(column: Column, role: Role) -> dict[str, Any]:
    """Return the statistics of one column, as in ``data.columns`` of the facts."""
    present = column.values[~column.missing]
    distinct, counts = np.unique(present, return_counts=True)
    numeric = role.kind == "numeric" and present.size > 0
    return {
        "name": column.name,
        "kind": role.kind,
        "role": role.role,
        "reason": role.reason,
        "n_missing": int(column.missing.sum()),
        "n_distinct": len(distinct),
        "numeric": _summarize_numbers(present) if numeric else None,
        "top": _count_top_values(column, distinct, counts)
        if role.kind in ("categorical", "boolean")
        else None,
        "histogram": compute_histogram(present, BINS) if numeric else None,
        "examples": _choose_examples(column, distinct),
        "use": None if role.role == "left_out" else describe_use(column, role),
        "parsing": _describe_parsing(column),
    }


def _describe_parsing(column: Column) -> dict[str, Any] | None:
    if column.parsing is None:
        return None
    return {
        "source": column.parsing.source,
        "format": describe_format(column.parsing.format),
        "share": column.parsing.share,
        "unparsed": list(column.parsing.unparsed),
    }


def describe_format(form: ColumnFormat) -> str:
    """Describe in a few words how numbers or dates are written."""
    if isinstance(form, ClockFormat):
        return "times of day, as hours"
    if isinstance(form, DateFormat):
        if form.epoch is not None:
            return "seconds since 1970" if form.epoch == 1 else "parts of seconds since 1970"
        order = {"dmy": "day", "mdy": "month", "ymd": "year"}[form.order]
        return f"dates with the {order} first"
    units = ", ".join(unit for unit in form.factors if unit)
    marks = {"decimal": form.decimal, "thousands": form.thousands, "units": units}
    code = "number" + "_grouped" * bool(form.thousands) + "_units" * bool(units)
    return write_message(code, **{name: mark for name, mark in marks.items() if mark})


def _choose_examples(column: Column, distinct: npt.NDArray[np.float64]) -> list[str]:
    """Return at most three values of a column, as the table has them."""
    if column.parsing is not None and column.parsing.part == "values":
        return list(column.parsing.examples)
    at = np.unique(np.linspace(0, max(0, len(distinct) - 1), EXAMPLES).astype(np.int64))
    return [_format_example(column, distinct[i]) for i in at if distinct.size]


def _format_example(column: Column, value: float) -> str:
    if column.kind == "numeric":
        return f"{value:g}"
    if column.kind == "datetime":
        text = str(np.datetime64(round(value), "s")).replace("T", " ")
        return text.removesuffix(" 00:00:00")
    text = _format_value(column, value)
    return text if len(text) <= EXAMPLE_LENGTH else f"{text[: EXAMPLE_LENGTH - 1]}…"


def describe_use(column: Column, role: Role) -> str:
    """Describe in a few words what models get of a column."""
    encoding = role.encoding
    if encoding is not None and role.kind in ("text", "list"):
        code = f"use_{role.kind}"
        if not encoding.n_flags:
            return write_message(f"{code}_plain")
        words = ", ".join(encoding.vocabulary[:EXAMPLES])
        return write_message(code, count=encoding.n_flags, words=words)
    if role.kind == "categorical":
        n_levels = len(column.levels) if column.kind == "string" else 0
        code = "use_many" if n_levels > ONE_HOT_LEVELS else "use_category"
        return write_message(code, count=n_levels)
    if role.kind == "datetime":
        return write_message("use_datetime", parts=describe_parts(role.parts))
    return write_message(f"use_{role.kind}")


def _summarize_numbers(present: npt.NDArray[np.float64]) -> dict[str, float | None]:
    # Scaled, because sums and differences of values near the largest double overflow.
    largest = float(np.abs(present).max())
    unit = largest if largest > 1e150 else 1.0
    scaled = present / unit
    q1, median, q3 = np.quantile(scaled, [0.25, 0.5, 0.75]) * unit
    sd = float(scaled.std(ddof=1)) * unit if present.size > 1 else None
    return {
        "min": float(present.min()),
        "max": float(present.max()),
        "mean": float(scaled.mean()) * unit,
        # It may exceed all values, and thus the largest double.
        "sd": sd if sd is not None and np.isfinite(sd) else None,
        "median": float(median),
        "q1": float(q1),
        "q3": float(q3),
    }


def _count_top_values(
    column: Column, distinct: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
) -> list[list[Any]]:
    order = np.argsort(-counts, kind="stable")[:TOP]
    return [[_format_value(column, distinct[i]), int(counts[i])] for i in order]


def _format_value(column: Column, value: float) -> str:
    if column.kind == "string":
        return column.levels[int(value)]
    return "true" if value else "false"


def compute_histogram(values: npt.NDArray[np.float64], bins: int) -> dict[str, list[Any]] | None:
    """Count values in ``bins`` equal intervals; None if their range exceeds double precision."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        # Wide enough for the edges to differ, however large the value is.
        half = max(0.5, 1e-9 * abs(low))
        low, high = low - half, high + half
    if not np.isfinite(high - low):
        return None
    if np.any(np.diff(np.linspace(low, high, bins + 1)) <= 0):
        # Adjacent doubles are too far apart for so many intervals.
        return {"edges": [low, high], "counts": [len(values)]}
    counts, edges = np.histogram(values, bins=bins, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def hash_rows(columns: Sequence[Column]) -> npt.NDArray[np.bytes_]:
    """Hash each row to 16 bytes; missing values equal each other."""
    digests = []
    for start in range(0, len(columns[0].values), _BLOCK):
        # + 0.0 turns -0.0 into 0.0, because they compare equal.
        cells = np.column_stack([c.values[start : start + _BLOCK] for c in columns]) + 0.0
        cells[np.isnan(cells)] = np.nan
        digests += [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in cells]
    return np.array(digests, dtype="S16")


def _write_notes(
    table: StudyTable,
    target: StudyTarget,
    roles: Mapping[str, Role],
    n_duplicates: int,
    n_folds: int,
) -> list[Note]:
    notes = [Note("info", target.name, write_message("task", why=target.why))]
    if n_duplicates:
        text = write_message("copies", count=n_duplicates, rows=table.n_rows)
        notes.append(Note("warning", None, text))
    for column in table.columns:
        role = roles[column.name]
        if role.role == "left_out":
            notes.append(
                Note("warning", column.name, write_message("left_out", reason=role.reason or ""))
            )
        elif role.role == "feature":
            notes.extend(_write_feature_notes(column, role, table.n_rows))
    if target.labels:
        notes.extend(_write_class_notes(target, n_folds))
    return notes


def _write_feature_notes(column: Column, role: Role, n_rows: int) -> list[Note]:
    notes = []
    n_missing = int(column.missing.sum())
    if n_missing:
        share = Number(f"{100 * n_missing / n_rows:.1f} %")
        text = write_message("missing", count=n_missing, share=share)
        notes.append(Note("info", column.name, text))
    if role.kind == "categorical" and len(column.levels) > ONE_HOT_LEVELS:
        text = write_message("levels", count=len(column.levels), most=ONE_HOT_LEVELS)
        notes.append(Note("info", column.name, text))
    if role.kind == "datetime":
        text = write_message("converted_date", parts=describe_parts(role.parts))
        notes.append(Note("info", column.name, text))
    return notes


def _write_class_notes(target: StudyTarget, n_folds: int) -> list[Note]:
    counts = np.bincount(target.y, minlength=len(target.labels))
    rare, n_rare = int(counts.argmin()), int((counts < 2 * n_folds).sum())
    if n_rare == 1:
        text = write_message("rare_class", label=target.labels[rare], count=int(counts[rare]))
        return [Note("warning", target.name, text)]
    if n_rare > 1:
        label, count = target.labels[rare], int(counts[rare])
        text = write_message(
            "rare_classes", classes=n_rare, least=2 * n_folds, label=label, count=count
        )
        return [Note("warning", target.name, text)]
    return []
