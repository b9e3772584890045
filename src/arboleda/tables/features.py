"""Kind and role of each column, and the matrix of the feature columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from arboleda._utils.errors import StudyError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.table import Column, StudyTable
from arboleda.tables.target import check_finite

__all__ = [
    "ONE_HOT_LEVELS",
    "Features",
    "Kind",
    "Role",
    "decide_roles",
    "find_roles",
    "make_features",
]

Kind = Literal["numeric", "categorical", "boolean", "datetime", "text"]

# Text with more distinct values than this, and than half of the rows, is free text.
MAX_LEVELS_OF_FEW_ROWS = 50
# A categorical column with more levels than this in the training rows is target-encoded.
ONE_HOT_LEVELS = 30
_ID_NAME = re.compile(r"(^|[ _.\-])(id|uuid|guid|index|idx|row[ _.]?(names?|number|id)?)$", re.I)
_CAMEL_ID = re.compile(r"[a-z](ID|Id)$")


@dataclass(frozen=True)
class Role:
    """A column's kind and role in the study; ``reason`` states why it is left out, or is None."""

    kind: Kind
    role: Literal["feature", "target", "left_out"]
    reason: str | None = None


def decide_roles(
    table: StudyTable, target: str, train: npt.NDArray[np.int64], groups: str | None = None
) -> dict[str, Role]:
    """Infer kind and role of every column from its name and its values in the training rows.

    Neither the target nor test rows are used, so nothing leaks from rows that are scored later. The
    column ``groups`` is left out, because the groups of new rows are unknown.

    Raises
    ------
    StudyError
        If no column is left as a feature.
    """
    roles = find_roles(table, target, train, among="training rows")
    if groups is not None:
        roles[groups] = Role(roles[groups].kind, "left_out", "it identifies the groups of the rows")
    if not any(role.role == "feature" for role in roles.values()):
        name, role = next((n, r) for n, r in roles.items() if r.role == "left_out")
        raise StudyError(
            f"The table {table.name} has no features: column {name!r} is left out "
            f"({role.reason}), and so are all others; add features."
        )
    return roles


def find_roles(
    table: StudyTable, target: str | None, rows: npt.NDArray[np.int64], *, among: str = "rows"
) -> dict[str, Role]:
    """Infer kind and role of every column from its values in these rows.

    ``among`` is the name of the rows in reasons. Without a target, every column is a feature or
    left out.
    """
    roles = {}
    for column in table.columns:
        kind, reason = _infer_kind(column, column.values[rows], among)
        if column.name == target:
            kind = "categorical" if kind == "text" else kind
            roles[column.name] = Role(kind, "target")
        elif reason:
            roles[column.name] = Role(kind, "left_out", reason)
        else:
            roles[column.name] = Role(kind, "feature")
    return roles


def _infer_kind(
    column: Column, values: npt.NDArray[np.float64], among: str
) -> tuple[Kind, str | None]:
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    kind: Kind = "categorical" if column.kind == "string" else column.kind
    if kind == "categorical" and _is_text(len(distinct), len(present)):
        kind = "text"
    if not present.size:
        return kind, write_message("all_missing", rows=among)
    if len(distinct) == 1 and present.size == values.size:
        return kind, write_message("constant", row=among.removesuffix("s"))
    if kind == "text":
        if len(distinct) == len(present):
            return kind, "identifier: every value is different"
        return kind, write_message("free_text", distinct=len(distinct), rows=len(present))
    if kind == "numeric" and _looks_like_index(column.name, values, distinct):
        return kind, "identifier: distinct whole numbers that only identify the rows"
    return kind, None


def _is_text(n_distinct: int, n_present: int) -> bool:
    if n_distinct == n_present:
        return n_distinct > 10
    return n_distinct > MAX_LEVELS_OF_FEW_ROWS and n_distinct > n_present / 2


def _looks_like_index(
    name: str, values: npt.NDArray[np.float64], distinct: npt.NDArray[np.float64]
) -> bool:
    """Return whether values are distinct integers that look like an index of the rows."""
    if len(distinct) != len(values) or np.any(distinct != np.round(distinct)):
        return False
    if _ID_NAME.search(name) or _CAMEL_ID.search(name):
        return True
    # The held-out fifth leaves gaps: a running number spans a quarter more than its count.
    counts_rows = distinct[-1] < distinct[0] + 1.5 * len(distinct)
    return bool(counts_rows and np.array_equal(values, distinct))


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """Feature matrix.

    ``x`` (float64) has a row per row of the table and a column per feature. Numeric columns hold
    their values, NaN where missing; the columns in ``categorical`` hold integer codes, -1 where
    missing. ``levels`` has the text of each code of a categorical column; the columns in
    ``binary`` hold booleans as 0 and 1.
    """

    x: Floats
    names: tuple[str, ...]
    categorical: tuple[int, ...]
    levels: Mapping[int, tuple[str, ...]]
    binary: tuple[int, ...] = ()

    @property
    def numeric(self) -> tuple[int, ...]:
        """Indices of the columns that are not categorical."""
        return tuple(i for i in range(len(self.names)) if i not in self.levels)


def make_features(table: StudyTable, roles: Mapping[str, Role]) -> Features:
    """Build the feature matrix; each date becomes several numbers, one column each.

    Raises
    ------
    StudyError
        If a column holds an infinite value.
    """
    blocks: list[Floats] = []
    names: list[str] = []
    levels: dict[int, tuple[str, ...]] = {}
    binary: list[int] = []
    for column in table.columns:
        # The report describes all columns, including those left out.
        check_finite(column)
        role = roles[column.name]
        if role.role != "feature":
            continue
        if role.kind == "datetime":
            parts = split_dates(column.values)
            names.extend(f"{column.name} ({part})" for part in parts)
            blocks.extend(parts.values())
        elif role.kind == "categorical":
            levels[len(names)] = column.levels
            names.append(column.name)
            blocks.append(np.where(column.missing, -1.0, column.values))
        else:
            if role.kind == "boolean":
                binary.append(len(names))
            names.append(column.name)
            blocks.append(column.values)
    return Features(np.column_stack(blocks), tuple(names), tuple(levels), levels, tuple(binary))


def split_dates(seconds: Floats) -> dict[str, Floats]:
    """Compute the days since 1970 and the parts of dates; NaN where the date is missing."""
    missing = np.isnan(seconds)
    stamp = np.where(missing, 0, seconds).astype("int64").astype("datetime64[s]")
    day, month, year = (stamp.astype(f"datetime64[{unit}]") for unit in "DMY")
    parts = {
        "days": seconds / 86400.0,
        "year": year.astype(np.int64) + 1970.0,
        "month": (month - year).astype(np.int64) + 1.0,
        "day": (day - month.astype("datetime64[D]")).astype(np.int64) + 1.0,
        # 1970-01-01 was a Thursday; Monday is 0.
        "weekday": (day.astype(np.int64) + 3) % 7 + 0.0,
        "hour": (stamp - day.astype("datetime64[s]")).astype(np.int64) // 3600 + 0.0,
    }
    return {name: np.where(missing, np.nan, part) for name, part in parts.items()}
