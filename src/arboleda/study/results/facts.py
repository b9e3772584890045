"""The facts of a study from its outcomes, and the text of leaderboard.csv."""

import csv
import io
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn
from joblib import cpu_count

import arboleda
from arboleda._visible import visible_lines
from arboleda.reports.fact_messages import write_message
from arboleda.study.data.data_checks import find_cautions
from arboleda.study.data.describe import describe_table
from arboleda.study.data.preparation import PREPARATIONS
from arboleda.study.plan import Plan
from arboleda.study.results.calibration_facts import calibration_facts
from arboleda.study.results.comparison import comparison_facts
from arboleda.study.results.costs import costs_facts
from arboleda.study.results.generated_features import generated_feature_facts
from arboleda.study.results.holdout_facts import ReadPredictions, add_holdout_facts
from arboleda.study.results.selection import selection_facts
from arboleda.study.runner import Outcome, RunResult, ranked
from arboleda.study.search.candidates import Candidate

__all__ = ["SCHEMA_VERSION", "leaderboard_csv", "make_facts"]

SCHEMA_VERSION = 2
# Scores of each class in the leaderboard.
CLASS_SCORES = ("precision", "recall", "f1")
# A spreadsheet interprets text with these first characters as a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def make_facts(
    result: RunResult,
    calibration: tuple[Outcome, Sequence[Mapping[str, Any]]] | None,
    explanations: Mapping[str, Any],
    read_predictions: ReadPredictions,
    started: datetime,
    total_s: float,
) -> dict[str, Any]:
    """Return the facts that a report needs, as plain values; see ``facts.schema.json``.

    Values that depend on the clock are under keys named ``timing``.
    """
    plan, outcomes = result.plan, result.outcomes
    order = ranked(plan, outcomes)
    models = [_model(plan, outcome) for outcome in order]
    add_holdout_facts(plan, order, models, read_predictions)
    tree = next((o.test["tree"] for o in outcomes if o.test and o.test.get("tree")), None)
    return {
        "schema_version": SCHEMA_VERSION,
        "arboleda_version": arboleda.__version__,
        "study": {
            "table": plan.table.name,
            "target": plan.target.name,
            "task": plan.target.task,
            "seed": plan.seed,
            "folds": plan.settings.scheme.folds * plan.settings.scheme.repeats,
            "test_size": plan.test_size,
            "settings": plan.settings.to_dict(),
            "scheme": _scheme(plan),
            "models": list(plan.wanted),
            "metric": plan.metric.key,
            "metric_label": plan.metric.label,
            "greater_is_better": plan.metric.greater_is_better,
            "positive_class": plan.target.positive,
            "data_sha256": plan.table.sha256,
            "test_sha256": plan.test_sha256,
        },
        "data": _data(plan),
        "split": _split(plan),
        "cautions": [
            {"kind": c.kind, "columns": list(c.columns), "text": c.text}
            for c in find_cautions(plan)
        ],
        "models": models,
        "search": _search(result),
        "selection": selection_facts(plan, order),
        "comparison": comparison_facts(plan, order, read_predictions),
        "costs": costs_facts(plan.settings, plan.target),
        "calibration": calibration
        and calibration_facts(plan, calibration[0].model.key, calibration[1]),
        **explanations,
        "tree": tree,
        "environment": {
            "python": platform.python_version(),
            "arboleda": arboleda.__version__,
            "numpy": np.__version__,
            "scikit_learn": sklearn.__version__,
            "platform": platform.platform(),
            "cores": int(cpu_count()),
        },
        "timing": {
            "started": started.astimezone(UTC).isoformat(timespec="seconds"),
            "total_s": total_s,
        },
    }


def _data(plan: Plan) -> dict[str, Any]:
    """Return the facts on the prepared table and the steps that prepared it."""
    found = describe_table(plan.table, plan.target, plan.roles, len(plan.split.partition))
    if not plan.steps:
        return {**found, "recipe": None}
    n_rows = plan.steps[0].rows_before
    return {
        **found,
        "rows_dropped": n_rows - plan.table.n_rows,
        "recipe": {
            "n_rows": n_rows,
            "steps": [step.facts() for step in plan.steps],
        },
    }


def _scheme(plan: Plan) -> dict[str, Any]:
    scheme = plan.settings.scheme
    return {
        "name": scheme.text,
        "kind": scheme.kind,
        "folds": scheme.folds,
        "repeats": scheme.repeats,
        "test": plan.test_kind,
    }


def _split(plan: Plan) -> dict[str, Any]:
    y, split = plan.target.y, plan.split
    classes = None
    if plan.target.labels:
        classes = [
            {
                "label": label,
                "train": int(np.sum(y[split.train] == k)),
                "test": int(np.sum(y[split.test] == k)),
            }
            for k, label in enumerate(plan.target.labels)
        ]
    return {"n_train": len(split.train), "n_test": len(split.test), "classes": classes}


def _model(plan: Plan, outcome: Outcome) -> dict[str, Any]:
    model, error = outcome.model, outcome.error
    scored = [c for c in outcome.candidates if c.status in ("ok", "stopped")]
    best = None if outcome.best is None else outcome.candidates[outcome.best]
    failed = error is not None or best is None
    return {
        "key": model.key,
        "name": model.name,
        "engine": model.engine,
        "preparation": "its members'"
        if outcome.ensemble
        else PREPARATIONS[model.style_of(outcome.params)],
        "made": None if failed else generated_feature_facts(plan, outcome),
        "note": _note(plan, outcome),
        "status": "failed" if failed else "ok",
        "error": error,
        "not_kept": None if failed else _not_kept(outcome),
        "candidates": [
            {
                "params": dict(c.params),
                "status": c.status,
                "stage": {"share": c.fidelity.share, "folds": len(c.results)},
                **_fold_scores(c, plan.metric.key),
                "timing": {"seconds": sum(sum(r["timing"].values()) for r in c.results)},
            }
            for c in scored
        ],
        "best": None if failed else _position(scored, best),
        "cv": None if failed or best is None else _cv(best, plan.metric.key),
        "test": None if failed or outcome.test is None else outcome.test["test"],
        "ensemble": None if failed else outcome.ensemble,
        "timing": _timing(outcome),
    }


