"""Every result has a short repr, a view for notebooks, a data frame and a plot."""

import importlib
import inspect
import pkgutil
import re
from html.parser import HTMLParser
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit

import arboleda
from arboleda import study
from arboleda._utils.results import NotebookDisplay, Result, format_table

from .result_examples import EXAMPLES, HOSTILE, explain_study, make_dataset

mpl.use("Agg")
import matplotlib.pyplot as plt

# Public classes that are no results: they fit, split, predict, hold rows or report errors.
OTHERS = (
    *(BaseEstimator, BaseCrossValidator, BaseShuffleSplit, Exception, arboleda.Predictor),
    *(study.Study, study.StudyClassifier, study.StudyRegressor),
    *(study.Layout, study.Rows, study.MetricFunction),
)
# Packages of programs and pages.
PROGRAMS = ("cli", "reports", "_native", "__main__")
PUBLIC = (
    *("combine", "datasets", "decide", "diagnose", "explain", "metrics", "model_selection"),
    "study",
)


def find_result_classes() -> set[str]:
    """Return the public classes that have a frame, a plot or a view, and those in ``__all__``."""
    found = set()
    for info in pkgutil.walk_packages(arboleda.__path__, "arboleda."):
        if info.name.split(".")[1] in PROGRAMS:
            continue
        module = importlib.import_module(info.name)
        is_public = info.name.removeprefix("arboleda.") in PUBLIC
        # The classes of a study are imported on first use.
        lazy = {name: getattr(module, name) for name in module.__all__} if is_public else {}
        for name, value in (vars(module) | lazy).items():
            if not inspect.isclass(value) or not value.__module__.startswith("arboleda."):
                continue
            if name.startswith("_") or issubclass(value, OTHERS):
                continue
            if value.__module__.split(".")[1] in PROGRAMS:
                continue
            views = ("to_frame", "plot", "_summarize")
            if (is_public and name in module.__all__) or any(map(value.__dict__.get, views)):
                found.add(name)
    return found


class TextParser(HTMLParser):
    """Collect the tags and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_every_result_class_has_an_example():
    """A new class of results is tested by being found, and needs an example."""
    bases = {"NotebookDisplay", "Result", "FactsPage"}
    assert find_result_classes() - bases == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_result(name: str):
    """The four views of one example."""
    result = EXAMPLES[name]()
    assert isinstance(result, NotebookDisplay)
    text = repr(result)
    assert text.startswith(f"{name}(")
    assert "\n" not in text
    assert len(text) <= 300
    assert "array(" not in text
    page = TextParser(result._repr_html_())
    assert len(result._repr_html_()) <= 10_000
    # A label's tag is escaped; the path of a report is code.
    assert page.tags <= {"style", "div", "b", "code", "table", "tr", "th", "td"}
    assert "\x1b" not in "".join(page.texts)
    if not isinstance(result, Result):
        return
    assert "table" in page.tags
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame)
    ax = result.plot()
    assert all(isinstance(panel, mpl.axes.Axes) for panel in np.ravel(ax))
    first = np.ravel(ax)[0]
    first.figure.canvas.draw()
    plt.close("all")


@pytest.mark.parametrize("name", ["Comparison", "ClassificationTable", "Rules", "BootstrapError"])
def test_plots_draw_on_given_axes(name: str):
    """A plot draws on the axes that it is given, and returns them."""
    ax = plt.figure().add_subplot()
    assert EXAMPLES[name]().plot(ax) is ax
    assert ax.has_data()
    plt.close("all")


@pytest.mark.parametrize("row", [None, 7])
def test_explanations_of_models_and_rows(row: int | None):
    """Both kinds of explanation have a frame of their columns and a plot of them."""
    result = explain_study(row)
    frame = result.to_frame()
    assert HOSTILE in set(frame["feature"])
    strength = frame["contribution" if row else "importance"].abs().dropna()
    assert len(strength) == 4
    assert row is None or strength.is_monotonic_decreasing
    ax = result.plot()
    assert len(ax.patches) == 4
    ax.figure.canvas.draw()
    plt.close("all")
    assert f"row={row}" in repr(result) or row is None
    assert len(result._repr_html_()) <= 10_000


@pytest.mark.parametrize(
    ("target", "columns", "label"),
    [
        ("kind", None, "share of the target's entropy"),
        (None, None, "columns in the same order"),
        (None, ["kind"], "missing values"),
    ],
)
def test_explorations_draw_what_the_table_allows(
    target: str | None, columns: list[str] | None, label: str
):
    """With a target its relations are drawn, then correlations, then missing values."""
    frame = make_dataset().frame
    result = study.explore(frame if columns is None else frame[columns], target)
    assert ("information" in result.to_frame()) == (target is not None)
    ax = result.plot()
    assert ax.get_xlabel() == label
    ax.figure.canvas.draw()
    plt.close("all")


def test_colours_are_those_of_the_notebook():
    """Text has the notebook's colour on its background, in light and dark themes."""
    page = EXAMPLES["Importance"]()._repr_html_()
    assert "color:inherit" in page
    assert "background:none" in page
    assert not re.search(r"#[0-9a-f]{3}|black|white(?!-space)", page)


def test_large_and_hostile_tables_stay_small():
    """Ten rows and eight columns at most are shown, and their number is stated."""
    frame = pd.DataFrame({f"{HOSTILE * 9}{k}": [HOSTILE * 20] * 1000 for k in range(50)})
    page = format_table(frame)
    assert len(page) <= 9_000
    text = "".join(TextParser(page).texts)
    assert re.search(
        r"the first \d+ of 1,000 rows and 8 of 50 columns; all are in to_frame()", text
    )


def test_a_summary_needs_no_pandas(monkeypatch: pytest.MonkeyPatch):
    """Without pandas a notebook shows the summary, and ``to_frame`` names the package."""
    result = EXAMPLES["Importance"]()
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert TextParser(result._repr_html_()).tags == {"style", "div", "b"}
    with pytest.raises(ImportError, match="pip install pandas"):
        result.to_frame()
