"""Localized texts of the pages, from ``locales/<language>.toml``.

`text` looks up a text by its key, as in ``text("summary.alone", name="CART")``, in the current
language of `arboleda._locale`. The sentences of facts are in English; `translate` translates those
that match a pattern of the table.
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

__all__ = ["LANGUAGES", "get_locale", "pluralize", "text", "translate"]

LANGUAGES = ("en", "es")
_FOLDER = Path(__file__).parent / "locales"
_PLACE = re.compile(r"\\{(\w+)\\}")
# Placeholders for words of the program rather than of the user.
_WORDS = frozenset({"how", "reason", "row", "rows", "what", "why"})
# Placeholders for names, which the facts quote as Python does.
_NAMES = frozenset({"column", "label"})
_NUMBER = re.compile(r"[<>]?[\d.,]+(\N{NO-BREAK SPACE}%| %)?")


def get_locale(language: str) -> Locale:
    """Return the locale of a language code.

    Raises
    ------
    ValueError
        If the language is not available.
    """
    if language not in LANGUAGES:
        raise ValueError(f"unknown language {language!r}; choose one of {', '.join(LANGUAGES)}")
    table = _load_table(language)
    english, words = _get_sentences("en", "drawing"), _get_sentences(language, "drawing")
    return Locale(
        language=language,
        decimal=table["number.decimal"],
        group=table["number.group"],
        words={english[key]: words[key] for key in english},
    )


def text(key: str, /, **values: Any) -> str:
    """Look up a text and fill in its placeholders.

    Returns
    -------
    str
        `Markup` if one of the values is `Markup`; then all other values are escaped.

    Examples
    --------
    >>> text("interval.range", low="0.1", high="0.2")
    '0.1 to 0.2'
    """
    template = _load_table(current_locale().language)[key]
    if any(isinstance(value, Markup) for value in values.values()):
        return Markup(escape(template)).format(**values)
    return template.format(**values) if values else template


def pluralize(key: str, count: int, /, **values: Any) -> str:
    """Look up the text ``<key>.one`` if the count is one, else ``<key>.many``.

    Examples
    --------
    >>> pluralize("count.rows", 1, count="1"), pluralize("count.rows", 2, count="2")
    ('1 row', '2 rows')
    """
    return text(f"{key}.{'one' if count == 1 else 'many'}", **values)


def translate(sentence: str) -> str:
    """Translate an English sentence of the facts; an unknown sentence is returned unchanged.

    Examples
    --------
    >>> from arboleda._locale import use_locale
    >>> with use_locale(get_locale("es")):
    ...     translate("Random forest"), translate("My own forest")
    ('Bosque aleatorio', 'My own forest')
    """
    language = current_locale().language
    known = _get_sentences(language, "facts").get(_get_exact_sentences().get(sentence, ""))
    if known is not None:
        return known
    if language == "en" and "'" not in sentence and '"' not in sentence:
        return sentence
    for key, pattern in _compile_patterns():
        result = pattern.fullmatch(sentence)
        if result:
            template = _get_sentences(language, "facts")[key]
            return template.format(
                **{name: _translate_place(name, x) for name, x in result.groupdict().items()}
            )
    return sentence


def _translate_place(name: str, value: str) -> str:
    """Translate the value of a placeholder: a number, words of the program or text of the user."""
    if name in _NAMES and value[:1] in ("'", '"'):
        try:
            return text("list.quoted", name=literal_eval(value))
        except (SyntaxError, ValueError):
            return value
    if name not in ("target", "label") and _NUMBER.fullmatch(value):
        return localize_number(value)
    return translate(value) if name in _WORDS else value


@cache
def _load_table(language: str) -> Mapping[str, str]:
    result = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return dict(_flatten(result, ""))


def _flatten(table: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield before + key, value
        else:
            yield from _flatten(value, f"{before}{key}.")


@cache
def _get_sentences(language: str, part: str) -> Mapping[str, str]:
    start = f"{part}."
    return {k: v for k, v in _load_table(language).items() if k.startswith(start)}


@cache
def _get_exact_sentences() -> Mapping[str, str]:
    return {
        template: key
        for key, template in _get_sentences("en", "facts").items()
        if "{" not in template
    }


@cache
def _compile_patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Return the sentences with placeholders, those with the most fixed text first."""
    result = [
        (key, template)
        for key, template in _get_sentences("en", "facts").items()
        if "{" in template
    ]
    result.sort(key=lambda pair: -len(re.sub(r"\{\w+\}", "", pair[1])))
    return [
        (key, re.compile(_PLACE.sub(r"(?P<\1>.+?)", re.escape(template)), re.DOTALL))
        for key, template in result
    ]
