"""The section on relations: with the target and among the columns."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import integer, percent, plain
from arboleda.explore._profiles_view import make_profiles_view
from arboleda.report._cells import Cell

__all__ = ["format_signed", "make_relations_view"]

SHOWN = 20
PAIRS, WEAK = 10, 0.1  # maximum number and minimum correlation of the pairs listed


def make_relations_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section on relations."""
    return {
        "target": None if facts["target_relations"] is None else _make_target_relations(facts),
        "profiles": make_profiles_view(facts),
        "among": None
        if facts["relations"] is None
        else _make_correlations(facts["relations"], facts),
    }


def _make_target_relations(facts: Mapping[str, Any]) -> dict[str, Any]:
    result = facts["target_relations"]
    columns = result["columns"]
    most = columns[0]["share"] or 1.0
    return {
        "columns": [
            {
                "name": column["name"],
                "information": Cell(f"{column['information']:.3f}", column["information"]),
                "share": Cell(percent(column["share"]), column["share"]),
                "bar": f"{100 * column['share'] / most:.1f}",
                "correlation": Cell(format_signed(column["correlation"]), column["correlation"]),
            }
            for column in columns[:SHOWN]
        ],
        "entropy": plain(result["entropy"], 3),
        "has_correlation": any(c["correlation"] is not None for c in columns),
        "positive": facts["target"]["positive_class"],
        "classes": facts["target"]["classes"] is not None,
        "n_others": integer(len(columns) - SHOWN) if len(columns) > SHOWN else None,
        "sample": _describe_sample(result["n_rows"], facts["target"]["n_known"]),
    }


def _make_correlations(result: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    names = result["matrix"]["columns"]
    return {
        "rows": [
            {"name": name, "cells": [_make_matrix_cell(value) for value in values]}
            for name, values in zip(names, result["matrix"]["values"], strict=True)
        ],
        "pairs": [
            {
                "columns": pair["columns"],
                "correlation": Cell(format_signed(pair["correlation"]), abs(pair["correlation"])),
            }
            for pair in result["pairs"][:PAIRS]
            if abs(pair["correlation"]) >= WEAK
        ],
        "all_shown": len(names) == result["n_columns"],
        "n_columns": integer(result["n_columns"]),
        "n_compared": integer(result["n_compared"]),
        "all_compared": result["n_compared"] == result["n_columns"],
        "sample": _describe_sample(result["n_rows"], facts["table"]["n_rows"]),
    }


def _make_matrix_cell(value: float | None) -> dict[str, str]:
    """Return a cell of the matrix: two digits, with a tone by size and sign."""
    if value is None:
        return {"text": "\N{EN DASH}", "tone": "none"}
    tone = f"{'right' if value >= 0 else 'wrong'} t{round(10 * abs(value))}"
    text = format_signed(value)
    return {"text": text if abs(value) >= 0.995 else text.replace("0.", "."), "tone": tone}


def format_signed(value: float | None) -> str:
    """Format a correlation with two decimals."""
    if value is None:
        return "\N{EN DASH}"
    text = f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
    return text.lstrip("\N{MINUS SIGN}") if float(f"{value:.2f}") == 0 else text


def _describe_sample(n_rows: int, total: int) -> str | None:
    return None if n_rows == total else f"{integer(n_rows)} of {integer(total)} rows"
