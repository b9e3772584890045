"""The feature columns as one matrix of numbers and codes, before any fit."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arboleda.study.data.roles import Role
from arboleda.study.data.table import Table
from arboleda.study.data.target import check_finite

__all__ = ["Features", "make_features"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """Feature matrix.

    ``x`` has a row per row of the table and a column per feature, float64. Numeric columns hold
    their values, NaN where missing; the columns listed in ``categorical`` hold whole-number codes,
    -1 where missing. ``levels`` names the codes of each categorical column; the columns listed in
    ``binary`` hold booleans, 0 and 1.
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


def make_features(table: Table, roles: Mapping[str, Role]) -> Features:
    """Build the feature matrix; dates become numbers, one column per part.

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
        # Excluded columns are described in the report, too.
        check_finite(column)
        role = roles[column.name]
        if role.role != "feature":
            continue
        if role.kind == "datetime":
            parts = date_parts(column.values)
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


def date_parts(seconds: Floats) -> dict[str, Floats]:
    """Return the days since 1970 and the parts of dates; NaN where the date is missing."""
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
