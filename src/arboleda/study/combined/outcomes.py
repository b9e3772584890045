"""The combined models of a study: fitted, scored, tested and saved from stored predictions."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda.combine import MemberOutputs
from arboleda.diagnose import diversity
from arboleda.study.artifacts.combined_file import combined_to_bytes
from arboleda.study.artifacts.files import MODELS
from arboleda.study.artifacts.model_files import save_combined
from arboleda.study.catalogue import Model
from arboleda.study.catalogue.model import Task, no_parameters
from arboleda.study.combined.cross_fitting import cross_fit, n_fits
from arboleda.study.combined.methods import FEWEST, Method
from arboleda.study.combined.remarks import Remarks, is_kept, remarks_on
from arboleda.study.combined.rules import MeanRule, Rule
from arboleda.study.combined.textbook import TextbookRule
from arboleda.study.execution.budget import Budget
from arboleda.study.execution.job import TEST, Job
from arboleda.study.execution.prediction_store import (
    PREDICTIONS_DIR,
    PredictionRequest,
    Predictions,
    outputs_of_rows,
    predictions_path,
    save_predictions,
)
from arboleda.study.execution.serialization import (
    error_sentence,
    limit_threads,
    to_plain,
    warning_texts,
)
from arboleda.study.plan import Plan
from arboleda.study.results.evaluate import evaluate_test
from arboleda.study.results.scoring import all_scores
from arboleda.study.runner import Outcome, combination_methods
from arboleda.study.search import Trial
from arboleda.study.search.candidates import Candidate

__all__ = ["combine_outcomes"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Members:
    """The possible members, and their predictions for each fold, for all folds and for the test.

    ``remarks`` are notes on models for the reader of a combination, by key.
    """

    outcomes: tuple[Outcome, ...]
    parts: tuple[MemberOutputs, ...]
    whole: MemberOutputs
    test: MemberOutputs
    remarks: Remarks

    def some(self, keys: Sequence[str]) -> "_Members":
        """Return the members of these keys."""
        places = [i for i, o in enumerate(self.outcomes) if o.model.key in set(keys)]
        return _Members(
            tuple(self.outcomes[i] for i in places),
            tuple(_select(part, places) for part in self.parts),
            _select(self.whole, places),
            _select(self.test, places),
            self.remarks,
        )


def _select(outputs: MemberOutputs, places: list[int]) -> MemberOutputs:
    names = [outputs.names[i] for i in places]
    return MemberOutputs(
        names, outputs.outputs[places], outputs.classes, outputs.rows, outputs.n_table_rows
    )


def combine_outcomes(
    plan: Plan,
    outcomes: Sequence[Outcome],
    folder: Path,
    budget: Budget | None,
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

    Returns
    -------
    outcomes, skipped : list of Outcome, list of Method
        The combinations, and the methods that there was no time for.
    """
    members = _load_members(plan, outcomes, folder)
    if members is None:
        return [], []
    spreads: dict[tuple[str, ...], dict[str, Any] | None] = {}
    found: list[Outcome] = []
    skipped: list[Method] = []
    n_rows, n_classes = len(members.whole.rows), len(plan.target.labels)
    times = n_fits(len(members.parts))
    done: set[tuple[Any, tuple[str, ...]]] = set()
    for method in combination_methods(plan):
        some = members.some(_member_keys(plan, method, members))
        keys = tuple(o.model.key for o in some.outcomes)
        # If all members are single models, their stack is the stack of all.
        if len(keys) < FEWEST or (method.learn, keys) in done:
            continue
        done.add((method.learn, keys))
        if not method.suits(len(keys), n_rows, n_classes):
            continue
        seconds = times * method.seconds(len(keys), n_rows, n_classes)
        if budget is not None and not budget.has_room(seconds):
            skipped.append(method)
            continue
        if keys not in spreads:
            spreads[keys] = _diversity(plan, some.whole)
        found.append(_combine(plan, method, some, spreads[keys], folder))
    return found, skipped


def _member_keys(plan: Plan, method: Method, members: _Members) -> Sequence[str]:
    """Return the keys of the members: those of the preset's stack if it names them."""
    if method.members is None:
        return [o.model.key for o in members.outcomes]
    return plan.preset.stack or method.members


def _load_members(plan: Plan, outcomes: Sequence[Outcome], folder: Path) -> _Members | None:
    """Load the members' predictions; None if members are too few or files are missing."""
    if plan.settings.cv.kind == "bootstrap":
        return None
    able = [o for o in outcomes if o.model.learns and o.test and not o.error and is_kept(o)]
    if len(able) < FEWEST:
        return None
    jobs = [plan.trial_jobs(o.model, Trial(o.params)) for o in able]
    folds = list(zip(*jobs, strict=True))
    parts = [_outputs(plan, folder, [fold]) for fold in folds]
    whole = _outputs(plan, folder, folds)
    test = _outputs(plan, folder, [[plan.test_job(o.model, o.params) for o in able]])
    if whole is None or test is None or any(part is None for part in parts):
        return None
    finite = [
        o
        for o, held_out, tested in zip(able, whole.outputs, test.outputs, strict=True)
        if np.isfinite(held_out).all() and np.isfinite(tested).all()
    ]
    remarks = remarks_on(plan, outcomes, finite, folder)
    members = _Members(tuple(able), tuple(p for p in parts if p is not None), whole, test, remarks)
    return members.some([o.model.key for o in finite]) if len(finite) >= FEWEST else None


