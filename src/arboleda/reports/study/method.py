"""The sections on methods and on reproducing the study."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from arboleda._utils.numbers import confidence_level, integer, percent
from arboleda.reports.fact_messages import translate
from arboleda.reports.study.report_data import ReportData, describe_scheme
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _
from arboleda.reports.wording import get_metric

__all__ = ["make_method_view", "make_reproduce_view"]

_TITLES = {
    "test": N_("Test set"),
    "folds": N_("Cross-validation"),
    "preparation": N_("Preparation"),
    "tuning": N_("Tuning"),
    "refit": N_("Test"),
    "calibration": N_("Calibration"),
    "interval": N_("Interval"),
    "seed": N_("Seed"),
}

_TEST_SETS = {
    "random": N_(
        "{count} rows ({share}) were held out before any fitting. The other {train} rows "
        "are the training rows."
    ),
    "stratified": N_(
        "{count} rows ({share}) were held out before any fitting, stratified by class. "
        "The other {train} rows are the training rows."
    ),
    "by_event": N_(
        "{count} rows ({share}) were held out before any fitting, stratified by whether the event "
        "was observed. The other {train} rows are the training rows."
    ),
    "by_query": N_(
        "{count} rows ({share}) were held out before any fitting, in whole queries. The other "
        "{train} rows are the training rows."
    ),
    "grouped": N_(
        "{count} rows ({share}) were held out before any fitting, in whole groups. The "
        "other {train} rows are the training rows."
    ),
    "latest": N_(
        "The latest {count} rows ({share}) were held out before any fitting. The {train} "
        "rows before them are the training rows."
    ),
    "file": N_(
        "The {count} test rows ({share} of all rows) come from a separate file. The "
        "{train} rows of the table are the training rows."
    ),
}


# By task and kind of the split.
_TIMED_SETS = {("survival", "random"): "by_event", ("ranking", "grouped"): "by_query"}


def make_method_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    steps = [(_(_TITLES[key]), sentence) for key, sentence in _iter_steps(report)]
    return {"steps": steps, "metrics": _list_meanings(report)}


def _iter_steps(report: ReportData) -> Iterator[tuple[str, str]]:
    study, split = report.study, report.facts["split"]
    n_test, n_train = integer(split["n_test"]), integer(split["n_train"])
    share = split["n_test"] / ((split["n_test"] + split["n_train"]) or 1)
    kind = study.get("scheme", {}).get("test", "random")
    key = "stratified" if kind == "random" and split["classes"] is not None else kind
    if (report.task, kind) in _TIMED_SETS:
        key = _TIMED_SETS[report.task, kind]
    yield "test", _(_TEST_SETS[key], count=n_test, share=percent(share, 0), train=n_train)
    yield "folds", describe_scheme(study)
    yield (
        "preparation",
        _(
            "Imputation, encoding and scaling were fitted within each fold on its "
            "training rows, not on the rows used for scoring."
        ),
    )
    yield (
        "tuning",
        _(
            "For each model, the candidate with the best mean {metric} was chosen. "
            "Because of this choice its cross-validated score is slightly optimistic; its "
            "test score is not.",
            metric=report.label,
        ),
    )
    yield (
        "refit",
        _(
            "The chosen candidate of each model was fitted once more on all training rows "
            "and scored once on the test rows."
        ),
    )
    if report.facts["calibration"] is not None:
        yield (
            "calibration",
            _(
                "Within each fold, the calibration methods were fitted on three-fold "
                "out-of-fold scores of the best model and evaluated by log-loss on the "
                "rows left out. The test rows were not used for the choice."
            ),
        )
    if report.models:
        interval = report.best["test"]["interval"]
        level = confidence_level(interval["level"])
        sentence = _("{level}: {method}.", level=level, method=translate(interval["method"]))
        yield "interval", sentence
    yield (
        "seed",
        _("{seed}; the same table, seed and versions give the same scores.", seed=study["seed"]),
    )


def _list_meanings(report: ReportData) -> list[tuple[str, str]]:
    keys = dict.fromkeys(key for model in report.models for key in model["test"]["metrics"])
    if any(model["test"]["per_class"] for model in report.models):
        keys |= dict.fromkeys(["precision", "recall", "specificity", "f1"])
    if any(model["test"]["calibration"] for model in report.models):
        keys |= {"ece": None}
    result = [get_metric(key) for key in keys]
    return [(each.label, each.meaning) for each in result if each.meaning]


# Options of the command with their default values.
_DEFAULTS: Mapping[str, Any] = {
    "preset": "quick",
    "models": None,
    "search": None,
    "cv": "5",
    "test_size": 0.2,
    "test": None,
    "groups": None,
    "time": None,
    "event": None,
    "query": None,
    "time_budget": None,
    "cost_matrix": None,
    "reject_cost": None,
    "score_by": [],
    "where": [],
    "drop_missing": False,
    "drop_duplicates": False,
    "merge": {},
    "drop": [],
    "drop_missing_target": False,
    "keep": [],
    "types": [],
    "positive": None,
    "lang": "en",
    "fit_timeout": None,
    "fit_memory": None,
}
_NAMES = {"arboleda": "arboleda", "python": "Python", "numpy": "NumPy"} | {
    "scikit_learn": "scikit-learn",
    "scipy": "SciPy",
}


def make_reproduce_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    here = report.facts["environment"]
    named = [(name, str(here[key])) for key, name in _NAMES.items() if key in here]
    return {
        "command": _make_command(report.study),
        "environment": [
            *named,
            (_("Platform"), here["platform"]),
            (_("Cores"), str(here["cores"])),
            (_("Data, SHA-256"), report.study["data_sha256"]),
        ],
    }


def _make_command(study: Mapping[str, Any]) -> str:
    """Return the command that repeats the study, without options at their defaults."""
    settings = study["settings"]
    # A file name may begin with a dash.
    table = f"./{study['table']}" if study["table"].startswith("-") else study["table"]
    words = ["arboleda", "study", table]
    if study["task"] != "survival":
        words += ["--target", study["target"]]
    if study["task"] not in ("survival", "ranking"):
        words += ["--task", "regression" if study["task"] == "regression" else "classification"]
    words += ["--metric", study["metric"], "--seed", str(study["seed"])]
    for flag, usual in _DEFAULTS.items():
        value = settings.get(flag)
        if value is None or value == usual:
            continue
        option = f"--{flag.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif flag == "types":
            words += [f"--type={choice}" for choice in value]
        elif flag == "where":
            # With an equals sign, a condition that begins with a dash is not parsed as an option.
            words += [f"{option}={condition}" for condition in value]
        else:
            words += [option, _format_option(value)]
    return shlex.join(words)


def _format_option(value: Any) -> str:
    if isinstance(value, list) and all(map(_is_plain, value)):
        return ",".join(value)
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    # The command parses seconds and shares without exponents.
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def _is_plain(word: Any) -> bool:
    """Return whether a name needs no quoting in a comma-separated list."""
    return (
        isinstance(word, str)
        and word.strip() == word
        and "," not in word
        and not word.startswith("[")
    )
