"""Precision, recall and F1 per class, all models side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import number_format
from arboleda.report._cells import Cell
from arboleda.report._metrics import get_metric
from arboleda.report._report_data import ReportData
from arboleda.report._texts import text, translate

__all__ = ["make_classes_view"]

_KEYS = ("precision", "recall", "f1")
# With more classes, the table is collapsed.
_OPEN = 3
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
        "is_open": len(classes) <= _OPEN,
        "rest": text("classes.rest", shown=len(places), count=len(classes))
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
