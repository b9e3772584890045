"""What studies differ in, and their best models on shared test rows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda.facts.comparison import ComparedPair, DifferenceFacts, PairedFacts
from arboleda.reports.fact_messages import write_message
from arboleda.reports.metric_names import find_metric_name
from arboleda.scoring.choice import COST, StudyMetric, find_metric
from arboleda.scoring.paired_tests import (
    LEVEL,
    PairedTest,
    adjust_level,
    adjust_p_value,
    compare_on_rows,
)
from arboleda.scoring.ranking import bind_ranking_metric
from arboleda.scoring.scores import Predictions, class_scores
from arboleda.scoring.survival import bind_survival_metric
from arboleda.study import StudyError, StudyResult
from arboleda.study.artifacts.rows import Rows
from arboleda.study.execution.fitting import predict_curves
from arboleda.tables.timed_target import read_target_times

__all__ = ["compare_best", "find_row_mismatch", "list_differences"]

Kind = Literal["data", "setting", "version"]
# Number of digits of the hash shown.
_DIGITS = 12
_STUDY = {
    "table": "Table",
    "target": "Target",
    "task": "Task",
    "metric": "Metric",
    "seed": "Seed",
    "test_size": "Test size",
}
_VERSIONS = {
    "arboleda": "arboleda",
    "python": "Python",
    "numpy": "NumPy",
    "scikit_learn": "scikit-learn",
    "platform": "Platform",
    "cores": "Cores",
}


def list_differences(studies: Sequence[Mapping[str, Any]]) -> list[DifferenceFacts]:
    """List the properties of each study as text, and whether the studies differ in them.

    Parameters
    ----------
    studies : sequence of mapping
        Facts of studies.

    Returns
    -------
    rows : list of DifferenceFacts
    """
    described = [
        {(kind, what): value for kind, what, value in _iter_settings(facts)} for facts in studies
    ]
    keys = dict.fromkeys(key for one in described for key in one)
    rows = []
    for kind, what in keys:
        values = [one.get((kind, what), "") for one in described]
        rows.append(
            DifferenceFacts(what=what, kind=kind, values=values, same=len(set(values)) == 1)
        )
    return rows


def find_row_mismatch(studies: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why the best models cannot be compared row by row, or None if they can."""
    first = studies[0]
    if any(facts["study"]["data_sha256"] != first["study"]["data_sha256"] for facts in studies):
        return "the tables differ"
    for key, what in (("target", "the targets differ"), ("task", "the tasks differ")):
        if any(facts["study"][key] != first["study"][key] for facts in studies):
            return what
    if any(
        facts["study"]["scheme"]["test"] == "file" and _get_test_hash(facts) is None
        for facts in studies
    ):
        return "an older version did not record the test table; run the studies again"
    if any(_get_test_hash(facts) != _get_test_hash(first) for facts in studies):
        return "the test tables differ"
    if any(_get_split(facts) != _get_split(first) for facts in studies):
        return "the studies split off their test rows in different ways"
    return None


def _get_test_hash(facts: Mapping[str, Any]) -> str | None:
    """Return the hash of a separate test table; studies of older versions do not have it."""
    result: str | None = facts["study"].get("test_sha256")
    return result


