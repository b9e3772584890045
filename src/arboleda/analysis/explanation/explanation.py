"""The result of explaining a model of a study or its prediction for one row."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arboleda._utils.frames import new_frame
from arboleda._utils.simple_plots import draw_bars
from arboleda.reports.explanation.page import render_explanation
from arboleda.study.artifacts.files import FactsPage

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Explanation"]

_UNITS = {
    "probability": "contribution to the probability",
    "log_odds": "contribution to the log-odds",
    "score": "contribution to the score",
    "value": "contribution to the prediction",
}


@dataclass(frozen=True, repr=False)
class Explanation(FactsPage):
    """Explanation of a model or a row: ``facts`` and the page rendered from them.

    Attributes
    ----------
    facts : dict
        Plain values, described by ``explanation.schema.json``.
    lang : {"en", "es"}
        Language of the page.
    """

    lang: str = "en"

    @property
    def default_path(self) -> Path:
        """Default path of the page, in the folder of the study."""
        folder = Path(self.facts["study"]["folder"])
        model = self.facts["model"]
        name = "explained" if model["rank"] == 1 else f"explained-{model['key']}"
        if self.facts["about"] == "row":
            return folder / f"{name}-row-{self.facts['row']['number']}.html"
        return folder / f"{name}.html"

    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""
        return render_explanation(self.facts, self.lang)

    def _summarize(self) -> dict[str, Any]:
        study, model = self.facts["study"], self.facts["model"]
        summary = {"table": study["table"], "target": study["target"], "model": model["name"]}
        if self.facts["about"] == "row":
            row, prediction = self.facts["row"], self.facts["prediction"]
            summary |= {
                "row": row["number"],
                "prediction": prediction["value"],
                "truth": row["truth"],
            }
            strongest = self.facts["contributions"]["columns"]
            return summary | {"strongest": [column["name"] for column in strongest[:3]]}
        summary[f"test_{study['metric']}"] = model["test"]
        columns = (self.facts["importance"] or {"columns": []})["columns"]
        return summary | {"most_important": [column["name"] for column in columns[:3]]}

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas data frame, the most important first.

        Returns
        -------
        frame : pandas.DataFrame
            Of a model: ``feature``, ``importance`` (by how much the metric gets worse if the column
            is shuffled), its ``standard_error``, and ``contribution``, the mean absolute Shapley
            value. Of a row: ``feature``, ``value``, ``contribution`` and ``standard_error``.
            Numbers that were not computed are missing.
        """
        if self.facts["about"] == "row":
            columns = self.facts["contributions"]["columns"]
            keys = ("value", "contribution", "standard_error")
            frame = {"feature": [column["name"] for column in columns]}
            return new_frame(frame | {key: [column[key] for column in columns] for key in keys})
        important, shap = (self.facts[part] or {"columns": []} for part in ("importance", "shap"))
        by_name = {column["name"]: column for column in important["columns"]}
        means = {column["name"]: column["mean"] for column in shap["columns"]}
        names = list(dict.fromkeys([*by_name, *means, *self.facts["names"]]))
        return new_frame(
            {
                "feature": names,
                "importance": [by_name.get(name, {}).get("value") for name in names],
                "standard_error": [by_name.get(name, {}).get("standard_error") for name in names],
                "contribution": [means.get(name) for name in names],
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the importance of the columns for a model, or their contributions for a row.

        Error bars are standard errors. Where importances could not be computed, mean absolute
        Shapley values are drawn.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        if self.facts["about"] == "row":
            found = self.facts["contributions"]
            label = _UNITS[found["unit"]] + (f" of {found['output']}" if found["output"] else "")
            return _draw_columns(ax, found["columns"], "contribution", label)
        importance, shap = self.facts["importance"], self.facts["shap"]
        if importance is None and shap is not None:
            return _draw_columns(ax, shap["columns"], "mean", "mean absolute Shapley value")
        label = "loss in {} if the column is shuffled".format(
            "the metric" if importance is None else importance["metric_label"]
        )
        return _draw_columns(ax, importance["columns"] if importance else [], "value", label)


def _draw_columns(ax: Axes | None, columns: list[dict[str, Any]], key: str, label: str) -> Axes:
    return draw_bars(
        ax,
        [column["name"] for column in columns],
        [column[key] for column in columns],
        [column.get("standard_error") for column in columns],
        label,
    )
