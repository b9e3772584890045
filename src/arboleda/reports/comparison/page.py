"""The page of a comparison of studies, rendered from its facts, and its sentences."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arboleda._numbers import duration, integer, plain
from arboleda.reports.rendering import check_version, render_page
from arboleda.reports.tables import Cell
from arboleda.reports.wording import join_names, spell_count

__all__ = ["render_comparison", "write_sentences"]

_SCHEMA_VERSION = 1
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
    check_version(facts, _SCHEMA_VERSION, "this page", "compare the studies again")
    return render_page("comparison.html.j2", _make_view(facts))


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


_ALPHA = 0.05
_MOST_PAIRS = 3


def write_sentences(facts: Mapping[str, Any]) -> list[str]:
    """Describe the differences, the better of the best models, and the ranks over tables."""
    return [*_describe_settings(facts), *_describe_pairs(facts), *_describe_tables(facts)]


def _describe_settings(facts: Mapping[str, Any]) -> Iterator[str]:
    rows = facts["differences"]
    other = {
        kind: [row["what"] for row in rows if row["kind"] == kind and not row["same"]]
        for kind in ("data", "setting", "version")
    }
    number = spell_count(len(facts["studies"]))
    if not any(other.values()):
        yield f"The {number} studies have the same data, settings and versions."
        return
    if "Data, SHA-256" in other["data"]:
        yield f"The {number} studies are of different tables."
    else:
        yield f"The {number} studies are of the same table."
    changed = [*other["setting"], *other["version"]]
    if changed:
        # Lower-case labels such as "Metric", but not names such as NumPy.
        words = [word if word[1:] != word[1:].lower() else word.lower() for word in changed]
        yield f"They differ in {join_names(words, 8)}."


def _describe_pairs(facts: Mapping[str, Any]) -> Iterator[str]:
    paired, studies = facts["paired"], facts["studies"]
    if paired["why_not"]:
        yield f"Their best models cannot be compared row by row: {paired['why_not']}."
        return
    start = f"On the {integer(paired['n_rows'])} test rows that the studies share, "
    for pair in paired["pairs"][:_MOST_PAIRS]:
        first, second = studies[pair["first"]], studies[pair["second"]]
        one = f"{first['best']['name']} of {first['name']}"
        two = f"{second['best']['name']} of {second['name']}"
        if pair["p_adjusted"] >= _ALPHA:
            yield f"{start}{one} and {two} do not differ beyond chance ({_format_numbers(pair)})."
            continue
        better, worse = (one, two) if pair["difference"] > 0 else (two, one)
        yield f"{start}{better} is better than {worse} ({_format_numbers(pair)})."


def _format_numbers(pair: Mapping[str, Any]) -> str:
    low, high = plain(pair["low"], 2), plain(pair["high"], 2)
    return (
        f"by {plain(pair['difference'], 2)}, 95\N{NO-BREAK SPACE}% interval {low} to {high}, "
        f"p = {plain(pair['p_adjusted'], 2)}"
    )


def _describe_tables(facts: Mapping[str, Any]) -> Iterator[str]:
    over = facts["over_tables"]
    if over is None:
        return
    best = over["models"][0]
    tables = spell_count(len(over["tables"]))
    if over["p"] >= _ALPHA:
        yield (
            f"Over {tables} tables the models' ranks do not differ beyond chance (Friedman's test, "
            f"p = {plain(over['p'], 2)})."
        )
        return
    beaten = [
        model["name"]
        for model in over["models"][1:]
        if model["mean_rank"] - best["mean_rank"] > over["critical_difference"]
    ]
    outcome = (
        f"better than {join_names(beaten)} by Nemenyi's test"
        if beaten
        else "but no difference to another model is significant by Nemenyi's test"
    )
    yield (
        f"Over {tables} tables {best['name']} has the best mean rank "
        f"({plain(best['mean_rank'], 3)}), {outcome}."
    )
