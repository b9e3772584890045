"""The values of the page template: headline, summary and sections."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import duration, integer
from arboleda.report._gallery import list_figures
from arboleda.report._report_data import ReportData
from arboleda.report._sections import make_sections
from arboleda.report._summary import summarise
from arboleda.report._texts import text

__all__ = ["make_page_view"]


def make_page_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the values of the page template from the facts.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study.
    """
    report = ReportData(facts)
    sections = make_sections(report)
    return {
        "study": report.study,
        "headline": _make_headline(facts),
        "summary": summarise(facts),
        "sections": sections,
        "gallery": list_figures(sections),
        "version": facts["arboleda_version"],
    }


def _make_headline(facts: Mapping[str, Any]) -> list[str]:
    data, started = facts["data"], facts["timing"]["started"]
    sizes = {"rows": integer(data["n_rows"]), "columns": integer(data["n_columns"])}
    return [
        text(f"task.{facts['study']['task']}"),
        text("head.sizes", **sizes),
        f"{started[:10]} {started[11:16]}".strip(),
        text("head.time", time=duration(facts["timing"]["total_s"])),
    ]
