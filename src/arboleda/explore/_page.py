"""The page of an exploration, rendered from its facts."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arboleda._numbers import integer
from arboleda.explore._columns_view import make_columns_view
from arboleda.explore._facts import SCHEMA_VERSION
from arboleda.explore._missing_view import make_missing_view
from arboleda.explore._relations_view import make_relations_view
from arboleda.explore._rows_view import make_rows_view
from arboleda.explore._structure_view import make_structure_view
from arboleda.explore._summary_view import make_summary_view
from arboleda.report import check_version, render_page

__all__ = ["render_exploration"]

_TEMPLATE = Path(__file__).parent / "templates" / "explore.html.j2"
_TASKS = {
    "binary": "Two classes",
    "multiclass": "Several classes",
    "regression": "A quantity",
}


def render_exploration(facts: Mapping[str, Any]) -> str:
    """Render the facts of an exploration as one self-contained HTML page.

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
    check_version(facts, SCHEMA_VERSION, "this page", "explore the table again")
    return render_page(_TEMPLATE, _make_view(facts), extra_files=("explore.css",))


def _make_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "table": facts["table"],
        "target": facts["target"],
        "headline": _make_headline(facts),
        "summary": make_summary_view(facts),
        "columns": make_columns_view(facts),
        "missing": make_missing_view(facts),
        "relations": make_relations_view(facts),
        "structure": make_structure_view(facts),
        "rows": make_rows_view(facts),
        "method": _describe_methods(facts),
        "environment": _list_environment(facts),
        "command": _make_command(facts),
        "version": facts["arboleda_version"],
    }


def _make_headline(facts: Mapping[str, Any]) -> list[str]:
    table, target = facts["table"], facts["target"]
    parts = [f"{integer(table['n_rows'])} rows, {integer(table['n_columns'])} columns"]
    if target is not None:
        parts.append(f"{_TASKS[target['task']]} to predict")
    return parts


def _describe_methods(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    parts = {
        "Kinds": "Inferred from the values as in a study, but from all rows.",
        "Correlation": (
            "Pearson's, over the rows with both values; not defined for categories. The positive "
            "of two classes counts as 1."
        ),
        "Mutual information": (
            "Estimated from categories and deciles of numbers, with missing values as a separate "
            "category, and corrected for chance (Vinh, Epps and Bailey 2010); in nats."
        ),
        "Preparation": (
            "For components, clusters and maps: numbers are imputed by the median and "
            "standardised; categories are one-hot encoded, with one column for rare levels."
        ),
        "Components": "Principal component analysis; the components that explain 90 % of the "
        "variance, at most 50, are used for clusters and maps.",
        "Clusters": (
            "k-means from four starts; silhouettes interpreted as by Kaufman and Rousseeuw "
            "(1990); Gaussian mixtures on the first components, compared by BIC."
        ),
        "Outliers": (
            "The number of rows over the sum of squared proximities in a random forest, in units "
            "of the median deviation (Breiman and Cutler). Without a target, the forest "
            "discriminates the rows from rows with permuted columns."
        ),
        "Seed": f"{facts['seed']}; the same table, seed and versions give the same page.",
    }
    return list(parts.items())


def _list_environment(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    here = facts["environment"]
    return [
        ("arboleda", here["arboleda"]),
        ("Python", here["python"]),
        ("NumPy", here["numpy"]),
        ("scikit-learn", here["scikit_learn"]),
        ("Data, SHA-256", facts["table"]["sha256"]),
    ]


def _make_command(facts: Mapping[str, Any]) -> str:
    words = ["arboleda", "explore", facts["table"]["name"]]
    if facts["target"] is not None:
        words += ["--target", facts["target"]["name"]]
    return shlex.join([*words, "--seed", str(facts["seed"])])
