"""What a node of a tree asks, in words of the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from arboleda._numbers import clip, plain, text_units

__all__ = ["MOST_LEVELS", "Question", "quoted", "subset"]

MOST_LEVELS = 8  # of a set of categories, before the rest is only counted


@dataclass(frozen=True)
class Question:
    """One node's question about one column; "yes" is the way to the left.

    A numeric question has a ``threshold`` and means "at most this"; with an infinite one it means
    "present". Another names ``levels`` of a categorical column; ``left`` tells whether they are
    the ones that go left.

    Examples
    --------
    >>> Question("age", 30.5).text(), Question("age", 30.5).text(yes=False)
    ('age ≤ 30.5', 'age > 30.5')
    >>> colour = Question("colour", levels=("blue", "red"), left=False)
    >>> colour.text(), colour.text(yes=False)
    ('colour not in {blue, red}', 'colour in {blue, red}')
    """

    name: str
    threshold: float | None = None
    levels: tuple[str, ...] = ()
    left: bool = True

    def relation(self, yes: bool = True, *, ascii_only: bool = False) -> str:
        """Tell how the column relates to the operand, on the left side or on the right one."""
        if self.threshold is not None:
            if isinf(self.threshold):
                return "is present" if yes else "is missing"
            sign = "≤" if yes else ">"
        elif len(self.levels) == 1:
            sign = "=" if yes == self.left else "≠"
        else:
            sign = "in" if yes == self.left else "not in"
        return {"≤": "<=", "≠": "!="}.get(sign, sign) if ascii_only else sign

    def operand(self, number: str | None = None, most: int | None = MOST_LEVELS) -> str:
        """Write the threshold or the levels; ``number`` is the threshold in other digits."""
        if self.threshold is not None:
            if isinf(self.threshold):
                return ""
            return plain(self.threshold, 5) if number is None else number
        return quoted(self.levels[0]) if len(self.levels) == 1 else subset(self.levels, most)

    def text(self, yes: bool = True, most: int | None = MOST_LEVELS) -> str:
        """Write the whole condition of a side."""
        return f"{self.name} {self.relation(yes)} {self.operand(most=most)}".rstrip()

    def operand_within(self, units: float) -> str:
        """Write the operand no wider than this, in average letters."""
        if len(self.levels) < 2:
            return clip(self.operand(), units)
        for most in range(min(len(self.levels), 2 * MOST_LEVELS), 0, -1):
            text = subset(self.levels, most)
            if text_units(text) <= units:
                return text
        count = len(self.levels) - 1
        first = clip(
            quoted(self.levels[0]), max(3.0, units - text_units(f"{{, ... {count} more}}"))
        )
        return f"{{{first}, ... {count} more}}"


def subset(levels: Sequence[str], most: int | None = MOST_LEVELS) -> str:
    """Write a set of levels; beyond ``most`` the rest is counted.

    Examples
    --------
    >>> subset(["a", "b", "c, d"]), subset(["a", "b", "c"], most=1)
    ('{a, b, "c, d"}', '{a, ... 2 more}')
    """
    shown = list(map(quoted, levels if most is None else levels[:most]))
    left_out = len(levels) - len(shown)
    return "{" + ", ".join([*shown, *([f"... {left_out} more"] if left_out else [])]) + "}"


def quoted(level: str) -> str:
    """Put quotes about a level that would not read as one in a list.

    Examples
    --------
    >>> quoted("red"), quoted("red, dark"), quoted("")
    ('red', '"red, dark"', '""')
    """
    if level and level == level.strip() and not any(sign in level for sign in ',{}"\n\r'):
        return level
    inside = level.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + inside.replace("\n", "\\n").replace("\r", "\\r") + '"'