def _outputs(plan: Plan, folder: Path, jobs: Sequence[Sequence[Job]]) -> MemberOutputs | None:
    """Load the predictions of jobs: for each set of rows, one job per member."""
    parts = [
        PredictionRequest(
            part[0].score_rows,
            tuple(
                predictions_path(folder / PREDICTIONS_DIR, j.model, j.params, j.entry) for j in part
            ),
        )
        for part in jobs
    ]
    names = [job.model for job in jobs[0]]
    return outputs_of_rows(names, parts, len(plan.target.y), plan.target.labels)


def _combine(
    plan: Plan, method: Method, members: _Members, spread: dict[str, Any] | None, folder: Path
) -> Outcome:
    kind: Task = "regression" if plan.target.task == "regression" else "classification"
    model = Model(method.key, method.name, kind, _no_estimator, no_parameters, engine="arboleda")
    started = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught, limit_threads():
            warnings.simplefilter("always")
            fitted = cross_fit(
                method.learn,
                members.parts,
                members.whole,
                plan.target.y,
                plan.seed,
                in_time=plan.split.ordered,
            )
    except (ValueError, np.linalg.LinAlgError, MemoryError) as error:
        failed = {"error": error_sentence(error), "scores": {}, "timing": {}, "warnings": []}
        return Outcome(model, (Candidate({}, (failed,)),), None, None)
    seconds = time.perf_counter() - started
    texts = warning_texts(caught)
    results = tuple(
        {
            "error": None,
            "scores": _scores(plan, part.rows, predictions),
            "timing": {"fit_s": seconds / n_fits(len(members.parts))},
            "warnings": texts,
        }
        for part, predictions in zip(members.parts, fitted.predictions, strict=True)
    )
    for k, predictions in enumerate(fitted.predictions):
        _save_combined_predictions(folder, method.key, str(k), predictions)
    test = _test(plan, model, members, fitted.rule, folder)
    return Outcome(
        model, (Candidate({}, results),), 0, test, _ensemble(plan, members, fitted.rule, spread)
    )


def _no_estimator(setting: Any, params: Any) -> Any:
    raise TypeError("a combined model is made of fitted models, not of parameters")


def _scores(plan: Plan, rows: npt.NDArray[Any], outputs: Floats) -> dict[str, Any]:
    predicted, score = _predicted(outputs)
    return dict(
        to_plain(
            all_scores(plan.target.y[rows], predicted, score, len(plan.target.labels), plan.costs)
        )
    )


def _save_combined_predictions(folder: Path, key: str, fold: str, outputs: Floats) -> None:
    """Save predictions for later analyses; a full disk loses them, but does not stop the study."""
    save_predictions(
        predictions_path(folder / PREDICTIONS_DIR, key, {}, fold), Predictions(*_predicted(outputs))
    )


def _predicted(outputs: Floats) -> tuple[npt.NDArray[Any], Floats | None]:
    return (outputs, None) if outputs.ndim == 1 else (outputs.argmax(axis=1), outputs)


def _test(plan: Plan, model: Model, members: _Members, rule: Rule, folder: Path) -> dict[str, Any]:
    """Test a combination; the result is that of a test job, with the time of all used members."""
    keys = [o.model.key for o in members.outcomes]
    if isinstance(rule, (MeanRule, TextbookRule)):
        places, rule = rule.used()
        keys = [keys[place] for place in places]
    members = members.some(keys)
    outputs = rule(members.test.outputs)
    _save_combined_predictions(folder, model.key, TEST, outputs)
    predicted, score = _predicted(outputs)
    rows, tests = members.test.rows, [o.test for o in members.outcomes if o.test]
    groups = None if plan.split.groups is None else plan.split.groups[rows]
    test = evaluate_test(
        plan.target.y[rows],
        predicted,
        score,
        plan.target,
        plan.metric.key,
        plan.seed,
        groups,
        plan.costs,
    )
    n_columns, n_classes = plan.features.x.shape[1], len(plan.target.labels)
    names = [
        [j.kept_as for j in plan.trial_jobs(o.model, Trial(o.params))] if _is_bag(o) else [key]
        for o, key in zip(members.outcomes, keys, strict=True)
    ]
    content = combined_to_bytes(list(zip(keys, names, strict=True)), rule, n_columns, n_classes)
    files = [t["kept"]["files"] for t in tests]
    return {
        "error": None,
        "warnings": [],
        "scores": _scores(plan, rows, outputs),
        "timing": {k: sum(t["timing"][k] for t in tests) for k in ("fit_s", "predict_s")},
        "test": to_plain(test),
        "tree": None,
        "kept": save_combined(folder / MODELS, model.key, content, files),
    }


def _is_bag(outcome: Outcome) -> bool:
    """Whether the model is saved as the models of its folds."""
    files = outcome.test["kept"]["files"] if outcome.test else {}
    return f"{outcome.model.key}.combined" in files


def _ensemble(
    plan: Plan, members: _Members, rule: Rule, spread: dict[str, Any] | None
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
        "remarks": members.remarks.on(keys, in_time=plan.split.ordered),
    }


def _diversity(plan: Plan, outputs: MemberOutputs) -> dict[str, Any] | None:
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
