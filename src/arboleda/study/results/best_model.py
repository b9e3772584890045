"""What is told of the best model after its test: its importances, and one small tree like it."""

import hashlib
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import read_model
from arboleda.study.errors import StudyError
from arboleda.study.execution.executor import Executor
from arboleda.study.plan import Plan
from arboleda.study.results.costs import costs_facts
from arboleda.study.results.explained_model import ExplainedModel, RowSubset
from arboleda.study.results.learning_curve import MOST_CELLS, learning_curve
from arboleda.study.runner import Outcome, RunResult, ranked

__all__ = ["describe_best"]

# Rows times columns times shuffles that the model is asked for; `arboleda explain` asks for more.
MAX_SCORED_ROWS = 400_000
SURROGATE_ROWS = 5_000
# Rows that tell how fast the model answers.
TIMED_ROWS = 200
NO_ROOM = "the time budget has no room for it"
NO_MEMORY = "there was not memory enough for it"


def describe_best(found: RunResult, work: Executor) -> dict[str, Any]:
    """Parts of the facts on the best model: ``importance``, ``surrogate``, ``learning_curve``.

    Each is None where the best model learns nothing from the columns, or all failed; each of them
    tells in ``skipped`` why else it is empty. What was computed is in the ledger.
    """
    parts = {"importance": importance_of, "surrogate": surrogate_of}
    order = [outcome for outcome in ranked(found.plan, found.outcomes) if not outcome.error]
    if not order or not order[0].model.learns:
        return dict.fromkeys([*parts, "learning_curve"])
    told = {name: part(found.plan, work, order[0]) for name, part in parts.items()}
    # A combination is not fitted again: the best model that stands alone has the curve.
    alone = next(outcome for outcome in order if outcome.ensemble is None)
    return {**told, "learning_curve": learning_curve(found.plan, work, alone)}


def importance_of(plan: Plan, work: Executor, outcome: Outcome) -> dict[str, Any]:
    """The ``importance`` part of the facts: what the model loses when a column is shuffled."""

    def compute(subject: ExplainedModel) -> dict[str, Any] | None:
        from arboleda.study.results.model_importance import describe_importance

        return describe_importance(subject, MAX_SCORED_ROWS)

    empty = {
        "metric": plan.metric.key,
        "metric_label": plan.metric.label,
        "n_rows": 0,
        "n_repeats": 0,
        "columns": [],
    }

    def asked(subject: ExplainedModel) -> int:
        from arboleda.study.results.model_importance import scored_rows

        return scored_rows(subject, MAX_SCORED_ROWS)

    return empty | _told(plan, work, outcome, "importance", compute, asked)


def surrogate_of(plan: Plan, work: Executor, outcome: Outcome) -> dict[str, Any]:
    """The ``surrogate`` part of the facts: a small tree that gives the model's answers."""

    def compute(subject: ExplainedModel) -> dict[str, Any] | None:
        from arboleda.study.results.model_surrogate import describe_surrogate

        return describe_surrogate(subject, SURROGATE_ROWS)

    keys = ("n_leaves", "n_fit", "n_rows", "fidelity", "error", "model_error", "curve", "tree")

    def asked(subject: ExplainedModel) -> int:
        return sum(min(len(part.x), SURROGATE_ROWS) for part in (subject.train, subject.test))

    return dict.fromkeys(keys) | _told(plan, work, outcome, "surrogate", compute, asked)


def _told(
    plan: Plan,
    work: Executor,
    outcome: Outcome,
    what: str,
    compute: Callable[[ExplainedModel], dict[str, Any] | None],
    asked: Callable[[ExplainedModel], int],
) -> dict[str, Any]:
    """Look in the ledger, or compute and store; ``skipped`` tells why there is nothing.

    ``asked`` counts the rows that the model will be asked of.
    """
    key = outcome.model.key
    skipped = _reason(plan, outcome)
    if outcome.best is None or skipped is not None:
        return _nothing(key, skipped)
    assert outcome.test is not None
    # Files have their checksums: what is told is of this very fit, also of a combination's.
    text = json.dumps(outcome.test["kept"]["files"], sort_keys=True)
    entry = f"{what} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    stored = work.ledger.get(key, outcome.params, entry)
    if stored is not None:
        return stored
    # Another time there may be room and memory: these are not stored.
    if work.budget is not None and work.budget.left <= 0:
        return _nothing(key, NO_ROOM)
    started = perf_counter()
    facts: dict[str, Any] = {"model": key, "skipped": None}
    try:
        with threadpool_limits(limits=1):
            subject = _subject(plan, work, outcome)
            if work.budget is not None and _seconds_of(subject, asked) > work.budget.left:
                return _nothing(key, NO_ROOM)
            found = compute(subject)
        facts |= found or {"skipped": "the test rows do not tell"}
    except MemoryError:
        return _nothing(key, NO_MEMORY)
    except (StudyError, ValueError) as error:
        facts["skipped"] = str(error).rstrip(".")
    facts["timing"] = {"seconds": perf_counter() - started}
    work.ledger.put(key, outcome.params, entry, facts)
    return facts


def _nothing(key: str, why: str | None) -> dict[str, Any]:
    return {"model": key, "skipped": why, "timing": {"seconds": 0.0}}


def _seconds_of(subject: ExplainedModel, asked: Callable[[ExplainedModel], int]) -> float:
    """About how long the model takes to answer of so many rows."""
    few = subject.test.x[:TIMED_ROWS]
    subject.predict(few[:1])  # the first answer also makes what others use
    started = perf_counter()
    subject.predict(few)
    return (perf_counter() - started) / len(few) * asked(subject)


def _reason(plan: Plan, outcome: Outcome) -> str | None:
    kept = (outcome.test or {}).get("kept")
    if not kept or kept["error"]:
        return "the fitted model was not kept"
    if len(plan.split.train) * plan.features.x.shape[1] > MOST_CELLS:
        return "the table is too large; the command arboleda explain does it on a part of the rows"
    return None


def _subject(plan: Plan, work: Executor, outcome: Outcome) -> ExplainedModel:
    assert outcome.test is not None
    pipeline = read_model(work.folder / MODELS, outcome.model.key, outcome.test["kept"]["files"])
    features, target = plan.features, plan.target

    def part(rows: Any) -> RowSubset:
        return RowSubset(features.x[rows], np.asarray(target.y[rows]), rows)

    told = {"metric": plan.metric.key, "metric_label": plan.metric.label, "target": target.name}
    return ExplainedModel(
        folder=str(work.folder),
        facts={"study": told, "costs": costs_facts(plan.settings, target)},
        key=outcome.model.key,
        pipeline=pipeline,
        names=features.names,
        levels=features.levels,
        binary=features.binary,
        labels=tuple(target.labels),
        train=part(plan.split.train),
        test=part(plan.split.test),
        seed=plan.seed,
    )
