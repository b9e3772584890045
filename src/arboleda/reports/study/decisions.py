"""The sections on single decisions: two classes by threshold, and the worst errors."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._utils.numbers import NOTHING, fixed, integer, number_format, plain
from arboleda.reports.figures.threshold_plots import ThresholdLine, draw_threshold_plot
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import Cell
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import join_names, lower_label, quote_name

__all__ = ["make_errors_view", "make_thresholds_view"]

_TABLE = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)

# Label and meaning of each measure of decisions.
_MEASURES = {
    "precision": (N_("Precision"), N_("Share of the rows predicted positive that are positive.")),
    "recall": (N_("Recall"), N_("Share of the positive rows that are predicted positive.")),
    "lift": (N_("Lift"), N_("Precision divided by the share of positive rows.")),
    "gain": (
        N_("Gain"),
        N_("Recall less that of as many rows drawn at random."),
    ),
    "cost": (N_("Cost"), N_("Mean cost per row.")),
}

# Kind of rows: solid or dashed line, and name.
_PARTS = {"held_out": N_("out-of-fold"), "test": N_("test rows")}

_CHOICES = {
    "saves": N_(
        "On the {rows} out-of-fold predictions, the threshold {threshold} has the least cost: "
        "{saving} less per row than {default}, the threshold of predict (standard error {error})."
    ),
    "chance": N_(
        "On the {rows} out-of-fold predictions, the threshold {threshold} has the least cost, but "
        "it saves only {saving} per row compared with {default}, the threshold of predict "
        "(standard error {error}): that may be chance."
    ),
    "default": N_(
        "On the {rows} out-of-fold predictions, no threshold costs less than {default}, which "
        "predict uses."
    ),
}

_ORDERS = {
    "log_loss": N_("The smaller the probability of the true class, the worse the error."),
    "error": N_(
        "The model predicts no probabilities, so the errors are in the order of the table."
    ),
}


def make_thresholds_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None unless there are two classes."""
    result = report.facts.get("thresholds")
    if result is None:
        return None
    if result["skipped"]:
        return {"skipped": report.describe_skipped(result)}
    parts = [part for part in _PARTS if result[part] is not None]
    tested = _PARTS["test"]
    return {
        "name": report.get_name(result["model"]),
        "skipped": None,
        "positive": result["positive"],
        "sentences": _describe_threshold(result),
        "heads": [(_(label), _(meaning)) for label, meaning in _MEASURES.values()],
        "parts": [
            (
                part,
                ngettext(
                    "{part}, {count} row",
                    "{part}, {count} rows",
                    result[part]["n_rows"],
                    part=_(_PARTS[part]),
                    count=integer(result[part]["n_rows"]),
                ),
            )
            for part in parts
        ],
        "rows": _make_threshold_rows(result, parts),
        "figures": _draw_thresholds(result, parts),
        "dashed": _(tested) if "test" in parts else "",
    }


def _describe_threshold(result: Mapping[str, Any]) -> list[str]:
    chosen, held_out, test = result["chosen"], result["held_out"], result["test"]
    positive = quote_name(result["positive"])
    if result["given_costs"]:
        costs = _(
            "A false alarm costs {false}, a missed {positive} {missed}.",
            false=plain(result["false_positive_cost"]),
            missed=plain(result["false_negative_cost"]),
            positive=positive,
        )
    else:
        costs = _("No costs were given: every error costs 1, so that the cost is the error rate.")
    if chosen["threshold"] == chosen["default"] or chosen["saving"] <= 0:
        kind = "default"
    else:
        kind = "saves" if chosen["saving"] > chosen["standard_error"] else "chance"
    sentences = [
        costs,
        _(
            _CHOICES[kind],
            rows=integer(held_out["n_rows"]),
            threshold=plain(chosen["threshold"]),
            default=plain(chosen["default"]),
            saving=plain(chosen["saving"], 3),
            error=plain(chosen["standard_error"], 2),
        ),
    ]
    if test is not None and kind != "default":
        at = [result["thresholds"].index(chosen[key]) for key in ("threshold", "default")]
        own, default = (plain(test["cost"][place], 3) for place in at)
        sentences.append(
            _(
                "On the test rows, which had no part in this choice, it costs {own} per row, and "
                "{default} at {other}.",
                own=own,
                default=default,
                other=plain(chosen["default"]),
            )
        )
    return sentences


