"""The facts of an exploration: plain values, described by ``facts.schema.json``."""

import platform
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn

import arboleda
from arboleda.explore._cautions import find_cautions
from arboleda.explore._duplicates import describe_duplicates
from arboleda.explore._explored_table import ExploredTable, Target
from arboleda.explore._missing import describe_missing
from arboleda.explore._outliers import describe_outliers
from arboleda.explore._profiles import describe_profiles
from arboleda.explore._relations import describe_relations, describe_target_relations
from arboleda.explore._structure import (
    describe_clusters,
    describe_components,
    describe_map,
    describe_scaling,
    make_cloud,
)
from arboleda.study.data.describe import describe_column
from arboleda.study.execution.progress import Progress

__all__ = ["SCHEMA_VERSION", "make_facts"]

SCHEMA_VERSION = 1


def make_facts(subject: ExploredTable, progress: Progress) -> dict[str, Any]:
    """Compute the facts of an exploration; the same table and seed give the same facts.

    Parts that cannot be computed for the table are None.
    """
    table, goal = subject.table, subject.goal
    with progress.step("Describing the columns"):
        columns = [describe_column(c, subject.roles[c.name]) for c in table.columns]
    with progress.step("Looking for missing values and equal rows"):
        missing = describe_missing(subject)
        duplicates = describe_duplicates(subject)
    with progress.step("Computing relations of columns"):
        relations = describe_relations(subject)
        with_target = None if goal is None else describe_target_relations(subject, goal)
        profiles = _make_profiles(subject, with_target)
        cautions = find_cautions(subject, relations, with_target)
    structure = _make_structure(subject, progress)
    with progress.step("Growing a forest to find outliers"):
        outliers = describe_outliers(subject)
    return {
        "schema_version": SCHEMA_VERSION,
        "arboleda_version": arboleda.__version__,
        "table": {
            "name": table.name,
            "stem": table.stem,
            "sha256": table.sha256,
            "n_rows": table.n_rows,
            "n_columns": len(table.columns),
            "n_missing_cells": sum(c["n_missing"] for c in columns),
        },
        "seed": subject.seed,
        "target": None if goal is None else _describe_target(goal),
        "columns": columns,
        "cautions": cautions,
        "missing": missing,
        "duplicates": duplicates,
        "relations": relations,
        "target_relations": with_target,
        "profiles": profiles,
        **structure,
        "outliers": outliers,
        "environment": {
            "python": platform.python_version(),
            "arboleda": arboleda.__version__,
            "numpy": np.__version__,
            "scikit_learn": sklearn.__version__,
        },
    }


def _make_profiles(
    subject: ExploredTable, with_target: Mapping[str, Any] | None
) -> list[dict[str, Any]] | None:
    if subject.goal is None or with_target is None:
        return None
    ranked_names = [column["name"] for column in with_target["columns"]]
    return describe_profiles(subject, subject.goal, ranked_names)


def _make_structure(subject: ExploredTable, progress: Progress) -> dict[str, Any]:
    """Compute components, clusters and maps; ``no_structure`` is the reason if there are none."""
    with progress.step("Finding principal components"):
        cloud = make_cloud(subject)
    if isinstance(cloud, str):
        parts = ("components", "clusters", "tsne", "isomap", "mds")
        return {**dict.fromkeys(parts), "no_structure": cloud}
    with progress.step("Clustering by k-means and Gaussian mixtures"):
        clusters = describe_clusters(cloud)
    with progress.step("Drawing maps by t-SNE, Isomap and multidimensional scaling"):
        tsne, isomap = describe_map(cloud, "tsne"), describe_map(cloud, "isomap")
        mds = describe_scaling(cloud)
    return {
        "components": describe_components(cloud),
        "clusters": clusters,
        "tsne": tsne,
        "isomap": isomap,
        "mds": mds,
        "no_structure": None,
    }


def _describe_target(goal: Target) -> dict[str, Any]:
    known = goal.y[goal.known]
    classes = None
    if goal.labels:
        counts = np.bincount(known.astype(np.int64), minlength=len(goal.labels))
        classes = [
            {"label": label, "n_rows": int(n)} for label, n in zip(goal.labels, counts, strict=True)
        ]
    return {
        "name": goal.name,
        "task": goal.task,
        "why": goal.why,
        "n_known": len(known),
        "positive_class": goal.positive,
        "classes": classes,
    }
