"""The uncertainty of the ranking: the nested estimate of the winner and the comparisons."""

from collections.abc import Iterator, Mapping
from typing import Any

from arboleda._numbers import fixed, integer
from arboleda.report._cells import Cell
from arboleda.report._report_data import ReportData
from arboleda.report._texts import pluralize, text, translate
from arboleda.report._words import join_names, spell_count

__all__ = ["make_comparison_view", "write_uncertainty_sentences"]


def write_uncertainty_sentences(report: ReportData) -> Iterator[str]:
    """Describe the effect of selection on the winner's score and the models that are as good."""
    selection, comparison = report.facts.get("selection"), report.facts.get("comparison")
    if selection is not None and selection["n_candidates"] > 1:
        yield _describe_choice(report, selection)
    if comparison is not None:
        yield _describe_others(report, comparison)


def _describe_choice(report: ReportData, selection: Mapping[str, Any]) -> str:
    honest, count = selection["honest"], integer(selection["n_candidates"])
    name = report.get_name(selection["chosen"])
    if honest is None:
        return text("ranking.unknown", name=name, count=count)
    numbers = {
        "score": report.format_score(honest["mean"]),
        "low": report.format_score(honest["low"]),
        "high": report.format_score(honest["high"]),
        "level": f"{100 * honest['level']:g}\N{NO-BREAK SPACE}%",
    }
    kind = "luck" if selection["optimism"] > 0 else "no_luck"
    return text(f"ranking.{kind}", name=name, count=count, **numbers)


def _describe_others(report: ReportData, comparison: Mapping[str, Any]) -> str:
    winner = report.get_name(comparison["against"])
    equals = [report.get_name(key) for key in comparison["as_good"][1:]]
    worse = sum(row["as_good"] is False for row in comparison["rows"])
    if not equals and worse == len(comparison["rows"]):
        return text("ranking.alone", winner=winner)
    if not equals:
        return text("ranking.cannot_tell", winner=winner)
    rest = pluralize("ranking.worse", worse, count=spell_count(worse)) if worse else ""
    names = join_names(equals)
    return pluralize("ranking.equal", len(equals), names=names, winner=winner, rest=rest)


def make_comparison_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section on comparisons; None if there is nothing to compare."""
    result = report.facts.get("comparison")
    if result is None:
        return None
    return {
        "winner": report.get_name(result["against"]),
        "sentences": list(write_uncertainty_sentences(report)),
        "rows": [_make_row(report, row) for row in result["rows"]],
        "notes": [translate(result[key]) for key in ("folds_note", "test_note") if result[key]],
        "level": f"{100 * result['level']:g}",
        "label": report.label,
        "filtered": len(result["rows"]) > 12,
    }


def _make_row(report: ReportData, row: Mapping[str, Any]) -> dict[str, Any]:
    verdict = {True: "equal", False: "worse", None: "unknown"}[row["as_good"]]
    p_value = row["p_adjusted"]
    return {
        "name": report.get_name(row["key"]),
        "folds": _make_difference(report, row["folds"]),
        "test": _make_difference(report, row["test"]),
        "p": Cell("–" if p_value is None else _format_p_value(p_value), p_value),
        "verdict": text(f"ranking.verdict.{verdict}"),
        "kind": "untold" if row["as_good"] is None else verdict,
    }


def _make_difference(report: ReportData, part: Mapping[str, Any] | None) -> dict[str, Any]:
    if part is None:
        return {"cell": Cell("–", None), "range": ""}
    ends = {"low": report.format_score(part["low"]), "high": report.format_score(part["high"])}
    value = part["difference"]
    return {
        "cell": Cell(report.format_score(value), value),
        "range": text("interval.range", **ends),
    }


def _format_p_value(value: float) -> str:
    """Format a p-value with three decimals, or as "<0.001"."""
    return f"<{fixed(0.001, 3)}" if value < 0.0005 else fixed(value, 3)
