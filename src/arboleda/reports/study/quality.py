"""The sections on the quality of predictions: calibration, costs, scores by group."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arboleda._utils.numbers import (
    NOTHING,
    confidence_level,
    integer,
    number_format,
    percent,
    plain,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.curve_plots import draw_reliability_plot
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import Cell
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import choose_leaderboard_metrics, get_metric, lower_label, quote_name

__all__ = [
    "draw_reliability_figure",
    "get_reliability_axes",
    "make_calibration_view",
    "make_costs_view",
    "make_groups_view",
    "write_cost_sentences",
]

_UNCALIBRATED = "none"
_SHOWN = ("log_loss", "brier")
_format_error = number_format([], bounded=True)

_CALIBRATION_METHODS = {
    "none": N_("Uncalibrated"),
    "sigmoid": N_("Sigmoid (Platt)"),
    "isotonic": N_("Isotonic regression"),
    "temperature": N_("Temperature"),
}

_PREDICTED_AXES = {
    "class": N_("Mean probability of the predicted class"),
    "positive": N_("Mean probability of the positive class"),
}

_OBSERVED_AXES = {
    "class": N_("Share of correct predictions"),
    "positive": N_("Share of rows of the positive class"),
}

_CHOICES = {
    "helps": N_(
        "Calibration by {method} lowers the log-loss on held-out rows from {before} to {after} "
        "(by {gain}, {interval})."
    ),
    "unclear": N_(
        "Calibration by {method} changes the log-loss on held-out rows from {before} to {after}, "
        "but the interval of the difference ({low} to {high}) holds zero: these folds do not show "
        "that it helps."
    ),
    "uncalibrated": N_(
        "Calibration by {method} changes the log-loss on held-out rows from {before} to {after}, "
        "which is not more than chance explains ({low} to {high}): use the probabilities without "
        "calibration."
    ),
    "no_better": N_(
        "No method lowers the log-loss on held-out rows: use the probabilities without calibration."
    ),
}


def draw_reliability_figure(
    test: Mapping[str, Any], positive: str | None, prefix: str
) -> list[dict[str, Any]]:
    """Draw the reliability diagram on the test rows, if the model predicts probabilities."""
    result = test["calibration"]
    if result is None:
        return []
    title = _("Reliability diagram")
    svg = draw_reliability_plot(
        [(result["bins"], -1)],
        get_reliability_axes(positive),
        name=f"{prefix}-reliability",
        title=title,
    )
    largest = _(
        "{error}; up to {chance} by chance",
        error=_format_error(result["error"]),
        chance=_format_error(result["largest_by_chance"]),
    )
    return [
        {
            "kind": "reliability",
            "title": title,
            "area": _("ECE"),
            "svg": svg,
            "legend": [("var(--accent)", _get_curve_label(positive), largest)],
            "worst": False,
            "dashed": _("calibrated"),
        }
    ]


def make_calibration_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section on the calibration of the best model; None if nothing was tried."""
    result = report.facts["calibration"]
    if result is None:
        return None
    name, variants = report.get_name(result["model"]), result["variants"]
    if not variants:
        reason = result["error"] or "the folds lack probabilities of some classes"
        return {"skipped": report.describe_skipped({"model": result["model"], "skipped": reason})}
    return {
        "skipped": None,
        "name": name,
        "verdict": _describe_choice(result),
        "heads": [get_metric(key).label for key in _SHOWN],
        "rows": _make_rows(result),
        "figure": _draw_figure(result, report.study["positive_class"]),
    }


def get_reliability_axes(positive: str | None) -> tuple[str, str]:
    """Return the axis labels of a reliability diagram of the positive or the predicted class."""
    kind = "class" if positive is None else "positive"
    return _(_PREDICTED_AXES[kind]), _(_OBSERVED_AXES[kind])


def _get_curve_label(positive: str | None) -> str:
    if positive is None:
        return _("predicted class")
    return _("class {label}", label=positive)


def _get_method_name(key: str) -> str:
    return _(_CALIBRATION_METHODS[key]) if key in _CALIBRATION_METHODS else key


