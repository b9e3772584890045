"""Conditions on the rows of a table, as ``age >= 17 and country in US, Canada``.

    condition  = all-of { "or" all-of }
    all-of     = comparison { "and" comparison }
    comparison = COLUMN ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) VALUE
               | COLUMN [ "not" ] "in" VALUE { "," VALUE }
               | COLUMN "is" [ "not" ] "missing"

A column or value that holds one of these words or signs is put in quotes. Nothing is evaluated:
values are compared with those of the column, by its kind.
"""

import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda.study.data.table import Column, Table
from arboleda.study.errors import StudyError

__all__ = [
    "Comparison",
    "Condition",
    "Token",
    "codes_of",
    "number_of",
    "parse_condition",
    "plain_text",
    "split_at",
    "tokenize",
]

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


@dataclass(frozen=True)
class Token:
    """A piece of a text: where it stands, and what it says without quotes."""

    kind: Literal["word", "quoted", "mark"]
    text: str
    start: int
    end: int


def tokenize(text: str, marks: Sequence[str], what: str) -> list[Token]:
    """Split a text at blanks and marks; what stands in quotes is one piece.

    A quote opens a quoted text only where a piece begins, as in ``'a, b'`` and not in ``L'Aquila``.
    Within quotes, two of them stand for one.

    Parameters
    ----------
    text : str
    marks : sequence of str
        Longer ones before those that they begin with.
    what : str
        What the text is called in errors.

    Raises
    ------
    StudyError
        If a quoted text has no end.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        mark = next((m for m in marks if text.startswith(m, at)), None)
        if text[at].isspace():
            at += 1
        elif mark is not None:
            found.append(Token("mark", mark, at, at + len(mark)))
            at += len(mark)
        elif text[at] in "'\"":
            match = _QUOTED.match(text, at)
            if match is None:
                raise StudyError(f"{what} has a quote without an end; add the closing {text[at]}.")
            quote = text[at]
            inner = match[0][1:-1].replace(quote * 2, quote)
            found.append(Token("quoted", inner, at, match.end()))
            at = match.end()
        else:
            end = at + 1
            while not (
                end == len(text)
                or text[end].isspace()
                or any(text.startswith(m, end) for m in marks)
            ):
                end += 1
            found.append(Token("word", text[at:end], at, end))
            at = end
    return found


def split_at(tokens: Sequence[Token], kind: str, text: str) -> list[list[Token]]:
    """The pieces between the tokens of that kind and text."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == kind and token.text == text:
            found.append([])
        else:
            found[-1].append(token)
    return found


def plain_text(tokens: Sequence[Token], text: str) -> str | None:
    """What the tokens say together: one quoted text, or a stretch of ``text`` without any.

    None if they say nothing, or mix quoted and other text.
    """
    if not tokens:
        return None
    if any(token.kind == "quoted" for token in tokens):
        return tokens[0].text if len(tokens) == 1 else None
    return text[tokens[0].start : tokens[-1].end]


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


_ORDER: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_MARKS = (*_ORDER, "=", "!", ",", "[", "]", "(", ")")
_BRACKETS = (("[", "]"), ("(", ")"))
# Keywords after a column's name, and what they are called in a comparison.
_PHRASES = (
    (("is", "not", "missing"), "is not missing"),
    (("is", "missing"), "is missing"),
    (("not", "in"), "not in"),
    (("in",), "in"),
)
_HOW = "write it as in 'age >= 17', 'country in US, Canada' or 'age is not missing'"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Comparison:
    """One column against values, which stand as they were written."""

    column: str
    operator: str
    values: tuple[str, ...] = ()

    def satisfied(self, table: Table) -> Mask:
        """True for each row that satisfies it; a missing value satisfies ``is missing`` alone."""
        column = table.column(self.column)
        if self.operator == "is missing":
            return column.missing
        if self.operator == "is not missing":
            return ~column.missing
        equal = self.operator in ("==", "in")
        if equal or self.operator in ("!=", "not in"):
            known = [x for value in self.values for x in _known(column, value)]
            found: Mask = np.isin(column.values, known)
            return ~column.missing & (found if equal else ~found)
        if column.kind in ("string", "boolean"):
            raise StudyError(
                f"The column {column.name!r} holds {_KINDS[column.kind]}, which have no order for "
                f"{self.operator!r}; use ==, != or in."
            )
        # A comparison with NaN is False.
        satisfied: Mask = _ORDER[self.operator](column.values, _known(column, self.values[0])[0])
        return satisfied


