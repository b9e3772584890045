"""No text of any plot is clipped or overlaps another: small pages, and side by side."""

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plot import stand_ins as made
from tests.plot.looking import cut, name_outputs, overlapping

from arboleda import plot

TRUTH = np.arange(200) % 2
PROBABILITIES = np.clip(0.4 * TRUTH + np.linspace(0.0, 0.6, 200), 0.0, 1.0)
TWELVE = np.arange(240) % 12
SCORES = np.eye(12)[TWELVE] + np.random.default_rng(0).normal(size=(240, 12))
CURVES = {name: made.coverage(name) for name in ("split conformal", "jackknife+ after bootstrap")}

PICTURES: dict[str, Callable[..., Any]] = {
    "importance of 30": partial(plot.importance, made.importance(30), n_features=None),
    "importance of 1": partial(plot.importance, made.importance(1)),
    "no importance": partial(plot.importance, made.importance(4, 0.0)),
    "negative importance": partial(plot.importance, made.importance(4, -0.02)),
    "30 conditions, 2 classes": partial(plot.for_against, made.lime(30, 2)),
    "4 conditions, 12 classes": partial(plot.for_against, made.lime(4, 12)),
    "all against": partial(plot.for_against, made.lime(3, 0, -0.2)),
    "no weight": partial(plot.for_against, made.lime(1, 2, 0.0)),
    "summary of 30": partial(plot.shap_summary, made.shap(30), n_features=None),
    "summary of 1": partial(plot.shap_summary, made.shap(1)),
    "summary of zeros": partial(plot.shap_summary, made.shap(3, value=0.0)),
    "summary of 12 classes": partial(plot.shap_summary, made.shap(30, 12)),
    "waterfall of 30": partial(plot.shap_waterfall, made.shap(30), n_features=None),
    "waterfall of 12 classes": partial(plot.shap_waterfall, made.shap(30, 12), row=3),
    "waterfall downwards": partial(plot.shap_waterfall, made.shap(3, value=-0.5)),
    "waterfall of zeros": partial(plot.shap_waterfall, made.shap(1, value=0.0)),
    "curve": partial(plot.dependence, made.dependence(0, 1, "individual")),
    "curves of 12 classes": partial(plot.dependence, made.dependence(0, 12)),
    "bars": partial(plot.dependence, made.dependence(4, 1, "ale")),
    "bars of 12 classes": partial(plot.dependence, made.dependence(12, 12)),
    "map of numbers": partial(plot.dependence, made.plane(0, 0)),
    "map of categories": partial(plot.dependence, made.plane(12, 12)),
    "regions of 12 classes": partial(plot.decision_regions, made.regions(1, 12)),
    "predictions over a plane": partial(plot.decision_regions, made.regions(1, 0)),
    "reliability": partial(plot.reliability, TRUTH, PROBABILITIES, pos_label=1),
    "coverage": partial(plot.coverage, CURVES),
    "ROC": partial(plot.roc, TRUTH, PROBABILITIES),
    "ROC of 12 classes": partial(plot.roc, TWELVE, SCORES),
    "precision and recall": partial(plot.precision_recall, TRUTH, PROBABILITIES),
    "precision and recall of 12 classes": partial(plot.precision_recall, TWELVE, SCORES),
}


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("name", PICTURES)
def test_plots_on_given_axes_are_readable(name: str) -> None:
    figure, ax = plt.subplots(figsize=(5.0, 3.5))
    assert PICTURES[name](ax=ax) is ax
    assert not cut(figure)
    assert not overlapping(figure)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("size", [(6.0, 3.5), (10.0, 7.0)])
def test_plots_of_models_side_by_side_are_readable(
    n_classes: int, size: tuple[float, float]
) -> None:
    figure, axes = plt.subplots(1, 3, figsize=size)
    assert plot.decision_regions(made.regions(3, n_classes), axes).tolist() == axes.tolist()
    assert not cut(figure)
    assert not overlapping(figure)


def test_two_plots_beside_each_other_are_readable() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 4.0))
    plot.importance(made.importance(8), left)
    plot.importance(made.importance(8), right)
    assert not cut(figure)
    assert not overlapping(figure)


@pytest.mark.parametrize("dpi", [72, 150])
def test_plots_of_another_resolution_are_readable(dpi: int) -> None:
    figure, ax = plt.subplots(figsize=(5.0, 3.5))
    plot.importance(made.importance(12), ax)
    figure.set_dpi(dpi)
    assert not cut(figure)
    assert not overlapping(figure)


def test_names_are_shown_in_full() -> None:
    figure, ax = plt.subplots(figsize=(5.0, 3.5))
    plot.importance(made.importance(30), ax, n_features=None)
    written = {"".join(text.split()) for text, _ in name_outputs(figure)}
    assert {name.replace(" ", "") for name in made.columns(30)} <= written


def test_the_check_finds_clipped_and_covered_texts() -> None:
    figure, ax = plt.subplots(figsize=(5.0, 3.5))
    ax.text(-0.5, 0.5, "beyond the page")
    ax.text(0.5, 0.5, "below")
    ax.text(0.5, 0.5, "above")
    assert cut(figure) == ["beyond the page"]
    assert overlapping(figure) == [("below", "above")]


def test_control_characters_of_names_are_escaped() -> None:
    """Names of columns and of curves, in texts that a page of SVG can hold."""
    hidden = "\0\x1b\x9b\u202e\uffff"
    odd = made.importance(2)
    odd.feature_names = (f"a{hidden}", f"b{hidden}")
    pictures = [
        partial(plot.importance, odd),
        partial(plot.coverage, {f"c{hidden}": made.coverage("c")}),
    ]
    for picture in pictures:
        figure, ax = plt.subplots()
        picture(ax=ax)
        out = io.StringIO()
        figure.savefig(out, format="svg")
        ElementTree.fromstring(out.getvalue())
        assert not set(hidden) & set(out.getvalue())


def test_dollars_and_line_ends_in_names_are_escaped() -> None:
    odd = made.importance(2)
    odd.feature_names = ("price in $ per $m^2$", "first line\nsecond")
    figure, ax = plt.subplots()
    plot.importance(odd, ax)
    assert not cut(figure)
