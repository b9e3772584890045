"""The best models of studies of one table, compared on the test rows that the studies share."""

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

# Fewer rows than these say nothing of a difference.
FEWEST_ROWS = 10


def compare_best(studies: Sequence[LoadedStudy]) -> dict[str, Any]:
    """Each two studies' best models on the rows that both set aside for the test.

    The metric is that of the first study, differences are above 0 where the first of the two is
    better, and the p-values are adjusted for the number of pairs (Holm 1979). Where the rows were
    divided by groups, what counts is whole groups.

    Parameters
    ----------
    studies : sequence of LoadedStudy
        Of one table and target, with test rows that were set aside alike (see `same_rows`).
    """
    study = studies[0].facts["study"]
    found: dict[str, Any] = {
        "metric": study["metric"],
        "metric_label": study["metric_label"],
        "level": LEVEL,
        "n_rows": 0,
        "groups": None,
        "why_not": None,
        "pairs": [],
    }
    try:
        found |= _compared(studies)
    except StudyError as error:
        found["why_not"] = str(error).removesuffix(".")
    return found


def _compared(studies: Sequence[LoadedStudy]) -> dict[str, Any]:
    """What changes in the facts where the rows were kept."""
    study = studies[0].facts["study"]
    rows = [one.test_rows() for one in studies]
    shared = rows[0].numbers
    for part in rows[1:]:
        shared = np.intersect1d(shared, part.numbers)
    found: dict[str, Any] = {"n_rows": len(shared)}
    if len(shared) < FEWEST_ROWS:
        return found | {
            "why_not": f"the test sets of the studies share {len(shared)} rows: other seeds set "
            "other rows aside"
        }
    here = np.searchsorted(rows[0].numbers, shared)
    groups = None if rows[0].groups is None else rows[0].groups[here]
    found["groups"] = study["settings"]["groups"]
    if found["groups"] is not None and groups is None:
        return found | {"why_not": "an older version did not keep the groups; run the study again"}
    if groups is not None and len(np.unique(groups)) == 1:
        return found | {"why_not": f"all test rows have the same {found['groups']!r}"}
    said = [_said(one, part, shared) for one, part in zip(studies, rows, strict=True)]
    y = rows[0].codes[here]
    n_classes, up = len(studies[0].class_names), study["greater_is_better"]
    told = studies[0].facts["costs"] if study["metric"] == COST else None
    costs = None if told is None else np.array(told["matrix"])
    pairs = []
    for i, j in combinations(range(len(studies)), 2):
        got = compare_on_rows(study["metric"], y, said[i], said[j], n_classes, up, groups, costs)
        if got is not None:
            pairs.append({"first": i, "second": j, **got})
    if not pairs:
        return found | {
            "why_not": f"{study['metric_label']} is not defined for what the models say"
        }
    for pair, p in zip(pairs, holm(np.array([pair["p"] for pair in pairs])), strict=True):
        pair["p_adjusted"] = float(p)
    return found | {"pairs": pairs}


def _said(study: LoadedStudy, rows: Rows, shared: npt.NDArray[np.int64]) -> Predictions:
    """What the best model says of rows of the table."""
    pipeline = study.best_model_.pipeline_
    x = study.encode(rows.X).x[np.searchsorted(rows.numbers, shared)]
    score = class_scores(pipeline, x, len(study.class_names)) if study.class_names else None
    return Predictions(np.asarray(pipeline.predict(x)), score)