def _search(result: RunResult) -> dict[str, Any]:
    """Return the facts on the search, with the candidates skipped for lack of time."""
    return {
        "preset": result.plan.preset.key,
        "rounds": result.n_rounds,
        "budget": result.plan.settings.time_budget,
        "left_out": [
            {
                "key": left.key,
                "name": left.name,
                "candidates": left.n_candidates,
                "whole": left.whole,
            }
            for left in result.skipped
        ],
    }


def _not_kept(outcome: Outcome) -> str | None:
    """Return the reason why the fitted model was not saved, or None."""
    return None if outcome.test is None else outcome.test["kept"]["error"]


def _position(scored: list[Candidate], best: Candidate | None) -> int:
    return next(i for i, c in enumerate(scored) if c is best)


def _note(plan: Plan, outcome: Outcome) -> str | None:
    """Return notes on reduced cost, failed candidates and counted warnings, or None."""
    notes = [plan.note(outcome.model) or ""]
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


def _fold_scores(candidate: Candidate, metric: str) -> dict[str, Any]:
    return {"fold_scores": candidate.scores(metric), **_mean_sd(candidate, metric)}


def _mean_sd(candidate: Candidate, metric: str) -> dict[str, Any]:
    mean = candidate.mean(metric)
    if mean is None:
        return {"mean": None, "sd": None}
    scores = [s for s in candidate.scores(metric) if s is not None]
    return {"mean": mean, "sd": float(np.std(scores, ddof=1)) if len(scores) > 1 else None}


def _cv(best: Candidate, metric: str) -> dict[str, Any]:
    names = best.results[0]["scores"]
    return {
        **_fold_scores(best, metric),
        "metrics": {name: _mean_sd(best, name) for name in names},
    }


def _timing(outcome: Outcome) -> dict[str, float | None]:
    """Return the seconds of the final fit, of its test predictions, and of the search."""
    folds = [sum(r["timing"].values()) for c in outcome.candidates for r in c.results]
    test = outcome.test["timing"] if outcome.test else {}
    return {
        "fit_s": test.get("fit_s"),
        "predict_s": test.get("predict_s"),
        "search_s": float(sum(folds)),
    }


def leaderboard_csv(facts: Mapping[str, Any]) -> str:
    """Write the leaderboard as CSV; text that looks like a formula gets a quote mark."""
    models = facts["models"]
    names = next((list(m["test"]["metrics"]) for m in models if m["test"]), [])
    header = ["rank", "model", "status", "metric", "cv_mean", "cv_sd"]
    header += [f"test_{name}" for name in names]
    labels = next((_labels(m) for m in models if m["test"]), [])
    header += [f"test_{name}[{visible_lines(label)}]" for label in labels for name in CLASS_SCORES]
    header += [f"test_{name}_macro" for name in CLASS_SCORES if labels and name != "f1"]
    header += ["fit_s", "search_s", "parameters", "note"]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for rank, m in enumerate(models, start=1):
        cv, test = m["cv"] or {}, (m["test"] or {}).get("metrics", {})
        row = [rank, m["name"], m["status"], facts["study"]["metric"]]
        row += [cv.get("mean"), cv.get("sd"), *(test.get(name) for name in names)]
        row += _class_cells(m, len(labels))
        row += [m["timing"]["fit_s"], m["timing"]["search_s"], params_text(m)]
        row.append(m["error"] or m["note"])
        writer.writerow([csv_safe(cell) for cell in row])
    return out.getvalue()


def _labels(model: Mapping[str, Any]) -> list[str]:
    """Return the classes, in the order of their scores; empty in a regression."""
    return [each["label"] for each in model["test"]["per_class"] or []]


def _class_cells(model: Mapping[str, Any], n_classes: int) -> list[float | None]:
    """Return the scores of each class, and the macro means except F1, which is a metric."""
    if not model["test"]:
        return [None] * (len(CLASS_SCORES) * n_classes + (2 if n_classes else 0))
    scores = [each[name] for each in model["test"]["per_class"] or [] for name in CLASS_SCORES]
    macro = (model["test"]["averages"] or {}).get("macro", {})
    return [*scores, *(macro[name] for name in CLASS_SCORES if macro and name != "f1")]


def params_text(model: Mapping[str, Any]) -> str:
    """Format the chosen parameters, as in ``max_depth=5, min_samples_leaf=20``."""
    if model["best"] is None:
        return ""
    params = model["candidates"][model["best"]]["params"]
    return ", ".join(f"{k}={'none' if v is None else v}" for k, v in params.items())


def csv_safe(cell: Any) -> Any:
    r"""Make a cell of a CSV file safe: a spreadsheet must not run text as a formula.

    Text that begins like a formula gets a leading quote mark, and control characters are escaped
    (``\x1b``), except tabs and line ends, which are quoted. Numbers are unchanged.
    """
    if not isinstance(cell, str):
        return "" if cell is None else cell
    shown = visible_lines(cell)
    return f"'{shown}" if shown.startswith(_FORMULA_STARTS) else shown
