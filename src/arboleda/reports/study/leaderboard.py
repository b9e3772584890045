"""The sections on the ranking: leaderboard, scores per class and fold, comparisons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arboleda._utils.numbers import (
    NOTHING,
    confidence_level,
    duration,
    fixed,
    integer,
    number_format,
)
from arboleda.reports.fact_messages import translate
from arboleda.reports.figures.score_plots import choose_shown_range, draw_box_plot
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import Cell
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import (
    choose_leaderboard_metrics,
    get_metric,
    join_names,
    lower_label,
    spell_count,
)

__all__ = [
    "make_classes_view",
    "make_comparison_view",
    "make_folds_view",
    "make_leaderboard_view",
    "write_uncertainty_sentences",
]

_WIDTH, _HEIGHT = 84, 16
FILTER_FROM = 9  # minimum number of rows for a filter field

_RESULTS = {
    "not_distinguishable": N_("not distinguishable"),
    "worse": N_("worse"),
    "better": N_("better"),
    "unknown": N_("unknown"),
}
_SCALES = {
    "test": N_("A difference in {metric} on the test rows is above 0 if {winner} is better."),
    "folds": N_("A difference in {metric} on the folds is above 0 if {winner} is better."),
}
_COMPARED = 3  # models whose differences the sentence shows

_SELECTION = {
    "luck": N_(
        "{name} is the best of {count} candidates, and the score of the best of many is "
        "optimistic: on folds not used for selection, the selection procedure scores "
        "{score} ({level} interval {low} to {high})."
    ),
    "no_luck": N_(
        "{name} is the best of {count} candidates; on folds not used for selection, the "
        "selection procedure scores {score}, which is no worse ({level} interval {low} to "
        "{high})."
    ),
}


def make_leaderboard_view(report: ReportData) -> dict[str, Any]:
    """Collect the rows of the leaderboard and the errors of models without scores."""
    models = report.models
    present = dict.fromkeys(key for model in models for key in model["test"]["metrics"])
    keys = [key for key in choose_leaderboard_metrics(present, report.key) if key != report.key]
    writers = {
        key: number_format([m["test"]["metrics"].get(key) for m in models], get_metric(key).bounded)
        for key in keys
    }
    drawn = _Strip.of(models)
    rows = []
    for rank, model in enumerate(models, 1):
        cells = [
            Cell(writers[key](value), value)
            for key, value in ((key, model["test"]["metrics"].get(key)) for key in keys)
        ]
        timing, score, mean = model["timing"], report.get_test_score(model), model["cv"]["mean"]
        rows.append(
            {
                "rank": rank,
                "anchor": f"model-{rank}",
                "name": translate(model["name"]),
                "engine": model["engine"],
                "is_best": mean == models[0]["cv"]["mean"],
                "mean": Cell(report.format_score(mean), mean),
                "sd": None if model["cv"]["sd"] is None else report.format_score(model["cv"]["sd"]),
                "test": Cell(report.format_score(score), score),
                "interval": _format_interval(report, model),
                "strip": drawn.draw(model["test"]["interval"], score),
                "cells": cells,
                "fit": Cell(duration(timing["fit_s"]), timing["fit_s"]),
                "predict": Cell(duration(timing["predict_s"]), timing["predict_s"]),
            }
        )
    failed = [
        {
            "name": translate(model["name"]),
            "engine": model["engine"],
            "error": model["error"],
            "state": report.get_state(model),
        }
        for model in report.failed
    ]
    columns = [(get_metric(key).label, get_metric(key).meaning) for key in keys]
    return {
        "columns": columns,
        "rows": rows,
        "failed": failed,
        "label": report.label,
        "first": "descending" if report.greater_is_better else "ascending",
        "classes": make_classes_view(report),
        "filtered": len(rows) + len(failed) >= FILTER_FROM,
        "level": f"{100 * models[0]['test']['interval']['level']:g}" if models else "95",
    }


def _format_interval(report: ReportData, model: Mapping[str, Any]) -> str:
    result = model["test"]["interval"]
    if result["low"] is None or result["high"] is None:
        return NOTHING
    return _(
        "{low} to {high}",
        low=report.format_score(result["low"]),
        high=report.format_score(result["high"]),
    )


class _Strip:
    """Confidence intervals drawn on a common scale."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.span = low, high - low

    @classmethod
    def of(cls, models: Sequence[Mapping[str, Any]]) -> "_Strip":
        """Take the scale from the better half of the models; a baseline would compress it."""
        result = [m["test"]["interval"] for m in models[: max(2, (len(models) + 1) // 2)]]
        known = [(i["low"], i["high"]) for i in result if None not in (i["low"], i["high"])]
        if not known:
            return cls(0.0, 0.0)
        return cls(min(low for low, _ in known), max(high for _, high in known))

    def draw(self, interval: Mapping[str, Any], score: float | None) -> Markup:
        """Draw one interval with its score, or an arrow if it lies outside the scale."""
        low, high = interval["low"], interval["high"]
        if low is None or high is None or score is None or self.span <= 0:
            return Markup("")
        x0, x1, x = (self._locate(value) for value in (low, high, score))
        if x1 <= 0 or x0 >= _WIDTH:
            return Markup('<span class="off" aria-hidden="true">{}</span>').format(
                "\N{LEFTWARDS ARROW}" if x1 <= 0 else "\N{RIGHTWARDS ARROW}"
            )
        start, end, middle = max(x0, 0), min(x1, _WIDTH), min(max(x, 3), _WIDTH - 3)
        return Markup(
            '<svg class="strip" viewBox="0 0 {w} {h}" width="{w}" height="{h}" aria-hidden="true">'
            '<path d="M{start:.1f} {y}H{end:.1f}"/><circle cx="{at:.1f}" cy="{y}" r="3"/></svg>'
        ).format(w=_WIDTH, h=_HEIGHT, y=_HEIGHT / 2, start=start, end=end, at=middle)

    def _locate(self, value: float) -> float:
        return 3 + (_WIDTH - 6) * (value - self.low) / self.span


_KEYS = ("precision", "recall", "f1")
# With more classes, only those with the most test rows are shown.
_SHOWN = 30
_format_score = number_format([], bounded=True)


def make_classes_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the table: one row per model, three columns per class and for the mean.

    None for regression, or if no model has scores per class.
    """
    models = [model for model in report.models if model["test"]["per_class"]]
    if not models:
        return None
    classes = models[0]["test"]["per_class"]
    by_rows = sorted(range(len(classes)), key=lambda k: (-classes[k]["support"], k))
    places = sorted(by_rows[:_SHOWN])
    rows = [_get_scores(model, places) for model in models]
    best = [_find_best(column) for column in zip(*rows, strict=True)]
    return {
        "heads": [(get_metric(key).label, get_metric(key).meaning) for key in _KEYS],
        "classes": [classes[k]["label"] for k in places],
        "rest": _(
            "The table shows the {shown} of {count} classes with the most test rows; "
            "leaderboard.csv contains all.",
            shown=len(places),
            count=len(classes),
        )
        if len(places) < len(classes)
        else "",
        "rows": [
            {
                "rank": report.models.index(model) + 1,
                "anchor": f"model-{report.models.index(model) + 1}",
                "name": translate(model["name"]),
                "cells": [
                    Cell(_format_score(score), score, "top" if score == top else "")
                    for score, top in zip(scores, best, strict=True)
                ],
            }
            for model, scores in zip(models, rows, strict=True)
        ],
    }


def _get_scores(model: Mapping[str, Any], places: Sequence[int]) -> list[float | None]:
    """Return the scores of these classes and the macro averages."""
    test = model["test"]
    parts = [*(test["per_class"][k] for k in places), test["averages"]["macro"]]
    return [part[key] for part in parts for key in _KEYS]


def _find_best(column: Sequence[float | None]) -> float | None:
    """Return the largest score; None if all models have the same."""
    known = [score for score in column if score is not None]
    return max(known) if len(set(known)) > 1 else None


def make_folds_view(report: ReportData) -> dict[str, Any] | None:
    """Draw the fold scores of all models; None if there are none."""
    rows = [(translate(model["name"]), model["cv"]["fold_scores"]) for model in report.models]
    if not rows:
        return None
    low, high = choose_shown_range([scores for _, scores in rows])
    return {
        "wide": draw_box_plot(rows, report.label, narrow=False),
        "narrow": draw_box_plot(rows, report.label, narrow=True),
        "off_scale": any(min(scores) < low or max(scores) > high for _, scores in rows),
        "title": _("Box plot of fold scores: {metric}", metric=report.label),
    }


def write_uncertainty_sentences(report: ReportData) -> Iterator[str]:
    """Describe the effect of the choice on the winner's score, and the models close to it."""
    selection, comparison = report.facts.get("selection"), report.facts.get("comparison")
    if selection is not None and selection["n_candidates"] > 1:
        yield _describe_choice(report, selection)
    if comparison is not None:
        yield _describe_others(report, comparison)


def _describe_choice(report: ReportData, selection: Mapping[str, Any]) -> str:
    honest, count = selection["honest"], integer(selection["n_candidates"])
    name = report.get_name(selection["chosen"])
    if honest is None:
        return _(
            "{name} is the best of {count} candidates, and the score of the best of many is "
            "optimistic; these folds do not allow estimating by how much.",
            name=name,
            count=count,
        )
    numbers = {
        "score": report.format_score(honest["mean"]),
        "low": report.format_score(honest["low"]),
        "high": report.format_score(honest["high"]),
        "level": confidence_level(honest["level"]),
    }
    kind = "luck" if selection["optimism"] > 0 else "no_luck"
    return _(_SELECTION[kind], name=name, count=count, **numbers)


def _describe_others(report: ReportData, comparison: Mapping[str, Any]) -> str:
    winner = report.get_name(comparison["against"])
    rows, equals = comparison["rows"], comparison["not_distinguishable"]
    counts = {kind: sum(row["result"] == kind for row in rows) for kind in ("worse", "better")}
    if not equals and counts["worse"] == len(rows):
        return _("On these rows {winner} is better than every other model.", winner=winner)
    if not equals and not counts["better"]:
        return _("These rows do not show whether other models differ from {winner}.", winner=winner)
    rest = _count_others(counts)
    if not equals:
        rest = f":{rest[1:]}"
        return _("Compared with {winner}{rest}.", winner=winner, rest=rest)
    by_key = {row["key"]: row for row in rows}
    shown = [by_key[key] for key in equals[:_COMPARED]]
    part = "test" if all(row["test"] for row in shown) else "folds"
    names = [_name_with_interval(report, row, part, comparison["level"]) for row in shown]
    names += [report.get_name(key) for key in equals[_COMPARED:]]
    return _(
        "Not distinguishable from {winner} on these rows: {names}{rest}. {scale}",
        winner=winner,
        names=join_names(names, _COMPARED + 1),
        rest=rest,
        scale=_(_SCALES[part], winner=winner, metric=lower_label(report.label)),
    )


def _count_others(counts: Mapping[str, int]) -> str:
    """Write how many other models are worse and better; empty if none are."""
    worse = ngettext(
        "; {count} other model is worse",
        "; {count} other models are worse",
        counts["worse"],
        count=spell_count(counts["worse"]),
    )
    better = ngettext(
        "; {count} other model is better",
        "; {count} other models are better",
        counts["better"],
        count=spell_count(counts["better"]),
    )
    return (worse if counts["worse"] else "") + (better if counts["better"] else "")


def _name_with_interval(report: ReportData, row: Mapping[str, Any], part: str, level: float) -> str:
    """Return the name of a model with its difference from the best and the interval of that."""
    name, test = report.get_name(row["key"]), row[part]
    if test is None:
        return name
    return _(
        "{name} (difference {difference}, simultaneous {interval})",
        name=name,
        difference=report.format_score(test["difference"]),
        interval=report.format_interval({**test, "level": level}),
    )


def make_comparison_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section on comparisons; None if there is nothing to compare."""
    result = report.facts.get("comparison")
    if result is None:
        return None
    return {
        "winner": report.get_name(result["against"]),
        "sentences": list(write_uncertainty_sentences(report)),
        "rows": [_make_row(report, row) for row in result["rows"]],
        "notes": [translate(result[key]) for key in ("folds_note", "test_note") if result[key]],
        "level": f"{100 * result['level']:g}",
        "count": sum(row[part] is not None for row in result["rows"] for part in _SCALES),
        "label": report.label,
        "filtered": len(result["rows"]) > 12,
    }


def _make_row(report: ReportData, row: Mapping[str, Any]) -> dict[str, Any]:
    result = row["result"] or "unknown"
    p_value = row["p_adjusted"]
    return {
        "name": report.get_name(row["key"]),
        "folds": _make_difference(report, row["folds"]),
        "test": _make_difference(report, row["test"]),
        "p": Cell("–" if p_value is None else _format_p_value(p_value), p_value),
        "verdict": _(_RESULTS[result]),
        "kind": result,
    }


def _make_difference(report: ReportData, part: Mapping[str, Any] | None) -> dict[str, Any]:
    if part is None:
        return {"cell": Cell("–", None), "range": ""}
    ends = {"low": report.format_score(part["low"]), "high": report.format_score(part["high"])}
    value = part["difference"]
    return {
        "cell": Cell(report.format_score(value), value),
        "range": _("{low} to {high}", **ends),
    }


def _format_p_value(value: float) -> str:
    """Format a p-value with three decimals, or as "<0.001"."""
    return f"<{fixed(0.001, 3)}" if value < 0.0005 else fixed(value, 3)
