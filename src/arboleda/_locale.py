"""In which language pages and drawings speak: their few shared words and the marks of numbers.

Whoever draws a page in another language than English says so once, around all of it; what writes
numbers or labels far below asks here. Outside of such a page everything is English.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

__all__ = ["Locale", "current_locale", "localize_number", "use_locale", "word"]

_NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*)(\.\d+)?")
_SHORT = 4  # digits that stay together where groups are set apart by a space


@dataclass(frozen=True)
class Locale:
    """A language: its code, the marks of its numbers, and its words for those of drawings."""

    language: str = "en"
    decimal: str = "."
    group: str = ","
    words: Mapping[str, str] = field(default_factory=dict)


_ENGLISH = Locale()
_spoken: ContextVar[Locale] = ContextVar("speech")


def current_locale() -> Locale:
    """Tell what is spoken here and now."""
    return _spoken.get(_ENGLISH)


@contextmanager
def use_locale(speech: Locale) -> Iterator[None]:
    """Speak like this within the block."""
    token = _spoken.set(speech)
    try:
        yield
    finally:
        _spoken.reset(token)


def word(english: str) -> str:
    """Say a word of drawings in the language of the page.

    Examples
    --------
    >>> with use_locale(Speech("es", words={"yes": "sí"})):
    ...     word("yes"), word("no")
    ('sí', 'no')
    """
    return current_locale().words.get(english, english)


def localize_number(number: str) -> str:
    """Give a number that is written in English the marks of the page's language.

    Examples
    --------
    >>> with use_locale(Speech("es", decimal=",", group=" ")):
    ...     [localize_number(text) for text in ("0.25", "1,234", "12,345.6", "<0.1 %")]
    ['0,25', '1234', '12 345,6', '<0,1 %']
    """
    speech = current_locale()
    if (speech.decimal, speech.group) == (".", ","):
        return number

    def write(found: re.Match[str]) -> str:
        whole = found[1].replace(",", "")
        if "," in found[1] and len(whole) > _SHORT:
            whole = found[1].replace(",", speech.group)
        return whole + (found[2] or "").replace(".", speech.decimal)

    return _NUMBER.sub(write, number)
