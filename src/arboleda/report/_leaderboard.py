"""The leaderboard: one row per model, best first, with intervals and times."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from arboleda._numbers import NOTHING, duration, number_format
from arboleda.report._cells import Cell
from arboleda.report._classes import make_classes_view
from arboleda.report._metrics import choose_leaderboard_metrics, get_metric
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_leaderboard_view"]

_WIDTH, _HEIGHT = 84, 16
FILTER_FROM = 9  # minimum number of rows for a filter field


def make_leaderboard_view(report: ReportData) -> dict[str, Any]:
    """Collect the rows of the leaderboard and the errors of models without scores."""
    models = report.models
    present = dict.fromkeys(key for model in models for key in model["test"]["metrics"])
    keys = [key for key in choose_leaderboard_metrics(present, report.key) if key != report.key]
    values = {key: [model["test"]["metrics"].get(key) for model in models] for key in keys}
    values[report.key] = [report.get_test_score(model) for model in models]
    writers = {key: number_format(values[key], get_metric(key).bounded) for key in keys}
    drawn = _Strip.of(models)
    rows = []
    for rank, model in enumerate(models, 1):
        cells = [
            Cell(writers[key](value), value, "top" if _is_best(report, key, value, values) else "")
            for key, value in ((key, model["test"]["metrics"].get(key)) for key in keys)
        ]
        timing, score = model["timing"], report.get_test_score(model)
        top = "top" if _is_best(report, report.key, score, values) else ""
        rows.append(
            {
                "rank": rank,
                "anchor": f"model-{rank}",
                "name": translate(model["name"]),
                "engine": model["engine"],
                "mean": Cell(report.format_score(model["cv"]["mean"]), model["cv"]["mean"]),
                "sd": None if model["cv"]["sd"] is None else report.format_score(model["cv"]["sd"]),
                "test": Cell(report.format_score(score), score, top),
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
            "state": text(
                f"leaderboard.{'no_time' if report.ran_out_of_time(model) else 'failed'}"
            ),
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


def _is_best(
    report: ReportData, key: str, value: float | None, values: Mapping[str, Sequence[float | None]]
) -> bool:
    known = [other for other in values[key] if other is not None]
    if value is None or len(known) < 2:
        return False
    up = report.greater_is_better if key == report.key else get_metric(key).greater_is_better
    return value == (max(known) if up else min(known))


def _format_interval(report: ReportData, model: Mapping[str, Any]) -> str:
    result = model["test"]["interval"]
    if result["low"] is None or result["high"] is None:
        return NOTHING
    return text(
        "interval.range",
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
