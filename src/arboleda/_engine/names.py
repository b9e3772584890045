"""Formatting of column names in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def format_names(names: Sequence[Any]) -> str:
    """Return the first names and the number of the others."""
    shown = ", ".join(repr(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
