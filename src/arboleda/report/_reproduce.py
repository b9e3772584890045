"""The section on reproducing the study: command, versions and hash of the table."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from arboleda.report._report_data import ReportData
from arboleda.report._texts import text

__all__ = ["make_reproduce_view"]

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
    "score_by": [],
    "where": [],
    "drop_missing": False,
    "drop_duplicates": False,
    "merge": {},
    "drop": [],
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
