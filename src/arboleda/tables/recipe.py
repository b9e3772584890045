"""The recipe of a study: rows to drop and values to merge before the table is split.

    merge = COLUMN ":" group { ";" group }
    group = VALUE { "," VALUE } "->" NEW

Values outside all groups are unchanged. Names and values that contain one of the signs are quoted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda._utils.errors import StudyError
from arboleda.tables.conditions import (
    RowCondition,
    Token,
    find_codes,
    join_tokens,
    parse_condition,
    parse_number,
    split_at,
    tokenize,
)
from arboleda.tables.describe import hash_rows
from arboleda.tables.table import Column, StudyTable, match_columns

__all__ = [
    "Merges",
    "PreparedTable",
    "Recipe",
    "RowCondition",
    "Step",
    "apply_recipe",
    "check_merges",
    "invert_groups",
    "merge_numbers",
    "merge_texts",
    "parse_condition",
    "parse_merges",
]

# The values that are merged, by column and by new value.
Merges = Mapping[str, Mapping[str, tuple[str, ...]]]

_MARKS = ("->", ":", ";", ",")
_HOW = "write it as in 'education: 11th, 12th -> dropout; HS-grad -> HighGrad'"


def parse_merges(texts: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Parse merges; several may refer to the same column.

    Raises
    ------
    StudyError
        If a text is not a valid merge.

    Examples
    --------
    >>> parse_merges(["size: XS, S -> small; L, XL -> large"])
    {'size': {'small': ('XS', 'S'), 'large': ('L', 'XL')}}
    """
    merges: dict[str, dict[str, tuple[str, ...]]] = {}
    for text in texts:
        where = f"The merge {text.strip()[:80]!r}"
        tokens = tokenize(text, _MARKS, where)
        colon = next((i for i, t in enumerate(tokens) if (t.kind, t.text) == ("mark", ":")), None)
        column = None if colon is None else join_tokens(tokens[:colon], text)
        if colon is None or column is None:
            raise StudyError(f"{where} names no column before a ':'; {_HOW}.")
        groups = [g for g in split_at(tokens[colon + 1 :], "mark", ";") if g]
        if not groups:
            raise StudyError(f"{where} names no values; {_HOW}.")
        of_column = merges.setdefault(column, {})
        for group in groups:
            new, old = _parse_group(group, text, where)
            of_column[new] = (*of_column.get(new, ()), *old)
    return merges


def _parse_group(tokens: Sequence[Token], text: str, where: str) -> tuple[str, tuple[str, ...]]:
    """Parse a group: its new value, and the values that become it."""
    sides = split_at(tokens, "mark", "->")
    if len(sides) != 2:
        group = text[tokens[0].start : tokens[-1].end]
        raise StudyError(f"{where} needs exactly one '->' in {group[:60]!r}; {_HOW}.")
    new = join_tokens(sides[1], text)
    old = [join_tokens(part, text) for part in split_at(sides[0], "mark", ",")]
    known = tuple(value for value in old if value is not None)
    if new is None or len(known) < len(old):
        raise StudyError(f"{where} lacks a value beside '->' or ','; {_HOW}.")
    return new, known


def check_merges(merges: Any) -> dict[str, dict[str, tuple[str, ...]]]:
    """Convert merges to plain text, and check that they are unambiguous and idempotent.

    No value may be merged twice, and no new value may itself be merged. Merging values that are
    already merged, as when rows of a prepared table are predicted, then changes nothing.

    Raises
    ------
    StudyError
        If a value has two new values, or a new value is merged into another one.
    """
    checked = {
        str(column): {
            str(new): tuple(dict.fromkeys(str(value).strip() for value in old))
            for new, old in groups.items()
        }
        for column, groups in merges.items()
    }
    for column, groups in checked.items():
        names: dict[str, str] = {}
        for new, old in groups.items():
            for value in old:
                other = names.setdefault(value, new)
                if other != new:
                    raise StudyError(
                        f"The value {value[:60]!r} of {column!r} cannot be merged into both "
                        f"{other[:60]!r} and {new[:60]!r}; name it once."
                    )
        for new in groups:
            if names.get(new, new) != new:
                raise StudyError(
                    f"Nothing can be merged into the value {new[:60]!r} of {column!r}, which is "
                    f"itself merged into {names[new][:60]!r}; choose another name."
                )
    return checked


