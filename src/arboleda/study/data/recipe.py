"""The recipe of a study: rows dropped and values merged before the table is split.

    merge = COLUMN ":" group { ";" group }
    group = VALUE { "," VALUE } "->" NEW

Values that no group names stay as they are. A name or value that holds one of the signs is put in
quotes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda.study.data.conditions import (
    Condition,
    Token,
    codes_of,
    number_of,
    parse_condition,
    plain_text,
    split_at,
    tokenize,
)
from arboleda.study.data.describe import row_digests
from arboleda.study.data.table import Column, Table
from arboleda.study.errors import StudyError

__all__ = [
    "Condition",
    "Merges",
    "PreparedTable",
    "Recipe",
    "Step",
    "apply_recipe",
    "checked_merges",
    "parse_condition",
    "parse_merges",
    "renamed",
    "with_numbers_merged",
    "with_texts_merged",
]

# By column and new value, the values that become it.
Merges = Mapping[str, Mapping[str, tuple[str, ...]]]

_MARKS = ("->", ":", ";", ",")
_HOW = "write it as in 'education: 11th, 12th -> dropout; HS-grad -> HighGrad'"


def parse_merges(texts: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read merges, of which several may be about one column.

    Raises
    ------
    StudyError
        If one cannot be read.

    Examples
    --------
    >>> parse_merges(["size: XS, S -> small; L, XL -> large"])
    {'size': {'small': ('XS', 'S'), 'large': ('L', 'XL')}}
    """
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for text in texts:
        where = f"The merge {text.strip()[:80]!r}"
        tokens = tokenize(text, _MARKS, where)
        colon = next((i for i, t in enumerate(tokens) if (t.kind, t.text) == ("mark", ":")), None)
        column = None if colon is None else plain_text(tokens[:colon], text)
        if colon is None or column is None:
            raise StudyError(f"{where} names no column before a ':'; {_HOW}.")
        groups = [g for g in split_at(tokens[colon + 1 :], "mark", ";") if g]
        if not groups:
            raise StudyError(f"{where} names no values; {_HOW}.")
        of_column = found.setdefault(column, {})
        for group in groups:
            new, old = _group(group, text, where)
            of_column[new] = (*of_column.get(new, ()), *old)
    return found


def _group(tokens: Sequence[Token], text: str, where: str) -> tuple[str, tuple[str, ...]]:
    """The new value, and those that become it."""
    sides = split_at(tokens, "mark", "->")
    if len(sides) != 2:
        said = text[tokens[0].start : tokens[-1].end]
        raise StudyError(f"{where} has not one '->' in {said[:60]!r}; {_HOW}.")
    new = plain_text(sides[1], text)
    old = [plain_text(part, text) for part in split_at(sides[0], "mark", ",")]
    known = tuple(value for value in old if value is not None)
    if new is None or len(known) < len(old):
        raise StudyError(f"{where} lacks a value beside '->' or ','; {_HOW}.")
    return new, known


def checked_merges(merges: Any) -> dict[str, dict[str, tuple[str, ...]]]:
    """Merges as plain texts, each value named once and none of the new ones merged away.

    The second makes them give the same when they are done twice, as where rows of a prepared table
    are predicted.

    Raises
    ------
    StudyError
        If a value becomes two others, or a new value is itself to become another.
    """
    found = {
        str(column): {
            str(new): tuple(dict.fromkeys(str(value).strip() for value in old))
            for new, old in groups.items()
        }
        for column, groups in merges.items()
    }
    for column, groups in found.items():
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
                    f"The value {new[:60]!r} of {column!r} is merged into {names[new][:60]!r}, so "
                    "that nothing can be merged into it; choose another name."
                )
    return found


