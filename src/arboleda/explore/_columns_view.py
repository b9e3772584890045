"""The columns of the page: histograms of some, and a list of all if there are many."""

from collections.abc import Mapping, Sequence
from typing import Any

from arboleda._numbers import integer, plain
from arboleda.explore._relations_view import format_signed
from arboleda.explore._summary_view import write_caution_lines
from arboleda.report._cells import Cell, format_with_share
from arboleda.report._columns import make_column_view

__all__ = ["make_columns_view"]

# Maximum number of columns with histograms; with more, all columns are also listed.
DRAWN = 60
# Maximum length of the list, to limit the size of the page; the facts hold all columns.
LISTED = 4000


def make_columns_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the section: columns with histograms, the list of all if needed, and remarks."""
    columns, n_rows = facts["columns"], facts["table"]["n_rows"]
    many = len(columns) > DRAWN
    ranked = _sort_columns(facts)
    drawn = ranked[:DRAWN] if many else columns
    relations = _get_relations(facts)
    return {
        "drawn": [make_column_view(column, n_rows) for column in drawn],
        "many": many,
        "n_columns": integer(len(columns)),
        "listed": [_make_line(c, n_rows, relations) for c in ranked[:LISTED]] if many else [],
        "n_unlisted": integer(len(columns) - LISTED) if len(columns) > LISTED else None,
        "towards": None if facts["target"] is None else facts["target"]["name"],
        "notes": write_caution_lines(facts["cautions"], "info"),
    }


def _get_relations(facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the relation of each column to the target, or to its most correlated column."""
    result = facts["target_relations"] or {
        "columns": (facts["relations"] or {}).get("partners", [])
    }
    return {column["name"]: column for column in result["columns"]}


def _sort_columns(facts: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Sort columns: the target, then features by strength of relation, then excluded columns."""
    relations = _get_relations(facts)

    def rank(column: Mapping[str, Any]) -> tuple[int, float]:
        relation = relations.get(column["name"], {"correlation": 0.0})
        strength = relation.get("information", abs(relation["correlation"] or 0.0))
        return {"target": 0, "feature": 1, "left_out": 2}[column["role"]], -strength

    return sorted(facts["columns"], key=rank)


def _make_line(
    column: Mapping[str, Any], n_rows: int, relations: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    missing, numbers = column["n_missing"], column["numeric"]
    relation = relations.get(column["name"], {})
    return {
        "name": column["name"],
        "kind": column["kind"],
        "role": column["role"].replace("_", " "),
        "missing": Cell(format_with_share(missing, n_rows), missing),
        "distinct": Cell(integer(column["n_distinct"]), column["n_distinct"]),
        "mean": _make_number_cell(numbers, "mean"),
        "sd": _make_number_cell(numbers, "sd"),
        "information": _make_information_cell(relation.get("information")),
        "correlation": _make_correlation_cell(relation),
        "partner": relation.get("partner"),
    }


def _make_information_cell(value: float | None) -> Cell:
    return Cell(plain(None) if value is None else f"{value:.3f}", value)


def _make_correlation_cell(relation: Mapping[str, Any]) -> Cell:
    """Return a cell sorted by value (target) or by absolute value (another column)."""
    value = relation.get("correlation")
    size = abs(value) if value is not None and "partner" in relation else value
    return Cell(format_signed(value), size)


def _make_number_cell(numbers: Mapping[str, Any] | None, key: str) -> Cell:
    value = None if numbers is None else numbers[key]
    return Cell(plain(value), value)
