"""The result of comparing studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arboleda._utils.frames import new_frame
from arboleda._utils.simple_plots import draw_intervals
from arboleda.reports.comparison.page import render_comparison
from arboleda.study.artifacts.files import FactsPage

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ComparedStudies"]


@dataclass(frozen=True, repr=False)
class ComparedStudies(FactsPage):
    """Result of comparing studies: ``facts`` and the page rendered from them.

    Attributes
    ----------
    facts : dict
        Plain values, described by ``comparison.schema.json``.
    lang : {"en", "es"}
        Language of the page.
    """

    lang: str = "en"

    @property
    def default_path(self) -> Path:
        """Default path of the page: ``compared.html`` in the current folder."""
        return Path("compared.html")

    def to_html(self) -> str:
        """Render the page as one self-contained HTML text."""
        return render_comparison(self.facts, self.lang)

    def _summarize(self) -> dict[str, Any]:
        studies = self.facts["studies"]
        return {
            "studies": [study["name"] for study in studies],
            "best": [study["best"]["name"] for study in studies],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the best model of each study as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each study: ``study``, ``table``, ``target``, ``model``, ``metric``; ``cv``
            and ``sd``, the cross-validated mean and its standard deviation; ``honest``, that mean
            corrected for the selection; ``test`` and the ends ``low`` and ``high`` of its interval.
        """
        studies = self.facts["studies"]
        frame = {
            "study": [study["name"] for study in studies],
            "table": [study["table"] for study in studies],
            "target": [study["target"] for study in studies],
            "model": [study["best"]["name"] for study in studies],
            "metric": [study["metric_label"] for study in studies],
        }
        for key in ("cv", "sd", "honest", "test", "low", "high"):
            frame[key] = [study["best"][key] for study in studies]
        return new_frame(frame)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the test score of each study's best model with its interval.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        studies = self.facts["studies"]
        best = [study["best"] for study in studies]
        metrics = list(dict.fromkeys(study["metric_label"] for study in studies))
        return draw_intervals(
            ax,
            [study["name"] for study in studies],
            [model["test"] for model in best],
            [[model[end] for model in best] for end in ("low", "high")],
            f"{' or '.join(metrics)} on the test rows, with intervals",
        )
