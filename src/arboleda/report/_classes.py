"""Precision, recall and F1 of each class, all models side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import number_format
from arboleda.report._about import About
from arboleda.report._cells import Cell
from arboleda.report._metrics import metric
from arboleda.report._texts import text, told

__all__ = ["classes_view"]

_KEYS = ("precision", "recall", "f1")
# More classes than these fold the table.
_OPEN = 3
# Of more classes those with the most test rows are shown.
_SHOWN = 30
_write = number_format([], bounded=True)


def classes_view(about: About) -> dict[str, Any] | None:
    """Collect the table: a row for each model, three columns for each class and for their mean.

    None where no class is predicted, or no model has scores of classes.
    """
    models = [model for model in about.models if model["test"]["per_class"]]
    if not models:
        return None
    classes = models[0]["test"]["per_class"]
    by_rows = sorted(range(len(classes)), key=lambda k: (-classes[k]["support"], k))
    places = sorted(by_rows[:_SHOWN])
    rows = [_scores(model, places) for model in models]
    best = [_best(column) for column in zip(*rows, strict=True)]
    return {
        "heads": [(metric(key).label, metric(key).meaning) for key in _KEYS],
        "classes": [classes[k]["label"] for k in places],
        "is_open": len(classes) <= _OPEN,
        "rest": text("classes.rest", shown=len(places), count=len(classes))
        if len(places) < len(classes)
        else "",
        "rows": [
            {
                "rank": about.models.index(model) + 1,
                "anchor": f"model-{about.models.index(model) + 1}",
                "name": told(model["name"]),
                "cells": [
                    Cell(_write(score), score, "top" if score == top else "")
                    for score, top in zip(scores, best, strict=True)
                ],
            }
            for model, scores in zip(models, rows, strict=True)
        ],
    }


def _scores(model: Mapping[str, Any], places: Sequence[int]) -> list[float | None]:
    """Of the classes in these places, and the means of all."""
    test = model["test"]
    parts = [*(test["per_class"][k] for k in places), test["averages"]["macro"]]
    return [part[key] for part in parts for key in _KEYS]


def _best(column: Sequence[float | None]) -> float | None:
    """The largest, where models differ."""
    known = [score for score in column if score is not None]
    return max(known) if len(set(known)) > 1 else None
