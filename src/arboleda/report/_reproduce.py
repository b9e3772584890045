"""What it takes to do the study again: the command, the versions, the table's fingerprint."""

import shlex
from collections.abc import Mapping
from typing import Any

from arboleda.report._about import About
from arboleda.report._texts import text

__all__ = ["reproduce_view"]

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
    words = ["arboleda", "study", study["table"], "--target", study["target"]]
    words += ["--task", "regression" if study["task"] == "regression" else "classification"]
    words += ["--metric", study["metric"], "--seed", str(study["seed"])]
    if study["models"] != ["core"]:
        words += ["--models", ",".join(study["models"])]
    return shlex.join(words)
