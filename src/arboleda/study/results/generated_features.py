"""Facts on the features that were generated in a model's fits."""

from collections import Counter
from typing import Any

from arboleda.study.data.feature_crosses import FeatureCross
from arboleda.study.plan import Plan
from arboleda.study.runner import Outcome

__all__ = ["generated_feature_facts"]


def generated_feature_facts(plan: Plan, outcome: Outcome) -> dict[str, Any] | None:
    """Return the ``made`` part of a model's facts: generated features and their numbers of fits.

    Every fit selects its own features. None if the model's preprocessing generates no features.
    """
    if outcome.best is None or outcome.test is None:
        return None
    fits = [*outcome.candidates[outcome.best].results, outcome.test]
    found = [kept["made"] for fit in fits if "made" in (kept := fit.get("kept") or {})]
    if not found:
        return None
    crosses = [[_cross(entry) for entry in one] for one in found]
    times = Counter(cross for one in crosses for cross in one)
    return {
        "fits": len(found),
        "columns": [_column_facts(plan, cross, count) for cross, count in times.most_common()],
    }


def _cross(entry: dict[str, Any]) -> FeatureCross:
    numbers, groups = tuple(entry["numbers"]), tuple(entry["groups"])
    return FeatureCross(entry["kind"], numbers, groups, entry["output"])


def _column_facts(plan: Plan, cross: FeatureCross, count: int) -> dict[str, Any]:
    names, labels = plan.features.names, plan.target.labels
    shown = labels[1] if len(labels) == 2 else labels[cross.output] if labels else None
    return {
        "name": cross.name(names, labels),
        "kind": cross.kind,
        "numbers": [names[j] for j in cross.numbers],
        "groups": [names[j] for j in cross.groups],
        "class": shown if cross.kind == "target" else None,
        "fits": count,
    }
