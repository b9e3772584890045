"""The report of a study: its sections in page order, its figures as files, its page."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from arboleda._locale import use_locale
from arboleda._utils.files import write_atomically
from arboleda._utils.numbers import duration, integer
from arboleda._utils.text import visible_lines
from arboleda.reports.fact_messages import use_messages
from arboleda.reports.rendering import check_version, render_page
from arboleda.reports.study.data import make_data_view
from arboleda.reports.study.decisions import make_errors_view, make_thresholds_view
from arboleda.reports.study.interpretation import (
    make_ensemble_view,
    make_importance_view,
    make_surrogate_view,
    make_tree_view,
)
from arboleda.reports.study.leaderboard import (
    make_comparison_view,
    make_folds_view,
    make_leaderboard_view,
)
from arboleda.reports.study.method import make_method_view, make_reproduce_view
from arboleda.reports.study.models import make_models_view
from arboleda.reports.study.next_steps import make_next_view
from arboleda.reports.study.page_link import PLACE, make_page_link
from arboleda.reports.study.quality import make_calibration_view, make_costs_view, make_groups_view
from arboleda.reports.study.ranking import make_ranking_view
from arboleda.reports.study.report_data import ReportData
from arboleda.reports.study.summary import summarise
from arboleda.reports.study.survival import make_survival_view
from arboleda.reports.study.tuning import make_effects_view, make_learning_view, make_tried_view
from arboleda.reports.translation import N_, NP_, get_locale, pgettext
from arboleda.reports.translation import gettext as _

__all__ = ["FIGURES", "SECTIONS", "Section", "render_report", "write_report"]

FIGURES = "figures"
_SCHEMA_VERSION = 4

View = Callable[[ReportData], Mapping[str, Any] | None]

# The key names the anchor, the template and the texts; a view of None omits the section.
SECTIONS: tuple[tuple[str, View], ...] = (
    ("leaderboard", make_leaderboard_view),
    ("comparison", make_comparison_view),
    ("folds", make_folds_view),
    ("survival", make_survival_view),
    ("ranking", make_ranking_view),
    ("importance", make_importance_view),
    ("thresholds", make_thresholds_view),
    ("costs", make_costs_view),
    ("groups", make_groups_view),
    ("errors", make_errors_view),
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
    ("next", make_next_view),
)

# The other sections are folded.
_OPEN = frozenset(
    (
        *("leaderboard", "survival", "ranking", "importance", "thresholds", "costs", "groups"),
        *("errors", "models", "next"),
    )
)

_TASKS = {
    "binary": N_("Classification, two classes"),
    "multiclass": N_("Classification, several classes"),
    "regression": N_("Regression"),
    "survival": N_("Time to an event"),
    "ranking": N_("Ranking"),
}


# Full and short titles of the sections.
_TITLES = {
    "leaderboard": (N_("Leaderboard"), NP_("menu", "Leaderboard")),
    "comparison": (N_("Which models are distinguishable?"), NP_("menu", "Comparison")),
    "thresholds": (N_("Decisions by threshold"), NP_("menu", "Thresholds")),
    "errors": (N_("Worst errors"), NP_("menu", "Errors")),
    "costs": (N_("Costs"), NP_("menu", "Costs")),
    "groups": (N_("Scores by group"), NP_("menu", "Groups")),
    "folds": (N_("Scores by fold"), NP_("menu", "Folds")),
    "survival": (N_("Survival over time"), NP_("menu", "Survival")),
    "ranking": (N_("Rankings"), NP_("menu", "Rankings")),
    "importance": (N_("What drives the best model"), NP_("menu", "Importance")),
    "models": (N_("Models"), NP_("menu", "Models")),
    "surrogate": (N_("Surrogate tree of the best model"), NP_("menu", "Surrogate")),
    "ensemble": (N_("Combined models"), NP_("menu", "Combined")),
    "learning": (N_("Would more rows help?"), NP_("menu", "Learning curve")),
    "effects": (N_("Settings that matter"), NP_("menu", "Settings")),
    "calibration": (N_("Calibration"), NP_("menu", "Calibration")),
    "tree": (N_("Decision tree"), NP_("menu", "Tree")),
    "tried": (N_("What was tried"), NP_("menu", "Tried")),
    "data": (N_("Data"), NP_("menu", "Data")),
    "method": (N_("Methods"), NP_("menu", "Methods")),
    "reproduce": (N_("Reproduce"), NP_("menu", "Reproduce")),
    "next": (N_("What to do next"), NP_("menu", "Next")),
}


class Section(NamedTuple):
    """A section of the page: key, full and short title, and the values of its template."""

    key: str
    title: str
    short: str
    view: Mapping[str, Any]
    is_open: bool


def make_sections(report: ReportData) -> list[Section]:
    """Collect the sections for which the facts hold data."""
    result = ((key, view(report)) for key, view in SECTIONS)
    return [
        Section(key, _(_TITLES[key][0]), pgettext("menu", _TITLES[key][1]), view, key in _OPEN)
        for key, view in result
        if view is not None
    ]


_COLOURS = {
    "paper": "#fff", "raised": "#f7f7f5", "ink": "#1c1d1b", "muted": "#62655f", "line": "#e4e4e0",
    "accent": "#1d6b47", "neutral": "#8b9097",
    "c0": "#1d6b47", "c1": "#b5541c", "c2": "#3866b0", "c3": "#a03a7d",
    "c4": "#7d7412", "c5": "#2492a0", "c6": "#7a5bb8", "c7": "#6f6f6f",
}  # fmt: skip
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


class Figure(NamedTuple):
    """A figure of the page: its file name, its title and its SVG element."""

    file: str
    title: str
    svg: Markup


def list_figures(sections: Sequence[Section]) -> list[Figure]:
    """List the figures to be written as files: those of the sections and of the best model."""
    views = {section.key: section.view for section in sections}
    return [
        Figure(f"{name}.svg", title, svg)
        for key, view in views.items()
        for name, title, svg in _iter_figures(key, view)
    ]


def _iter_figures(key: str, view: Mapping[str, Any]) -> Iterator[tuple[str, str, Markup]]:
    if key in ("folds", "importance"):
        yield {"folds": "fold_scores", "importance": "importance"}[key], view["title"], view["wide"]
    elif key == "survival":
        for group in view["groups"]:
            yield group["file"], group["title"], group["svg"]
        for figure in [*view["scores"], *view["calibration"]]:
            yield figure["kind"], figure["title"], figure["svg"]
    elif key == "ranking":
        for figure in view["figures"]:
            yield figure["kind"], figure["title"], figure["svg"]
    elif key == "thresholds":
        for figure in view["figures"]:
            yield f"threshold_{figure['kind']}", figure["title"], figure["svg"]
    elif key == "models":
        best = view["models"][0]
        for figure in [*best["curves"], *best["residuals"]]:
            yield (
                f"best_model_{figure['kind']}",
                f"{figure['title']}: {best['name']}",
                figure["svg"],
            )
    elif key == "effects":
        for place, figure in enumerate(view["figures"], 1):
            yield f"effect_{place}", figure["spoken"], figure["svg"]
    elif key == "calibration":
        yield "calibration", view["figure"]["title"], view["figure"]["svg"]
    elif key in ("tree", "surrogate", "learning"):
        file = {"tree": "tree", "surrogate": "surrogate_tree", "learning": "learning_curve"}[key]
        yield file, view["title"], view["svg"]


def make_standalone(figure: Figure) -> str:
    """Convert a figure to a self-contained SVG document in light colours on white.

    Returns
    -------
    str
        An SVG document without external references.
    """
    drawing = re.sub(
        r"<style>.*?</style>|<[^>]+>", _apply_light_colours, str(figure.svg), flags=re.DOTALL
    )
    drawing = drawing.replace("font-family:inherit", f"font-family:{_FONT}")
    head, rest = drawing.split(">", 1)
    head = head.replace("<svg", f'<svg xmlns="http://www.w3.org/2000/svg" font-family="{_FONT}"', 1)
    ground = f'<rect width="100%" height="100%" fill="{_COLOURS["paper"]}"/>'
    return visible_lines(f"{head}>{ground}{rest}\n")


def _apply_light_colours(tag: re.Match[str]) -> str:
    return re.sub(r"var\(--(\w+)\)", lambda result: _COLOURS.get(result[1], result[0]), tag[0])


def make_page_view(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Collect the values of the page template from the facts.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study.
    """
    report = ReportData(facts)
    found = make_sections(report)
    sections = [section for section in found if not section.view.get("skipped")]
    return {
        "study": report.study,
        "headline": _make_headline(facts),
        "summary": summarise(facts),
        "sections": sections,
        "skipped": [section for section in found if section.view.get("skipped")],
        "gallery": list_figures(sections),
        "version": facts["arboleda_version"],
    }


