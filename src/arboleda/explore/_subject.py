"""What is explored: the table, its target if any, and the part of each column."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from arboleda.study.data.roles import Role, find_roles
from arboleda.study.data.table import Column, Note, Table
from arboleda.study.data.target import MAX_CLASSES, class_label, decide_task
from arboleda.study.errors import StudyError

__all__ = ["Goal", "Subject", "make_subject"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Goal:
    """The target: class numbers (an index into ``labels``) or values; NaN where missing."""

    name: str
    task: Literal["binary", "multiclass", "regression"]
    y: Floats
    labels: tuple[str, ...]
    why: str

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """True in the rows that have a target."""
        return ~np.isnan(self.y)

    @property
    def positive(self) -> str | None:
        """The class of two that a correlation speaks of: the last in sorted order."""
        return self.labels[1] if self.task == "binary" else None


@dataclass(frozen=True)
class Subject:
    """The table without infinite values, what each column is, and the target."""

    table: Table
    roles: Mapping[str, Role]
    goal: Goal | None
    seed: int

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns that are neither the target nor left out."""
        return tuple(c for c in self.table.columns if self.roles[c.name].role == "feature")

    def is_categorical(self, column: Column) -> bool:
        """Whether the column's values are names, not quantities."""
        return self.roles[column.name].kind in ("categorical", "text")

    def sample(self, most: int, stream: int) -> npt.NDArray[np.int64]:
        """At most so many row numbers, drawn without replacement, in their order.

        ``stream`` keeps the draws of one part from those of another.
        """
        n_rows = self.table.n_rows
        if n_rows <= most:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng([self.seed, stream]).permutation(n_rows)[:most])


def make_subject(table: Table, target: str | None, seed: int) -> Subject:
    """Decide what each column is, on all rows.

    Raises
    ------
    StudyError
        If there is no such target column, or it has one value only or too many classes.
    """
    finite = _without_infinities(table)
    goal = None if target is None else _make_goal(finite, target)
    return Subject(finite, find_roles(finite, target, np.arange(finite.n_rows)), goal, seed)


def _without_infinities(table: Table) -> Table:
    """Infinite values become missing, with a note: no mean and no distance can use them."""
    columns, notes = [], list(table.notes)
    for column in table.columns:
        infinite = np.isinf(column.values)
        if not infinite.any():
            columns.append(column)
            continue
        columns.append(replace(column, values=np.where(infinite, np.nan, column.values)))
        first = int(infinite.argmax()) + 1
        text = (
            f"Infinite in {int(infinite.sum()):,} rows, the first of them data row {first:,}; "
            "treated as missing here, refused by a study."
        )
        notes.append(Note("warning", column.name, text))
    return replace(table, columns=tuple(columns), notes=tuple(notes))


def _make_goal(table: Table, name: str) -> Goal:
    column = table.column(name)
    known = ~column.missing
    if not known.any():
        raise StudyError(
            f"The target column {name!r} is missing in every row; choose another target, or "
            "explore without one."
        )
    present = replace(column, values=column.values[known])
    classify, why = (False, "regression: the target holds dates")
    if column.kind != "datetime":
        classify, why = decide_task(present, None)
    distinct, codes = np.unique(present.values, return_inverse=True)
    if len(distinct) == 1:
        raise StudyError(
            f"The target column {name!r} has the same value in every row that has one; choose "
            "another target, or explore without one."
        )
    if not classify:
        # Why-texts of the study tell of its option --task, which exploring does without.
        return Goal(name, "regression", column.values, (), why.partition(" (--task")[0])
    if len(distinct) > MAX_CLASSES:
        raise StudyError(
            f"The target {name!r} has {len(distinct):,} classes; at most {MAX_CLASSES} can be "
            "shown: merge classes, or explore without a target."
        )
    y = np.full(table.n_rows, np.nan)
    y[known] = codes
    labels = tuple(class_label(column, value) for value in distinct)
    task: Literal["binary", "multiclass"] = "binary" if len(labels) == 2 else "multiclass"
    return Goal(name, task, y, labels, why.partition(" (--task")[0])
