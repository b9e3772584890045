"""From the facts to what the template sets: tables, figures and sentences, in the page's order."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import duration, integer, number_format, percent
from arboleda.report._calibration import calibration_view
from arboleda.report._cells import Cell, with_share
from arboleda.report._colours import SWATCHES, class_colours
from arboleda.report._columns import column_view
from arboleda.report._figures import box_plot, shown_range
from arboleda.report._metrics import leaderboard_metrics, metric
from arboleda.report._models import model_view
from arboleda.report._summary import finished, summarise
from arboleda.report._tree import draw_tree, tree_rules

__all__ = ["page_view"]

_TASKS = {
    "binary": "Classification, two classes",
    "multiclass": "Classification, several classes",
    "regression": "Regression",
}


def page_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect everything the template needs, drawn from the facts alone.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study, schema version 1.
    """
    study = facts["study"]
    models = finished(facts["models"])
    write = number_format(
        [model["cv"]["mean"] for model in models], metric(study["metric"]).bounded
    )
    return {
        "study": study,
        "task": _TASKS[study["task"]],
        "summary": summarise(facts),
        "headline": _headline(facts),
        "leaderboard": _leaderboard(facts, write),
        "boxes": _boxes(study, models),
        "models": [model_view(model, rank, study, write) for rank, model in enumerate(models, 1)],
        "calibration": calibration_view(facts),
        "tree": _tree(facts),
        "data": _data(facts),
        "method": _method(facts),
        "metrics": _meanings(models),
        "environment": _environment(facts),
        "command": _command(study),
        "version": facts["arboleda_version"],
    }


def _headline(facts: Mapping[str, Any]) -> list[str]:
    data, started = facts["data"], facts["timing"]["started"]
    return [
        _TASKS[facts["study"]["task"]],
        f"{integer(data['n_rows'])} rows, {integer(data['n_columns'])} columns",
        f"{started[:10]} {started[11:16]}".strip(),
        f"{duration(facts['timing']['total_s'])} in all",
    ]


def _leaderboard(facts: Mapping[str, Any], write: Any) -> dict[str, Any]:
    models, study = finished(facts["models"]), facts["study"]
    present = dict.fromkeys(key for model in models for key in model["test"]["metrics"])
    keys = leaderboard_metrics(present, study["metric"])
    names = {key: metric(key).label for key in keys} | {study["metric"]: study["metric_label"]}
    columns = [(names[key], metric(key).meaning) for key in keys]
    values = {key: [model["test"]["metrics"].get(key) for model in models] for key in keys}
    writers = {key: number_format(values[key], metric(key).bounded) for key in keys}
    rows = []
    for rank, model in enumerate(models, 1):
        cells = []
        for key in keys:
            value = model["test"]["metrics"].get(key)
            tint = "top" if value is not None and value == _best(values[key], key, study) else ""
            cells.append(Cell(writers[key](value), value, tint))
        timing = model["timing"]
        rows.append(
            {
                "rank": rank,
                "anchor": f"model-{rank}",
                "name": model["name"],
                "engine": model["engine"],
                "mean": Cell(write(model["cv"]["mean"]), model["cv"]["mean"]),
                "sd": write(model["cv"]["sd"]),
                "cells": cells,
                "fit": Cell(duration(timing["fit_s"]), timing["fit_s"]),
                "predict": Cell(duration(timing["predict_s"]), timing["predict_s"]),
            }
        )
    failed = [model for model in facts["models"] if model["status"] != "ok"]
    return {"columns": columns, "rows": rows, "failed": failed, "label": study["metric_label"]}


def _best(values: Sequence[float | None], key: str, study: Mapping[str, Any]) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    up = study["greater_is_better"] if key == study["metric"] else metric(key).greater_is_better
    return max(known) if up else min(known)


