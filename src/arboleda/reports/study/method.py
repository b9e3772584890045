"""The sections on methods and on reproducing the study."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from arboleda._numbers import integer, percent
from arboleda.reports.study.report_data import ReportData, describe_scheme
from arboleda.reports.translation import text, translate
from arboleda.reports.wording import get_metric

__all__ = ["make_method_view", "make_reproduce_view"]


def make_method_view(report: ReportData) -> dict[str, Any]:
    """Collect the section."""
    steps = [(text(f"method.{key}.title"), sentence) for key, sentence in _iter_steps(report)]
    return {"steps": steps, "metrics": _list_meanings(report)}


def _iter_steps(report: ReportData) -> Iterator[tuple[str, str]]:
    study, split = report.study, report.facts["split"]
    n_test, n_train = integer(split["n_test"]), integer(split["n_train"])
    share = split["n_test"] / ((split["n_test"] + split["n_train"]) or 1)
    kind = study.get("scheme", {}).get("test", "random")
    key = "stratified" if kind == "random" and split["classes"] is not None else kind
    yield "test", text(f"method.test.{key}", count=n_test, share=percent(share, 0), train=n_train)
    yield "folds", describe_scheme(study)
    yield "preparation", text("method.preparation.text")
    yield "tuning", text("method.tuning.text", metric=report.label)
    yield "refit", text("method.refit.text")
    if report.facts["calibration"] is not None:
        yield "calibration", text("method.calibration.text")
    if report.models:
        interval = report.best["test"]["interval"]
        level = f"{100 * interval['level']:g}\N{NO-BREAK SPACE}%"
        sentence = text("method.interval.text", level=level, method=translate(interval["method"]))
        yield "interval", sentence
    yield "seed", text("method.seed.text", seed=study["seed"])


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
    "time_budget": None,
    "cost_matrix": None,
    "reject_cost": None,
    "by": [],
    "where": [],
    "drop_missing": False,
    "drop_duplicates": False,
    "merge": {},
    "drop": [],
    "lang": "en",
    "member_time": None,
    "member_memory": None,
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
            (text("reproduce.platform"), here["platform"]),
            (text("reproduce.cores"), str(here["cores"])),
            (text("reproduce.sha"), report.study["data_sha256"]),
        ],
    }


def _make_command(study: Mapping[str, Any]) -> str:
    """Return the command that repeats the study, without options at their defaults."""
    settings = study["settings"]
    # A file name may begin with a dash.
    table = f"./{study['table']}" if study["table"].startswith("-") else study["table"]
    words = ["arboleda", "study", table, "--target", study["target"]]
    words += ["--task", "regression" if study["task"] == "regression" else "classification"]
    words += ["--metric", study["metric"], "--seed", str(study["seed"])]
    for flag, usual in _DEFAULTS.items():
        value = settings[flag]
        if value is None or value == usual:
            continue
        option = f"--{flag.replace('_', '-')}"
        if value is True:
            words.append(option)
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
