"""The sections of the report, in the page's order; each is one small file and one template."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from arboleda.report._about import About
from arboleda.report._calibration import calibration_view
from arboleda.report._costs import costs_view
from arboleda.report._data import data_view
from arboleda.report._effects import effects_view
from arboleda.report._ensemble import ensemble_view
from arboleda.report._folds import folds_view
from arboleda.report._groups import groups_view
from arboleda.report._importance import importance_view
from arboleda.report._leaderboard import leaderboard_view
from arboleda.report._learning import learning_view
from arboleda.report._method import method_view
from arboleda.report._models import models_view
from arboleda.report._reproduce import reproduce_view
from arboleda.report._sure import comparison_view
from arboleda.report._surrogate import surrogate_view
from arboleda.report._texts import text
from arboleda.report._tree import tree_view
from arboleda.report._tried import tried_view

__all__ = ["SECTIONS", "Section", "sections_of"]

View = Callable[[About], Mapping[str, Any] | None]

# The key names the anchor, the template and the texts; a view of None leaves the section out.
SECTIONS: tuple[tuple[str, View], ...] = (
    ("leaderboard", leaderboard_view),
    ("comparison", comparison_view),
    ("folds", folds_view),
    ("importance", importance_view),
    ("costs", costs_view),
    ("groups", groups_view),
    ("models", models_view),
    ("surrogate", surrogate_view),
    ("ensemble", ensemble_view),
    ("learning", learning_view),
    ("effects", effects_view),
    ("calibration", calibration_view),
    ("tree", tree_view),
    ("tried", tried_view),
    ("data", data_view),
    ("method", method_view),
    ("reproduce", reproduce_view),
)


class Section(NamedTuple):
    """A section of the page: its key, its names in full and in short, and what it shows."""

    key: str
    title: str
    short: str
    view: Mapping[str, Any]


def sections_of(about: About) -> list[Section]:
    """Draw every section whose facts are there."""
    found = ((key, view(about)) for key, view in SECTIONS)
    return [
        Section(key, text(f"section.{key}.title"), text(f"section.{key}.short"), view)
        for key, view in found
        if view is not None
    ]
