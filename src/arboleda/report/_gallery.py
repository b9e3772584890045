"""The figures of a page as separate SVG files, for papers and slides."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from arboleda._visible import visible_lines
from arboleda.report._sections import Section

__all__ = ["Figure", "list_figures", "make_standalone"]

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
    if key == "folds" or (key == "importance" and not view["skipped"]):
        yield {"folds": "fold_scores", "importance": "importance"}[key], view["title"], view["wide"]
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
    elif key == "calibration" and view["figure"]:
        yield "calibration", view["figure"]["title"], view["figure"]["svg"]
    elif key in ("tree", "surrogate", "learning") and not view.get("skipped"):
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
