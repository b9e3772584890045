"""The combined models of a study: fitted, scored, tested and saved from stored predictions."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.catalogue import Model
from arboleda.catalogue.model import Task, make_empty_grid
from arboleda.combine import MemberOutputs
from arboleda.diagnose import diversity
from arboleda.scoring.evaluate import evaluate_test
from arboleda.scoring.scores import Predictions, all_scores
from arboleda.study.artifacts.combined_file import serialize_combined
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import save_combined
from arboleda.study.combination.cross_fitting import CrossFitted, count_fits, cross_fit
from arboleda.study.combination.members import Members, load_members
from arboleda.study.combination.methods import FEWEST, Method
from arboleda.study.combination.rules import CombinationRule, MeanRule, TextbookRule
from arboleda.study.execution.executor import Budget, Executor
from arboleda.study.execution.job import (
    TEST,
    JobStatus,
    error_sentence,
    limit_threads,
    make_failed_result,
    to_plain,
    warning_texts,
)
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    predictions_path,
    save_predictions,
)
from arboleda.study.plan import Plan
from arboleda.study.runner import (
    COMBINATIONS,
    RunResult,
    SkippedModel,
    can_combine,
    combination_methods,
)
from arboleda.study.search.model_search import CandidateResult, Outcome
from arboleda.study.search.strategies import Trial

__all__ = ["combine_models"]

Floats = npt.NDArray[np.float64]


def combine_models(result: RunResult, executor: Executor) -> RunResult:
    """Add the outcomes of combined models, as far as there is time for them."""
    if not can_combine(result.plan):
        return result
    combined, late = _combine_outcomes(
        result.plan, result.outcomes, executor.folder, executor.budget, executor.pool.threads
    )
    skipped = [SkippedModel(method.key, method.name, 1, whole=True) for method in late]
    if late and not combined:
        skipped = [COMBINATIONS]
    return replace(
        result,
        outcomes=[*result.outcomes, *combined],
        skipped=(*result.skipped, *skipped),
    )


def _combine_outcomes(
    plan: Plan,
    outcomes: Sequence[Outcome],
    folder: Path,
    budget: Budget | None,
    n_threads: int,
) -> tuple[list[Outcome], list[Method]]:
    """Combine the study's models by every method, and return the combinations as outcomes.

    Members are the fitted and saved models except the baseline. A combination is fitted to their
    out-of-fold predictions. Its score on a fold is that of a rule fitted to the other folds; the
    rule fitted to all folds is tested and saved.

    Parameters
    ----------
    plan : Plan
    outcomes : sequence of Outcome
        The tested models.
    folder : Path
        The study's folder.
    budget : Budget or None
        The time budget; None without one.
    n_threads : int
        Number of fits at a time.

    Returns
    -------
    outcomes, skipped : list of Outcome, list of Method
        The combinations, and the methods that there was no time for.
    """
    members = load_members(plan, outcomes, folder)
    if members is None:
        return [], []
    spreads: dict[tuple[str, ...], dict[str, Any] | None] = {}
    found, skipped = list[Outcome](), list[Method]()
    n_rows, n_classes = len(members.whole.rows), len(plan.target.labels)
    times = count_fits(len(members.parts))
    done: set[tuple[Any, tuple[str, ...]]] = set()
    fitted: dict[tuple[str, tuple[str, ...]], CrossFitted] = {}
    for method in combination_methods(plan):
        some = members.select(_choose_member_keys(plan, method, members))
        keys = tuple(o.model.key for o in some.outcomes)
        # If all members are single models, their stack is the stack of all.
        if len(keys) < FEWEST or (method.fit, keys) in done:
            continue
        done.add((method.fit, keys))
        if not method.suits(len(keys), n_rows, n_classes):
            continue
        seconds = times * method.seconds(len(keys), n_rows, n_classes)
        if budget is not None and not budget.has_room(seconds):
            skipped.append(method)
            continue
        if keys not in spreads:
            spreads[keys] = _compute_diversity(plan, some.whole)
        base = fitted.get((method.base, keys)) if method.base else None
        outcome, rules = _combine(plan, method, some, spreads[keys], folder, base, n_threads)
        found.append(outcome)
        if rules is not None:
            fitted[method.key, keys] = rules
    return found, skipped


def _choose_member_keys(plan: Plan, method: Method, members: Members) -> Sequence[str]:
    """Return the keys of the members: those of the preset's stack if it names them."""
    if method.members is None:
        return [o.model.key for o in members.outcomes]
    return plan.preset.stack or method.members


