"""Words that sentences of pages share."""

from collections.abc import Sequence

from arboleda._numbers import integer

__all__ = ["count_word", "counted", "listed", "quoted"]

_COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905


def count_word(number: int) -> str:
    """Write a small count as a word."""
    return _COUNTS[number] if number < len(_COUNTS) else integer(number)


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
    return f"\N{LEFT DOUBLE QUOTATION MARK}{name}\N{RIGHT DOUBLE QUOTATION MARK}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """List names as a sentence does; past a few, the rest is counted."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {count_word(len(names) - most + 1)} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