def _make_headline(facts: Mapping[str, Any]) -> list[str]:
    data, started = facts["data"], facts["timing"]["started"]
    task = facts["study"]["task"]
    sizes = {"rows": integer(data["n_rows"]), "columns": integer(data["n_columns"])}
    return [
        _(_TASKS[task]),
        _("{rows} rows, {columns} columns", **sizes),
        f"{started[:10]} {started[11:16]}".strip(),
        _("total time {time}", time=duration(facts["timing"]["total_s"])),
    ]


def render_report(facts: Mapping[str, Any], language: str | None = None) -> str:
    """Draw the facts of a study as one self-contained HTML page.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study; its strings may contain arbitrary text.
    language : {"en", "es"}, optional
        Language of the page; by default, that of the study's settings, or English.

    Returns
    -------
    str
        The page. The same facts give the same text.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.

    Examples
    --------
    >>> render_report({"schema_version": 0})
    Traceback (most recent call last):
        ...
    ValueError: the facts have schema version 0, this report draws version 4; run the study again
    """
    return _draw(facts, language)[0]


def _draw(facts: Mapping[str, Any], language: str | None) -> tuple[str, Sequence[Figure]]:
    check_version(facts, _SCHEMA_VERSION, "this report", "run the study again")
    code = language or facts["study"].get("settings", {}).get("lang", "en")
    with use_locale(get_locale(code)), use_messages(facts.get("messages", {})):
        view = make_page_view(facts)
        link = make_page_link(facts["page"]) if facts.get("page") else PLACE
        return render_page("study/page.html.j2", {**view, "page_link": link}), view["gallery"]


def write_report(
    facts: Mapping[str, Any],
    path: Path,
    language: str | None = None,
    next_steps: Mapping[str, Any] | None = None,
    page: str | None = None,
) -> None:
    """Write the page of `render_report` to a file atomically.

    Its figures are written as SVG files into the folder ``figures`` beside it.

    Parameters
    ----------
    facts : mapping
        ``results.json`` of a study.
    path : Path
        The file; its folder must exist.
    language : {"en", "es"}, optional
        As in `render_report`.
    next_steps : mapping, optional
        ``commands`` and ``code`` with the paths of the study, for the last section.
    page : str, optional
        Name of the file beside the report in which the model predicts, to link to.

    Raises
    ------
    ValueError
        If the facts have another schema version, or the language is not available.
    OSError
        If a file cannot be written.
    """
    page, figures = _draw({**facts, "next_steps": next_steps, "page": page}, language)
    folder = path.parent / FIGURES
    folder.mkdir(exist_ok=True)
    for figure in figures:
        write_atomically(folder / figure.file, make_standalone(figure))
    write_atomically(path, page)
