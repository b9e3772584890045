"""The result of exploring a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.simple_plots import draw_bars, set_names
from arboleda.reports.explore.page import render_exploration
from arboleda.study.artifacts.files import FactsPage

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Exploration"]

_STATISTICS = ("mean", "sd", "min", "median", "max")


@dataclass(frozen=True, repr=False)
class Exploration(FactsPage):
    """Result of exploring a table: ``facts`` and the page rendered from them.

    Attributes
    ----------
    facts : dict
        Plain values, described by ``exploration.schema.json``.
    lang : {"en", "es"}
        Language of the page.
    """

    lang: str = "en"

    @property
    def default_path(self) -> Path:
        """Default path of the page: ``<table>-explored.html`` in the current folder."""
        stem = re.sub(r"[^\w.-]+", "_", self.facts["table"]["stem"])[:80].strip("._")
        return Path(f"{stem or 'table'}-explored.html")

    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""
        return render_exploration(self.facts, self.lang)

    def _summarize(self) -> dict[str, Any]:
        table, target = self.facts["table"], self.facts["target"]
        summary = {"table": table["name"]}
        if target is not None:
            summary |= {"target": target["name"], "task": target["task"]}
        return summary | {
            "rows": table["n_rows"],
            "columns": table["n_columns"],
            "missing_cells": table["n_missing_cells"],
            "cautions": len(self.facts["cautions"]),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the columns of the table as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each column of the table: ``column``, ``kind``, ``role``, ``n_missing``,
            ``n_distinct``; ``mean``, ``sd``, ``min``, ``median`` and ``max`` of numbers; with a
            target also ``correlation`` with it and ``information``, the share of its entropy that
            the column explains.
        """
        columns = self.facts["columns"]
        frame: dict[str, list[Any]] = {"column": [column["name"] for column in columns]}
        for key in ("kind", "role", "n_missing", "n_distinct"):
            frame[key] = [column[key] for column in columns]
        for key in _STATISTICS:
            frame[key] = [(column["numeric"] or {}).get(key) for column in columns]
        relations = self.facts["target_relations"]
        if relations is not None:
            by_name = {column["name"]: column for column in relations["columns"]}
            for name, key in (("correlation", "correlation"), ("information", "share")):
                frame[name] = [by_name.get(c["name"], {}).get(key) for c in columns]
        return new_frame(frame)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how much each column tells about the target; without a target, correlations.

        Without two numeric columns to correlate, the missing values of each column are drawn.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        with_target, relations = self.facts["target_relations"], self.facts["relations"]
        if with_target is not None and with_target["columns"]:
            columns = with_target["columns"]
            names = [column["name"] for column in columns]
            shares = [column["share"] for column in columns]
            return draw_bars(ax, names, shares, None, "share of the target's entropy")
        if relations is not None and len(relations["matrix"]["columns"]) > 1:
            return _draw_correlations(axes_or_new(ax), relations["matrix"])
        columns = sorted(self.facts["columns"], key=lambda column: -column["n_missing"])
        names = [column["name"] for column in columns]
        return draw_bars(
            ax, names, [column["n_missing"] for column in columns], None, "missing values"
        )


def _draw_correlations(ax: Axes, matrix: dict[str, Any]) -> Axes:
    """Draw a matrix of correlations, the names on the left."""
    values = np.array(matrix["values"], dtype=np.float64)[:20, :20]
    image = ax.imshow(values, cmap="RdBu", vmin=-1, vmax=1)
    ax.figure.colorbar(image, ax=ax, label="correlation")
    set_names(ax, matrix["columns"], "columns in the same order")
    ax.set_xticks([])
    return ax
