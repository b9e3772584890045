"""Formatting of counts and names within sentences."""

import re
from collections.abc import Sequence

from arboleda._numbers import integer
from arboleda.report._texts import text

__all__ = ["format_count", "join_names", "lower_label", "quote_name", "spell_count"]

# Proper names keep their capital within a sentence.
_PEOPLE = ("Matthews", "Brier", "Cohen")
_SOUNDS_LIKE_Y = re.compile(r"h?i(?![aeo])", re.IGNORECASE)


def spell_count(number: int) -> str:
    """Spell out a small count."""
    words = text("list.counts").split()
    return words[number] if number < len(words) else integer(number)


def format_count(number: int, noun: str) -> str:
    """Format a count with a noun whose plural ends in s.

    Examples
    --------
    >>> format_count(1, "column"), format_count(1200, "column")
    ('1 column', '1,200 columns')
    """
    return f"{integer(number)} {noun}{'' if number == 1 else 's'}"


def quote_name(name: str) -> str:
    """Quote a name as the language does."""
    return text("list.quoted", name=name)


def join_names(names: Sequence[str], most: int = 4) -> str:
    """Join names with commas and "and"; beyond a few, the rest is counted."""
    if len(names) > most:
        rest = spell_count(len(names) - most + 1)
        return text("list.more", names=", ".join(names[: most - 1]), count=rest)
    if len(names) < 2:
        return "".join(names)
    key = "list.and_i" if _SOUNDS_LIKE_Y.match(names[-1]) else "list.and"
    return text(key, names=", ".join(names[:-1]), last=names[-1])


def lower_label(label: str) -> str:
    """Lower the first letter of a label, except of abbreviations and proper names.

    Examples
    --------
    >>> [lower_label(label) for label in ("Balanced accuracy", "ROC AUC", "Matthews correlation")]
    ['balanced accuracy', 'ROC AUC', 'Matthews correlation']
    """
    first = label.split(" ", maxsplit=1)[0]
    if not first[1:].replace("-", "").islower() or first in _PEOPLE:
        return label
    return label[0].lower() + label[1:]