def renamed(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The new value of each that is merged."""
    return {value: new for new, old in groups.items() for value in old}


def with_texts_merged(texts: pa.ChunkedArray, names: Mapping[str, str]) -> pa.ChunkedArray:
    """Texts with the new value in the place of each that is merged, whatever blanks are around it.

    Examples
    --------
    >>> with_texts_merged(pa.chunked_array([["a", " b", "c"]]), {"a": "x", "b": "x"}).to_pylist()
    ['x', 'x', 'c']
    """
    if not names:
        return texts
    kind = pa.large_string()
    place = pc.index_in(pc.utf8_trim_whitespace(texts), value_set=pa.array(names, kind))
    return pc.coalesce(pc.take(pa.array(names.values(), kind), place), texts.cast(kind))


def with_numbers_merged(
    values: npt.NDArray[np.float64], names: Mapping[str, str]
) -> npt.NDArray[np.float64]:
    """Numbers with the new one in the place of each that is merged."""
    found = values.copy()
    for old, new in names.items():
        found[values == float(old)] = float(new)
    return found


@dataclass(frozen=True)
class Recipe:
    """The steps that prepare a study's table, in the order in which they are done.

    Attributes
    ----------
    drop_missing : bool
        Drop rows with a missing value in any column.
    drop_duplicates : bool
        Drop rows that repeat an earlier row in all columns.
    where : tuple of Condition
        Keep the rows that satisfy all of these.
    merge : mapping
        By column and new value, the values that become it.
    drop : tuple of str
        Drop these columns.
    """

    drop_missing: bool = False
    drop_duplicates: bool = False
    where: tuple[Condition, ...] = ()
    merge: Merges = field(default_factory=dict)
    drop: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the table stays as it is."""
        return self == Recipe()


@dataclass(frozen=True)
class Step:
    """What a step did: which columns it looked at or changed, and the rows before and after it.

    ``condition`` is that of a "where", ``into`` holds the values that became one of a "merge".
    """

    kind: Literal["drop_missing", "drop_duplicates", "where", "merge", "drop"]
    rows_before: int
    rows_after: int
    columns: tuple[str, ...] = ()
    condition: str | None = None
    into: Mapping[str, tuple[str, ...]] | None = None

    def facts(self) -> dict[str, Any]:
        """The step as plain values."""
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
    """The prepared ``table``, its first ``n_first`` rows being of the first of two, the steps."""

    table: Table
    n_first: int
    steps: tuple[Step, ...]


def apply_recipe(table: Table, recipe: Recipe, n_first: int | None = None) -> PreparedTable:
    """Prepare a table: its rows, then its values, then its columns.

    Rows with a missing value are dropped, then rows that repeat an earlier one, then those that do
    not satisfy every condition; all columns of the table count. Values are merged after that, and
    columns dropped last.

    Parameters
    ----------
    table : Table
    recipe : Recipe
    n_first : int, optional
        Where rows of a second table follow so many of the first: a row repeats rows of its own
        table alone.

    Returns
    -------
    PreparedTable

    Raises
    ------
    StudyError
        If the table lacks a column or value that is named, or no row is left.

    Examples
    --------
    >>> from arboleda.study.data.reading import read_table
    >>> from arboleda.study.data.recipe import Recipe, parse_condition
    >>> recipe = Recipe(where=(parse_condition("target != setosa"),))
    >>> apply_recipe(read_table("iris"), recipe).table.n_rows
    100
    """
    first = table.n_rows if n_first is None else n_first
    if recipe.is_empty:
        return PreparedTable(table, first, ())
    _check_columns(table, recipe)
    rows = np.arange(table.n_rows)
    steps: list[Step] = []

    def keep(kept: npt.NDArray[np.bool_], **about: Any) -> None:
        nonlocal rows
        steps.append(Step(rows_before=len(rows), rows_after=int(kept.sum()), **about))
        rows = rows[kept]
        if not len(rows):
            raise StudyError(
                f"No row of {table.name} is left after {_named(steps[-1])}; ask for less."
            )

    if recipe.drop_missing:
        missing = np.logical_or.reduce([column.missing for column in table.columns])
        keep(~missing, kind="drop_missing")
    if recipe.drop_duplicates:
        keep(_first_of_equals(table, rows, first), kind="drop_duplicates")
    for condition in recipe.where:
        # On all rows: a value that occurs in dropped rows alone is none that is never held.
        kept = condition.satisfied(table)[rows]
        keep(kept, kind="where", columns=condition.columns, condition=condition.text)
    columns = {column.name: column for column in table.columns}
    for name, groups in recipe.merge.items():
        columns[name] = _merged(columns[name], groups)
        steps.append(Step("merge", len(rows), len(rows), (name,), into=groups))
    if recipe.drop:
        columns = {name: column for name, column in columns.items() if name not in recipe.drop}
        steps.append(Step("drop", len(rows), len(rows), recipe.drop))
    some = tuple(_with_rows(column, rows) for column in columns.values())
    prepared = replace(table, columns=some)
    return PreparedTable(prepared, int(np.searchsorted(rows, first)), tuple(steps))


def _check_columns(table: Table, recipe: Recipe) -> None:
    """Find every column that is named before any row is dropped."""
    named = [name for condition in recipe.where for name in condition.columns]
    for name in (*named, *recipe.merge, *recipe.drop):
        table.column(name)
    if {column.name for column in table.columns} <= {*recipe.drop}:
        raise StudyError(f"No column of {table.name} is left; drop fewer.")


def _named(step: Step) -> str:
    """A step as it is asked for."""
    flag = f"--{step.kind.replace('_', '-')}"
    return flag if step.condition is None else f"{flag} {step.condition!r}"


def _first_of_equals(
    table: Table, rows: npt.NDArray[np.int64], n_first: int
) -> npt.NDArray[np.bool_]:
    """True for each of the rows that repeats none before it in its own table."""
    columns = [replace(c, values=c.values[rows]) for c in table.columns]
    digests = row_digests(columns)
    kept = np.zeros(len(rows), dtype=bool)
    border = int(np.searchsorted(rows, n_first))
    for start, stop in ((0, border), (border, len(rows))):
        _, where = np.unique(digests[start:stop], return_index=True)
        kept[start + where] = True
    return kept


def _merged(column: Column, groups: Mapping[str, Sequence[str]]) -> Column:
    """A column whose named values have become others."""
    if column.kind == "numeric":
        return _merged_numbers(column, groups)
    if column.kind != "string":
        kind = "dates" if column.kind == "datetime" else "truth values"
        raise StudyError(
            f"The column {column.name!r} holds {kind}, which cannot be merged; leave it out of "
            "--merge."
        )
    names = list(column.levels)
    for value, new in renamed(groups).items():
        for code in codes_of(column, value):
            names[int(code)] = new
    levels = tuple(sorted(set(names)))
    place = {level: float(i) for i, level in enumerate(levels)}
    codes = np.array([*(place[name] for name in names), np.nan])
    values = codes[np.where(column.missing, len(names), column.values).astype(np.int64)]
    return replace(column, values=values, levels=levels)


def _merged_numbers(column: Column, groups: Mapping[str, Sequence[str]]) -> Column:
    names = renamed(groups)
    numbers = {number_of(column, old): number_of(column, new) for old, new in names.items()}
    for old, new in numbers.items():
        if not np.any(column.values == old):
            raise StudyError(f"The column {column.name!r} never holds {old:g}; leave it out.")
        if numbers.get(new, new) != new:
            raise StudyError(
                f"The value {new:g} of {column.name!r} is merged into {numbers[new]:g}, so that "
                "nothing can be merged into it; choose another number."
            )
    return replace(column, values=with_numbers_merged(column.values, names))


def _with_rows(column: Column, rows: npt.NDArray[np.int64]) -> Column:
    """The rows of a column, and of its levels those that they show."""
    values = column.values[rows]
    if column.kind != "string":
        return replace(column, values=values)
    shown = np.unique(values[~np.isnan(values)]).astype(np.int64)
    codes = np.full(len(column.levels) + 1, np.nan)
    codes[shown] = np.arange(len(shown))
    values = codes[np.where(np.isnan(values), len(column.levels), values).astype(np.int64)]
    return replace(column, values=values, levels=tuple(column.levels[i] for i in shown))
