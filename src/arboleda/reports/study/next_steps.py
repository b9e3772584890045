"""The last section of the report: what to do with the study."""

from collections.abc import Mapping
from typing import Any

from arboleda.reports.study.report_data import ReportData
from arboleda.reports.translation import N_
from arboleda.reports.translation import gettext as _

__all__ = ["describe_purpose", "make_next_view"]

_PURPOSES = {
    "predict": N_("Predict the rows of a table; put a table of new rows in place of this one:"),
    "explain": N_("See what the best model learned, and how far to trust it:"),
    "export": N_("Write the best model as ONNX, for other programs:"),
    "explore": N_("Explore the table: columns, gaps, relations and outliers:"),
}


def describe_purpose(purpose: str) -> str:
    """Return what a command is for, in the current language."""
    return _(_PURPOSES[purpose])


def make_next_view(report: ReportData) -> Mapping[str, Any] | None:
    """Collect the section; None if the page is drawn without the places of the study."""
    steps = report.facts.get("next_steps")
    if steps is None:
        return None
    return {
        "commands": [
            (describe_purpose(step["purpose"]), step["command"]) for step in steps["commands"]
        ],
        "code": steps["code"],
    }
