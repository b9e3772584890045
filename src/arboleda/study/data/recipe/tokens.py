"""Words, quoted texts and marks of a condition or a merge."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from arboleda.study.errors import StudyError

__all__ = ["Token", "plain_text", "split_at", "tokenize"]

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")


@dataclass(frozen=True)
class Token:
    """A piece of a text: where it stands, and what it says without quotes."""

    kind: Literal["word", "quoted", "mark"]
    text: str
    start: int
    end: int


def tokenize(text: str, marks: Sequence[str], what: str) -> list[Token]:
    """Split a text at blanks and marks; what stands in quotes is one piece.

    A quote opens a quoted text only where a piece begins, as in ``'a, b'`` and not in ``L'Aquila``.
    Within quotes, two of them stand for one.

    Parameters
    ----------
    text : str
    marks : sequence of str
        Longer ones before those that they begin with.
    what : str
        What the text is called in errors.

    Raises
    ------
    StudyError
        If a quoted text has no end.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        mark = next((m for m in marks if text.startswith(m, at)), None)
        if text[at].isspace():
            at += 1
        elif mark is not None:
            found.append(Token("mark", mark, at, at + len(mark)))
            at += len(mark)
        elif text[at] in "'\"":
            match = _QUOTED.match(text, at)
            if match is None:
                raise StudyError(f"{what} has a quote without an end; add the closing {text[at]}.")
            quote = text[at]
            inner = match[0][1:-1].replace(quote * 2, quote)
            found.append(Token("quoted", inner, at, match.end()))
            at = match.end()
        else:
            end = at + 1
            while not (
                end == len(text)
                or text[end].isspace()
                or any(text.startswith(m, end) for m in marks)
            ):
                end += 1
            found.append(Token("word", text[at:end], at, end))
            at = end
    return found


def split_at(tokens: Sequence[Token], kind: str, text: str) -> list[list[Token]]:
    """The pieces between the tokens of that kind and text."""
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == kind and token.text == text:
            found.append([])
        else:
            found[-1].append(token)
    return found


def plain_text(tokens: Sequence[Token], text: str) -> str | None:
    """What the tokens say together: one quoted text, or a stretch of ``text`` without any.

    None if they say nothing, or mix quoted and other text.
    """
    if not tokens:
        return None
    if any(token.kind == "quoted" for token in tokens):
        return tokens[0].text if len(tokens) == 1 else None
    return text[tokens[0].start : tokens[-1].end]
