"""The words of the pages, by language: every text stands in one table, ``locales/<language>.toml``.

A text is asked for by its key, as in ``text("summary.alone", name="CART")``; which language answers
is what `arboleda._locale` says is spoken. Facts hold sentences in English: `told` says them in the
language of the page where the table knows their shape.
"""

import re
import tomllib
from ast import literal_eval
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from arboleda._locale import Locale, current_locale, localize_number

__all__ = ["LANGUAGES", "counted", "locale_of", "text", "told"]

LANGUAGES = ("en", "es")
_FOLDER = Path(__file__).parent / "locales"
_PLACE = re.compile(r"\\{(\w+)\\}")
# Places of a sentence that hold words of the program, not of the user.
_WORDS = frozenset({"how", "reason", "row", "rows", "what", "why"})
# Places of names, which the facts set between the quotes of Python.
_NAMES = frozenset({"column", "label"})
_NUMBER = re.compile(r"[<>]?[\d.,]+(\N{NO-BREAK SPACE}%| %)?")


def locale_of(language: str) -> Locale:
    """Find a language by its code.

    Raises
    ------
    ValueError
        If the pages do not speak it.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no page speaks {language!r}; choose one of {', '.join(LANGUAGES)}")
    table = _table(language)
    english, words = _sentences("en", "drawing"), _sentences(language, "drawing")
    return Locale(
        language=language,
        decimal=table["number.decimal"],
        group=table["number.group"],
        words={english[key]: words[key] for key in english},
    )


def text(key: str, /, **values: Any) -> str:
    """Say a text of the table, with these values in their places.

    Returns
    -------
    str
        `Markup` if one of the values is; then all others are escaped.

    Examples
    --------
    >>> text("interval.range", low="0.1", high="0.2")
    '0.1 to 0.2'
    """
    said = _table(current_locale().language)[key]
    if any(isinstance(value, Markup) for value in values.values()):
        return Markup(escape(said)).format(**values)
    return said.format(**values) if values else said


def counted(key: str, count: int, /, **values: Any) -> str:
    """Say the text ``<key>.one`` for one thing, ``<key>.many`` for another count of things.

    Examples
    --------
    >>> counted("count.rows", 1, count="1"), counted("count.rows", 2, count="2")
    ('1 row', '2 rows')
    """
    return text(f"{key}.{'one' if count == 1 else 'many'}", **values)


def told(sentence: str) -> str:
    """Say in the language of the page what the facts say in English; as it is if it is not known.

    Examples
    --------
    >>> from arboleda._locale import use_locale
    >>> with use_locale(locale_of("es")):
    ...     told("Random forest"), told("My own forest")
    ('Bosque aleatorio', 'My own forest')
    """
    language = current_locale().language
    known = _sentences(language, "facts").get(_exact().get(sentence, ""))
    if known is not None:
        return known
    if language == "en" and "'" not in sentence and '"' not in sentence:
        return sentence
    for key, pattern in _patterns():
        found = pattern.fullmatch(sentence)
        if found:
            said = _sentences(language, "facts")[key]
            return said.format(**{name: _part(name, x) for name, x in found.groupdict().items()})
    return sentence


def _part(name: str, value: str) -> str:
    """What stands in a place: a number in the marks of the page, or words, or the user's text."""
    if name in _NAMES and value[:1] in ("'", '"'):
        try:
            return text("list.quoted", name=literal_eval(value))
        except (SyntaxError, ValueError):
            return value
    if name not in ("target", "label") and _NUMBER.fullmatch(value):
        return localize_number(value)
    return told(value) if name in _WORDS else value


@cache
def _table(language: str) -> Mapping[str, str]:
    found = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return dict(_flat(found, ""))


def _flat(table: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield before + key, value
        else:
            yield from _flat(value, f"{before}{key}.")


@cache
def _sentences(language: str, part: str) -> Mapping[str, str]:
    start = f"{part}."
    return {k: v for k, v in _table(language).items() if k.startswith(start)}


@cache
def _exact() -> Mapping[str, str]:
    return {said: key for key, said in _sentences("en", "facts").items() if "{" not in said}


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """The sentences with places for values, those with the most fixed letters first."""
    found = [(key, said) for key, said in _sentences("en", "facts").items() if "{" in said]
    found.sort(key=lambda pair: -len(re.sub(r"\{\w+\}", "", pair[1])))
    return [
        (key, re.compile(_PLACE.sub(r"(?P<\1>.+?)", re.escape(said)), re.DOTALL))
        for key, said in found
    ]
