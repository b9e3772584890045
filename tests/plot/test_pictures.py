"""What the plots show: numbers in the right order, place and direction."""

from collections.abc import Iterator
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.plot import stand_ins as made

from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    plot,
)
from arboleda.explain import shap_values


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


def test_importances_fall_from_top_to_bottom() -> None:
    found = made.importance(6)
    ax = plot.importance(found, n_features=4)
    assert ax.yaxis_inverted()
    np.testing.assert_allclose(
        [bar.get_width() for bar in ax.patches], np.sort(found.value)[::-1][:4]
    )
    assert "(4 of 6 columns)" in ax.get_xlabel().replace("\n", " ")


def test_an_unknown_error_has_no_bar() -> None:
    found = made.importance(3)
    found.standard_error = np.array([0.1, np.nan, 0.1])
    assert len(plot.importance(found).collections[0].get_segments()) == 2


def test_positive_conditions_are_right_and_negative_left() -> None:
    found = made.lime(3, 2)
    found.weights = np.array([0.1, -0.3, 0.2])
    ax = plot.for_against(found)
    widths = {bar.get_width() for bar in ax.patches}
    assert {0.1, -0.3, 0.2} < widths
    assert [bar.get_hatch() for bar in ax.patches if bar.get_width() == -0.3] == ["////"]
    names = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    likely = int(np.argmax(found.probabilities))
    assert names[0] == found.class_names[likely]
    assert [found.conditions.index(name) for name in names[2:]] == [1, 2, 0]


def test_many_classes_are_summed() -> None:
    found = made.lime(2, 12)
    names = [label.get_text() for label in plot.for_against(found).get_yticklabels()]
    assert names[4] == "8 other classes"


def test_steps_lead_from_the_mean_to_the_prediction() -> None:
    found = made.shap(12)
    ax = plot.shap_waterfall(found, row=5, n_features=3)
    texts = [text.get_text() for text in ax.texts]
    assert len(texts) == 6
    assert texts[0] == "0.1"
    total = float(texts[-1].replace("\N{MINUS SIGN}", "-"))
    assert total == pytest.approx(0.1 + found.values[5].sum(), rel=1e-3)
    steps = [bar.get_width() for bar in ax.patches]
    assert sum(steps) == pytest.approx(found.values[5].sum())
    assert "9 other columns" in [label.get_text() for label in ax.get_yticklabels()]


def test_the_axis_of_steps_names_their_scale() -> None:
    """Boosting explains raw scores; far from 0, ticks are the values, not offsets from one."""
    X = np.arange(40.0).reshape(-1, 1)
    labels = np.where(X[:, 0] > 20, "yes", "no")
    found = shap_values(GradientBoostingClassifier(n_estimators=5).fit(X, labels), X[:2])
    ax = plot.shap_waterfall(found)
    assert ax.get_xlabel() == "raw score of yes"
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[0] == "mean raw score"
    assert names[-1] == "raw score of this row"
    assert ax.get_xlim()[1] > float(found.base_values[0])  # the first mark is off the frame
    tree = DecisionTreeRegressor().fit(X, 3e5 + X[:, 0])
    ax = plot.shap_waterfall(shap_values(tree, X[:2]))
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "prediction"
    assert ax.xaxis.get_offset_text().get_text() == ""
    assert len({label.get_text() for label in ax.get_xticklabels()}) > 2


def test_the_largest_or_the_given_output_is_shown() -> None:
    found = made.shap(4, 3)
    largest = int(np.argmax(found.values[0].sum(axis=0)))
    assert found.output_names[largest] in plot.shap_waterfall(found).get_xlabel().replace("\n", " ")
    assert "class 1" in plot.shap_waterfall(found, output=1).get_xlabel()
    assert "class 2" in plot.shap_summary(found, output=found.output_names[2]).get_xlabel()


def test_the_second_of_two_mirrored_outputs_is_shown() -> None:
    found = made.shap(3, 2)
    found.values[:, :, 0] = -found.values[:, :, 1]
    assert "class 1" in plot.shap_summary(found).get_xlabel()
    curve = made.dependence(0, 2)
    curve.average[0] = 1.0 - curve.average[1]
    assert "class 1" in plot.dependence(curve).get_ylabel().replace("\n", " ")


def test_rows_are_points_and_missing_values_are_rings() -> None:
    found = made.shap(3)
    ax = plot.shap_summary(found)
    points = sum(len(group.get_offsets()) for group in ax.collections)
    assert points == found.values.size
    rings = [group for group in ax.collections if group.get_facecolor()[0, :3].tolist() == [1] * 3]
    assert sum(len(group.get_offsets()) for group in rings) == sum(
        value is None for value in found.data.ravel()
    )


def test_a_missing_value_is_drawn_beside_the_curve() -> None:
    found = made.dependence(0, 1)
    found.grid[0] = np.append(found.grid[0], np.nan)
    found.average = np.append(found.average, [[9.0]], axis=1)
    ax = plot.dependence(found)
    (ring,) = [line for line in ax.lines if line.get_label() == "missing"]
    assert ring.get_xdata()[0] > 10.0
    assert ring.get_ydata()[0] == 9.0
    assert np.isfinite(ax.get_xlim()).all()


