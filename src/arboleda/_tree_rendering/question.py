"""What a node of a tree asks, in words of the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from arboleda._locale import word
from arboleda._numbers import clip, plain, text_units

__all__ = ["MOST_LEVELS", "Question", "quoted", "subset"]

_MOST_TRIED = 40  # categories that a box could hold
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
                return word("is present" if yes else "is missing")
            sign = "≤" if yes else ">"
        elif len(self.levels) == 1:
            sign = "=" if yes == self.left else "≠"
        else:
            sign = word("in" if yes == self.left else "not in")
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

    def lines(self, units: float, most_lines: int = 3) -> list[str]:
        """Write what is asked of the column in lines of this width, in average letters.

        Examples
        --------
        >>> question = Question("colour", levels=("blue", "green", "red", "yellow"))
        >>> question.lines(12), question.lines(12, most_lines=2)
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
            lines = _filled([relation, "{" + words[0], *words[1:]], units)
            if len(lines) <= most_lines:
                break
        return lines


def _filled(words: Sequence[str], units: float) -> list[str]:
    """Put words into lines, as many in each as fit."""
    lines = [words[0]]
    for part in words[1:]:
        longer = f"{lines[-1]} {part}"
        if text_units(longer) <= units:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def subset(levels: Sequence[str], most: int | None = MOST_LEVELS) -> str:
    """Write a set of levels; beyond ``most`` the rest is counted.

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
