"""Conditions on the rows of a table, such as ``age >= 17 and country in US, Canada``.

    condition  = all-of { "or" all-of }
    all-of     = comparison { "and" comparison }
    comparison = COLUMN ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) VALUE
               | COLUMN [ "not" ] "in" VALUE { "," VALUE }
               | COLUMN "is" [ "not" ] "missing"

Column names and values that contain one of these words or signs are quoted. A condition is never
run as code: its values are only compared with those of the column, according to the column's kind.
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

from arboleda._utils.errors import StudyError
from arboleda.tables.table import Column, StudyTable

__all__ = [
    "RowComparison",
    "RowCondition",
    "Token",
    "find_codes",
    "join_tokens",
    "parse_condition",
    "parse_number",
    "split_at",
    "tokenize",
]

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


@dataclass(frozen=True)
class Token:
    """A token of a text: its position, and its text without quotes."""

    kind: Literal["word", "quoted", "mark"]
    text: str
    start: int
    end: int


def tokenize(text: str, marks: Sequence[str], what: str) -> list[Token]:
    """Split a text at blanks and marks; quoted text is one token.

    A quote mark opens a quoted text only at the start of a token: it does in ``'a, b'``, but not in
    ``L'Aquila``. Within quotes, a doubled quote mark stands for one.

    Parameters
    ----------
    text : str
    marks : sequence of str
        A mark must precede those that are its prefixes.
    what : str
        The name of the text in errors.

    Raises
    ------
    StudyError
        If a quoted text is not closed.
    """
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        mark = next((m for m in marks if text.startswith(m, at)), None)
        if text[at].isspace():
            at += 1
        elif mark is not None:
            tokens.append(Token("mark", mark, at, at + len(mark)))
            at += len(mark)
        elif text[at] in "'\"":
            match = _QUOTED.match(text, at)
            if match is None:
                raise StudyError(f"{what} has an unclosed quote; add the closing {text[at]}.")
            quote = text[at]
            inner = match[0][1:-1].replace(quote * 2, quote)
            tokens.append(Token("quoted", inner, at, match.end()))
            at = match.end()
        else:
            end = at + 1
            while not (
                end == len(text)
                or text[end].isspace()
                or any(text.startswith(m, end) for m in marks)
            ):
                end += 1
            tokens.append(Token("word", text[at:end], at, end))
            at = end
    return tokens


def split_at(tokens: Sequence[Token], kind: str, text: str) -> list[list[Token]]:
    """Split tokens at those of a kind and text."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == kind and token.text == text:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def join_tokens(tokens: Sequence[Token], text: str) -> str | None:
    """Return the text of adjacent tokens: a quoted text, or the part of ``text`` that they span.

    None if there are no tokens, or if they mix quoted and unquoted text.
    """
    if not tokens:
        return None
    if any(token.kind == "quoted" for token in tokens):
        return tokens[0].text if len(tokens) == 1 else None
    return text[tokens[0].start : tokens[-1].end]


# Maximum values that an error lists.
_SHOWN = 6


def find_codes(column: Column, value: str) -> list[float]:
    """Return the codes of the levels equal to a text, ignoring surrounding blanks.

    Raises
    ------
    StudyError
        If there is no such level; the message suggests the most similar one.
    """
    codes = [float(i) for i, level in enumerate(column.levels) if level.strip() == value.strip()]
    if codes:
        return codes
    folded = {level.strip().casefold(): level.strip() for level in reversed(column.levels)}
    near = difflib.get_close_matches(value.strip().casefold(), folded, n=1, cutoff=0.6)
    if near:
        hint = f"did you mean {folded[near[0]]!r}?"
    else:
        shown = ", ".join(repr(level.strip()[:40]) for level in column.levels[:_SHOWN])
        more = len(column.levels) - _SHOWN
        hint = f"its values are {shown}{f' and {more:,} more' if more > 0 else ''}."
    raise StudyError(f"The column {column.name!r} has no value {value.strip()[:60]!r}; {hint}")


