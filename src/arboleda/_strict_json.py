"""Strict parsing of JSON."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from arboleda._errors import ModelFormatError


def parse_strict_json(content: bytes | str, subject: str) -> Any:
    """Parse JSON; duplicate keys, NaN and infinite numbers are errors.

    Parameters
    ----------
    content : bytes or str
    subject : str
        Subject of messages, such as "the header".

    Raises
    ------
    ModelFormatError
        If it is not UTF-8, not JSON, nested too deeply, or has a duplicate key.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) != len(pairs):
            raise ModelFormatError(f"{subject} has a duplicate key")
        return entries

    def refuse(name: str) -> NoReturn:
        raise ModelFormatError(f"{subject} contains {name}, which is not JSON")

    try:
        text = content if isinstance(content, str) else content.decode()
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except ModelFormatError:
        raise
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"{subject} is not UTF-8") from error
    except ValueError as error:
        raise ModelFormatError(f"{subject} is not JSON: {error}") from error
    except RecursionError as error:
        raise ModelFormatError(f"{subject} is nested too deeply") from error
