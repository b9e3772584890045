"""Language of pages and drawings: shared words and the format of numbers.

Code that draws a page in a language other than English wraps it in `use_locale`; functions that
format numbers or labels use the current locale, which is English by default.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from gettext import NullTranslations

__all__ = ["Locale", "current_locale", "localize_number", "use_locale", "word"]

_NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*)(\.\d+)?")
_SHORT = 4  # maximum number of digits without group separators


@dataclass(frozen=True)
class Locale:
    """Language code, number format and message catalogue; English has an empty catalogue."""

    language: str = "en"
    decimal: str = "."
    group: str = ","
    catalogue: NullTranslations = field(default_factory=NullTranslations)


_ENGLISH = Locale()
_current: ContextVar[Locale] = ContextVar("locale")


def current_locale() -> Locale:
    """Return the current locale."""
    return _current.get(_ENGLISH)


@contextmanager
def use_locale(locale: Locale) -> Iterator[None]:
    """Use a locale within the block."""
    token = _current.set(locale)
    try:
        yield
    finally:
        _current.reset(token)


def word(english: str) -> str:
    """Translate a word of drawings to the current language; a word without translation stays.

    Examples
    --------
    >>> word("yes")
    'yes'
    """
    return current_locale().catalogue.gettext(english)


def localize_number(number: str) -> str:
    """Convert a number from the English format to the current locale's format.

    Examples
    --------
    >>> with use_locale(Locale("es", decimal=",", group=" ")):
    ...     [localize_number(text) for text in ("0.25", "1,234", "12,345.6", "<0.1 %")]
    ['0,25', '1234', '12 345,6', '<0,1 %']
    """
    locale = current_locale()
    if (locale.decimal, locale.group) == (".", ","):
        return number

    def write(found: re.Match[str]) -> str:
        whole = found[1].replace(",", "")
        if "," in found[1] and len(whole) > _SHORT:
            whole = found[1].replace(",", locale.group)
        return whole + (found[2] or "").replace(".", locale.decimal)

    return _NUMBER.sub(write, number)
