"""Sentences that the facts of a study contain in English, and their translation.

The facts hold names, such as those of models, and sentences with values, such as "12 of 150 rows
repeat an earlier row; they are kept.". A name is a message itself. A sentence with values is
written by `write_message` from a code of `FACT_MESSAGES` and values, which the facts keep in their
part ``messages`` (`collect_messages`); a page writes the sentence again from them in its language
(`translate`).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from string import Formatter
from typing import Any

from arboleda._locale import localize_number
from arboleda._utils.numbers import integer
from arboleda.reports.fact_names import FACT_NAMES
from arboleda.reports.fact_texts import FACT_MESSAGES, FACT_SINGULARS
from arboleda.reports.translation import gettext

__all__ = [
    "Number",
    "collect_messages",
    "translate",
    "use_messages",
    "write_message",
]

Messages = Mapping[str, Mapping[str, Any]]  # English sentence -> its code and values

# Values that are words of the program, or sentences themselves; other texts are the user's.
_WORDS = frozenset({"how", "reason", "row", "rows", "what", "why", "metric"})
# Values that are lists of such words.
_LISTS = frozenset({"parts"})
# Values that are names, quoted as the language does.
_QUOTED = frozenset({"column", "label"})

_written: dict[str, dict[str, Any]] = {}
_current: ContextVar[Messages] = ContextVar("messages")


class Number(str):
    """A formatted number in a sentence of the facts, such as "0.953" or "24.1 %"."""


def write_message(code: str, /, **values: str | int) -> str:
    """Write a sentence of the facts in English, and remember its code and values.

    Parameters
    ----------
    code : str
        One of `FACT_MESSAGES`.
    **values : str, int or Number
        Texts of the user, counts, and formatted numbers.

    Examples
    --------
    >>> write_message("copies", count=12_345, rows=20_000)
    '12,345 of 20,000 rows repeat an earlier row; they are kept.'
    >>> write_message("copies", count=1, rows=150)
    '1 of 150 rows repeats an earlier row; it is kept.'
    """
    shown = {name: _format_english(name, value) for name, value in values.items()}
    sentence = _choose_template(code, values).format(**shown)
    kept = {k: {"number": str(v)} if isinstance(v, Number) else v for k, v in values.items()}
    _written[sentence] = {"code": code, "values": kept}
    return sentence


def _choose_template(code: str, values: Mapping[str, Any]) -> str:
    """Return the message of a code, in the singular if its count is 1."""
    is_single = values.get("count") == 1 and code in FACT_SINGULARS
    return FACT_SINGULARS[code] if is_single else FACT_MESSAGES[code]


def _format_english(name: str, value: str | int) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return repr(value) if name in _QUOTED else value


def collect_messages(facts: Any) -> dict[str, dict[str, Any]]:
    """Return the codes and values of the sentences in the facts that `write_message` wrote."""
    found: dict[str, dict[str, Any]] = {}
    for text in _iter_texts(facts):
        for sentence in (text, *text.split("; ")):
            if sentence in _written and sentence not in found:
                found[sentence] = _written[sentence]
                found |= collect_messages(_written[sentence]["values"])
    return found


def _iter_texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from _iter_texts(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _iter_texts(value)


@contextmanager
def use_messages(messages: Messages) -> Iterator[None]:
    """Use the messages of some facts within the block."""
    token = _current.set(messages)
    try:
        yield
    finally:
        _current.reset(token)


def translate(sentence: str) -> str:
    """Translate a name or sentence of the facts; an unknown one is returned unchanged."""
    if sentence in FACT_NAMES:
        return gettext(sentence)
    message = _current.get({}).get(sentence)
    if message is None or message["code"] not in FACT_MESSAGES:
        return sentence
    template = _choose_template(message["code"], message["values"])
    if not _has_all_values(template, message["values"]):
        return sentence
    values = {name: _translate_value(name, value) for name, value in message["values"].items()}
    return gettext(template, **values)


def _has_all_values(template: str, values: Mapping[str, Any]) -> bool:
    """Return whether the facts have a value for each placeholder; a damaged file may not."""
    return all(name is None or name in values for _, name, _, _ in Formatter().parse(template))


def _translate_value(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return localize_number(value["number"])
    if isinstance(value, int):
        return integer(value)
    if name in _QUOTED:
        return gettext("“{name}”", name=value)
    if name in _LISTS:
        return ", ".join(translate(word) for word in value.split(", "))
    return translate(value) if name in _WORDS else value
