"""The facts of a comparison: plain values, described by ``facts.schema.json``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import arboleda
from arboleda.comparisons._differences import find_row_mismatch, list_differences
from arboleda.comparisons._pairs import compare_best
from arboleda.comparisons._sentences import write_sentences
from arboleda.diagnose import compare_over_data_sets
from arboleda.study import LoadedStudy
from arboleda.study.results.leaderboard import params_text

__all__ = ["SCHEMA_VERSION", "make_facts"]

SCHEMA_VERSION = 1
# Minimum number of tables for ranks over tables.
FEWEST_TABLES = 3


def make_facts(folders: Sequence[str], studies: Sequence[LoadedStudy]) -> dict[str, Any]:
    """Compute the facts of a comparison."""
    study_facts = [one.facts for one in studies]
    names = _shorten_names(folders, study_facts)
    why_not = find_row_mismatch(study_facts)
    facts = {
        "schema_version": SCHEMA_VERSION,
        "arboleda_version": arboleda.__version__,
        "studies": [
            _describe_study(name, folder, one)
            for name, folder, one in zip(names, folders, study_facts, strict=True)
        ],
        "differences": list_differences(study_facts),
        "leaderboard": _make_leaderboard(study_facts),
        "paired": {"why_not": why_not, "pairs": []} if why_not else compare_best(studies),
        "over_tables": _compare_over_tables(names, study_facts),
    }
    return {**facts, "sentences": write_sentences(facts)}


def _shorten_names(folders: Sequence[str], study_facts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the last parts of the folder names, or the full names if these are not unique."""
    short = [Path(folder).resolve().name for folder in folders]
    return list(short) if len(set(short)) == len(short) else list(folders)


def _describe_study(name: str, folder: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    study, best = facts["study"], facts["models"][0]
    honest = (facts.get("selection") or {}).get("honest")
    return {
        "name": name,
        "folder": folder,
        "table": study["table"],
        "target": study["target"],
        "metric_label": study["metric_label"],
        "best": {
            "key": best["key"],
            "name": best["name"],
            "params": params_text(best),
            "cv": best["cv"]["mean"],
            "sd": best["cv"]["sd"],
            "honest": None if honest is None else honest["mean"],
            "test": best["test"]["metrics"].get(study["metric"]),
            "low": best["test"]["interval"]["low"],
            "high": best["test"]["interval"]["high"],
        },
        "n_models": sum(model["status"] == "ok" for model in facts["models"]),
        "timing": {
            "started": facts["timing"]["started"],
            "total_s": facts["timing"]["total_s"],
        },
    }


def _make_leaderboard(study_facts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each model of any study, in the order of its best rank."""
    names: dict[str, str] = {}
    places: list[dict[str, dict[str, Any]]] = []
    for facts in study_facts:
        metric, here = facts["study"]["metric"], {}
        for rank, model in enumerate(facts["models"], start=1):
            names.setdefault(model["key"], model["name"])
            if model["status"] == "ok":
                test = model["test"]["metrics"].get(metric)
                here[model["key"]] = {"rank": rank, "cv": model["cv"]["mean"], "test": test}
        places.append(here)
    rows = [
        {"key": key, "name": name, "cells": [here.get(key) for here in places]}
        for key, name in names.items()
    ]
    return sorted(rows, key=lambda row: min((c["rank"] for c in row["cells"] if c), default=10**9))


def _compare_over_tables(
    named: Sequence[str], study_facts: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Compute Friedman's and Nemenyi's tests of the models shared by all studies, over tables.

    Of several studies of the same table and target, only the first is used.
    """
    by_table: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for name, facts in zip(named, study_facts, strict=True):
        study = facts["study"]
        by_table.setdefault(f"{study['data_sha256']} {study['target']}", (name, facts))
    chosen = [facts for _, facts in by_table.values()]
    if len(chosen) < FEWEST_TABLES:
        return None
    scores = [_get_errors(facts) for facts in chosen]
    keys = [key for key in scores[0] if all(key in one for one in scores)]
    if len(keys) < 2:
        return None
    names = {model["key"]: model["name"] for facts in chosen for model in facts["models"]}
    table = np.array([[one[key] for key in keys] for one in scores])
    result = compare_over_data_sets(table, names=keys)
    order = np.argsort(result.mean_rank, kind="stable")
    return {
        "tables": [name for name, _ in by_table.values()],
        "models": [
            {
                "key": keys[k],
                "name": names[keys[k]],
                "mean_rank": float(result.mean_rank[k]),
                "ranks": result.ranks[:, k].tolist(),
            }
            for k in order
        ],
        "p": result.f_p_value,
        "alpha": result.alpha,
        "critical_difference": result.critical_difference,
        "groups": [list(group) for group in result.groups],
    }


def _get_errors(facts: Mapping[str, Any]) -> dict[str, float]:
    """Return the test score of each model, negated if larger is better."""
    metric = facts["study"]["metric"]
    sign = -1.0 if facts["study"]["greater_is_better"] else 1.0
    return {
        model["key"]: sign * model["test"]["metrics"][metric]
        for model in facts["models"]
        if model["status"] == "ok" and model["test"]["metrics"].get(metric) is not None
    }
