"""The facts shared by both pages: the study, the model and the environment."""

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn

import arboleda
from arboleda.study.results.explained_model import ExplainedModel

__all__ = ["SCHEMA_VERSION", "make_frame_facts"]

SCHEMA_VERSION = 1
_BASELINES = ("most_frequent", "mean")
# Packages of models that extrapolate as constants.
_TREES = tuple(f"arboleda.{part}" for part in ("adaboost", "bagging", "boosting", "forest", "tree"))


def make_frame_facts(subject: ExplainedModel, about: str) -> dict[str, Any]:
    """Collect the facts about the study, its best model and the package versions."""
    study = subject.facts["study"]
    return {
        "schema_version": SCHEMA_VERSION,
        "arboleda_version": arboleda.__version__,
        "about": about,
        "study": {
            "folder": subject.folder,
            "table": study["table"],
            "target": study["target"],
            "task": study["task"],
            "labels": list(subject.labels) or None,
            "positive_class": study["positive_class"],
            "metric": study["metric"],
            "metric_label": study["metric_label"],
            "greater_is_better": study["greater_is_better"],
            "n_train": subject.facts["split"]["n_train"],
            "n_test": subject.facts["split"]["n_test"],
            "data_sha256": study["data_sha256"],
        },
        "model": _describe_model(subject),
        "seed": subject.seed,
        "environment": {
            "python": platform.python_version(),
            "arboleda": arboleda.__version__,
            "numpy": np.__version__,
            "scikit_learn": sklearn.__version__,
        },
    }


def _describe_model(subject: ExplainedModel) -> dict[str, Any]:
    models = [m for m in subject.facts["models"] if m["status"] == "ok"]
    result = next(m for m in models if m["key"] == subject.key)
    metric, test = subject.facts["study"]["metric"], result["test"]
    baseline = next((m for m in models if m["key"] in _BASELINES and m is not result), None)
    return {
        "key": result["key"],
        "name": result["name"],
        "engine": result["engine"],
        "params": dict(result["candidates"][result["best"]]["params"]),
        "n_models": len(models),
        "rank": models.index(result) + 1,
        "cv": {"mean": result["cv"]["mean"], "sd": result["cv"]["sd"]},
        "test": test["metrics"].get(metric),
        "interval": dict(test["interval"]),
        "baseline": None
        if baseline is None
        else {"name": baseline["name"], "test": baseline["test"]["metrics"].get(metric)},
        "calibration": _describe_calibration(test["calibration"]),
        "probabilities": subject.predicts_probabilities,
        "by_trees": type(subject.pipeline[-1]).__module__.startswith(_TREES),
    }


def _describe_calibration(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the calibration error on the test rows and its quantile under chance."""
    if result is None:
        return None
    return {key: result[key] for key in ("error", "largest_by_chance", "level", "bins")}
