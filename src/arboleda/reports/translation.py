"""Translation of the pages by gettext catalogues.

The English text is the message: ``_("{count} rows", count="3")`` looks it up in the catalogue of
the current language (`arboleda._locale`) and fills in the named placeholders. `N_` marks a message
of a table that is translated later. The catalogues are
``locales/<language>/LC_MESSAGES/arboleda.po``; ``tools/translations.py`` extracts the messages of
code and templates into them and compiles them, by Babel.
"""

from functools import cache
from gettext import translation
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from arboleda._locale import Locale, current_locale

__all__ = ["LANGUAGES", "NP_", "N_", "get_locale", "gettext", "ngettext", "pgettext"]

LANGUAGES = ("en", "es")
_CATALOGUES = Path(__file__).parent / "locales"
# Decimal mark and group separator.
_MARKS = {"es": (",", "\N{NARROW NO-BREAK SPACE}")}


@cache
def get_locale(language: str) -> Locale:
    """Return the locale of a language code.

    Raises
    ------
    ValueError
        If the language is not available.
    """
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}; choose one of {', '.join(LANGUAGES)}")
    if language == "en":
        return Locale()
    decimal, group = _MARKS[language]
    return Locale(language, decimal, group, translation("arboleda", _CATALOGUES, [language]))


def N_(message: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a message for extraction; it is translated where it is used."""
    return message


def NP_(context: str, message: str) -> str:  # noqa: N802
    """Mark a message with a context for extraction; see `pgettext`."""
    return message


def gettext(message: str, /, **values: Any) -> str:
    """Translate a message and fill in its placeholders.

    Returns
    -------
    str
        `Markup` if one of the values is `Markup`; then all other values are escaped.

    Examples
    --------
    >>> gettext("{low} to {high}", low="0.1", high="0.2")
    '0.1 to 0.2'
    """
    return _fill(current_locale().catalogue.gettext(message), values)


def ngettext(one: str, many: str, count: int, /, **values: Any) -> str:
    """Translate the singular or the plural of a message.

    Examples
    --------
    >>> ngettext("{count} row", "{count} rows", 2, count="2")
    '2 rows'
    """
    return _fill(current_locale().catalogue.ngettext(one, many, count), values)


def pgettext(context: str, message: str, /, **values: Any) -> str:
    """Translate a message that has several translations, in a context.

    Examples
    --------
    >>> pgettext("menu", "Reproduce")
    'Reproduce'
    """
    return _fill(current_locale().catalogue.pgettext(context, message), values)


def _fill(template: str, values: dict[str, Any]) -> str:
    if any(isinstance(value, Markup) for value in values.values()):
        return Markup(escape(template)).format(**values)
    return template.format(**values) if values else template
