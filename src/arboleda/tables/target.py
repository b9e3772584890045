"""The target of a study: its task, its classes, and checks of its values."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import TableError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.table import Column, StudyTable

__all__ = [
    "MIN_ROWS",
    "StudyTarget",
    "check_finite",
    "decide_task",
    "format_class",
    "make_target",
    "n_scores",
]

Task = Literal["binary", "multiclass", "regression", "survival", "ranking"]

# With fewer rows, five folds of the training rows have three rows each: scores are meaningless.
MIN_ROWS = 20
# A numeric target with at most this many distinct integers is treated as class numbers.
MAX_NUMERIC_CLASSES = 10
# Every class needs a row, a column and a curve in the report.
MAX_CLASSES = 100
# With larger values, the standard error of the mean squared error overflows.
LARGEST_QUANTITY = 1e70


@dataclass(frozen=True)
class StudyTarget:
    """The target of a study.

    ``y`` holds class numbers (int64, indices into ``labels``) or float64 values; ``why`` explains
    how the task was inferred. ``is_reversed`` is whether two classes are not in sorted order, so
    that the positive one is the last.

    Two tasks have a ``second`` column, and ``y`` has two fields (see
    `arboleda.tables.timed_target`): of a time to an event the column of events, of a ranking that
    of queries. ``event`` is how the user names the events, as in ``status=2``; ``times`` are those
    at which survival curves are compared.
    """

    name: str
    task: Task
    y: npt.NDArray[Any]
    labels: tuple[str, ...]
    why: str
    is_reversed: bool = False
    second: str | None = None
    event: str | None = None
    times: tuple[float, ...] = ()

    @property
    def positive(self) -> str | None:
        """The positive class of binary scores and curves: the last."""
        return self.labels[1] if self.task == "binary" else None

    @property
    def strata(self) -> npt.NDArray[np.int64] | None:
        """The classes by which splits are stratified, of a time whether the event was observed."""
        if self.task == "survival":
            return np.asarray(self.y["event"], dtype=np.int64)
        return self.y if self.labels else None

    @property
    def values(self) -> npt.NDArray[Any]:
        """Class numbers or values; the times to an event; the relevance of a ranking."""
        field = {"survival": "time", "ranking": "relevance"}.get(self.task)
        return self.y if field is None else np.asarray(self.y[field])

    @property
    def n_scores(self) -> int:
        """Numbers that a model predicts for a row beside its class or value."""
        return len(self.labels) or len(self.times)


def make_target(
    table: StudyTable, name: str, task: str | None = None, positive: str | None = None
) -> StudyTarget:
    """Check the target column and infer the task.

    Text and booleans mean classification. Numbers mean regression, unless there are only two
    distinct values, or at most ten and all of them integers: these are class numbers.
    ``task`` ("classification" or "regression") overrides the rule. In a binary task ``positive`` is
    the positive class, by default the last in sorted order.

    Raises
    ------
    TableError
        If there is no such column, or it is unusable: missing or infinite values, a single class,
        a class with a single row, too many classes, dates, or too few rows.
    """
    column = table.column(name)
    if table.n_rows < MIN_ROWS:
        raise TableError(
            f"The table {table.name} has {table.n_rows} rows; a study needs at least {MIN_ROWS}."
        )
    if len(table.columns) == 1:
        raise TableError(f"The table {table.name} holds only the target {name!r}; add features.")
    n_missing = int(column.missing.sum())
    # Rows of units, totals or names of columns are often the reason.
    of_table = [note.text for note in table.notes if note.level == "warning" and not note.column]
    hints = "".join(f" {text}" for text in of_table)
    if n_missing:
        raise TableError(
            f"The target column {name!r} is missing in {n_missing:,} of {table.n_rows:,} rows; "
            "remove those rows with --drop-missing-target, or fill them in (texts such as NA, None "
            f"or ? count as missing).{hints}"
        )
    if column.kind == "datetime":
        raise TableError(f"The target column {name!r} holds dates; convert them to numbers first.")
    check_finite(column)
    classify, why = decide_task(column, task)
    goal = _make_classification(column, why, hints) if classify else _make_regression(column, why)
    return goal if positive is None else _set_positive(goal, positive)


def _set_positive(goal: StudyTarget, positive: str) -> StudyTarget:
    """Put the positive class last."""
    if goal.task != "binary":
        raise TableError(
            f"The target {goal.name!r} does not have two classes, so none is positive; leave out "
            "--positive."
        )
    if positive.strip() not in goal.labels:
        raise TableError(
            f"The target {goal.name!r} has no class {positive[:60]!r}; its classes are "
            f"{goal.labels[0][:60]!r} and {goal.labels[1][:60]!r}."
        )
    if positive.strip() == goal.labels[1]:
        return goal
    return replace(goal, labels=goal.labels[::-1], y=1 - goal.y, is_reversed=True)


def check_finite(column: Column) -> None:
    """Raise a TableError if a column has infinite values, which no model can use."""
    bad = np.flatnonzero(np.isinf(column.values))
    if bad.size:
        row = int(bad[0])
        raise TableError(
            f"Column {column.name!r} holds the infinite value {column.values[row]} in data row "
            f"{row + 1} (of {bad.size:,} such rows); replace it by a number or leave it blank."
        )


def decide_task(column: Column, task: str | None) -> tuple[bool, str]:
    """Return whether the task is classification, and why."""
    distinct = np.unique(column.values)
    if task == "regression":
        if column.kind == "string":
            example = column.levels[0]
            raise TableError(
                f"The target column {column.name!r} holds text such as {example!r}, so it cannot "
                "be the target of a regression; use --task classification."
            )
        return False, "regression, as specified"
    if task == "classification":
        return True, "classification, as specified"
    if column.kind != "numeric":
        return True, write_message("classes_hold", what=_name_kind(column))
    whole = bool(np.all(distinct == np.round(distinct)))
    if len(distinct) <= 2 or (whole and len(distinct) <= MAX_NUMERIC_CLASSES):
        return True, write_message("classes_few", count=len(distinct))
    return False, write_message("regression_many", count=len(distinct))


def _name_kind(column: Column) -> str:
    return "text" if column.kind == "string" else "truth values"


def _make_regression(column: Column, why: str) -> StudyTarget:
    if column.values.min() == column.values.max():
        raise TableError(
            f"The target column {column.name!r} has the same value in every row; "
            "there is nothing to predict."
        )
    largest = float(np.abs(column.values).max())
    if largest > LARGEST_QUANTITY:
        raise TableError(
            f"The target column {column.name!r} holds values up to {largest:.3g}, whose powers "
            "may overflow; divide the column by a constant."
        )
    return StudyTarget(column.name, "regression", column.values, (), why)


def _make_classification(column: Column, why: str, hints: str) -> StudyTarget:
    distinct, y, counts = np.unique(column.values, return_inverse=True, return_counts=True)
    labels = tuple(format_class(column, value) for value in distinct)
    is_text = column.kind == "string"
    if len(labels) == 1:
        raise TableError(
            f"The target column {column.name!r} has only one class, {labels[0]!r}; "
            "there is nothing to classify."
        )
    if counts.min() < 2:
        label = labels[int(counts.argmin())]
        raise TableError(
            f"The class {label!r} of the target {column.name!r} has a single row "
            f"({int((counts < 2).sum()):,} of {len(labels):,} classes have), so it cannot be both "
            "learned and tested; merge it with another class"
            + (" or remove it." if is_text else ", remove it, or use --task regression.")
            + hints
        )
    if len(labels) > MAX_CLASSES:
        raise TableError(
            f"The target {column.name!r} has {len(labels):,} classes; a study takes at most "
            f"{MAX_CLASSES}: merge classes"
            + ("." if is_text else ", or use --task regression if it is a quantity.")
        )
    task: Task = "binary" if len(labels) == 2 else "multiclass"
    return StudyTarget(column.name, task, y.astype(np.int64), labels, why)


def format_class(column: Column, value: float) -> str:
    """Return the text of a class: its value in the table."""
    if column.kind == "string":
        return column.levels[int(value)]
    if column.kind == "boolean":
        return "true" if value else "false"
    return f"{value:.0f}" if value == round(value) else repr(float(value))


def n_scores(n_classes: int) -> int:
    """Return the scores per row: one for values or two classes, otherwise one per class."""
    return n_classes if n_classes > 2 else 1