def _get_split(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return how the test rows were split off, and by which column."""
    study = facts["study"]
    return study["scheme"]["test"], study["settings"]["groups"], study["settings"]["time"]


def _iter_settings(facts: Mapping[str, Any]) -> Iterator[tuple[Kind, str, str]]:
    study, data, split = facts["study"], facts["data"], facts["split"]
    yield "data", "Data, SHA-256", study["data_sha256"][:_DIGITS]
    if _get_test_hash(facts) is not None:
        yield "data", "Test data, SHA-256", study["test_sha256"][:_DIGITS]
    yield "data", "Rows", f"{data['n_rows']:,}"
    yield "data", "Columns", f"{data['n_columns']:,}"
    yield "data", "Training and test rows", f"{split['n_train']:,} + {split['n_test']:,}"
    for key, name in _STUDY.items():
        yield "setting", name, _format_value(study[key])
    settings = study["settings"]
    for key, value in settings.items():
        if key not in (*_STUDY, "random_state"):
            yield "setting", key.replace("_", " ").capitalize(), _format_value(value)
    for key, name in _VERSIONS.items():
        yield "version", name, _format_value(facts["environment"][key])


def _format_value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_format_value(part)}" for key, part in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


# Minimum number of shared rows for a comparison.
FEWEST_ROWS = 10


def compare_best(studies: Sequence[StudyResult]) -> PairedFacts:
    """Compare the best models of each pair of studies on their shared test rows.

    The metric is that of the first study; differences are positive if the first of the two is
    better. Intervals and p-values are adjusted for the number of pairs (Bonferroni; Dunn 1961): a
    pair differs if its interval excludes 0. If the rows were split by groups, the sampling units
    are whole groups.

    Parameters
    ----------
    studies : sequence of StudyResult
        Studies of one table and target, whose test rows were split off in the same way
        (see `find_row_mismatch`).
    """
    study = studies[0].facts["study"]
    try:
        result = _compare_pairs(studies)
    except StudyError as error:
        result = {"why_not": str(error).removesuffix(".")}
    return PairedFacts(
        metric=study["metric"],
        metric_label=study["metric_label"],
        level=LEVEL,
        n_rows=result.get("n_rows", 0),
        groups=result.get("groups"),
        why_not=result.get("why_not"),
        pairs=result.get("pairs", []),
    )


def _compare_pairs(studies: Sequence[StudyResult]) -> dict[str, Any]:
    """Return the facts of the comparison on the saved test rows."""
    study = studies[0].facts["study"]
    rows = [one.test_rows() for one in studies]
    shared = rows[0].numbers
    for part in rows[1:]:
        shared = np.intersect1d(shared, part.numbers)
    result: dict[str, Any] = {"n_rows": len(shared)}
    if len(shared) < FEWEST_ROWS:
        return result | {"why_not": write_message("few_shared", count=len(shared))}
    here = np.searchsorted(rows[0].numbers, shared)
    groups = None if rows[0].groups is None else rows[0].groups[here]
    result["groups"] = study["settings"].get("query") or study["settings"]["groups"]
    if result["groups"] is not None and groups is None:
        return result | {"why_not": "an older version did not save the groups; run the study again"}
    if groups is not None and len(np.unique(groups)) == 1:
        return result | {"why_not": write_message("same_groups", column=result["groups"])}
    times = studies[0].times
    predictions = [
        _predict_shared(one, part, shared, times) for one, part in zip(studies, rows, strict=True)
    ]
    y = rows[0].codes[here]
    if find_metric_name(study["metric"]) is None:
        return result | {"why_not": write_message("own_metric", metric=study["metric_label"])}
    metric, n_classes = _find_bound_metric(studies[0]), len(studies[0].class_names)
    cost_facts = studies[0].facts["costs"] if metric.key == COST else None
    costs = None if cost_facts is None else np.array(cost_facts["matrix"])
    tests = {}
    for i, j in combinations(range(len(studies)), 2):
        got = compare_on_rows(metric, y, predictions[i], predictions[j], n_classes, groups, costs)
        if got is not None:
            tests[i, j] = got
    if not tests:
        return result | {"why_not": write_message("undefined", metric=study["metric_label"])}
    return result | {"pairs": _describe_pairs(tests)}


def _describe_pairs(tests: Mapping[tuple[int, int], PairedTest]) -> list[ComparedPair]:
    """Return the facts of all pairs, with simultaneous intervals."""
    pairs = []
    for (first, second), test in tests.items():
        low, high = test.compute_interval(adjust_level(len(tests)))
        pairs.append(
            ComparedPair(
                first=first,
                second=second,
                difference=test.difference,
                low=low,
                high=high,
                p=test.p,
                method=test.method,
                p_adjusted=adjust_p_value(test.p, len(tests)),
            )
        )
    return pairs


def _find_bound_metric(study: StudyResult) -> StudyMetric:
    """Return a study's metric, with what that of times takes from the training rows."""
    metric = find_metric(study.facts["study"]["metric"])
    if study.task == "ranking":
        return bind_ranking_metric(metric)
    if study.task == "survival":
        return bind_survival_metric(
            metric, read_target_times(study.training_rows().codes), study.times
        )
    return metric


def _predict_shared(
    study: StudyResult, rows: Rows, shared: npt.NDArray[np.int64], times: Sequence[float]
) -> Predictions:
    """Predict rows of the table with the best model, survival curves at these times."""
    pipeline = study.best_model_.pipeline_
    x = study.encode(rows.X).x[np.searchsorted(rows.numbers, shared)]
    score = class_scores(pipeline, x, len(study.class_names)) if study.class_names else None
    if times:
        score = predict_curves(pipeline[-1], pipeline[:-1].transform(x), times)
    return Predictions(np.asarray(pipeline.predict(x)), score)
