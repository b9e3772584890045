"""Values that a user writes, found in a column."""

import difflib
import math

from arboleda.study.data.table import Column
from arboleda.study.errors import StudyError

__all__ = ["codes_of", "number_of"]

# Values that an error lists.
_SHOWN = 6


def codes_of(column: Column, value: str) -> list[float]:
    """The codes of the levels that are this text, apart from blanks around them.

    Raises
    ------
    StudyError
        If there is no such level; it names the nearest.
    """
    found = [float(i) for i, level in enumerate(column.levels) if level.strip() == value.strip()]
    if found:
        return found
    folded = {level.strip().casefold(): level.strip() for level in reversed(column.levels)}
    near = difflib.get_close_matches(value.strip().casefold(), folded, n=1, cutoff=0.6)
    if near:
        hint = f"did you mean {folded[near[0]]!r}?"
    else:
        shown = ", ".join(repr(level.strip()[:40]) for level in column.levels[:_SHOWN])
        more = len(column.levels) - _SHOWN
        hint = f"it holds {shown}{f' and {more:,} more' if more > 0 else ''}."
    raise StudyError(f"The column {column.name!r} never holds {value.strip()[:60]!r}; {hint}")


def number_of(column: Column, value: str) -> float:
    """The number that is written for a column of numbers.

    Raises
    ------
    StudyError
        If it is none.
    """
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise StudyError(
            f"The column {column.name!r} holds numbers, and {value.strip()[:60]!r} is none; write "
            "a number such as 17 or 2.5."
        )
    return number
