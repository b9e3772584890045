"""The header of a model file: JSON that a person can read, and that is read strictly."""

from __future__ import annotations

import json
import re
from typing import Any

from arboleda._errors import ModelFormatError
from arboleda._strict_json import strict_json

_SURROGATE = re.compile("[\ud800-\udfff]")


def header_to_bytes(header: dict[str, Any]) -> bytes:
    """UTF-8 with a line for every entry of the header, and for every entry of its parts."""
    lines = ",\n".join(f" {_json(key)}: {_part(value)}" for key, value in header.items())
    text = f"{{\n{lines}\n}}\n"
    # UTF-8 has no lone surrogates (file names may hold them); JSON can write them.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _part(value: Any) -> str:
    if isinstance(value, dict) and value:
        lines = ",\n".join(f"  {_json(key)}: {_json(item)}" for key, item in value.items())
        return f"{{\n{lines}\n }}"
    if isinstance(value, list) and value:
        lines = ",\n".join(f"  {_json(item)}" for item in value)
        return f"[\n{lines}\n ]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def header_from_bytes(content: bytes) -> dict[str, Any]:
    """Read a header.

    Raises
    ------
    ModelFormatError
        If it is not UTF-8, not JSON, not one object, nested too deeply, or names a key twice.
    """
    header = strict_json(content, "the header")
    if not isinstance(header, dict):
        raise ModelFormatError("the header is not a JSON object")
    return header
