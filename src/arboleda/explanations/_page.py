"""Pages of explanations, rendered from the facts."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arboleda._numbers import integer
from arboleda.explanations._frame_facts import SCHEMA_VERSION
from arboleda.explanations._method_view import make_method_view
from arboleda.explanations._model_view import make_model_view
from arboleda.explanations._row_view import make_row_view
from arboleda.report import check_version, render_page

__all__ = ["render_explanation"]

_TEMPLATES = Path(__file__).parent / "templates"
_PARTS = {
    "train": "a training row: the model was fitted on it",
    "test": "a test row: the model has not seen it",
}


def render_explanation(facts: Mapping[str, Any]) -> str:
    """Render the facts of an explanation as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        As in ``facts.schema.json``, version 1; its strings may contain arbitrary text.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version.
    """
    check_version(facts, SCHEMA_VERSION, "this page", "explain the study again")
    view = make_row_view(facts) if facts["about"] == "row" else make_model_view(facts)
    return render_page(
        _TEMPLATES / f"explain_{facts['about']}.html.j2",
        {**view, **_make_frame(facts)},
        extra_files=("explain.css",),
    )


def _make_frame(facts: Mapping[str, Any]) -> dict[str, Any]:
    here, study = facts["environment"], facts["study"]
    return {
        "headline": _make_headline(facts),
        "method": make_method_view(facts),
        "command": _make_command(facts),
        "environment": [
            ("arboleda", here["arboleda"]),
            ("Python", here["python"]),
            ("NumPy", here["numpy"]),
            ("scikit-learn", here["scikit_learn"]),
            ("Data, SHA-256", study["data_sha256"]),
        ],
        "version": facts["arboleda_version"],
    }


def _make_headline(facts: Mapping[str, Any]) -> list[str]:
    study, model = facts["study"], facts["model"]
    headline = [f"{study['target']}, by {model['name']}"]
    if facts["about"] == "row":
        return [*headline, _PARTS[facts["row"]["part"]]]
    return [
        *headline,
        f"{integer(study['n_train'])} training rows, {integer(study['n_test'])} test rows",
    ]


def _make_command(facts: Mapping[str, Any]) -> str:
    words = ["arboleda", "explain", facts["study"]["folder"]]
    if facts["about"] == "row":
        words += ["--row", str(facts["row"]["number"])]
    return shlex.join([*words, "--seed", str(facts["seed"])])
