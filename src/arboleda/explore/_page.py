"""The page of an exploration, drawn from the facts alone."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arboleda._numbers import integer
from arboleda.explore._columns_view import columns_view
from arboleda.explore._facts import SCHEMA_VERSION
from arboleda.explore._missing_view import missing_view
from arboleda.explore._relations_view import relations_view
from arboleda.explore._rows_view import rows_view
from arboleda.explore._structure_view import structure_view
from arboleda.explore._summary_view import summary_view
from arboleda.report import check_version, render_page

__all__ = ["render_exploration"]

_TEMPLATE = Path(__file__).parent / "templates" / "explore.html.j2"
_TASKS = {
    "binary": "Two classes",
    "multiclass": "Several classes",
    "regression": "A quantity",
}


def render_exploration(facts: Mapping[str, Any]) -> str:
    """Draw the facts of an exploration as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        As in ``facts.schema.json``, version 1; its strings may hold anything.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version.
    """
    check_version(facts, SCHEMA_VERSION, "this page", "explore the table again")
    return render_page(_TEMPLATE, _view(facts), beside=("explore.css",))


def _view(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": facts["table"],
        "target": facts["target"],
        "headline": _headline(facts),
        "summary": summary_view(facts),
        "columns": columns_view(facts),
        "missing": missing_view(facts),
        "relations": relations_view(facts),
        "structure": structure_view(facts),
        "rows": rows_view(facts),
        "method": _method(facts),
        "environment": _environment(facts),
        "command": _command(facts),
        "version": facts["arboleda_version"],
    }


def _headline(facts: Mapping[str, Any]) -> list[str]:
    table, target = facts["table"], facts["target"]
    told = [f"{integer(table['n_rows'])} rows, {integer(table['n_columns'])} columns"]
    if target is not None:
        told.append(f"{_TASKS[target['task']]} to predict")
    return told


def _method(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    told = {
        "Kinds": "Decided from the values as a study decides them, but from all rows.",
        "Correlation": (
            "Pearson's, over the rows that have both values; categories have none. Of two classes "
            "the positive one counts as 1."
        ),
        "Mutual information": (
            "Counted over categories and over tenths of numbers, missing values as a category of "
            "their own, less what chance would show (Vinh, Epps and Bailey 2010); in nats."
        ),
        "Preparation": (
            "For components, clusters and maps: numbers filled with the median and standardised, "
            "a column of 0 and 1 for each frequent category, and one for the rare ones."
        ),
        "Components": "Principal component analysis; those that hold 90 % of the variance, at most "
        "50, are kept for clusters and maps.",
        "Clusters": (
            "k-means from four starts; silhouettes as read by Kaufman and Rousseeuw (1990); "
            "Gaussian mixtures on the first components, judged by BIC."
        ),
        "Outliers": (
            "The number of rows over the sum of squared proximities in a random forest, in units "
            "of the median deviation (Breiman and Cutler). Without a target the forest tells the "
            "rows from others whose columns were permuted."
        ),
        "Seed": f"{facts['seed']}; the same table, seed and versions give the same page.",
    }
    return list(told.items())


def _environment(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    here = facts["environment"]
    return [
        ("arboleda", here["arboleda"]),
        ("Python", here["python"]),
        ("NumPy", here["numpy"]),
        ("scikit-learn", here["scikit_learn"]),
        ("Data, SHA-256", facts["table"]["sha256"]),
    ]


def _command(facts: Mapping[str, Any]) -> str:
    words = ["arboleda", "explore", facts["table"]["name"]]
    if facts["target"] is not None:
        words += ["--target", facts["target"]["name"]]
    return shlex.join([*words, "--seed", str(facts["seed"])])
