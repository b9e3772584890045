"""Odd rows on the page: equal ones and contradicting ones."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, plain

__all__ = ["rows_view"]


def rows_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section on rows."""
    duplicates = facts["duplicates"]
    conflicts = duplicates["conflicts"]
    return {
        "n_repeats": integer(duplicates["n_repeats"]),
        "n_groups": integer(duplicates["n_groups"]),
        "groups": [_group(group) for group in duplicates["groups"]],
        "conflicts": None
        if conflicts is None
        else {
            "n_rows": integer(conflicts["n_rows"]),
            "n_groups": integer(conflicts["n_groups"]),
            "groups": [
                _group(group) | {"targets": [_value(v) for v in group["targets"]]}
                for group in conflicts["groups"]
            ],
        },
    }


def _group(group: Mapping[str, Any]) -> dict[str, Any]:
    more = group["n_rows"] - len(group["rows"])
    rows = ", ".join(integer(row) for row in group["rows"])
    return {
        "n_rows": integer(group["n_rows"]),
        "rows": rows + (f" and {integer(more)} more" if more else ""),
    }


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else plain(value)