@pytest.mark.parametrize("first", [True, False])
def test_a_map_of_one_value_and_missing_has_one_cell_across(first: bool) -> None:
    found = made.plane(0, 0)
    place = 0 if first else 1
    found.grid[place] = np.array([2.0, np.nan])
    found.density[place] = np.array([2.0, 2.0])
    found.average = np.take(found.average, [0, 1], axis=1 + place)
    ax = plot.dependence(found)
    assert (ax.get_xlim() if first else ax.get_ylim()) == (1.5, 2.5)
    (mesh,) = [one for one in ax.collections if hasattr(one, "get_coordinates")]
    np.testing.assert_array_equal(
        np.ravel(mesh.get_array()), np.take(found.average[-1], 0, axis=place)
    )


def test_a_map_needs_values_along_both_axes() -> None:
    found = made.plane(0, 0)
    found.grid[1] = np.array([np.nan])
    found.average = found.average[:, :, :1]
    with pytest.raises(ValueError, match="has only missing values"):
        plot.dependence(found)


def test_bars_of_categories_start_at_the_mean_over_the_rows() -> None:
    found = made.dependence(3, 1)
    found.average, found.density = np.array([[1.0, 2.0, 4.0]]), [np.array([1.0, 1.0, 2.0])]
    ax = plot.dependence(found)
    assert [bar.get_x() for bar in ax.patches] == [2.75] * 3
    assert [bar.get_width() for bar in ax.patches] == [-1.75, -0.75, 1.25]
    assert "(50.0 %)" in ax.get_yticklabels()[2].get_text().replace("\N{NO-BREAK SPACE}", " ")


def test_regions_are_separated_where_the_class_changes() -> None:
    ax = plot.decision_regions(made.regions(1, 3))
    (lines,) = [group for group in ax.collections if hasattr(group, "get_segments")]
    up = {start[1] for start, end in lines.get_segments() if start[1] == end[1]}
    assert len(up) == 2  # three stripes
    with pytest.raises(ValueError, match="one Axes for each of 2 models, got 1"):
        plot.decision_regions(made.regions(2, 3), ax)


def test_curves_of_coverage_share_axes() -> None:
    ax = plot.coverage(made.coverage("one"))
    plot.coverage(made.coverage("two"), ax, label="second")
    legend = ax.get_legend()
    assert legend is not None
    assert sorted(text.get_text() for text in legend.get_texts()) == ["one", "promised", "second"]
    with pytest.raises(ValueError, match="at least one coverage curve"):
        plot.coverage({})


def test_a_curve_of_coverage_is_drawn_beside_bars() -> None:
    ax = plt.figure().add_subplot()
    ax.bar([0.2], [0.5])
    plot.coverage(made.coverage("split"), ax)
    assert ax.get_legend_handles_labels()[1] == ["promised", "split"]


@pytest.mark.parametrize("known", [True, False])
def test_a_surrogate_is_drawn_above_its_curves(known: bool) -> None:
    tree = DecisionTreeClassifier(max_leaf_nodes=4).fit([[1], [2], [3], [4]], list("abab"))
    sizes = np.array([2, 3, 4])
    error = sizes / 100 if known else np.full(3, np.nan)
    curve = SimpleNamespace(
        size=sizes, fidelity=1 - 1 / sizes, error=error, cart_error=error, ensemble_error=error
    )
    found = SimpleNamespace(model=tree, curve=curve, fidelity=0.75)
    axes = plot.surrogate(found)
    assert len(axes) == (3 if known else 2)
    assert axes[1].lines[1].get_xdata()[0] == 4
    _, given = plt.subplots(1, 4)
    with pytest.raises(ValueError, match="more than there are plots"):
        plot.surrogate(found, given)
    rules = SimpleNamespace(model="if x <= 2: a\nelse: b", curve=curve, fidelity=0.75)
    assert plot.surrogate(rules, given[0]) is given[0]
    assert "else: b" in given[0].texts[0].get_text()


def test_boolean_classes_are_named_true_and_false() -> None:
    found = made.shap(3, 2)
    found.output_names = ("False", "True")
    for output in (False, True):
        ax = plot.shap_waterfall(found, output=output)
        assert ax.get_xlabel() == f"probability of {output}"


@pytest.mark.parametrize("output", [5, "no such class", 1.5])
def test_unknown_outputs_are_refused(output: object) -> None:
    for draw, found in (
        (plot.shap_summary, made.shap(2, 3)),
        (plot.shap_waterfall, made.shap(2, 3)),
        (plot.dependence, made.dependence(0, 3)),
    ):
        with pytest.raises(ValueError, match="output must be"):
            draw(found, output=output)


def test_rows_and_features_out_of_range_are_refused() -> None:
    with pytest.raises(IndexError, match="row=80"):
        plot.shap_waterfall(made.shap(2), row=80)
    with pytest.raises(ValueError, match="n_features must be an integer .*, got 0"):
        plot.importance(made.importance(2), n_features=0)
    with pytest.raises(ValueError, match="n_conditions must be an integer .*, got 0"):
        plot.for_against(made.lime(2, 2), n_conditions=0)


def test_settings_of_matplotlib_are_unchanged() -> None:
    before = dict(mpl.rcParams)
    plot.importance(made.importance(2))
    plot.dependence(made.plane(0, 3))
    assert dict(mpl.rcParams) == before
