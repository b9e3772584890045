"""From the facts to what the template sets: the head of the page, the summary, the sections."""

from collections.abc import Mapping
from typing import Any

from arboleda._numbers import duration, integer
from arboleda.report._about import About
from arboleda.report._gallery import gallery
from arboleda.report._sections import sections_of
from arboleda.report._summary import summarise
from arboleda.report._texts import text

__all__ = ["page_view"]


def page_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect everything the template needs, drawn from the facts alone.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study.
    """
    about = About(facts)
    sections = sections_of(about)
    return {
        "study": about.study,
        "headline": _headline(facts),
        "summary": summarise(facts),
        "sections": sections,
        "gallery": gallery(sections),
        "version": facts["arboleda_version"],
    }


def _headline(facts: Mapping[str, Any]) -> list[str]:
    data, started = facts["data"], facts["timing"]["started"]
    sizes = {"rows": integer(data["n_rows"]), "columns": integer(data["n_columns"])}
    return [
        text(f"task.{facts['study']['task']}"),
        text("head.sizes", **sizes),
        f"{started[:10]} {started[11:16]}".strip(),
        text("head.time", time=duration(facts["timing"]["total_s"])),
    ]
