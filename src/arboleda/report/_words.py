"""Words that sentences of pages share."""

import re
from collections.abc import Sequence

from arboleda._numbers import integer
from arboleda.report._texts import text

__all__ = ["count_word", "counted", "listed", "quoted", "within"]

# Names of people and of places keep their capital within a sentence.
_PEOPLE = ("Matthews", "Brier", "Cohen")
_SOUNDS_LIKE_Y = re.compile(r"h?i(?![aeo])", re.IGNORECASE)


def count_word(number: int) -> str:
    """Write a small count as a word."""
    words = text("list.counts").split()
    return words[number] if number < len(words) else integer(number)


def counted(number: int, noun: str) -> str:
    """Write a count of things that have a plural with s.

    Examples
    --------
    >>> counted(1, "column"), counted(1200, "column")
    ('1 column', '1,200 columns')
    """
    return f"{integer(number)} {noun}{'' if number == 1 else 's'}"


def quoted(name: str) -> str:
    """Set a name apart from the sentence."""
    return text("list.quoted", name=name)


def listed(names: Sequence[str], most: int = 4) -> str:
    """List names as a sentence does; past a few, the rest is counted."""
    if len(names) > most:
        rest = count_word(len(names) - most + 1)
        return text("list.more", names=", ".join(names[: most - 1]), count=rest)
    if len(names) < 2:
        return "".join(names)
    key = "list.and_i" if _SOUNDS_LIKE_Y.match(names[-1]) else "list.and"
    return text(key, names=", ".join(names[:-1]), last=names[-1])


def within(label: str) -> str:
    """Write a name as within a sentence: words in lower case, abbreviations as they are.

    Examples
    --------
    >>> [within(label) for label in ("Balanced accuracy", "ROC AUC", "Matthews correlation")]
    ['balanced accuracy', 'ROC AUC', 'Matthews correlation']
    """
    first = label.split(" ", maxsplit=1)[0]
    if not first[1:].replace("-", "").islower() or first in _PEOPLE:
        return label
    return label[0].lower() + label[1:]