def _make_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    write = {
        key: number_format([v["cv"]["metrics"][key]["mean"] for v in result["variants"]], True)
        for key in _SHOWN
    }
    rows, best = [], _find_best(result, calibrated=False)
    for variant in result["variants"]:
        cv, test = variant["cv"], variant["test"] or {"metrics": {}, "calibration": None}
        calibration = test["calibration"]
        rows.append(
            {
                "label": _get_method_name(variant["method"]),
                "is_best": variant is best,
                "chosen": variant["method"] == result["chosen"],
                "cv": [
                    (write[key](cv["metrics"][key]["mean"]), write[key](cv["metrics"][key]["sd"]))
                    for key in _SHOWN
                ],
                "cv_error": _format_error(cv["error"]),
                "test": [write[key](test["metrics"].get(key)) for key in _SHOWN],
                "test_error": NOTHING
                if calibration is None
                else _format_error(calibration["error"]),
            }
        )
    return rows


def _describe_choice(result: Mapping[str, Any]) -> str:
    """Describe the chosen method by the interval of its gain, and its scores on the test rows."""
    by_method = {variant["method"]: variant for variant in result["variants"]}
    chosen, own, gain = by_method[result["chosen"]], by_method.get(_UNCALIBRATED), result["gain"]
    if own is None:
        return _(
            "The model predicts no probabilities itself. Of those computed from its "
            "scores, {method} has the smallest log-loss on held-out rows.",
            method=lower_label(_get_method_name(result["chosen"])),
        )
    best = chosen if chosen is not own else _find_best(result, calibrated=True)
    if best is None or gain is None or gain["difference"] <= 0:
        kind = "no_better"
        return _(_CHOICES[kind])
    kind = "uncalibrated" if chosen is own else "helps" if gain["low"] > 0 else "unclear"
    before, after = (plain(v["cv"]["metrics"]["log_loss"]["mean"]) for v in (own, best))
    low, high = plain(gain["low"], 3), plain(gain["high"], 3)
    level = confidence_level(gain["level"])
    sentence = _(
        _CHOICES[kind],
        method=lower_label(_get_method_name(best["method"])),
        before=before,
        after=after,
        gain=plain(gain["difference"], 3),
        interval=_("{level} interval {low} to {high}", level=level, low=low, high=high),
        low=low,
        high=high,
    )
    tested = [(v["test"] or {"metrics": {}})["metrics"].get("log_loss") for v in (own, best)]
    if None in tested:
        return sentence
    values = {"before": plain(tested[0]), "after": plain(tested[1])}
    return f"{sentence} {_('On the test rows it is {after} with and {before} without.', **values)}"


def _find_best(result: Mapping[str, Any], *, calibrated: bool) -> Mapping[str, Any] | None:
    """Return the variant with the smallest log-loss on the folds; with ``calibrated``, a method."""
    variants = [v for v in result["variants"] if not calibrated or v["method"] != _UNCALIBRATED]
    return min(variants, key=lambda v: float(v["cv"]["metrics"]["log_loss"]["mean"]), default=None)


def _draw_figure(result: Mapping[str, Any], positive: str | None) -> dict[str, Any]:
    """Draw the held-out reliability of the raw model and of the chosen or second-best method."""
    shown = _select_compared(result)
    title = _("Reliability of held-out rows")
    colours = [None, -1] if len(shown) == 2 else [-1]
    curves = [(v["cv"]["bins"], colour) for v, colour in zip(shown, colours, strict=True)]
    svg = draw_reliability_plot(
        curves, get_reliability_axes(positive), name="calibration", title=title
    )
    inks = ["var(--muted)", "var(--accent)"][-len(shown) :]
    legend = [
        (ink, _get_method_name(v["method"]), _format_error(v["cv"]["error"]))
        for ink, v in zip(inks, shown, strict=True)
    ]
    return {"title": title, "svg": svg, "legend": legend}


