"""The page of an exploration, rendered from its facts."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._utils.numbers import integer, percent, plain
from arboleda.facts.exploration import (
    SCHEMA_VERSION,
    ConflictsFacts,
    DuplicatesFacts,
    ExplorationFacts,
    OutliersFacts,
)
from arboleda.reports.explore.columns import make_columns_view, make_relations_view
from arboleda.reports.explore.structure import make_structure_view
from arboleda.reports.explore.summary import make_summary_view
from arboleda.reports.figures.curve_plots import draw_histogram_plot
from arboleda.reports.rendering import DATA_PAGES, render_page, use_facts
from arboleda.reports.tables import Cell
from arboleda.reports.translation import N_, ngettext
from arboleda.reports.translation import gettext as _

__all__ = ["make_missing_view", "make_rows_view", "render_exploration"]

_TASKS = {
    "binary": N_("Two classes to predict"),
    "multiclass": N_("Several classes to predict"),
    "regression": N_("A quantity to predict"),
}


def render_exploration(facts: Mapping[str, Any], language: str = "en") -> str:
    """Render the facts of an exploration as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        As in ``exploration.schema.json``; its strings may contain arbitrary text.
    language : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.
    """
    with use_facts(facts, SCHEMA_VERSION, "explore the table again", language):
        view = _make_view(ExplorationFacts.model_validate(facts))
        return render_page("explore.html.j2", view, DATA_PAGES)


def _make_view(facts: ExplorationFacts) -> dict[str, Any]:
    return {
        "table": facts.table,
        "target": facts.target,
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
        "version": facts.arboleda_version,
    }


def _make_headline(facts: ExplorationFacts) -> list[str]:
    table, target = facts.table, facts.target
    parts = [
        _(
            "{rows} rows, {columns} columns",
            rows=integer(table.n_rows),
            columns=integer(table.n_columns),
        )
    ]
    if target is not None:
        task = target.task
        parts.append(_(_TASKS[task]))
    return parts


def _describe_methods(facts: ExplorationFacts) -> list[tuple[str, str]]:
    parts = {
        _("Kinds"): _("Inferred from the values as in a study, but from all rows."),
        _("Correlation"): (
            _(
                "Pearson's, over the rows with both values; not defined for categories. "
                "The positive of two classes counts as 1."
            )
        ),
        _("Mutual information"): (
            _(
                "Estimated from categories and deciles of numbers, with missing values as "
                "a separate category, and corrected for chance (Vinh, Epps and Bailey "
                "2010); in nats."
            )
        ),
        _("Preparation"): (
            _(
                "For components, clusters and maps: numbers are imputed by the median and "
                "standardised; categories are one-hot encoded, with one column for rare "
                "levels."
            )
        ),
        _("Components"): _(
            "Principal component analysis; the components that explain 90 % of the "
            "variance, at most 50, are used for clusters and maps."
        ),
        _("Clusters"): (
            _(
                "k-means from four starts; silhouettes interpreted as by Kaufman and "
                "Rousseeuw (1990); Gaussian mixtures on the first components, compared by "
                "BIC."
            )
        ),
        _("Outliers"): (
            _(
                "The number of rows over the sum of squared proximities in a random "
                "forest, in units of the median deviation (Breiman and Cutler). Without a "
                "target, the forest discriminates the rows from rows with permuted "
                "columns."
            )
        ),
        _("Seed"): _(
            "{seed}; the same table, seed and versions give the same page.", seed=facts.seed
        ),
    }
    return list(parts.items())


def _list_environment(facts: ExplorationFacts) -> list[tuple[str, str]]:
    here = facts.environment
    return [
        ("arboleda", here.arboleda),
        ("Python", here.python),
        ("NumPy", here.numpy),
        ("scikit-learn", here.scikit_learn),
        (_("Data, SHA-256"), facts.table.sha256),
    ]


def _make_command(facts: ExplorationFacts) -> str:
    words = ["arboleda", "explore", facts.table.name]
    if facts.target is not None:
        words += ["--target", facts.target.name]
    return shlex.join([*words, "--seed", str(facts.seed)])


SHOWN = 24


def make_missing_view(facts: ExplorationFacts) -> dict[str, Any] | None:
    """Collect the section; None if nothing is missing."""
    missing, n_rows = facts.missing, facts.table.n_rows
    if not missing.n_columns:
        return None
    gaps = [c for c in facts.columns if c.n_missing]
    gaps.sort(key=lambda c: -c.n_missing)
    patterns = missing.patterns
    return {
        "columns": [
            {
                "name": column.name,
                "missing": Cell(integer(column.n_missing), column.n_missing),
                "share": Cell(percent(column.n_missing / n_rows), column.n_missing),
                "bar": f"{100 * column.n_missing / n_rows:.1f}",
                "cells": [column.name in pattern.columns for pattern in patterns],
            }
            for column in gaps[:SHOWN]
        ],
        "patterns": [
            {"rows": integer(p.n_rows), "share": percent(p.n_rows / n_rows)} for p in patterns
        ],
        "n_others": integer(len(gaps) - SHOWN) if len(gaps) > SHOWN else None,
        "complete": f"{integer(missing.n_complete_rows)} "
        f"({percent(missing.n_complete_rows / n_rows)})",
        "n_patterns": ngettext(
            "{count} combination",
            "{count} combinations",
            missing.n_patterns,
            count=integer(missing.n_patterns),
        ),
        "all_shown": missing.n_patterns == len(patterns),
        "n_shown": integer(len(patterns)),
    }


def make_rows_view(facts: ExplorationFacts) -> dict[str, Any]:
    """Collect the section on rows."""
    duplicates = facts.duplicates
    conflicts = duplicates.conflicts
    return {
        "n_repeats": ngettext(
            "{count} row",
            "{count} rows",
            duplicates.n_repeats,
            count=integer(duplicates.n_repeats),
        ),
        "n_groups": ngettext(
            "{count} group",
            "{count} groups",
            duplicates.n_groups,
            count=integer(duplicates.n_groups),
        ),
        "groups": [_make_group(group.n_rows, group.rows) for group in duplicates.groups],
        "cap": _describe_cap(duplicates),
        "conflicts": None
        if conflicts is None
        else {
            "n_rows": integer(conflicts.n_rows),
            "n_groups": ngettext(
                "{count} group",
                "{count} groups",
                conflicts.n_groups,
                count=integer(conflicts.n_groups),
            ),
            "groups": [
                _make_group(group.n_rows, group.rows)
                | {"targets": [_format_value(v) for v in group.targets]}
                for group in conflicts.groups
            ],
            "cap": _describe_cap(conflicts),
        },
        "outliers": None if facts.outliers is None else _make_outliers(facts.outliers, facts),
    }


def _make_outliers(result: OutliersFacts, facts: ExplorationFacts) -> dict[str, Any]:
    target = facts.target
    total = facts.table.n_rows if target is None else target.n_known
    histogram = result.histogram
    return {
        "figure": None
        if histogram is None
        else draw_histogram_plot(
            histogram.model_dump(), _("Outlier score"), "outliers", _("Histogram of outlier scores")
        ),
        "rows": [
            {
                "row": integer(row.row),
                "score": plain(row.score, 3),
                "target": None if row.target is None else _format_value(row.target),
                "unusual": [
                    {
                        "column": item.column,
                        "value": _format_value(item.value),
                        "share": percent(item.share),
                    }
                    for item in row.unusual
                ],
            }
            for row in result.rows
        ],
        "n_suspicious": integer(result.n_suspicious),
        "sample": _("{count} rows", count=integer(result.n_rows))
        if result.n_rows == total
        else _("a sample of {count} rows", count=integer(result.n_rows)),
        "n_trees": result.n_trees,
        "kind": "none" if target is None else "classes" if target.classes else "quantity",
    }


def _describe_cap(groups: DuplicatesFacts | ConflictsFacts) -> str:
    """Return the sentence on groups that are not listed; empty if all are."""
    shown, count = len(groups.groups), groups.n_groups
    if shown == count:
        return ""
    return _("The {shown} largest of {count} are listed.", shown=shown, count=integer(count))


def _make_group(n_rows: int, numbers: Sequence[int]) -> dict[str, Any]:
    more = n_rows - len(numbers)
    rows = ", ".join(integer(row) for row in numbers)
    return {
        "n_rows": integer(n_rows),
        "rows": rows + (_(" and {count} more", count=integer(more)) if more else ""),
    }


def _format_value(value: str | float | bool | None) -> str:
    if value is None:
        return _("missing")
    if isinstance(value, bool):
        return _("true") if value else _("false")
    return value if isinstance(value, str) else plain(value)
