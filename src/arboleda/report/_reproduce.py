"""What it takes to do the study again: the command, the versions, the table's fingerprint."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from arboleda.report._about import About
from arboleda.report._texts import text

__all__ = ["reproduce_view"]

# Settings that are flags of the command, and what they are if nothing is said.
_USUAL = {
    "preset": "quick",
    "cv": "5",
    "test_size": 0.2,
    "test": None,
    "groups": None,
    "time": None,
    "time_budget": None,
    "cost_matrix": None,
    "reject_cost": None,
    "by": [],
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
    words = ["arboleda", "study", study["table"], "--target", study["target"]]
    words += ["--task", "regression" if study["task"] == "regression" else "classification"]
    words += ["--metric", study["metric"], "--seed", str(study["seed"])]
    if settings["models"] is not None:
        words += ["--models", ",".join(settings["models"])]
    for flag, usual in _USUAL.items():
        value = settings[flag]
        if value not in (usual, None, []):
            words += [f"--{flag.replace('_', '-')}", _written(value)]
    return shlex.join(words)


def _written(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else f"{value}"
