"""Explanations of the best model: importances and a surrogate tree, and its learning curve."""

import hashlib
import json
from collections.abc import Callable
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from arboleda._utils.errors import StudyError
from arboleda.scoring.survival import find_importance_metric
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import read_model
from arboleda.study.combination.estimators import CombinedClassifier, CombinedRegressor
from arboleda.study.config.costs import describe_costs
from arboleda.study.execution.executor import Executor
from arboleda.study.plan import Plan
from arboleda.study.results.calibration_facts import NO_ROOM
from arboleda.study.results.explained_model import ExplainedModel, RowSubset
from arboleda.study.results.learning_curve import MOST_CELLS, compute_learning_curve
from arboleda.study.runner import Outcome, RunResult, ranked

__all__ = ["describe_best"]

# Maximum predicted rows (rows times columns times shuffles); `arboleda explain` allows more.
MAX_SCORED_ROWS = 400_000
SURROGATE_ROWS = 5_000
# Rows that measure the model's speed of prediction.
TIMED_ROWS = 200
# Shares of the most rows that are tried if time is short.
ROW_SHARES = (1.0, 0.5, 0.25, 0.1)
Load = Callable[[], ExplainedModel]
NO_UNIT = "a tree is compared by its errors, and risks and scores of ranks have none"
_SURROGATE = ("n_leaves", "n_fit", "n_rows", "fidelity", "error", "model_error", "curve", "tree")
NO_MEMORY = "there was not memory enough for it"


def describe_best(result: RunResult, executor: Executor) -> dict[str, Any]:
    """Return the facts on the best model: ``importance``, ``surrogate``, ``learning_curve``.

    Each is None if the best model ignores the columns or all models failed; otherwise ``skipped``
    is the reason why it is empty, or None. Results are stored in the ledger.
    """
    parts = {"importance": compute_importance, "surrogate": compute_surrogate}
    plan = result.plan
    order = [outcome for outcome in ranked(plan, result.outcomes) if not outcome.error]
    if not order or not order[0].model.learns:
        return dict.fromkeys([*parts, "learning_curve"])
    # The model is loaded once, if it is needed.
    load = cache(partial(_load_model, plan, executor, order[0]))
    described = {name: part(plan, executor, order[0], load) for name, part in parts.items()}
    # A combination is not refitted: the curve is that of the best single model.
    alone = next(outcome for outcome in order if outcome.ensemble is None)
    return {**described, "learning_curve": compute_learning_curve(plan, executor, alone)}


def compute_importance(
    plan: Plan, executor: Executor, outcome: Outcome, load: Load
) -> dict[str, Any]:
    """Return the ``importance`` part of the facts: permutation importance of the columns."""

    def compute(subject: ExplainedModel, share: float) -> dict[str, Any] | None:
        from arboleda.study.results.importance import describe_importance

        return describe_importance(subject, int(share * MAX_SCORED_ROWS), plan.metric)

    metric = find_importance_metric(plan.metric, plan.target.task)
    empty = {
        "metric": metric.key,
        "metric_label": metric.label,
        "n_rows": 0,
        "n_repeats": 0,
        "columns": [],
    }

    def count_rows(subject: ExplainedModel, share: float) -> int:
        from arboleda.study.results.importance import count_scored_rows

        return count_scored_rows(subject, int(share * MAX_SCORED_ROWS))

    return empty | _compute_or_load(
        plan, executor, outcome, "importance", load, compute, count_rows
    )


def compute_surrogate(
    plan: Plan, executor: Executor, outcome: Outcome, load: Load
) -> dict[str, Any]:
    """Return the ``surrogate`` part of the facts: a small tree that imitates the model."""
    if plan.target.second is not None:
        return {**dict.fromkeys(_SURROGATE), **_nothing(outcome.model.key, NO_UNIT)}

    def compute(subject: ExplainedModel, share: float) -> dict[str, Any] | None:
        from arboleda.study.results.importance import describe_surrogate

        return describe_surrogate(subject, int(share * SURROGATE_ROWS))

    def count_rows(subject: ExplainedModel, share: float) -> int:
        most = int(share * SURROGATE_ROWS)
        return sum(min(len(part.x), most) for part in (subject.train, subject.test))

    return dict.fromkeys(_SURROGATE) | _compute_or_load(
        plan, executor, outcome, "surrogate", load, compute, count_rows
    )


