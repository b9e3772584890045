"""Kind and role of each column, and the matrix of the feature columns."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from arboleda._utils.errors import StudyError
from arboleda.reports.fact_messages import write_message
from arboleda.tables.date_parts import find_parts, split_dates
from arboleda.tables.table import Column, StudyTable, match_columns
from arboleda.tables.target import check_finite
from arboleda.tables.text_columns import decide_text_kind, is_true_word
from arboleda.tables.text_encoding import TextEncoding, infer_list_separator, learn_encoding

__all__ = [
    "ONE_HOT_LEVELS",
    "Features",
    "Kind",
    "Role",
    "decide_roles",
    "find_roles",
    "make_features",
    "match_kept_columns",
    "share_values",
]

Kind = Literal["numeric", "categorical", "boolean", "datetime", "text", "list"]

# A categorical column with more levels than this in the training rows is target-encoded.
ONE_HOT_LEVELS = 30
# Values of a large matrix that are put together at a time.
_BLOCK_CELLS = 1 << 20
_ID_NAME = re.compile(r"(^|[ _.\-])(id|uuid|guid|index|idx|row[ _.]?(names?|number|id)?)$", re.I)
_CAMEL_ID = re.compile(r"[a-z](ID|Id)$")


@dataclass(frozen=True)
class Role:
    """A column's kind and role in the study.

    ``reason`` states why it is left out, or is None. ``encoding`` turns a text or list into
    numbers; ``parts`` are those of a date that become numbers.
    """

    kind: Kind
    role: Literal["feature", "target", "left_out"]
    reason: str | None = None
    encoding: TextEncoding | None = None
    parts: tuple[str, ...] = ()


def decide_roles(
    table: StudyTable,
    target: str,
    train: npt.NDArray[np.int64],
    groups: str | None = None,
    keep: Collection[str] = (),
) -> dict[str, Role]:
    """Infer kind and role of every column from its name and its values in the training rows.

    Neither the target nor test rows are used, so nothing leaks from rows that are scored later. The
    column ``groups`` is left out, because the groups of new rows are unknown. The columns in
    ``keep`` are features even if they look like identifiers.

    Raises
    ------
    StudyError
        If no column is left as a feature.
    """
    roles = find_roles(table, target, train, among="training rows", keep=keep)
    if groups is not None:
        roles[groups] = Role(roles[groups].kind, "left_out", "it identifies the groups of the rows")
    if not any(role.role == "feature" for role in roles.values()):
        name, role = next((n, r) for n, r in roles.items() if r.role == "left_out")
        raise StudyError(
            f"The table {table.name} has no features: column {name!r} is left out "
            f"({role.reason}), and so are all others; add features, or name columns to keep with "
            "--keep."
        )
    return roles


def match_kept_columns(table: StudyTable, patterns: Sequence[str]) -> set[str]:
    """Return the columns that names or patterns such as ``code_*`` match.

    Raises
    ------
    StudyError
        If one matches no column.
    """
    names = [column.name for column in table.columns]
    return {name for p in patterns for name in match_columns(p, names, table.name)}


def find_roles(
    table: StudyTable,
    target: str | None,
    rows: npt.NDArray[np.int64],
    *,
    among: str = "rows",
    keep: Collection[str] = (),
) -> dict[str, Role]:
    """Infer kind and role of every column from its values in these rows.

    ``among`` is the name of the rows in reasons. Without a target, every column is a feature or
    left out.
    """
    roles = {}
    for column in table.columns:
        if column.name == target:
            kind: Kind = "categorical" if column.kind == "string" else column.kind
            roles[column.name] = Role(kind, "target")
        else:
            is_kept = column.name in keep or column.source in keep
            roles[column.name] = _infer_role(column, column.values[rows], among, is_kept=is_kept)
    return roles


def _infer_role(
    column: Column, values: npt.NDArray[np.float64], among: str, *, is_kept: bool
) -> Role:
    present = values[~np.isnan(values)]
    distinct, counts = np.unique(present, return_counts=True)
    role = _infer_kind(column, distinct, counts)
    if is_kept:
        return replace(role, role="feature", reason=None)
    if column.type == "identifier":
        return replace(role, role="left_out", reason="an identifier, as specified")
    if not present.size:
        return replace(role, role="left_out", reason=write_message("all_missing", rows=among))
    if len(distinct) == 1 and present.size == values.size:
        reason = write_message("constant", row=among.removesuffix("s"))
        return replace(role, role="left_out", reason=reason)
    if (
        role.kind == "numeric"
        and column.type is None
        and _looks_like_index(column.name, values, distinct)
    ):
        reason = "identifier: distinct whole numbers that only identify the rows"
        return replace(role, role="left_out", reason=reason)
    return role


def _infer_kind(
    column: Column, distinct: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]
) -> Role:
    """Return the kind of a column, and the encoding of texts; identifiers are left out."""
    if column.kind == "datetime":
        return Role("datetime", "feature", parts=find_parts(distinct))
    if column.kind != "string":
        return Role(column.kind, "feature")
    texts = pa.array([column.levels[int(code)] for code in distinct], pa.large_string())
    if column.type == "category":
        return Role("categorical", "feature")
    if column.type in ("text", "list"):
        separator = infer_list_separator(texts, counts) or ";"
        encoding = learn_encoding(column.type, texts, counts, separator)
        return Role(column.type, "feature", encoding=encoding)
    decision = decide_text_kind(texts, counts)
    if decision.kind == "identifier":
        reason = "identifier: nearly every value is different, and no word repeats"
        return Role("text", "left_out", reason, decision.encoding)
    kind: Kind = "categorical" if decision.kind == "category" else decision.kind
    return Role(kind, "feature", encoding=decision.encoding)


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


class Features:
    """Feature matrix. Immutable.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), or sequence of ndarray of shape (n_samples,)
        The matrix, or its columns, of which the attribute ``x`` is made when it is first read:
        until then the columns of the table that are features as they are in memory once.
        Numeric columns hold their values, NaN where missing; categorical ones integer codes, -1
        where missing.
    names : tuple of str
    categorical : tuple of int
        Indices of the categorical columns.
    levels : mapping
        Texts of the codes of each categorical column.
    binary : tuple of int
        Indices of the columns that hold booleans as 0 and 1.
    """

    def __init__(
        self,
        x: Floats | Sequence[Floats],
        names: tuple[str, ...],
        categorical: tuple[int, ...],
        levels: Mapping[int, tuple[str, ...]],
        binary: tuple[int, ...] = (),
    ) -> None:
        self._x = x if isinstance(x, np.ndarray) else None
        self._columns = () if isinstance(x, np.ndarray) else tuple(x)
        self.names = names
        self.categorical = categorical
        self.levels = levels
        self.binary = binary

    @property
    def x(self) -> Floats:
        """The matrix, float64: a row per row of the table and a column per feature."""
        columns = self._columns  # before it is looked at: another thread may be done with it
        if self._x is None:
            self._x = np.column_stack(columns)
            self._columns = ()
        return self._x

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of features."""
        columns, x = self._columns, self._x
        return (len(columns[0]), len(columns)) if x is None else (x.shape[0], x.shape[1])

    @property
    def numeric(self) -> tuple[int, ...]:
        """Indices of the columns that are not categorical."""
        return tuple(i for i in range(len(self.names)) if i not in self.levels)

    def iterate_blocks(self) -> Iterator[Floats]:
        """Yield consecutive rows of the matrix, contiguous, without making it as a whole."""
        columns = self._columns
        if self._x is not None:
            yield np.ascontiguousarray(self._x)
            return
        n_rows, n_columns = self.shape
        step = max(1, _BLOCK_CELLS // n_columns)
        for start in range(0, n_rows, step):
            yield np.column_stack([column[start : start + step] for column in columns])

    def replace_matrix(self, x: Floats) -> "Features":
        """Return the features with another matrix."""
        return Features(x, self.names, self.categorical, self.levels, self.binary)


def make_features(table: StudyTable, roles: Mapping[str, Role]) -> Features:
    """Make the features; each date, text or list becomes several numbers, a column each.

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
            dates = split_dates(column.values, role.parts)
            names.extend(f"{column.name} ({part})" for part in dates)
            blocks.extend(dates.values())
        elif role.encoding is not None:
            parts = _encode_texts(column, role.encoding)
            first_flag = len(names) + parts.shape[1] - role.encoding.n_flags
            names.extend(f"{column.name} ({part})" for part in role.encoding.names)
            blocks.extend(parts.T)
            binary.extend(range(first_flag, len(names)))
        elif role.kind == "categorical":
            levels[len(names)] = column.levels
            names.append(column.name)
            blocks.append(np.where(column.missing, -1.0, column.values))
        else:
            if role.kind == "boolean":
                binary.append(len(names))
            names.append(column.name)
            blocks.append(_read_truth(column) if column.kind == "string" else column.values)
    return Features(blocks, tuple(names), tuple(levels), levels, tuple(binary))


def share_values(table: StudyTable, roles: Mapping[str, Role], features: Features) -> StudyTable:
    """Return the table with the columns that are features as they are as views of the matrix.

    These are numbers and truth values: of a large table, they are in memory once.
    """
    places = {name: j for j, name in enumerate(features.names)}
    counts = Counter(features.names)  # the part of a date may have the name of a column

    def share(column: Column) -> Column:
        role = roles[column.name]
        is_plain = role.encoding is None and column.kind in ("numeric", "boolean")
        if role.role != "feature" or not is_plain or counts[column.name] > 1:
            return column
        return replace(column, values=features.x[:, places[column.name]])

    return replace(table, columns=tuple(share(column) for column in table.columns))


def _encode_texts(column: Column, encoding: TextEncoding) -> Floats:
    """Return the numbers of each row's text; without a text no flag is set, others are NaN."""
    numbers = encoding.encode(pa.array(column.levels, pa.large_string()))
    missing = np.full(numbers.shape[1], np.nan)
    missing[numbers.shape[1] - encoding.n_flags :] = 0.0
    codes = np.where(column.missing, len(numbers), column.values).astype(np.int64)
    return np.vstack([numbers, missing])[codes]


def _read_truth(column: Column) -> Floats:
    """Return the truth values of words such as yes and no; NaN for other texts."""
    truths = [is_true_word(level) for level in column.levels]
    values = np.array([*(np.nan if t is None else float(t) for t in truths), np.nan])
    return values[np.where(column.missing, len(truths), column.values).astype(np.int64)]