def _make_threshold_rows(result: Mapping[str, Any], parts: Sequence[str]) -> list[dict[str, Any]]:
    chosen = result["chosen"]
    shown = sorted({chosen["threshold"], *(t for t in _TABLE if t in result["thresholds"])})
    costs = [cost for part in parts for cost in result[part]["cost"]]
    write_cost = number_format(costs, bounded=not result["given_costs"])
    write_share = number_format([], bounded=True)
    writers = {"lift": lambda v: fixed(v, 2), "cost": write_cost}
    rows = []
    for threshold in shown:
        at = result["thresholds"].index(threshold)
        cells = []
        for part in parts:
            for key in _MEASURES:
                value = result[part][key][at]
                text = NOTHING if value is None else writers.get(key, write_share)(value)
                cells.append((part, Cell(text, value)))
        rows.append(
            {
                "threshold": Cell(plain(threshold), threshold),
                "is_chosen": threshold == chosen["threshold"],
                "is_default": threshold == chosen["default"],
                "cells": cells,
            }
        )
    return rows


def _draw_thresholds(result: Mapping[str, Any], parts: Sequence[str]) -> list[dict[str, Any]]:
    """Draw the shares, the lift and the cost, each on axes of its own."""
    figures = []
    for kind, keys in (
        ("shares", ("precision", "recall", "gain")),
        ("lift", ("lift",)),
        ("cost", ("cost",)),
    ):
        colours = [-1] if len(keys) == 1 else range(len(keys))
        lines = [
            ThresholdLine(
                f"{_(_MEASURES[key][0])} ({_(_PARTS[part])})",
                result[part][key],
                colour,
                part != "held_out",
            )
            for part in parts
            for key, colour in zip(keys, colours, strict=True)
        ]
        labels = [_(_MEASURES[key][0]) for key in keys]
        first, *more = labels
        title = _("{measures} by threshold", measures=join_names([first, *map(lower_label, more)]))
        svg = draw_threshold_plot(
            result["thresholds"],
            lines,
            labels[0] if len(labels) == 1 else _("Share"),
            chosen=result["chosen"]["threshold"],
            name=f"threshold-{kind}",
            title=title,
        )
        inks = ["var(--accent)"] if len(keys) == 1 else [f"var(--c{i})" for i in colours]
        legend = [(ink, label, "") for ink, label in zip(inks, labels, strict=True)]
        figures.append({"kind": kind, "title": title, "svg": svg, "legend": legend})
    return figures


def make_errors_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the best model was not tested."""
    result = report.facts.get("errors")
    if result is None:
        return None
    rows = result["rows"]
    names = [value["column"] for value in rows[0]["values"]] if rows else []
    columns = [
        {
            "name": name,
            "is_numeric": not any(isinstance(row["values"][i]["value"], str) for row in rows),
        }
        for i, name in enumerate(names)
    ]
    write_loss = number_format([row["loss"] for row in rows], bounded=False)
    return {
        "name": report.get_name(result["model"]),
        "sentence": _describe_errors(report, result),
        "is_value": result["n_wrong"] is None,
        "has_probability": any(row["probability"] is not None for row in rows),
        "columns": columns,
        "rows": [
            {
                "row": Cell(integer(row["row"]), row["row"]),
                "truth": _make_value_cell(row["truth"]),
                "predicted": _make_value_cell(row["predicted"]),
                "probability": Cell(plain(row["probability"], 3), row["probability"]),
                "loss": Cell(write_loss(row["loss"]), row["loss"]),
                "values": [_make_value_cell(value["value"]) for value in row["values"]],
            }
            for row in rows
        ],
    }


def _make_value_cell(value: str | float | None) -> Cell:
    if value is None:
        return Cell(_("missing"), None, "faint")
    if isinstance(value, str):
        return Cell(value, value)
    return Cell(plain(value, 6), value, "num")


def _describe_errors(report: ReportData, result: Mapping[str, Any]) -> str:
    name, wrong, rows = report.get_name(result["model"]), result["n_wrong"], len(result["rows"])
    total = integer(result["n_rows"])
    if wrong is None:
        return _(
            "The test rows, of {total}, whose prediction by {name} is furthest from the truth.",
            total=total,
            name=name,
        )
    if wrong == 0:
        return _("{name} predicts all {total} test rows correctly.", name=name, total=total)
    values = {"name": name, "wrong": integer(wrong), "total": total}
    counted = _("{name} predicts {wrong} of the {total} test rows wrongly.", **values)
    shown = "" if rows == wrong else _("These are the worst {count}.", count=integer(rows))
    order = _ORDERS[result["loss"]]
    return " ".join(filter(None, [counted, shown, _(order)]))