@dataclass(frozen=True)
class Condition:
    """Which rows are kept.

    Attributes
    ----------
    text : str
        As it was written.
    any_of : tuple of tuple of Comparison
        A row is kept if it satisfies all comparisons of one of these.

    Examples
    --------
    >>> condition = parse_condition("age >= 17 and country in US, Canada or age is missing")
    >>> [[each.column for each in all_of] for all_of in condition.any_of]
    [['age', 'country'], ['age']]
    """

    text: str
    any_of: tuple[tuple[Comparison, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it compares, each once."""
        return tuple(dict.fromkeys(each.column for all_of in self.any_of for each in all_of))

    def satisfied(self, table: Table) -> Mask:
        """True for each row of the table that satisfies it.

        Raises
        ------
        StudyError
            If the table has no such column, a value is not of the column's kind or never occurs
            in it, or the column has no order.
        """
        found = [[each.satisfied(table) for each in all_of] for all_of in self.any_of]
        satisfied: Mask = np.logical_or.reduce([np.logical_and.reduce(all_of) for all_of in found])
        return satisfied


def parse_condition(text: str) -> Condition:
    """Read a condition.

    Raises
    ------
    StudyError
        If it is none.
    """
    where = f"The condition {text.strip()[:80]!r}"
    tokens = tokenize(text, _MARKS, where)
    any_of = []
    for part in split_at(tokens, "word", "or"):
        parts = split_at(part, "word", "and")
        any_of.append(tuple(_comparison(each, text, where) for each in parts))
    return Condition(text.strip(), tuple(any_of))


def _comparison(tokens: Sequence[Token], text: str, where: str) -> Comparison:
    start, end, name = _operator(tokens, where)
    column = plain_text(tokens[:start], text)
    if column is None:
        raise StudyError(f"{where} names no column before {name!r}; {_HOW}.")
    right = tokens[end:]
    if name.endswith("missing"):
        if right:
            raise StudyError(f"{where} goes on after {name!r}; {_HOW}.")
        return Comparison(column, name)
    strange = next((t for t in right if t.kind == "mark" and t.text in (*_ORDER, "=", "!")), None)
    if strange is not None:
        raise StudyError(
            f"{where} has the sign {strange.text!r} in a value; put the value in quotes, as in "
            f"{column} {name} '>50K'."
        )
    parts = _listed(right) if name.endswith("in") else [right]
    values = [plain_text(part, text) for part in parts]
    known = tuple(value for value in values if value is not None)
    if len(known) < len(values):
        raise StudyError(
            f"{where} lacks a value after {name!r}, or has text beside a quoted one; {_HOW}."
        )
    return Comparison(column, name, known)


def _operator(tokens: Sequence[Token], where: str) -> tuple[int, int, str]:
    """Where the operator begins and ends, and what it is called."""
    for i, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _ORDER:
            return i, i + 1, token.text
        if token.kind == "mark" and token.text == "=":
            raise StudyError(f"{where} compares by a single '='; write '=='.")
        for words, name in _PHRASES:
            here = tokens[i : i + len(words)]
            if all(t.kind == "word" for t in here) and tuple(t.text for t in here) == words:
                return i, i + len(words), name
    said = " ".join(token.text for token in tokens)
    what = f"the part {said[:60]!r}" if said else "a part"
    raise StudyError(
        f"{where} cannot be read: {what} compares nothing; {_HOW}, with quotes around a name or "
        "value that holds 'and' or 'or'."
    )


def _listed(tokens: Sequence[Token]) -> list[list[Token]]:
    """The values of a list, with or without brackets around it."""
    marks = [token.text if token.kind == "mark" else "" for token in tokens]
    if len(marks) > 1 and (marks[0], marks[-1]) in _BRACKETS:
        tokens = tokens[1:-1]
    return split_at(tokens, "mark", ",")


_KINDS = {"string": "texts", "boolean": "truth values"}


def _known(column: Column, value: str) -> list[float]:
    """The numbers or codes by which a column holds a value."""
    if column.kind == "string":
        return codes_of(column, value)
    if column.kind == "boolean":
        known = {"true": 1.0, "false": 0.0}.get(value.strip().lower())
        if known is None:
            raise StudyError(
                f"The column {column.name!r} holds truth values, and {value[:60]!r} is none; write "
                "true or false."
            )
        return [known]
    if column.kind == "datetime":
        return [_seconds(column, value)]
    return [number_of(column, value)]


def _seconds(column: Column, value: str) -> float:
    """Seconds since 1970 of a date in ISO form."""
    try:
        when = datetime.fromisoformat(value.strip())
    except ValueError:
        raise StudyError(
            f"The column {column.name!r} holds dates, and {value[:60]!r} is none; write it as in "
            "2024-05-31 or '2024-05-31 14:30'."
        ) from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
