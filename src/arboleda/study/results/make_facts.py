"""The facts of a study from its outcomes."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn
from joblib import cpu_count

import arboleda
from arboleda.catalogue.preparation import describe_preparation
from arboleda.facts.model import (
    CandidateFacts,
    CrossValidationFacts,
    EnsembleFacts,
    EvaluationFacts,
    FidelityFacts,
    GeneratedColumn,
    GeneratedFeatures,
    MeanAndSd,
    ModelFacts,
    ModelTiming,
    Seconds,
)
from arboleda.facts.study import (
    SCHEMA_VERSION,
    CautionFacts,
    ClassCounts,
    EnvironmentFacts,
    RecipeFacts,
    RecipeStepFacts,
    SchemeFacts,
    SearchFacts,
    SettingsFacts,
    SetupFacts,
    SkippedFacts,
    SplitFacts,
    StudyFacts,
    StudyTiming,
    TableFacts,
)
from arboleda.features.feature_crosses import FeatureCross
from arboleda.reports.fact_messages import collect_messages, write_message
from arboleda.study.config.costs import describe_costs
from arboleda.study.plan import Plan
from arboleda.study.results.calibration_facts import describe_calibration
from arboleda.study.results.comparison import describe_comparison
from arboleda.study.results.data_checks import find_cautions
from arboleda.study.results.holdout_facts import (
    ReadPredictions,
    describe_held_out,
)
from arboleda.study.results.selection import describe_selection
from arboleda.study.results.thresholds import describe_thresholds
from arboleda.study.results.worst_errors import describe_errors
from arboleda.study.runner import Outcome, RunResult, ranked
from arboleda.study.search.model_search import CandidateResult
from arboleda.tables.describe import describe_table

__all__ = ["make_facts"]


def make_facts(
    result: RunResult,
    calibration: tuple[Outcome, Sequence[Mapping[str, Any]]] | None,
    explanations: Mapping[str, Any],
    read_predictions: ReadPredictions,
    started: datetime,
    total_s: float,
) -> dict[str, Any]:
    """Return the facts that a report needs, as plain values of a `StudyFacts`."""
    plan, outcomes = result.plan, result.outcomes
    order = ranked(plan, outcomes)
    held_out = describe_held_out(plan, order, read_predictions, explanations.get("importance"))
    tree = next((o.test["tree"] for o in outcomes if o.test and o.test.get("tree")), None)
    facts = StudyFacts(
        schema_version=SCHEMA_VERSION,
        arboleda_version=arboleda.__version__,
        study=_setup(plan),
        data=_table(plan),
        split=_split(plan),
        cautions=[
            CautionFacts.model_validate(
                {"kind": c.kind, "columns": list(c.columns), "text": c.text}
            )
            for c in find_cautions(plan)
        ],
        models=[
            _model(plan, outcome, more, result.only_sampled.get(outcome.model.key))
            for outcome, more in zip(order, held_out, strict=True)
        ],
        search=_search(result),
        selection=describe_selection(plan, order),
        comparison=describe_comparison(plan, order, read_predictions),
        costs=describe_costs(plan.settings, plan.target),
        thresholds=describe_thresholds(plan, order, read_predictions),
        errors=describe_errors(plan, order, read_predictions, explanations.get("importance")),
        calibration=calibration
        and describe_calibration(plan, calibration[0].model.key, calibration[1]),
        **explanations,
        tree=tree,
        environment=_environment(),
        timing=StudyTiming(
            started=started.astimezone(UTC).isoformat(timespec="seconds"), total_s=total_s
        ),
    )
    # Without the keys that do not apply to a model, such as costs without a cost matrix.
    plain = facts.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {**plain, "messages": collect_messages(plain)}


def _setup(plan: Plan) -> SetupFacts:
    scheme = plan.settings.cv
    return SetupFacts(
        table=plan.table.name,
        target=plan.target.name,
        task=plan.target.task,
        seed=plan.seed,
        folds=scheme.folds * scheme.repeats,
        test_size=plan.test_size,
        settings=SettingsFacts(**plan.settings.to_dict()),
        scheme=SchemeFacts(
            name=scheme.text,
            kind=scheme.kind,
            folds=scheme.folds,
            repeats=scheme.repeats,
            test=plan.test_kind,
        ),
        models=list(plan.wanted),
        metric=plan.metric.key,
        metric_label=plan.metric.label,
        greater_is_better=plan.metric.greater_is_better,
        positive_class=plan.target.positive,
        data_sha256=plan.table.sha256,
        test_sha256=plan.test_sha256,
    )


def _table(plan: Plan) -> TableFacts:
    """Return the facts on the prepared table and the steps that prepared it."""
    described = describe_table(plan.table, plan.target, plan.roles, len(plan.split.partition))
    recipe = None
    if plan.steps:
        n_rows = plan.steps[0].rows_before
        described["rows_dropped"] = n_rows - plan.table.n_rows
        steps = [RecipeStepFacts(**step.to_dict()) for step in plan.steps]
        recipe = RecipeFacts(n_rows=n_rows, steps=steps)
    return TableFacts(**described, recipe=recipe)


def _split(plan: Plan) -> SplitFacts:
    y, split = plan.target.y, plan.split
    classes = [
        ClassCounts(
            label=label,
            train=int(np.sum(y[split.train] == k)),
            test=int(np.sum(y[split.test] == k)),
        )
        for k, label in enumerate(plan.target.labels)
    ]
    return SplitFacts(n_train=len(split.train), n_test=len(split.test), classes=classes or None)


def _environment() -> EnvironmentFacts:
    return EnvironmentFacts(
        python=platform.python_version(),
        arboleda=arboleda.__version__,
        numpy=np.__version__,
        scikit_learn=sklearn.__version__,
        platform=platform.platform(),
        cores=int(cpu_count()),
    )


def _model(
    plan: Plan, outcome: Outcome, held_out: Mapping[str, Any], why_sampled: str | None
) -> ModelFacts:
    model, error = outcome.model, outcome.error
    scored = [c for c in outcome.candidates if c.status in ("ok", "stopped")]
    best = None if outcome.best is None else outcome.candidates[outcome.best]
    failed = error is not None or best is None
    return ModelFacts(
        key=model.key,
        name=model.name,
        engine=model.engine,
        preparation="its members'"
        if outcome.ensemble
        else describe_preparation(
            model.get_style(outcome.params),
            has_categories=bool(plan.features.categorical),
            has_gaps=bool(np.isnan(plan.features.x).any()),
        ),
        generated=None if failed else _generated_features(plan, outcome),
        note=_note(plan, outcome, why_sampled),
        status=outcome.status,
        error=error,
        not_kept=None if failed else _not_kept(outcome),
        candidates=[_candidate(c, plan.metric.key) for c in scored],
        best=None if failed else _position(scored, best),
        cv=None if failed or best is None else _cross_validation(best, plan.metric.key),
        test=None
        if failed or outcome.test is None
        else EvaluationFacts(**outcome.test["test"], **held_out),
        ensemble=None
        if failed or outcome.ensemble is None
        else EnsembleFacts.model_validate(outcome.ensemble),
        timing=_timing(outcome),
    )


def _candidate(candidate: CandidateResult, metric: str) -> CandidateFacts:
    return CandidateFacts(
        params=dict(candidate.params),
        status="ok" if candidate.status == "ok" else "stopped",
        stage=FidelityFacts(share=candidate.fidelity.share, folds=len(candidate.results)),
        **_fold_scores(candidate, metric),
        timing=Seconds(seconds=sum(sum(r["timing"].values()) for r in candidate.results)),
    )


def _search(result: RunResult) -> SearchFacts:
    """Return the facts on the search, with the candidates skipped for lack of time."""
    return SearchFacts(
        preset=result.plan.preset.key,
        rounds=result.n_rounds,
        budget=result.plan.settings.time_budget,
        left_out=[
            SkippedFacts(
                key=skipped.key,
                name=skipped.name,
                candidates=skipped.n_candidates,
                whole=skipped.whole,
            )
            for skipped in result.skipped
        ],
    )


def _not_kept(outcome: Outcome) -> str | None:
    """Return the reason why the fitted model was not saved, or None."""
    return None if outcome.test is None else outcome.test["kept"]["error"]


def _position(scored: list[CandidateResult], best: CandidateResult | None) -> int:
    return next(i for i, c in enumerate(scored) if c is best)


def _describe_rows(outcome: Outcome, why_sampled: str | None) -> str:
    """Return which rows of a table larger than memory the model was fitted to; "" of others."""
    rows = (outcome.test or {}).get("whole_rows")
    if rows is not None:
        return write_message("whole", rows=rows)
    return "" if why_sampled is None else write_message("only_sampled", reason=why_sampled)


def _note(plan: Plan, outcome: Outcome, why_sampled: str | None) -> str | None:
    """Return notes on reduced cost, failed candidates and counted warnings, or None."""
    notes = [plan.note(outcome.model) or "", _describe_rows(outcome, why_sampled)]
    failed = [c for c in outcome.candidates if c.failed]
    if failed and outcome.best is not None:
        notes.append(
            write_message(
                "candidates_failed",
                failed=len(failed),
                all=len(outcome.candidates),
                error=str(failed[0].failed),
            )
        )
    unfinished = sum(c.status == "unfinished" for c in outcome.candidates)
    if unfinished and outcome.best is not None:
        notes.append(write_message("unfinished", some=unfinished))
    results = [r for c in outcome.candidates for r in c.results]
    results += [outcome.test] if outcome.test else []
    counts = Counter(text for r in results for text in r["warnings"])
    for text, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]:
        notes.append(write_message("in_fits", some=count, all=len(results), warning=text))
    return "; ".join(n for n in notes if n) or None


def _fold_scores(candidate: CandidateResult, metric: str) -> dict[str, Any]:
    return {"fold_scores": candidate.scores(metric), **_mean_sd(candidate, metric)}


def _mean_sd(candidate: CandidateResult, metric: str) -> dict[str, Any]:
    mean = candidate.mean(metric)
    if mean is None:
        return {"mean": None, "sd": None}
    scores = [s for s in candidate.scores(metric) if s is not None]
    return {"mean": mean, "sd": float(np.std(scores, ddof=1)) if len(scores) > 1 else None}


def _cross_validation(best: CandidateResult, metric: str) -> CrossValidationFacts:
    names = best.results[0]["scores"]
    return CrossValidationFacts(
        **_fold_scores(best, metric),
        metrics={name: MeanAndSd(**_mean_sd(best, name)) for name in names},
    )


def _timing(outcome: Outcome) -> ModelTiming:
    """Return the seconds of the final fit, of its test predictions, and of the search."""
    folds = [sum(r["timing"].values()) for c in outcome.candidates for r in c.results]
    test = outcome.test["timing"] if outcome.test else {}
    return ModelTiming(
        fit_s=test.get("fit_s"), predict_s=test.get("predict_s"), search_s=float(sum(folds))
    )


def _generated_features(plan: Plan, outcome: Outcome) -> GeneratedFeatures | None:
    """Return the generated features and their numbers of fits.

    Every fit selects its own features. None if the model's preprocessing generates no features.
    """
    if outcome.best is None or outcome.test is None:
        return None
    fits = [*outcome.candidates[outcome.best].results, outcome.test]
    found = [kept["made"] for fit in fits if "made" in (kept := fit.get("kept") or {})]
    if not found:
        return None
    crosses = [[_feature_cross(entry) for entry in one] for one in found]
    times = Counter(cross for one in crosses for cross in one)
    columns = [_generated_column(plan, cross, count) for cross, count in times.most_common()]
    return GeneratedFeatures(fits=len(found), columns=columns)


def _feature_cross(entry: Mapping[str, Any]) -> FeatureCross:
    numbers, groups = tuple(entry["numbers"]), tuple(entry["groups"])
    return FeatureCross(entry["kind"], numbers, groups, entry["output"])


def _generated_column(plan: Plan, cross: FeatureCross, count: int) -> GeneratedColumn:
    names, labels = plan.features.names, plan.target.labels
    shown = labels[1] if len(labels) == 2 else labels[cross.output] if labels else None
    facts = {
        "name": cross.describe(names, labels),
        "kind": cross.kind,
        "numbers": [names[j] for j in cross.numbers],
        "groups": [names[j] for j in cross.groups],
        "class": shown if cross.kind == "target" else None,
        "fits": count,
    }
    return GeneratedColumn.model_validate(facts)
