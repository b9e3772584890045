"""A page that compares a study with the thesis's tables and box plots.

`beside_facts` selects the facts to show from the facts of the study, and `render_beside` renders
them with the style of the report.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from arboleda._utils.numbers import integer
from arboleda.reports.figures.score_plots import draw_box_plot
from arboleda.reports.rendering import render_page
from arboleda.reports.tables import Cell

if TYPE_CHECKING:
    from published import Problem

__all__ = ["beside_facts", "render_beside"]

_TEMPLATE = Path(__file__).parent / "beside.html.j2"
_NAMES = {
    "accuracy": "Accuracy",
    "recall": "Recall, macro",
    "precision": "Precision, macro",
    "f1": "F1, macro",
    "mcc": "MCC",
    "mse": "MSE",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R2",
}
_SMALLER_IS_BETTER = {"mse", "rmse", "mae"}
_OF_CLASSES = {"recall", "precision", "f1"}


def beside_facts(
    problem: Problem,
    study: dict[str, Any],
    took: dict[str, float] | None,
    others: list[dict[str, Any]] | None,
) -> dict[str, Any]:
    """Return what the page shows, as plain values.

    Parameters
    ----------
    problem : Problem
    study : dict
        Facts of the study.
    took : dict or None
        ``wall_s`` and ``cpu_s`` of the study; None if it was resumed.
    others : list of dict or None
        Times of scikit-learn's counterparts, see `namesakes.timed`.
    """
    rows = [
        {
            "key": model["key"],
            "name": model["name"],
            "ours": _metrics(model["test"], problem.metrics),
            "thesis": problem.thesis.get(model["key"], {}),
            "level": problem.levels.get(model["key"], {}),
            "folds": model["cv"]["fold_scores"] if model["cv"] else [],
            "note": model["note"],
        }
        for model in study["models"]
        if model["test"]
    ]
    return {
        "title": problem.title,
        "printed": list(problem.printed),
        "metrics": list(problem.metrics),
        "metric": study["study"]["metric"],
        "metric_label": study["study"]["metric_label"],
        "greater_is_better": study["study"]["greater_is_better"],
        "order": list(problem.order),
        "n_train": study["split"]["n_train"],
        "n_test": study["split"]["n_test"],
        "rows": rows,
        "took": took,
        "others": others,
        "version": study["environment"]["arboleda"],
    }


def _metrics(test: dict[str, Any], wanted: tuple[str, ...]) -> dict[str, float]:
    """Return metrics of all rows, or unweighted means over the classes, as in the thesis."""
    macro = (test["averages"] or {}).get("macro", {})
    return {name: (macro if name in _OF_CLASSES else test["metrics"])[name] for name in wanted}


def render_beside(facts: dict[str, Any]) -> str:
    """Render the page: one self-contained HTML file."""
    drawn = [(row["name"], row["folds"]) for row in _by_median(facts) if len(row["folds"]) > 1]
    label = facts["metric_label"]
    names = {row["key"]: row["name"] for row in facts["rows"]}
    view = {
        "title": facts["title"],
        "printed": facts["printed"],
        "headline": [f"{integer(facts['n_train'])} rows to learn from",
                     f"{integer(facts['n_test'])} to test"],
        "metrics": [(_NAMES[name], _get_sources(facts["rows"], name)) for name in facts["metrics"]],
        "rows": [_make_row(row, facts) for row in facts["rows"]],
        "boxes": [draw_box_plot(drawn, label, narrow) for narrow in (False, True)]
        if drawn
        else None,
        "order": [names.get(key, key) for key in facts["order"]],
        "ours_in_order": [name for name, _ in reversed(drawn)],
        "took": _minutes(facts["took"]),
        "times": _times(facts["others"]),
        "version": facts["version"],
    }  # fmt: skip
    return render_page(_TEMPLATE, view, styles=[_TEMPLATE.with_name("beside.css")])


def _by_median(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Sort the rows by their median, best first."""
    import numpy as np

    sign = -1.0 if facts["greater_is_better"] else 1.0
    have = [row for row in facts["rows"] if row["folds"]]
    return sorted(have, key=lambda row: sign * float(np.median(row["folds"])))


def _get_sources(rows: list[dict[str, Any]], metric: str) -> list[str]:
    """Return the sources that have a metric."""
    return [
        "ours",
        *(who for who in ("thesis", "level") if any(metric in row[who] for row in rows)),
    ]


def _make_row(row: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    cells = []
    for name in facts["metrics"]:
        values = {who: row[who].get(name) for who in _get_sources(facts["rows"], name)}
        ours = values.pop("ours")
        cells.append(Cell(_text(ours, name), ours, _tint(ours, list(values.values()), name)))
        cells += [Cell(_text(value, name), value) for value in values.values()]
    return {"name": row["name"], "cells": cells, "note": row["note"]}


def _tint(ours: float, beside: list[float | None], name: str) -> str:
    """Mark values below a reference level, compared at the printed precision."""
    for value in beside:
        if value is None:
            continue
        if ours > value + 0.5 if name in _SMALLER_IS_BETTER else ours < value - 0.0005:
            return "below"
    return ""


def _text(value: float | None, name: str) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if name in _SMALLER_IS_BETTER else f"{value:.3f}"


def _minutes(took: dict[str, float] | None) -> str:
    if took is None:
        return "went on where it had stopped"
    return f"{took['wall_s'] / 60:.1f} minutes, {took['cpu_s'] / 60:.1f} of one core"


def _times(others: list[dict[str, Any]] | None) -> dict[str, Any] | None:
    if others is None:
        return None
    rows = [
        {
            "name": row["name"],
            "fits": row["fits"],
            "ours": f"{row['ours_s']:.1f}",
            "theirs": f"{row['theirs_s']:.1f}",
            "how": "projected" if row["measured"] else "the same model",
        }
        for row in others
    ]
    total = {k: f"{sum(row[k] for row in others) / 60:.1f}" for k in ("ours_s", "theirs_s")}
    return {"rows": rows, "ours": total["ours_s"], "theirs": total["theirs_s"]}
