"""Which columns the folds of a model made, as facts."""

from collections import Counter
from typing import Any

from arboleda.study.data.feature_crosses import FeatureCross
from arboleda.study.plan import Plan
from arboleda.study.runner import Outcome

__all__ = ["generated_feature_facts"]


def generated_feature_facts(plan: Plan, outcome: Outcome) -> dict[str, Any] | None:
    """The ``made`` part of a model's facts: each made column, and in how many fits it was made.

    Every fold chooses anew. None of a model whose preparation makes no columns.
    """
    if outcome.best is None or outcome.test is None:
        return None
    fits = [*outcome.candidates[outcome.best].results, outcome.test]
    found = [kept["made"] for fit in fits if "made" in (kept := fit.get("kept") or {})]
    if not found:
        return None
    ideas = [[_idea(told) for told in one] for one in found]
    times = Counter(idea for one in ideas for idea in one)
    return {
        "fits": len(found),
        "columns": [_told(plan, idea, count) for idea, count in times.most_common()],
    }


def _idea(told: dict[str, Any]) -> FeatureCross:
    return FeatureCross(told["kind"], tuple(told["numbers"]), tuple(told["groups"]), told["output"])


def _told(plan: Plan, idea: FeatureCross, count: int) -> dict[str, Any]:
    names, labels = plan.features.names, plan.target.labels
    shown = labels[1] if len(labels) == 2 else labels[idea.output] if labels else None
    return {
        "name": idea.name(names, labels),
        "kind": idea.kind,
        "numbers": [names[j] for j in idea.numbers],
        "groups": [names[j] for j in idea.groups],
        "class": shown if idea.kind == "target" else None,
        "fits": count,
    }