def _select_compared(result: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    own = [v for v in result["variants"] if v["method"] == _UNCALIBRATED]
    rest = [v for v in result["variants"] if v["method"] != _UNCALIBRATED]
    if result["chosen"] == _UNCALIBRATED:
        found = _find_best(result, calibrated=True)
        best = [] if found is None else [found]
    else:
        best = [v for v in rest if v["method"] == result["chosen"]]
    return [*own, *best]


def make_costs_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if the study has no costs."""
    costs = report.facts.get("costs")
    models = [m for m in report.models if m["test"].get("costs")]
    if costs is None or not models:
        return None
    result = [(model, model["test"]["costs"]) for model in models]
    write = number_format([costs["mean"] for _, costs in result], False)
    least = min(costs["mean"] for _, costs in result)
    decided = [costs["decided"]["mean"] for _, costs in result if costs["decided"]]
    return {
        "labels": costs["labels"],
        "matrix": [
            (label, [plain(cost) for cost in row])
            for label, row in zip(costs["labels"], costs["matrix"], strict=True)
        ],
        "many": len(costs["labels"]) > 8,
        "sentences": write_cost_sentences(report),
        "rows": [
            {
                "name": translate(model["name"]),
                "mean": _make_mean_cell(write, mine["mean"], least),
                "total": Cell(plain(mine["total"]), mine["total"]),
                "decided": _make_mean_cell(write, mine["decided"]["mean"], min(decided))
                if mine["decided"]
                else Cell("–", None),
            }
            for model, mine in result
        ],
        "reject": _make_reject_rows(report),
    }


def _make_mean_cell(write: Callable[[float], str], value: float, least: float) -> Cell:
    """Return the cell of a mean cost, in bold if it is the lowest of its column."""
    return Cell(write(value), value, "top" if value == least else "")


def write_cost_sentences(report: ReportData) -> list[str]:
    """Describe the costs of the best model on the test rows, if the study has costs."""
    result = report.best["test"].get("costs")
    sentences = []
    if result:
        sentences.append(
            _(
                "The predictions of the best model cost {mean} per test row ({total} in total).",
                mean=plain(result["mean"], 3),
                total=plain(result["total"]),
            )
        )
        if result["decided"] and result["decided"]["mean"] < result["mean"]:
            sentences.append(
                _(
                    "Predicting the class of least expected cost instead of the most "
                    "likely class lowers the cost to {mean} per row.",
                    mean=plain(result["decided"]["mean"], 3),
                )
            )
    reject = report.best["test"].get("reject")
    if reject:
        sentences.append(
            _(
                "If leaving a row undecided costs {cost}, the model decides {coverage} of "
                "the rows, with an accuracy of {accuracy} and a mean cost of {mean}.",
                cost=plain(reject["cost"]),
                coverage=percent(reject["coverage"]),
                accuracy=percent(reject["accuracy"]),
                mean=plain(reject["mean_cost"], 3),
            )
        )
    return sentences


def _make_reject_rows(report: ReportData) -> list[dict[str, Any]]:
    result = report.best["test"].get("reject")
    return [
        {
            "label": row["label"],
            "n": Cell(integer(row["n"]), row["n"]),
            "rejected": Cell(integer(row["rejected"]), row["rejected"]),
            "share": Cell(
                percent(row["rejected"] / row["n"] if row["n"] else None),
                row["rejected"] / row["n"] if row["n"] else None,
            ),
        }
        for row in (result["classes"] if result else [])
    ]


def make_groups_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None if no column was selected."""
    result = report.best["test"].get("groups") if report.models else None
    if not result:
        return None
    return {
        "name": report.get_name(report.best["key"]),
        "tables": [_make_table(report, table) for table in result],
    }


def _make_table(report: ReportData, result: Mapping[str, Any]) -> dict[str, Any]:
    rows, gap = result["rows"], result["gap"]
    present = dict.fromkeys(key for row in rows for key in row["metrics"])
    keys = choose_leaderboard_metrics(present, report.key, most=4)
    writers = {
        key: number_format([row["metrics"].get(key) for row in rows], get_metric(key).bounded)
        for key in keys
    }
    gap_text = ""
    if gap is not None:
        label = report.label if gap["metric"] == report.key else get_metric(gap["metric"]).label
        ends = {"best": quote_name(gap["best"]), "worst": quote_name(gap["worst"])}
        write = writers.get(gap["metric"], report.format_score)
        gap_text = _(
            "{metric} differs most between {best} and {worst}: by {difference}.",
            metric=label,
            difference=write(gap["difference"]),
            **ends,
        )
    return {
        "column": result["column"],
        "gap": gap_text,
        "heads": [report.label if key == report.key else get_metric(key).label for key in keys],
        "level": f"{100 * result['level']:g}",
        "rows": [
            {
                "value": row["value"],
                "n": Cell(integer(row["n"]), row["n"]),
                "small": row["small"],
                "cells": [
                    Cell(writers[key](row["metrics"].get(key)), row["metrics"].get(key))
                    for key in keys
                ],
                "interval": NOTHING
                if row["low"] is None or row["high"] is None
                else _(
                    "{low} to {high}",
                    low=report.format_score(row["low"]),
                    high=report.format_score(row["high"]),
                ),
            }
            for row in rows
        ],
    }
