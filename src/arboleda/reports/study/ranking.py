"""The section on rankings: NDCG by number of ranks and by query, and the worst queries."""

from collections.abc import Mapping
from typing import Any

from arboleda._utils.numbers import integer, number_format
from arboleda.reports.figures.timed_plots import PlottedLine, draw_count_plot, draw_line_plot
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.tables import Cell
from arboleda.reports.translation import gettext as _
from arboleda.reports.translation import ngettext

__all__ = ["make_ranking_view"]

_format_score = number_format([], bounded=True)


def make_ranking_view(report: ReportData) -> dict[str, Any] | None:
    """Collect the section; None unless rows are ranked."""
    result = report.best["test"].get("ranking") if report.models else None
    if result is None:
        return None
    left_out = result["n_without_relevant"]
    return {
        "name": report.get_name(report.best["key"]),
        "n_queries": integer(result["n_queries"]),
        "column": report.study["settings"]["query"],
        "at": result["at"],
        "left_out": ngettext(
            "{count} query without a relevant row is left out.",
            "{count} queries without a relevant row are left out.",
            left_out,
            count=integer(left_out),
        )
        if left_out
        else "",
        "figures": [_draw_ranks(result), _draw_queries(result)],
        "rows": [
            {
                "query": query["query"],
                "n": Cell(integer(query["n"]), query["n"]),
                "n_relevant": Cell(integer(query["n_relevant"]), query["n_relevant"]),
                "ndcg": Cell(_format_score(query["ndcg"]), query["ndcg"]),
                "best_rank": Cell(integer(query["best_rank"]), query["best_rank"]),
            }
            for query in result["worst"]
        ],
    }


def _draw_ranks(result: Mapping[str, Any]) -> dict[str, Any]:
    title = _("NDCG by number of ranks")
    lines = [PlottedLine(result["ranks"], result["ndcg"])]
    if result["baseline_ndcg"] is not None:
        lines.append(PlottedLine(result["ranks"], result["baseline_ndcg"], is_dashed=True))
    axes = (_("Ranks k"), _("NDCG@k"))
    svg = draw_line_plot(lines, axes, name="ranking-ndcg", title=title, whole=True)
    dashed = "" if len(lines) == 1 else _("equal scores")
    return {"kind": "ndcg_by_ranks", "title": title, "svg": svg, "dashed": dashed}


def _draw_queries(result: Mapping[str, Any]) -> dict[str, Any]:
    title = _("NDCG@{ranks} of the queries", ranks=result["at"])
    axes = (_("NDCG@{value}", value=result["at"]), _("Queries"))
    svg = draw_count_plot(result["histogram"], axes, name="ranking-queries", title=title)
    return {"kind": "ndcg_by_query", "title": title, "svg": svg, "dashed": ""}
