"""Header of model files: human-readable JSON with strict parsing."""

from __future__ import annotations

import json
import re
from typing import Any

from arboleda._errors import ModelFormatError
from arboleda._strict_json import parse_strict_json

_SURROGATE = re.compile("[\ud800-\udfff]")


def header_to_bytes(header: dict[str, Any]) -> bytes:
    """Encode a header as UTF-8, with one line per entry down to the second level."""
    lines = ",\n".join(f" {_json(key)}: {_part(value)}" for key, value in header.items())
    text = f"{{\n{lines}\n}}\n"
    # UTF-8 cannot encode lone surrogates (which file names may hold); JSON can escape them.
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
    """Parse a header.

    Raises
    ------
    ModelFormatError
        If it is not UTF-8, not JSON, not an object, nested too deeply, or has a duplicate key.
    """
    header = parse_strict_json(content, "the header")
    if not isinstance(header, dict):
        raise ModelFormatError("the header is not a JSON object")
    return header