def invert_groups(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the new value of each merged value."""
    return {value: new for new, old in groups.items() for value in old}


def merge_texts(texts: pa.ChunkedArray, names: Mapping[str, str]) -> pa.ChunkedArray:
    """Replace merged texts by their new values, ignoring surrounding blanks.

    Examples
    --------
    >>> merge_texts(pa.chunked_array([["a", " b", "c"]]), {"a": "x", "b": "x"}).to_pylist()
    ['x', 'x', 'c']
    """
    if not names:
        return texts
    kind = pa.large_string()
    place = pc.index_in(pc.utf8_trim_whitespace(texts), value_set=pa.array(names, kind))
    return pc.coalesce(pc.take(pa.array(names.values(), kind), place), texts.cast(kind))


def merge_numbers(
    values: npt.NDArray[np.float64], names: Mapping[str, str]
) -> npt.NDArray[np.float64]:
    """Replace merged numbers by their new values."""
    merged = values.copy()
    for old, new in names.items():
        merged[values == float(old)] = float(new)
    return merged


@dataclass(frozen=True)
class Recipe:
    """The steps that prepare a study's table, in the order of their application.

    Attributes
    ----------
    drop_missing : bool
        Drop rows with a missing value in any column.
    drop_duplicates : bool
        Drop rows that repeat an earlier row in all columns.
    where : tuple of RowCondition
        Keep the rows that satisfy all conditions.
    merge : mapping
        The values to merge, by column and by new value.
    drop : tuple of str
        Columns to drop, or patterns such as ``tmp_*``.
    target : str or None, the column without whose value rows are dropped.
    """

    drop_missing: bool = False
    drop_duplicates: bool = False
    where: tuple[RowCondition, ...] = ()
    merge: Merges = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    target: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it leaves the table unchanged."""
        return self == Recipe()


@dataclass(frozen=True)
class Step:
    """Result of a step: the columns that it used or changed, and the row counts before and after.

    ``condition`` is the condition of a "where"; ``into`` has the merged values of a "merge" by new
    value.
    """

    kind: Literal[
        "drop_missing_target", "drop_missing", "drop_duplicates", "where", "merge", "drop"
    ]
    rows_before: int
    rows_after: int
    columns: tuple[str, ...] = ()
    condition: str | None = None
    into: Mapping[str, tuple[str, ...]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Convert the step to a dict of plain values."""
        into = {new: list(old) for new, old in (self.into or {}).items()}
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "condition": self.condition,
            "into": into or None,
            "rows_before": self.rows_before,
            "rows_after": self.rows_after,
        }


@dataclass(frozen=True)
class PreparedTable:
    """The prepared ``table``, its number of rows from the first table, and the ``steps``."""

    table: StudyTable
    n_first: int
    steps: tuple[Step, ...]


def apply_recipe(table: StudyTable, recipe: Recipe, n_first: int | None = None) -> PreparedTable:
    """Prepare a table: first its rows, then its values, then its columns.

    Rows without a target, then with any missing value are dropped, then rows that repeat an earlier
    one, then rows that do not satisfy every condition. These steps use all columns of the table.
    Then values are merged, and finally columns are dropped.

    Parameters
    ----------
    table : StudyTable
    recipe : Recipe
    n_first : int, optional
        The number of rows from the first table, if rows of a second one follow. Duplicates are
        searched within each table separately.

    Returns
    -------
    PreparedTable

    Raises
    ------
    StudyError
        If the recipe names an unknown column or value, or no row is left.

    Examples
    --------
    >>> from arboleda.tables.reading import read_table
    >>> from arboleda.tables.recipe import Recipe, parse_condition
    >>> recipe = Recipe(where=(parse_condition("target != setosa"),))
    >>> apply_recipe(read_table("iris"), recipe).table.n_rows
    100
    """
    first = table.n_rows if n_first is None else n_first
    if recipe.is_empty:
        return PreparedTable(table, first, ())
    dropped = _find_dropped(table, recipe)
    _check_columns(table, recipe, dropped)
    rows, steps = _select_rows(table, recipe, first)
    columns = {column.name: column for column in table.columns}
    for name, groups in recipe.merge.items():
        columns[name] = _merge_column(columns[name], groups)
        steps.append(Step("merge", len(rows), len(rows), (name,), into=groups))
    left_out = tuple(_take_rows(columns[name], rows) for name in dropped)
    if dropped:
        columns = {name: column for name, column in columns.items() if name not in dropped}
        steps.append(Step("drop", len(rows), len(rows), tuple(dropped)))
    kept_columns = tuple(_take_rows(column, rows) for column in columns.values())
    prepared = replace(table, columns=kept_columns, dropped=left_out)
    return PreparedTable(prepared, int(np.searchsorted(rows, first)), tuple(steps))


def _select_rows(
    table: StudyTable, recipe: Recipe, n_first: int
) -> tuple[npt.NDArray[np.int64], list[Step]]:
    """Return the indices of the rows that the recipe keeps, and the steps that dropped others."""
    rows = np.arange(table.n_rows)
    steps: list[Step] = []

    def keep(kept: npt.NDArray[np.bool_], **about: Any) -> None:
        nonlocal rows
        steps.append(Step(rows_before=len(rows), rows_after=int(kept.sum()), **about))
        rows = rows[kept]
        if not len(rows):
            raise StudyError(
                f"No row of {table.name} is left after {_format_option(steps[-1])}; "
                "relax the recipe."
            )

    if recipe.target is not None:
        known = ~table.column(recipe.target).missing
        keep(known, kind="drop_missing_target", columns=(recipe.target,))
    if recipe.drop_missing:
        missing = np.logical_or.reduce([column.missing for column in table.columns])
        keep(~missing[rows], kind="drop_missing")
    if recipe.drop_duplicates:
        keep(_find_first_occurrences(table, rows, n_first), kind="drop_duplicates")
    for condition in recipe.where:
        # Evaluated on all rows, so that a value that occurs only in dropped rows is no error.
        kept = condition.evaluate(table)[rows]
        keep(kept, kind="where", columns=condition.columns, condition=condition.text)
    return rows, steps


def _find_dropped(table: StudyTable, recipe: Recipe) -> list[str]:
    """Return the names of the dropped columns, with those of the words beside their values."""
    names = [c.name for c in table.columns]
    dropped = {n for pattern in recipe.drop for n in match_columns(pattern, names, table.name)}
    return [c.name for c in table.columns if c.name in dropped or c.source in dropped]


def _check_columns(table: StudyTable, recipe: Recipe, dropped: Sequence[str]) -> None:
    """Check that every named column exists and that one is left, before any row is dropped."""
    named = [name for condition in recipe.where for name in condition.columns]
    for name in (*named, *recipe.merge):
        table.column(name)
    if {column.name for column in table.columns} <= {*dropped}:
        raise StudyError(f"No column of {table.name} is left; drop fewer columns.")


def _format_option(step: Step) -> str:
    """Return the command-line option of a step."""
    flag = f"--{step.kind.replace('_', '-')}"
    return flag if step.condition is None else f"{flag} {step.condition!r}"


def _find_first_occurrences(
    table: StudyTable, rows: npt.NDArray[np.int64], n_first: int
) -> npt.NDArray[np.bool_]:
    """Return which rows do not repeat an earlier row of their own table."""
    columns = [replace(c, values=c.values[rows]) for c in table.columns]
    digests = hash_rows(columns)
    kept = np.zeros(len(rows), dtype=bool)
    border = int(np.searchsorted(rows, n_first))
    for start, stop in ((0, border), (border, len(rows))):
        _, where = np.unique(digests[start:stop], return_index=True)
        kept[start + where] = True
    return kept


def _merge_column(column: Column, groups: Mapping[str, Sequence[str]]) -> Column:
    """Return a column with its values merged."""
    if column.kind == "numeric":
        return _merge_number_column(column, groups)
    if column.kind != "string":
        kind = "dates" if column.kind == "datetime" else "truth values"
        raise StudyError(
            f"The column {column.name!r} holds {kind}, which cannot be merged; remove it from "
            "--merge."
        )
    names = list(column.levels)
    for value, new in invert_groups(groups).items():
        for code in find_codes(column, value):
            names[int(code)] = new
    levels = tuple(sorted(set(names)))
    place = {level: float(i) for i, level in enumerate(levels)}
    codes = np.array([*(place[name] for name in names), np.nan])
    values = codes[np.where(column.missing, len(names), column.values).astype(np.int64)]
    return replace(column, values=values, levels=levels)


def _merge_number_column(column: Column, groups: Mapping[str, Sequence[str]]) -> Column:
    names = invert_groups(groups)
    numbers = {parse_number(column, old): parse_number(column, new) for old, new in names.items()}
    for old, new in numbers.items():
        if not np.any(column.values == old):
            raise StudyError(f"The column {column.name!r} has no value {old:g}; remove it.")
        if numbers.get(new, new) != new:
            raise StudyError(
                f"Nothing can be merged into the value {new:g} of {column.name!r}, which is itself "
                f"merged into {numbers[new]:g}; choose another number."
            )
    return replace(column, values=merge_numbers(column.values, names))


def _take_rows(column: Column, rows: npt.NDArray[np.int64]) -> Column:
    """Select rows of a column, and keep only the levels that occur in them."""
    values = column.values[rows]
    if column.kind != "string":
        return replace(column, values=values)
    shown = np.unique(values[~np.isnan(values)]).astype(np.int64)
    codes = np.full(len(column.levels) + 1, np.nan)
    codes[shown] = np.arange(len(shown))
    values = codes[np.where(np.isnan(values), len(column.levels), values).astype(np.int64)]
    return replace(column, values=values, levels=tuple(column.levels[i] for i in shown))
