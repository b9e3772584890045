"""Relations on the page: with the target, and among the columns."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explore._profiles_view import profiles_view
from arboleda.report._cells import Cell

__all__ = ["relations_view", "signed"]

SHOWN = 20
PAIRS, WEAK = 10, 0.1  # pairs that are listed, and the correlation from which they are


def relations_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section on relations."""
    return {
        "target": None if facts["target_relations"] is None else _with_target(facts),
        "profiles": profiles_view(facts),
        "among": None if facts["relations"] is None else _among(facts["relations"], facts),
    }


def _with_target(facts: Mapping[str, Any]) -> dict[str, Any]:
    found = facts["target_relations"]
    columns = found["columns"]
    most = columns[0]["share"] or 1.0
    return {
        "columns": [
            {
                "name": column["name"],
                "information": Cell(f"{column['information']:.3f}", column["information"]),
                "share": Cell(percent(column["share"]), column["share"]),
                "bar": f"{100 * column['share'] / most:.1f}",
                "correlation": Cell(signed(column["correlation"]), column["correlation"]),
            }
            for column in columns[:SHOWN]
        ],
        "entropy": plain(found["entropy"], 3),
        "has_correlation": any(c["correlation"] is not None for c in columns),
        "positive": facts["target"]["positive_class"],
        "classes": facts["target"]["classes"] is not None,
        "n_others": integer(len(columns) - SHOWN) if len(columns) > SHOWN else None,
        "sample": _sample(found["n_rows"], facts["target"]["n_known"]),
    }


def _among(found: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    names = found["matrix"]["columns"]
    return {
        "rows": [
            {"name": name, "cells": [_shade(value) for value in values]}
            for name, values in zip(names, found["matrix"]["values"], strict=True)
        ],
        "pairs": [
            {
                "columns": pair["columns"],
                "correlation": Cell(signed(pair["correlation"]), abs(pair["correlation"])),
            }
            for pair in found["pairs"][:PAIRS]
            if abs(pair["correlation"]) >= WEAK
        ],
        "all_shown": len(names) == found["n_columns"],
        "n_columns": integer(found["n_columns"]),
        "n_compared": integer(found["n_compared"]),
        "all_compared": found["n_compared"] == found["n_columns"],
        "sample": _sample(found["n_rows"], facts["table"]["n_rows"]),
    }


def _shade(value: float | None) -> dict[str, str]:
    """A cell of the matrix: two digits, and a tone by size and sign."""
    if value is None:
        return {"text": "\N{EN DASH}", "tone": "none"}
    tone = f"{'right' if value >= 0 else 'wrong'} t{round(10 * abs(value))}"
    text = signed(value)
    return {"text": text if abs(value) >= 0.995 else text.replace("0.", "."), "tone": tone}


def signed(value: float | None) -> str:
    """Write a correlation with two decimals."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
    return text.lstrip("\N{MINUS SIGN}") if float(f"{value:.2f}") == 0 else text


def _sample(n_rows: int, total: int) -> str | None:
    return None if n_rows == total else f"{integer(n_rows)} of {integer(total)} rows"
