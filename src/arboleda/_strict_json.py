"""JSON that others wrote: read to the letter, or refused."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from arboleda._errors import ModelFormatError


def strict_json(content: bytes | str, subject: str) -> Any:
    """Value that JSON holds; no object has a key twice, no number is NaN or infinite.

    Parameters
    ----------
    content : bytes or str
    subject : str
        What messages call it, such as "the header".

    Raises
    ------
    ModelFormatError
        If it is not UTF-8, not JSON, nested too deeply, or names a key twice.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        entries = dict(pairs)
        if len(entries) != len(pairs):
            raise ModelFormatError(f"{subject} names a key twice")
        return entries

    def refuse(name: str) -> NoReturn:
        raise ModelFormatError(f"{subject} holds {name}, which is not JSON")

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