def _boxes(study: Mapping[str, Any], models: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    if not models:
        return None
    rows = [(model["name"], model["cv"]["fold_scores"]) for model in models]
    low, high = shown_range([scores for _, scores in rows])
    return {
        "wide": box_plot(rows, study["metric_label"], narrow=False),
        "narrow": box_plot(rows, study["metric_label"], narrow=True),
        "off_scale": any(min(scores) < low or max(scores) > high for _, scores in rows),
    }


def _tree(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    tree = facts["tree"]
    if tree is None or not tree["nodes"]:
        return None
    positive = facts["study"]["positive_class"]
    labels = tree["class_labels"] or []
    names = {model["key"]: model["name"] for model in facts["models"]}
    few = 2 <= len(labels) <= SWATCHES
    return {
        "svg": draw_tree(tree, facts["data"]["columns"], positive),
        "rules": tree_rules(tree, facts["data"]["columns"]),
        "name": names.get(tree["model"], tree["model"]),
        "n_leaves": integer(tree["n_leaves"]),
        "depth": integer(tree["depth"]),
        "drawn": max(node["depth"] for node in tree["nodes"]),
        "legend": list(zip(class_colours(labels, positive), labels, strict=True)) if few else [],
        "classes": bool(labels),
        "value_label": tree["value_label"],
    }


def _data(facts: Mapping[str, Any]) -> dict[str, Any]:
    data, split = facts["data"], facts["split"]
    n_rows = data["n_rows"]
    cells = n_rows * data["n_columns"]
    numbers = [
        ("Rows", integer(n_rows)),
        ("Columns", integer(data["n_columns"])),
        ("Duplicate rows", integer(data["n_duplicate_rows"])),
        ("Missing cells", with_share(data["n_missing_cells"], cells)),
        ("Rows dropped", integer(data["rows_dropped"])),
        ("Training rows", integer(split["n_train"])),
        ("Test rows", integer(split["n_test"])),
    ]
    return {
        "numbers": numbers,
        "notes": sorted(data["notes"], key=lambda note: note["level"] != "warning"),
        "classes": _class_rows(split, facts["study"]["positive_class"]),
        "columns": [column_view(column, n_rows) for column in data["columns"]],
    }


def _class_rows(split: Mapping[str, Any], positive: str | None) -> list[dict[str, Any]]:
    classes = split["classes"] or []
    total = sum(row["train"] + row["test"] for row in classes) or 1
    most = max((row["train"] + row["test"] for row in classes), default=1) or 1
    return [
        {
            "label": row["label"],
            "positive": row["label"] == positive,
            "train": Cell(integer(row["train"]), row["train"]),
            "test": Cell(integer(row["test"]), row["test"]),
            "share": Cell(percent((row["train"] + row["test"]) / total), row["train"]),
            "bar": f"{100 * (row['train'] + row['test']) / most:.1f}",
        }
        for row in classes
    ]


def _method(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    study, split = facts["study"], facts["split"]
    stratified = "" if split["classes"] is None else ", with the same shares of classes in both"
    models = finished(facts["models"])
    steps = {
        "Test set": (
            f"{integer(split['n_test'])} rows ({percent(study['test_size'], 0)}) were set aside"
            f" before anything was fitted{stratified}. The other {integer(split['n_train'])} rows"
            " are the training rows."
        ),
        "Cross-validation": (
            f"The training rows were divided into {study['folds']} folds. Each candidate was"
            f" fitted {study['folds']} times, each time scored on the fold left out; ± is the"
            " standard deviation of these scores."
        ),
        "Preparation": (
            "Filling, encoding and scaling were learned within each fold from the rows it was"
            " fitted on, so that no scored row took part."
        ),
        "Tuning": (
            f"For each model the candidate with the best mean ({study['metric_label']}) was chosen."
            " Its cross-validated score is slightly flattering, having been chosen by it; the test"
            " score is not."
        ),
        "Test": (
            "The chosen candidate of each model was fitted once more on all training rows and"
            " scored once on the test rows."
        ),
    }
    if facts["calibration"] is not None:
        steps["Calibration"] = (
            "Within each fold the best model's scores of rows it had not seen, three parts in turn,"
            " taught each method; the fold's left-out rows judged it, by their log-loss. The test"
            " rows had no say in the choice."
        )
    if models:
        interval = models[0]["test"]["interval"]
        steps["Interval"] = f"{100 * interval['level']:g} %: {interval['method']}."
    steps["Seed"] = f"{study['seed']}; the same table, seed and versions give the same scores."
    return list(steps.items())


def _meanings(models: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    keys = dict.fromkeys(key for model in models for key in model["test"]["metrics"])
    if any(model["test"]["per_class"] for model in models):
        keys |= dict.fromkeys(["precision", "recall", "specificity", "f1"])
    found = [metric(key) for key in keys]
    return [(about.label, about.meaning) for about in found if about.meaning]


def _environment(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    here = facts["environment"]
    return [
        ("arboleda", here["arboleda"]),
        ("Python", here["python"]),
        ("NumPy", here["numpy"]),
        ("scikit-learn", here["scikit_learn"]),
        ("Platform", here["platform"]),
        ("Cores", str(here["cores"])),
        ("Data, SHA-256", facts["study"]["data_sha256"]),
    ]


def _command(study: Mapping[str, Any]) -> str:
    words = ["arboleda", "study", study["table"], "--target", study["target"]]
    words += ["--task", "regression" if study["task"] == "regression" else "classification"]
    words += ["--metric", study["metric"], "--seed", str(study["seed"])]
    if study["models"] != ["core"]:
        words += ["--models", ",".join(study["models"])]
    return shlex.join(words)
