"""The sections on columns: histograms, relations, and profiles of the target."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._utils.numbers import fixed, integer, number_format, percent, plain
from arboleda.facts.exploration import (
    ColumnPartner,
    ExplorationFacts,
    ExploredTargetFacts,
    ProfileFacts,
    ProfileGroup,
    RelationsFacts,
    TargetRelation,
    TargetRelationsFacts,
)
from arboleda.facts.study import ColumnFacts
from arboleda.reports.explore.summary import write_caution_lines
from arboleda.reports.fact_messages import translate
from arboleda.reports.tables import (
    Cell,
    choose_class_colours,
    format_with_share,
    make_column_view,
    name_kind,
    name_role,
)
from arboleda.reports.translation import gettext as _
from arboleda.reports.translation import ngettext

__all__ = ["format_signed", "make_columns_view", "make_profiles_view", "make_relations_view"]

Relation = TargetRelation | ColumnPartner

# Maximum number of columns with histograms; with more, all columns are also listed.
DRAWN = 60
# Maximum length of the list, to limit the size of the page; the facts hold all columns.
LISTED = 4000


def make_columns_view(facts: ExplorationFacts) -> dict[str, Any]:
    """Collect the section: columns with histograms, the list of all if needed, and remarks."""
    columns, n_rows = facts.columns, facts.table.n_rows
    many = len(columns) > DRAWN
    ranked = _sort_columns(facts)
    drawn = ranked[:DRAWN] if many else columns
    relations = _get_relations(facts)
    return {
        "drawn": [make_column_view(column.model_dump(), n_rows) for column in drawn],
        "many": many,
        "n_columns": integer(len(columns)),
        "listed": [_make_line(c, n_rows, relations) for c in ranked[:LISTED]] if many else [],
        "n_unlisted": integer(len(columns) - LISTED) if len(columns) > LISTED else None,
        "towards": None if facts.target is None else facts.target.name,
        "notes": write_caution_lines(facts.cautions, "info"),
    }


def _get_relations(facts: ExplorationFacts) -> dict[str, Relation]:
    """Return the relation of each column to the target, or to its most correlated column."""
    if facts.target_relations is not None:
        return {relation.name: relation for relation in facts.target_relations.columns}
    partners = [] if facts.relations is None else facts.relations.partners
    return {relation.name: relation for relation in partners}


def _sort_columns(facts: ExplorationFacts) -> Sequence[ColumnFacts]:
    """Sort columns: the target, then features by strength of relation, then excluded columns."""
    relations = _get_relations(facts)

    def rank(column: ColumnFacts) -> tuple[int, float]:
        relation = relations.get(column.name)
        strength = 0.0
        if isinstance(relation, TargetRelation):
            strength = relation.information
        elif relation is not None:
            strength = abs(relation.correlation)
        return {"target": 0, "feature": 1, "left_out": 2}[column.role], -strength

    return sorted(facts.columns, key=rank)


def _make_line(
    column: ColumnFacts, n_rows: int, relations: Mapping[str, Relation]
) -> dict[str, Any]:
    missing, numbers = column.n_missing, column.numeric
    relation = relations.get(column.name)
    return {
        "name": column.name,
        "kind": name_kind(column.kind),
        "role": name_role(column.role),
        "missing": Cell(format_with_share(missing, n_rows), missing),
        "distinct": Cell(integer(column.n_distinct), column.n_distinct),
        "mean": _make_number_cell(None if numbers is None else numbers.mean),
        "sd": _make_number_cell(None if numbers is None else numbers.sd),
        "information": _make_information_cell(
            relation.information if isinstance(relation, TargetRelation) else None
        ),
        "correlation": _make_correlation_cell(relation),
        "partner": relation.partner if isinstance(relation, ColumnPartner) else None,
    }


def _make_information_cell(value: float | None) -> Cell:
    return Cell(plain(None) if value is None else fixed(value, 3), value)


def _make_correlation_cell(relation: Relation | None) -> Cell:
    """Return a cell sorted by value (target) or by absolute value (another column)."""
    value = None if relation is None else relation.correlation
    size = abs(value) if value is not None and isinstance(relation, ColumnPartner) else value
    return Cell(format_signed(value), size)


def _make_number_cell(value: float | None) -> Cell:
    return Cell(plain(value), value)


SHOWN = 20
PAIRS, WEAK = 10, 0.1  # maximum number and minimum correlation of the pairs listed


def make_relations_view(facts: ExplorationFacts) -> dict[str, Any]:
    """Collect the section on relations."""
    return {
        "target": None
        if facts.target_relations is None or facts.target is None
        else _make_target_relations(facts.target_relations, facts.target),
        "profiles": make_profiles_view(facts),
        "among": None if facts.relations is None else _make_correlations(facts.relations, facts),
    }


def _make_target_relations(
    result: TargetRelationsFacts, target: ExploredTargetFacts
) -> dict[str, Any]:
    columns = result.columns
    most = columns[0].share or 1.0
    return {
        "columns": [
            {
                "name": column.name,
                "information": Cell(fixed(column.information, 3), column.information),
                "share": Cell(percent(column.share), column.share),
                "bar": f"{100 * column.share / most:.1f}",
                "correlation": Cell(format_signed(column.correlation), column.correlation),
            }
            for column in columns[:SHOWN]
        ],
        "entropy": plain(result.entropy, 3),
        "has_correlation": any(c.correlation is not None for c in columns),
        "positive": target.positive_class,
        "classes": target.classes is not None,
        "n_others": integer(len(columns) - SHOWN) if len(columns) > SHOWN else None,
        "sample": _describe_sample(result.n_rows, target.n_known),
    }


def _make_correlations(result: RelationsFacts, facts: ExplorationFacts) -> dict[str, Any]:
    names = result.matrix.columns
    return {
        "rows": [
            {"name": name, "cells": [_make_matrix_cell(value) for value in values]}
            for name, values in zip(names, result.matrix.values, strict=True)
        ],
        "pairs": [
            {
                "columns": pair.columns,
                "correlation": Cell(format_signed(pair.correlation), abs(pair.correlation)),
            }
            for pair in result.pairs[:PAIRS]
            if abs(pair.correlation) >= WEAK
        ],
        "all_shown": len(names) == result.n_columns,
        "n_columns": integer(result.n_columns),
        "n_compared": integer(result.n_compared),
        "all_compared": result.n_compared == result.n_columns,
        "sample": _describe_sample(result.n_rows, facts.table.n_rows),
    }


def _make_matrix_cell(value: float | None) -> dict[str, str]:
    """Return a cell of the matrix: two digits, with a tone by size and sign."""
    if value is None:
        return {"text": "\N{EN DASH}", "tone": "none"}
    tone = f"{'right' if value >= 0 else 'wrong'} t{round(10 * abs(value))}"
    text = format_signed(value)
    return {"text": text if abs(value) >= 0.995 else text.replace("0", "", 1), "tone": tone}


def format_signed(value: float | None) -> str:
    """Format a correlation with two decimals."""
    if value is None:
        return "\N{EN DASH}"
    return fixed(value, 2)


def _describe_sample(n_rows: int, total: int) -> str | None:
    return (
        None
        if n_rows == total
        else _("{count} of {total} rows", count=integer(n_rows), total=integer(total))
    )


def make_profiles_view(facts: ExplorationFacts) -> dict[str, Any] | None:
    """Collect the profiles; None if there are none."""
    target, profiles = facts.target, facts.profiles
    if not profiles or target is None:
        return None
    if target.classes is None:
        return {"kind": "mean", "cards": _make_mean_cards(profiles), "legend": []}
    labels = [row.label for row in target.classes]
    positive = target.positive_class
    colours = choose_class_colours(labels, positive)
    return {
        "kind": "shares",
        "cards": [
            {
                "name": profile.name,
                "rows": [_make_share_row(g, labels, positive, colours) for g in profile.groups],
            }
            for profile in profiles
        ],
        "legend": list(zip(colours, labels, strict=True)) if len(labels) > 2 else [],
    }


def _make_share_row(
    group: ProfileGroup, labels: Sequence[str], positive: str | None, colours: Sequence[str]
) -> dict[str, Any]:
    """Return one bar for the positive class, or one bar per class."""
    shares = group.shares or []
    chosen = range(len(labels)) if positive is None else [labels.index(positive)]
    share_text = "" if positive is None else percent(shares[labels.index(positive)], 0)
    bars = [(colours[k], f"{100 * shares[k]:.1f}") for k in chosen if shares[k] > 0]
    return _make_row(group, share_text) | {"bars": bars, "at": None}


def _make_mean_cards(profiles: Sequence[ProfileFacts]) -> list[dict[str, Any]]:
    """Return means as positions between the lowest and the highest of all cards."""
    means = [group.mean or 0.0 for profile in profiles for group in profile.groups]
    low, high = min(means), max(means)
    write = number_format(means, bounded=False)
    # Halve first: the difference of large numbers may overflow.
    span = high / 2 - low / 2 or 1.0
    return [
        {
            "name": profile.name,
            "rows": [
                _make_row(group, write(mean))
                | {"bars": [], "at": f"{100 * (mean / 2 - low / 2) / span:.1f}"}
                for group in profile.groups
                if (mean := group.mean) is not None
            ],
        }
        for profile in profiles
    ]


def _make_row(group: ProfileGroup, value: str) -> dict[str, Any]:
    label = group.label
    return {
        "label": label and translate(label),
        "missing": label is None,
        "title": ngettext("{count} row", "{count} rows", group.n_rows, count=integer(group.n_rows)),
        "value": value,
    }