def parse_number(column: Column, value: str) -> float:
    """Parse a value of a numeric column.

    Raises
    ------
    StudyError
        If it is not a finite number.
    """
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise StudyError(
            f"The column {column.name!r} holds numbers, and {value.strip()[:60]!r} is not a "
            "number; write one such as 17 or 2.5."
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
# Keywords after a column's name, and the operator that they stand for.
_PHRASES = (
    (("is", "not", "missing"), "is not missing"),
    (("is", "missing"), "is missing"),
    (("not", "in"), "not in"),
    (("in",), "in"),
)
_HOW = "write it as in 'age >= 17', 'country in US, Canada' or 'age is not missing'"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RowComparison:
    """Comparison of a column with values, which are kept as the user wrote them."""

    column: str
    operator: str
    values: tuple[str, ...] = ()

    def evaluate(self, table: StudyTable) -> Mask:
        """Return which rows satisfy it; a missing value satisfies only ``is missing``."""
        column = table.column(self.column)
        if self.operator == "is missing":
            return column.missing
        if self.operator == "is not missing":
            return ~column.missing
        equal = self.operator in ("==", "in")
        if equal or self.operator in ("!=", "not in"):
            known = [x for value in self.values for x in _parse_value(column, value)]
            is_equal: Mask = np.isin(column.values, known)
            return ~column.missing & (is_equal if equal else ~is_equal)
        if column.kind in ("string", "boolean"):
            raise StudyError(
                f"The column {column.name!r} holds {_KINDS[column.kind]}, which have no order, so "
                f"{self.operator!r} cannot compare them; use ==, != or in."
            )
        # A comparison with NaN is False.
        satisfied: Mask = _ORDER[self.operator](
            column.values, _parse_value(column, self.values[0])[0]
        )
        return satisfied


@dataclass(frozen=True)
class RowCondition:
    """Condition for rows to be kept, in disjunctive normal form.

    Attributes
    ----------
    text : str
        The condition as the user wrote it.
    any_of : tuple of tuple of RowComparison
        A row is kept if it satisfies all comparisons of at least one of the inner tuples.

    Examples
    --------
    >>> condition = parse_condition("age >= 17 and country in US, Canada or age is missing")
    >>> [[each.column for each in all_of] for all_of in condition.any_of]
    [['age', 'country'], ['age']]
    """

    text: str
    any_of: tuple[tuple[RowComparison, ...], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The compared columns, each once."""
        return tuple(dict.fromkeys(each.column for all_of in self.any_of for each in all_of))

    def evaluate(self, table: StudyTable) -> Mask:
        """Return which rows of a table satisfy the condition.

        Raises
        ------
        StudyError
            If the table lacks a column, a value does not have the column's kind or does not occur
            in it, or the column has no order.
        """
        masks = [[each.evaluate(table) for each in all_of] for all_of in self.any_of]
        satisfied: Mask = np.logical_or.reduce([np.logical_and.reduce(all_of) for all_of in masks])
        return satisfied


def parse_condition(text: str) -> RowCondition:
    """Parse a condition.

    Raises
    ------
    StudyError
        If the text is not a valid condition.
    """
    where = f"The condition {text.strip()[:80]!r}"
    tokens = tokenize(text, _MARKS, where)
    any_of = []
    for part in split_at(tokens, "word", "or"):
        parts = split_at(part, "word", "and")
        any_of.append(tuple(_parse_comparison(each, text, where) for each in parts))
    return RowCondition(text.strip(), tuple(any_of))


def _parse_comparison(tokens: Sequence[Token], text: str, where: str) -> RowComparison:
    start, end, name = _find_operator(tokens, where)
    column = join_tokens(tokens[:start], text)
    if column is None:
        raise StudyError(f"{where} names no column before {name!r}; {_HOW}.")
    right = tokens[end:]
    if name.endswith("missing"):
        if right:
            raise StudyError(f"{where} has text after {name!r}; {_HOW}.")
        return RowComparison(column, name)
    sign = next((t for t in right if t.kind == "mark" and t.text in (*_ORDER, "=", "!")), None)
    if sign is not None:
        raise StudyError(
            f"{where} has the sign {sign.text!r} in a value; put the value in quotes, as in "
            f"{column} {name} '>50K'."
        )
    parts = _split_list(right) if name.endswith("in") else [right]
    values = [join_tokens(part, text) for part in parts]
    known = tuple(value for value in values if value is not None)
    if len(known) < len(values):
        raise StudyError(
            f"{where} lacks a value after {name!r}, or mixes quoted and unquoted text; {_HOW}."
        )
    return RowComparison(column, name, known)


def _find_operator(tokens: Sequence[Token], where: str) -> tuple[int, int, str]:
    """Return the start and end of the operator, and its name."""
    for i, token in enumerate(tokens):
        if token.kind == "mark" and token.text in _ORDER:
            return i, i + 1, token.text
        if token.kind == "mark" and token.text == "=":
            raise StudyError(f"{where} has a single '='; write '=='.")
        for words, name in _PHRASES:
            here = tokens[i : i + len(words)]
            if all(t.kind == "word" for t in here) and tuple(t.text for t in here) == words:
                return i, i + len(words), name
    text = " ".join(token.text for token in tokens)
    what = f"the part {text[:60]!r}" if text else "an empty part"
    raise StudyError(
        f"{where} cannot be read: {what} is not a comparison; {_HOW}, and quote names and values "
        "that contain 'and' or 'or'."
    )


def _split_list(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split a list of values, with or without brackets, at its commas."""
    marks = [token.text if token.kind == "mark" else "" for token in tokens]
    if len(marks) > 1 and (marks[0], marks[-1]) in _BRACKETS:
        tokens = tokens[1:-1]
    return split_at(tokens, "mark", ",")


_KINDS = {"string": "texts", "boolean": "truth values"}


def _parse_value(column: Column, value: str) -> list[float]:
    """Return the numbers or codes that represent a value in a column."""
    if column.kind == "string":
        return find_codes(column, value)
    if column.kind == "boolean":
        known = {"true": 1.0, "false": 0.0}.get(value.strip().lower())
        if known is None:
            raise StudyError(
                f"The column {column.name!r} holds truth values, and {value[:60]!r} is not one; "
                "write true or false."
            )
        return [known]
    if column.kind == "datetime":
        return [_parse_date(column, value)]
    return [parse_number(column, value)]


def _parse_date(column: Column, value: str) -> float:
    """Return the seconds since 1970 of a date in ISO 8601 format."""
    try:
        when = datetime.fromisoformat(value.strip())
    except ValueError:
        raise StudyError(
            f"The column {column.name!r} holds dates, and {value[:60]!r} is not a date; write one "
            "such as 2024-05-31 or '2024-05-31 14:30'."
        ) from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
