"""The page of a comparison of studies, rendered from its facts."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arboleda._numbers import duration, integer, plain
from arboleda.comparisons._facts import SCHEMA_VERSION
from arboleda.report import check_version, render_page
from arboleda.report._cells import Cell

__all__ = ["render_comparison"]

_TEMPLATE = Path(__file__).parent / "templates" / "comparison.html.j2"
# With fewer tables, the approximations of the tests are rough (Demsar 2006, section 3.2.2).
_MANY_TABLES = 10
_KINDS = {"data": "Data", "setting": "Settings", "version": "Versions"}


def render_comparison(facts: Mapping[str, Any]) -> str:
    """Render the facts of a comparison as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        As in ``facts.schema.json``, version 1; its strings may contain arbitrary text.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version.
    """
    check_version(facts, SCHEMA_VERSION, "this page", "compare the studies again")
    return render_page(_TEMPLATE, _make_view(facts), extra_files=("comparison.css",))


def _make_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    studies = facts["studies"]
    command = ["arboleda", "compare", *(study["folder"] for study in studies)]
    return {
        "studies": [_make_study_row(study) for study in studies],
        "sentences": facts["sentences"],
        "leaderboard": [_make_model_row(row) for row in facts["leaderboard"]],
        "differences": _make_difference_rows(facts["differences"]),
        "paired": _make_pairs(facts),
        "over_tables": _make_ranks(facts["over_tables"]),
        "command": shlex.join(command),
        "version": facts["arboleda_version"],
    }


def _make_study_row(study: Mapping[str, Any]) -> dict[str, Any]:
    best = study["best"]
    interval = f"{plain(best['low'])} to {plain(best['high'])}" if best["low"] is not None else ""
    return {
        **study,
        "cv": Cell(plain(best["cv"]), best["cv"]),
        "honest": Cell(plain(best["honest"]), best["honest"]),
        "test": Cell(plain(best["test"]), best["test"]),
        "interval": interval,
        "models": Cell(integer(study["n_models"]), study["n_models"]),
        "time": Cell(duration(study["timing"]["total_s"]), study["timing"]["total_s"]),
        "day": study["timing"]["started"][:10],
    }


def _make_model_row(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = []
    for cell in row["cells"]:
        result = cell or {"rank": None, "cv": None, "test": None}
        for key in ("rank", "cv", "test"):
            cells.append(Cell(plain(result[key]), result[key]))
    return {"name": row["name"], "cells": cells}


def _make_difference_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "kind": _KINDS[row["kind"]]} for row in rows]


def _make_pairs(facts: Mapping[str, Any]) -> dict[str, Any]:
    paired, studies = facts["paired"], facts["studies"]
    if paired["why_not"]:
        return {"why_not": paired["why_not"], "rows": []}
    rows = [
        {
            "first": studies[pair["first"]],
            "second": studies[pair["second"]],
            "difference": Cell(plain(pair["difference"], 3), pair["difference"]),
            "interval": f"{plain(pair['low'], 3)} to {plain(pair['high'], 3)}",
            "p": Cell(plain(pair["p_adjusted"], 2), pair["p_adjusted"]),
        }
        for pair in paired["pairs"]
    ]
    return {
        "why_not": None,
        "rows": rows,
        "metric": paired["metric_label"],
        "groups": paired["groups"],
        "n_rows": integer(paired["n_rows"]),
        "level": f"{100 * paired['level']:g}",
    }


def _make_ranks(over: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if over is None:
        return None
    names = {model["key"]: model["name"] for model in over["models"]}
    return {
        "tables": over["tables"],
        "rows": [
            {
                "name": model["name"],
                "mean": Cell(plain(model["mean_rank"], 3), model["mean_rank"]),
                "ranks": [Cell(plain(rank), rank) for rank in model["ranks"]],
            }
            for model in over["models"]
        ],
        "p": plain(over["p"], 2),
        "difference": plain(over["critical_difference"], 3),
        "few": len(over["tables"]) < _MANY_TABLES,
        "groups": [", ".join(names[key] for key in group) for group in over["groups"]],
    }
