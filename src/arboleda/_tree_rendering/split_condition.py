"""Split conditions of tree nodes as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from arboleda._locale import word
from arboleda._numbers import clip, plain, text_units

__all__ = ["MOST_LEVELS", "SplitCondition", "quoted", "subset"]

_MOST_TRIED = 40  # maximum number of categories to try in a box
MOST_LEVELS = 8  # maximum number of listed categories; the rest is counted


@dataclass(frozen=True)
class SplitCondition:
    """Split condition of a node on one column; rows that satisfy it go left.

    A numeric condition has a ``threshold`` and means "at most this", or "present" if the threshold
    is infinite. A categorical condition has ``levels``; ``left`` is whether these levels go left.

    Examples
    --------
    >>> SplitCondition("age", 30.5).text(), SplitCondition("age", 30.5).text(yes=False)
    ('age ≤ 30.5', 'age > 30.5')
    >>> colour = SplitCondition("colour", levels=("blue", "red"), left=False)
    >>> colour.text(), colour.text(yes=False)
    ('colour not in {blue, red}', 'colour in {blue, red}')
    """

    name: str
    threshold: float | None = None
    levels: tuple[str, ...] = ()
    left: bool = True

    def relation(self, yes: bool = True, *, ascii_only: bool = False) -> str:
        """Return the relation of the column to the operand, on the left or right side."""
        if self.threshold is not None:
            if isinf(self.threshold):
                return word("is present") if yes else word("is missing")
            sign = "≤" if yes else ">"
        elif len(self.levels) == 1:
            sign = "=" if yes == self.left else "≠"
        else:
            sign = word("in") if yes == self.left else word("not in")
        return {"≤": "<=", "≠": "!="}.get(sign, sign) if ascii_only else sign

    def operand(self, number: str | None = None, most: int | None = MOST_LEVELS) -> str:
        """Format the threshold or the levels; ``number`` replaces the default threshold format."""
        if self.threshold is not None:
            if isinf(self.threshold):
                return ""
            return plain(self.threshold, 5) if number is None else number
        return quoted(self.levels[0]) if len(self.levels) == 1 else subset(self.levels, most)

    def text(self, yes: bool = True, most: int | None = MOST_LEVELS) -> str:
        """Format the whole condition of a side."""
        return f"{self.name} {self.relation(yes)} {self.operand(most=most)}".rstrip()

    def lines(self, units: float, most_lines: int = 3) -> list[str]:
        """Format the relation and operand in lines of a maximum width in average letters.

        Examples
        --------
        >>> split = SplitCondition("colour", levels=("blue", "green", "red", "yellow"))
        >>> split.lines(12), split.lines(12, most_lines=2)
        (['in {blue,', 'green, red,', 'yellow}'], ['in {blue,', '... 3 more}'])
        """
        relation = self.relation()
        if len(self.levels) < 2:
            return [clip(f"{relation} {self.operand()}".rstrip(), units)]
        lines: list[str] = []
        for shown in range(min(len(self.levels), _MOST_TRIED), 0, -1):
            left_out = len(self.levels) - shown
            words = [clip(quoted(level), units - 3) + "," for level in self.levels[:shown]]
            words = (
                [*words, word("... {} more").format(left_out) + "}"]
                if left_out
                else [*words[:-1], words[-1][:-1] + "}"]
            )
            lines = _fill_lines([relation, "{" + words[0], *words[1:]], units)
            if len(lines) <= most_lines:
                break
        return lines


def _fill_lines(words: Sequence[str], units: float) -> list[str]:
    """Fill lines with words."""
    lines = [words[0]]
    for part in words[1:]:
        longer = f"{lines[-1]} {part}"
        if text_units(longer) <= units:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def subset(levels: Sequence[str], most: int | None = MOST_LEVELS) -> str:
    """Format a set of levels; beyond ``most`` the rest is counted.

    Examples
    --------
    >>> subset(["a", "b", "c, d"]), subset(["a", "b", "c"], most=1)
    ('{a, b, "c, d"}', '{a, ... 2 more}')
    """
    shown = list(map(quoted, levels if most is None else levels[:most]))
    left_out = len(levels) - len(shown)
    return (
        "{"
        + ", ".join([*shown, *([word("... {} more").format(left_out)] if left_out else [])])
        + "}"
    )


def quoted(level: str) -> str:
    """Quote a level if it would be ambiguous in a list.

    Examples
    --------
    >>> quoted("red"), quoted("red, dark"), quoted("")
    ('red', '"red, dark"', '""')
    """
    if level and level == level.strip() and not any(sign in level for sign in ',{}"\n\r'):
        return level
    inside = level.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + inside.replace("\n", "\\n").replace("\r", "\\r") + '"'
