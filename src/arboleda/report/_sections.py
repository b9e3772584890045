"""The sections of the report in page order; each has one module and one template."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from arboleda.report._calibration import make_calibration_view
from arboleda.report._costs import make_costs_view
from arboleda.report._data import make_data_view
from arboleda.report._effects import make_effects_view
from arboleda.report._ensemble import make_ensemble_view
from arboleda.report._folds import make_folds_view
from arboleda.report._groups import make_groups_view
from arboleda.report._importance import make_importance_view
from arboleda.report._leaderboard import make_leaderboard_view
from arboleda.report._learning import make_learning_view
from arboleda.report._method import make_method_view
from arboleda.report._models import make_models_view
from arboleda.report._report_data import ReportData
from arboleda.report._reproduce import make_reproduce_view
from arboleda.report._surrogate import make_surrogate_view
from arboleda.report._texts import text
from arboleda.report._tree import make_tree_view
from arboleda.report._tried import make_tried_view
from arboleda.report._uncertainty import make_comparison_view

__all__ = ["SECTIONS", "Section", "make_sections"]

View = Callable[[ReportData], Mapping[str, Any] | None]

# The key names the anchor, the template and the texts; a view of None omits the section.
SECTIONS: tuple[tuple[str, View], ...] = (
    ("leaderboard", make_leaderboard_view),
    ("comparison", make_comparison_view),
    ("folds", make_folds_view),
    ("importance", make_importance_view),
    ("costs", make_costs_view),
    ("groups", make_groups_view),
    ("models", make_models_view),
    ("surrogate", make_surrogate_view),
    ("ensemble", make_ensemble_view),
    ("learning", make_learning_view),
    ("effects", make_effects_view),
    ("calibration", make_calibration_view),
    ("tree", make_tree_view),
    ("tried", make_tried_view),
    ("data", make_data_view),
    ("method", make_method_view),
    ("reproduce", make_reproduce_view),
)


class Section(NamedTuple):
    """A section of the page: key, full and short title, and the values of its template."""

    key: str
    title: str
    short: str
    view: Mapping[str, Any]


def make_sections(report: ReportData) -> list[Section]:
    """Collect the sections for which the facts hold data."""
    result = ((key, view(report)) for key, view in SECTIONS)
    return [
        Section(key, text(f"section.{key}.title"), text(f"section.{key}.short"), view)
        for key, view in result
        if view is not None
    ]
