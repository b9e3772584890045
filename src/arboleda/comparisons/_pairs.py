"""Pairwise comparison of the best models of studies of one table, on shared test rows."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.diagnose._comparison import holm
from arboleda.study import LoadedStudy, StudyError
from arboleda.study.artifacts.rows import Rows
from arboleda.study.execution.prediction_store import Predictions
from arboleda.study.results.comparison import LEVEL, compare_on_rows
from arboleda.study.results.scoring import COST, class_scores

__all__ = ["compare_best"]

# Minimum number of shared rows for a comparison.
FEWEST_ROWS = 10


def compare_best(studies: Sequence[LoadedStudy]) -> dict[str, Any]:
    """Compare the best models of each pair of studies on their shared test rows.

    The metric is that of the first study; differences are positive if the first of the two is
    better; p-values are adjusted for the number of pairs (Holm 1979). If the rows were split by
    groups, the sampling units are whole groups.

    Parameters
    ----------
    studies : sequence of LoadedStudy
        Studies of one table and target, whose test rows were split off in the same way
        (see `find_row_mismatch`).
    """
    study = studies[0].facts["study"]
    result: dict[str, Any] = {
        "metric": study["metric"],
        "metric_label": study["metric_label"],
        "level": LEVEL,
        "n_rows": 0,
        "groups": None,
        "why_not": None,
        "pairs": [],
    }
    try:
        result |= _compare_pairs(studies)
    except StudyError as error:
        result["why_not"] = str(error).removesuffix(".")
    return result


def _compare_pairs(studies: Sequence[LoadedStudy]) -> dict[str, Any]:
    """Return the facts of the comparison on the saved test rows."""
    study = studies[0].facts["study"]
    rows = [one.test_rows() for one in studies]
    shared = rows[0].numbers
    for part in rows[1:]:
        shared = np.intersect1d(shared, part.numbers)
    result: dict[str, Any] = {"n_rows": len(shared)}
    if len(shared) < FEWEST_ROWS:
        return result | {
            "why_not": f"the test sets of the studies share only {len(shared)} rows: "
            "different seeds select different test rows"
        }
    here = np.searchsorted(rows[0].numbers, shared)
    groups = None if rows[0].groups is None else rows[0].groups[here]
    result["groups"] = study["settings"]["groups"]
    if result["groups"] is not None and groups is None:
        return result | {"why_not": "an older version did not save the groups; run the study again"}
    if groups is not None and len(np.unique(groups)) == 1:
        return result | {"why_not": f"all test rows have the same {result['groups']!r}"}
    predictions = [
        _predict_shared(one, part, shared) for one, part in zip(studies, rows, strict=True)
    ]
    y = rows[0].codes[here]
    n_classes, up = len(studies[0].class_names), study["greater_is_better"]
    cost_facts = studies[0].facts["costs"] if study["metric"] == COST else None
    costs = None if cost_facts is None else np.array(cost_facts["matrix"])
    pairs = []
    for i, j in combinations(range(len(studies)), 2):
        got = compare_on_rows(
            study["metric"], y, predictions[i], predictions[j], n_classes, up, groups, costs
        )
        if got is not None:
            pairs.append({"first": i, "second": j, **got})
    if not pairs:
        return result | {"why_not": f"{study['metric_label']} is not defined for these predictions"}
    for pair, p in zip(pairs, holm(np.array([pair["p"] for pair in pairs])), strict=True):
        pair["p_adjusted"] = float(p)
    return result | {"pairs": pairs}


def _predict_shared(study: LoadedStudy, rows: Rows, shared: npt.NDArray[np.int64]) -> Predictions:
    """Predict rows of the table with the best model."""
    pipeline = study.best_model_.pipeline_
    x = study.encode(rows.X).x[np.searchsorted(rows.numbers, shared)]
    score = class_scores(pipeline, x, len(study.class_names)) if study.class_names else None
    return Predictions(np.asarray(pipeline.predict(x)), score)