def _combine(
    plan: Plan,
    method: Method,
    members: Members,
    spread: dict[str, Any] | None,
    folder: Path,
    base: CrossFitted | None,
    n_threads: int,
) -> tuple[Outcome, CrossFitted | None]:
    """Return a method's outcome and its rules, None if it fails; ``base``: those of its base."""
    kind: Task = "regression" if plan.target.task == "regression" else "classification"
    model = Model(
        method.key, method.name, kind, _refuse_to_build, make_empty_grid, engine="arboleda"
    )
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught, limit_threads():
            warnings.simplefilter("always")
            fitted = cross_fit(
                method.fit,
                members.parts,
                members.whole,
                plan.target.y,
                plan.seed,
                in_time=plan.split.ordered,
                bases=None if base is None else base.rules,
                n_threads=n_threads if method.uses_threads else 1,
            )
    except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
        failed = make_failed_result(JobStatus.FAILED, error_sentence(error))
        return Outcome(model, (CandidateResult({}, (failed,)),), None, None), None
    seconds = time.perf_counter() - started
    texts = warning_texts(caught)
    results = tuple(
        {
            "status": JobStatus.DONE,
            "error": None,
            "scores": _compute_scores(plan, part.rows, predictions),
            "timing": {"fit_s": seconds / count_fits(len(members.parts))},
            "warnings": texts,
        }
        for part, predictions in zip(members.parts, fitted.predictions, strict=True)
    )
    for k, predictions in enumerate(fitted.predictions):
        _save_combined_predictions(folder, method.key, str(k), predictions)
    test = _test_combination(plan, model, members, fitted.rule, folder)
    outcome = Outcome(
        model,
        (CandidateResult({}, results),),
        0,
        test,
        _describe_ensemble(plan, members, fitted.rule, spread),
    )
    return outcome, fitted


def _refuse_to_build(setting: Any, params: Any) -> Any:
    raise TypeError("a combined model is made of fitted models, not of parameters")


def _compute_scores(plan: Plan, rows: npt.NDArray[Any], outputs: Floats) -> dict[str, Any]:
    predicted, score = _split_outputs(outputs)
    return dict(
        to_plain(
            all_scores(
                plan.target.y[rows],
                predicted,
                score,
                len(plan.target.labels),
                plan.costs,
                plan.metric,
            )
        )
    )


def _save_combined_predictions(folder: Path, key: str, fold: str, outputs: Floats) -> None:
    """Save predictions for later analyses; a full disk loses them, but does not stop the study."""
    save_predictions(
        predictions_path(folder / PREDICTIONS_DIR, key, {}, fold),
        Predictions(*_split_outputs(outputs)),
    )


def _split_outputs(outputs: Floats) -> tuple[npt.NDArray[Any], Floats | None]:
    return (outputs, None) if outputs.ndim == 1 else (outputs.argmax(axis=1), outputs)


def _test_combination(
    plan: Plan, model: Model, members: Members, rule: CombinationRule, folder: Path
) -> dict[str, Any]:
    """Test a combination; the result is that of a test job, with the time of all used members."""
    keys = [o.model.key for o in members.outcomes]
    if isinstance(rule, (MeanRule, TextbookRule)):
        places, rule = rule.select_used()
        keys = [keys[place] for place in places]
    members = members.select(keys)
    outputs = rule(members.test.outputs)
    _save_combined_predictions(folder, model.key, TEST, outputs)
    predicted, score = _split_outputs(outputs)
    rows, tests = members.test.rows, [o.test for o in members.outcomes if o.test]
    groups = None if plan.split.groups is None else plan.split.groups[rows]
    test = evaluate_test(
        plan.target.y[rows],
        predicted,
        score,
        plan.target,
        plan.metric,
        plan.seed,
        groups,
        plan.costs,
    )
    n_columns, n_classes = plan.features.x.shape[1], len(plan.target.labels)
    names = [
        [j.kept_as for j in plan.trial_jobs(o.model, Trial(o.params))] if _is_bag(o) else [key]
        for o, key in zip(members.outcomes, keys, strict=True)
    ]
    content = serialize_combined(list(zip(keys, names, strict=True)), rule, n_columns, n_classes)
    files = [t["kept"]["files"] for t in tests]
    return {
        "status": JobStatus.DONE,
        "error": None,
        "warnings": [],
        "scores": _compute_scores(plan, rows, outputs),
        "timing": {k: sum(t["timing"][k] for t in tests) for k in ("fit_s", "predict_s")},
        "test": to_plain(test),
        "tree": None,
        "kept": save_combined(folder / MODELS, model.key, content, files),
    }


def _is_bag(outcome: Outcome) -> bool:
    """Whether the model is saved as the models of its folds."""
    files = outcome.test["kept"]["files"] if outcome.test else {}
    return f"{outcome.model.key}.combined" in files


def _describe_ensemble(
    plan: Plan, members: Members, rule: CombinationRule, spread: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the ``ensemble`` part of the facts."""
    shares = rule.shares(len(members.outcomes))
    keys = [o.model.key for o in members.outcomes]
    return {
        "method": rule.kind,
        "members": [
            {"key": o.model.key, "name": o.model.name, "weight": share}
            for o, share in zip(members.outcomes, shares, strict=True)
        ],
        "diversity": spread,
        "remarks": members.remarks.list_remarks(keys, in_time=plan.split.ordered),
    }


def _compute_diversity(plan: Plan, outputs: MemberOutputs) -> dict[str, Any] | None:
    """Return the diversity of the members on held-out rows; None in a regression."""
    if outputs.classes is None:
        return None
    found = diversity(outputs.choices(), plan.target.y[outputs.rows], names=outputs.names)
    facts: dict[str, Any] = to_plain(
        {
            "together": found.summary(),
            "errors": found.member_error.tolist(),
            "pairs": [
                {
                    "first": outputs.names[i],
                    "second": outputs.names[j],
                    "disagreement": float(found.disagreement[k]),
                    "kappa": float(found.kappa[k]),
                    "error": float(found.error[k]),
                }
                for k, (i, j) in enumerate(found.pairs.tolist())
            ],
        }
    )
    return facts
