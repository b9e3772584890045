"""What it takes to do the study again: the command, the versions, the table's fingerprint."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from arboleda.report._about import About
from arboleda.report._texts import text

__all__ = ["reproduce_view"]

# Settings that are flags of the command, and what they are if nothing is said.
_USUAL: Mapping[str, Any] = {
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


def reproduce_view(about: About) -> dict[str, Any]:
    """Collect the section."""
    here = about.facts["environment"]
    named = [(name, str(here[key])) for key, name in _NAMES.items() if key in here]
    return {
        "command": _command(about.study),
        "environment": [
            *named,
            (text("reproduce.platform"), here["platform"]),
            (text("reproduce.cores"), str(here["cores"])),
            (text("reproduce.sha"), about.study["data_sha256"]),
        ],
    }


def _command(study: Mapping[str, Any]) -> str:
    """The command that does the study again; what is as it would be without a word is left out."""
    settings = study["settings"]
    # A name that begins like a flag is a file all the same.
    table = f"./{study['table']}" if study["table"].startswith("-") else study["table"]
    words = ["arboleda", "study", table, "--target", study["target"]]
    words += ["--task", "regression" if study["task"] == "regression" else "classification"]
    words += ["--metric", study["metric"], "--seed", str(study["seed"])]
    for flag, usual in _USUAL.items():
        value = settings[flag]
        if value is None or value == usual:
            continue
        option = f"--{flag.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif flag == "where":
            # Equals signs keep a condition that begins with a dash from being taken for a flag.
            words += [f"{option}={condition}" for condition in value]
        else:
            words += [option, _written(value)]
    return shlex.join(words)


def _written(value: Any) -> str:
    if isinstance(value, list) and all(map(_is_plain, value)):
        return ",".join(value)
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False)
    # Seconds and shares are read without an exponent.
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)


def _is_plain(word: Any) -> bool:
    """Whether a name stays what it is in a list separated by commas."""
    return (
        isinstance(word, str)
        and word.strip() == word
        and "," not in word
        and not word.startswith("[")
    )
