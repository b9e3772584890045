"""Values that become one, as ``education: Preschool, 1st-4th -> dropout; HS-grad -> HighGrad``.

    merge = COLUMN ":" group { ";" group }
    group = VALUE { "," VALUE } "->" NEW

Values that no group names stay as they are. A name or value that holds one of the signs is put in
quotes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from arboleda.study.data.recipe.tokens import Token, plain_text, split_at, tokenize
from arboleda.study.errors import StudyError

__all__ = [
    "Merges",
    "checked_merges",
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