def _compute_or_load(
    plan: Plan,
    executor: Executor,
    outcome: Outcome,
    what: str,
    load: Load,
    compute: Callable[[ExplainedModel, float], dict[str, Any] | None],
    count_rows: Callable[[ExplainedModel, float], int],
) -> dict[str, Any]:
    """Load facts from the ledger, or compute and store them; ``skipped`` is a reason or None.

    ``count_rows`` returns the number of rows that the model will predict, with a share of the most
    rows. If there is time for a part of them only, the facts are of that part and not stored: a
    later run may have more.
    """
    key = outcome.model.key
    skipped = _skip_reason(plan, outcome)
    if outcome.best is None or skipped is not None:
        return _nothing(key, skipped)
    assert outcome.test is not None
    # The checksums of the files identify the fitted model, also a combination.
    text = json.dumps(outcome.test["kept"]["files"], sort_keys=True)
    entry = f"{what} {hashlib.sha256(text.encode()).hexdigest()[:16]}"
    stored = executor.ledger.get(key, outcome.params, entry)
    if stored is not None:
        return stored
    # A later run may have more time and memory: these reasons are not stored.
    if executor.budget is not None and executor.budget.left <= 0:
        return _nothing(key, NO_ROOM)
    started = perf_counter()
    facts: dict[str, Any] = {"model": key, "skipped": None}
    share = 1.0
    try:
        with threadpool_limits(limits=1):
            subject = load()
            if executor.budget is not None:
                share = _find_share(subject, count_rows, executor.budget.left)
            if not share:
                return _nothing(key, NO_ROOM)
            found = compute(subject, share)
        facts |= found or {"skipped": "the test rows do not tell"}
    except MemoryError:
        return _nothing(key, NO_MEMORY)
    except (StudyError, ValueError) as error:
        facts["skipped"] = str(error).rstrip(".")
    facts["timing"] = {"seconds": perf_counter() - started}
    if share == 1.0:
        executor.ledger.put(key, outcome.params, entry, facts)
    return facts


def _nothing(key: str, why: str | None) -> dict[str, Any]:
    return {"model": key, "skipped": why, "timing": {"seconds": 0.0}}


def _find_share(
    subject: ExplainedModel, count_rows: Callable[[ExplainedModel, float], int], left: float
) -> float:
    """Return the largest share of the rows that the model predicts in the time left, or 0."""
    few = subject.test.x[:TIMED_ROWS]
    subject.predict(few[:1])  # the first call also builds caches
    started = perf_counter()
    subject.predict(few)
    seconds_per_row = (perf_counter() - started) / len(few)
    fitting = (s for s in ROW_SHARES if seconds_per_row * count_rows(subject, s) <= left)
    return max(fitting, default=0.0)


def _skip_reason(plan: Plan, outcome: Outcome) -> str | None:
    kept = (outcome.test or {}).get("kept")
    if not kept or kept["error"]:
        return "the fitted model was not kept"
    if len(plan.split.train) * plan.features.x.shape[1] > MOST_CELLS:
        return "the table is too large; the command arboleda explain does it on a part of the rows"
    return None


def _load_model(plan: Plan, executor: Executor, outcome: Outcome) -> ExplainedModel:
    assert outcome.test is not None
    pipeline = read_model(
        executor.folder / MODELS, outcome.model.key, outcome.test["kept"]["files"]
    )
    if isinstance(pipeline[-1], CombinedClassifier | CombinedRegressor):
        pipeline[-1].n_threads = executor.pool.threads
    features, target = plan.features, plan.target

    def part(rows: Any) -> RowSubset:
        return RowSubset(features.x[rows], np.asarray(target.y[rows]), rows)

    described = {
        "metric": plan.metric.key,
        "metric_label": plan.metric.label,
        "target": target.name,
    }
    costs = describe_costs(plan.settings, target)
    return ExplainedModel(
        folder=str(executor.folder),
        facts={"study": described, "costs": costs and costs.model_dump()},
        key=outcome.model.key,
        pipeline=pipeline,
        names=features.names,
        levels=features.levels,
        binary=features.binary,
        labels=tuple(target.labels),
        train=part(plan.split.train),
        test=part(plan.split.test),
        seed=plan.seed,
        task=target.task,
    )
