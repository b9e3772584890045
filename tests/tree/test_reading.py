"""Reading a tree: names, categories and missing sides in every form; errors name the remedy."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier as TheirTree
from tests.tree.handmade import Node, classifier, regressor

import arboleda
from arboleda import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
    export_graphviz,
    export_text,
    plot_tree,
)
from arboleda.explain import surrogate_rules

COLOURS = ("blue", "green", "red", "white, off", "yellow")
READERS = {
    "export_text": export_text,
    "export_graphviz": export_graphviz,
    "plot_tree": plot_tree,
    "to_svg": DecisionTreeClassifier.to_svg,
    "rules": DecisionTreeClassifier.rules,
}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Leave no figure open."""
    yield
    plt.close("all")


def coloured() -> Any:
    """Colour in {blue, red} goes left; in the other branch {green, "white, off"} goes right."""
    low, high = (0.9, 0.1), (0.2, 0.8)
    second = Node(
        0, listed=(1, 3), missing_left=True, left=Node(value=low, n=5), right=Node(value=high, n=3)
    )
    root = Node(0, listed=(0, 2), left=Node(value=high, n=4), right=second)
    return classifier(root, 1, ["no", "yes"], [COLOURS])


def iris(**parameters: Any) -> Any:
    table = load_iris(as_frame=True)
    return DecisionTreeClassifier(**parameters).fit(table.data, table.target)


@pytest.mark.parametrize("name", READERS)
def test_objects_that_are_not_fitted_trees_are_refused(name: str) -> None:
    read = READERS[name]
    with pytest.raises(NotFittedError, match="not fitted"):
        read(DecisionTreeClassifier())
    X, y = load_iris(return_X_y=True)
    theirs = TheirTree(max_depth=1).fit(X, y)
    forest = RandomForestClassifier(2).fit(X, y)
    pipeline = make_pipeline(DecisionTreeClassifier(max_depth=1)).fit(X, y)
    for other, hint in [
        (theirs, f"use sklearn.tree.{name}"),
        (forest, "pass one of its estimators_"),
        (pipeline, "pass its last step"),
        (DecisionTreeClassifier, "pass a fitted instance instead of the class"),
        (5, f"{name} requires a fitted tree of arboleda, got builtins.int"),
        (iris(max_depth=1).tree_, "got arboleda._engine.tree.Tree"),
    ]:
        with pytest.raises(TypeError, match=hint):
            read(other)


@pytest.mark.parametrize("name", READERS)
def test_the_number_of_names_must_match(name: str) -> None:
    read, model = READERS[name], iris(max_depth=2)
    with pytest.raises(
        ValueError, match="Length of feature_names, 2 does not match number of features, 4"
    ):
        read(model, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="Got 2 while the tree was fitted with 3 classes"):
        read(model, class_names=["a", "b"])


@pytest.mark.parametrize("read", [export_text, export_graphviz, plot_tree])
def test_parameters_out_of_range_are_refused(read: Any) -> None:
    for wrong in ({"max_depth": -1}, {"max_categories": 0}, {"feature_names": 5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read(iris(max_depth=1), **wrong)


def test_to_svg_and_rules_refuse_invalid_values() -> None:
    with pytest.raises(ValueError, match="max_depth must be an integer >= 0, .* got -1"):
        iris().to_svg(max_depth=-1)
    with pytest.raises(ValueError, match="max_depth must be an integer >= 0, .* got 'six'"):
        iris().to_svg(max_depth="six")
    with pytest.raises(ValueError, match="order='depth'"):
        iris().rules(order="depth")


def test_the_functions_are_importable_from_the_tree_module() -> None:
    from arboleda import tree

    for name in ("export_text", "export_graphviz", "plot_tree"):
        assert getattr(tree, name) is getattr(arboleda, name)


def test_names_come_from_the_table_and_can_be_replaced() -> None:
    model = iris(max_depth=1)
    for shown in (export_text(model), export_graphviz(model), model.to_svg(), str(model.rules())):
        assert "petal length (cm)" in shown
    for shown in (
        export_text(model, feature_names=list("abcd")),
        export_graphviz(model, feature_names=list("abcd")),
        model.to_svg(feature_names=list("abcd")),
        str(model.rules(feature_names=list("abcd"))),
    ):
        assert "petal" not in shown
        assert "c" in shown
    bare = DecisionTreeClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    assert "feature_2 <= 2.45" in export_text(bare)
    assert 'label="x[2] <= 2.45\\n' in export_graphviz(bare)
    assert ">x[2]</text>" in bare.to_svg()
    assert "x[2] <= 2.45" in str(bare.rules())


def test_categories_are_shown_in_text() -> None:
    assert export_text(coloured(), show_weights=True).splitlines() == [
        "|--- feature_0 in {blue, red}",
        "|   |--- weights: [0.80, 3.20] class: yes",
        "|--- feature_0 not in {blue, red}",
        '|   |--- feature_0 not in {green, "white, off"}',
        "|   |   |--- weights: [4.50, 0.50] class: no",
        '|   |--- feature_0 in {green, "white, off"}',
        "|   |   |--- weights: [0.60, 2.40] class: yes",
    ]


def test_categories_are_shown_in_boxes() -> None:
    dot = export_graphviz(coloured(), impurity=False)
    assert '0 [label="x[0] in {blue, red}\\nsamples = 12' in dot
    assert '2 [label="x[0] not in {green, \\"white, off\\"}\\nsamples = 8' in dot
    html = export_graphviz(coloured(), impurity=False, special_characters=True)
    assert "2 [label=<x<SUB>0</SUB> not in {green, &quot;white, off&quot;}<br/>samples = 8" in html
    assert plot_tree(coloured())[0].get_text().startswith("x[0] in {blue, red}\n")
    svg = coloured().to_svg(feature_names=["hue"])
    assert ">hue</text>" in svg
    assert ">in {blue, red}</text>" in svg
    assert ">not in {green, &quot;white, off&quot;}</text>" in svg


def test_categories_are_shown_in_rules() -> None:
    rules = coloured().rules(order="leaf", feature_names=["hue"])
    assert [[str(c) for c in rule.conditions] for rule in rules] == [
        ["hue in {blue, red}"],
        ['hue not in {blue, green, red, "white, off"}'],
        ['hue in {green, "white, off"}'],
    ]
    first, second, third = (rule.conditions[0] for rule in rules)
    assert (first.levels, first.negated, first.missing) == (("blue", "red"), False, False)
    assert (second.negated, second.missing) == (True, True)
    assert (third.negated, third.missing) == (False, False)


def test_one_category_reads_as_an_equation() -> None:
    model = classifier(
        Node(
            0,
            listed=(1,),
            missing_left=True,
            left=Node(value=(1.0, 0.0)),
            right=Node(value=(0.0, 1.0), n=2),
        ),
        1,
        ["no", "yes"],
        [COLOURS],
    )
    model.missing_columns_ = np.array([0])
    assert export_text(model).splitlines()[::2] == [
        "|--- feature_0 != green or missing",
        "|--- feature_0 = green",
    ]
    assert [str(rule.conditions[0]) for rule in model.rules(order="leaf")] == [
        "x[0] != green or missing",
        "x[0] = green",
    ]


def test_many_categories_are_summarized_unless_all_are_requested() -> None:
    labels = [f"level {k:03d}" for k in range(300)]
    listed = tuple(range(0, 300, 2))
    root = Node(0, listed=listed, left=Node(value=(1.0, 0.0)), right=Node(value=(0.0, 1.0)))
    model = classifier(root, 1, ["no", "yes"], [labels])
    assert "level 012, level 014, ... 142 more}" in export_text(model)
    assert "{level 000, level 002, ... 148 more}" in export_text(model, max_categories=2)
    assert "level 298}" in export_text(model, max_categories=None)
    assert "... 142 more}" in export_graphviz(model)
    assert "level 298}" in export_graphviz(model, max_categories=None)
    assert "level 298}" in plot_tree(model, max_categories=None)[0].get_text()
    assert "more}</text>" in model.to_svg()
    assert "level 298}" in model.to_svg()  # the tooltip has them all
    rule = model.rules(order="leaf")[0]
    assert len(rule.conditions[0].levels) == 150
    assert "... 142 more}" in str(rule)


def test_categories_without_labels_are_numbers() -> None:
    root = Node(0, listed=(7, 65534), left=Node(value=(1.0, 0.0)), right=Node(value=(0.0, 1.0)))
    assert "feature_0 in {7, 65534}" in export_text(classifier(root, 1, ["no", "yes"]))


def test_missing_sides_are_shown_where_training_values_were_missing() -> None:
    x = np.array([[1.0, 5.0], [2.0, 1.0], [np.nan, 7.0], [8.0, 2.0], [9.0, 4.0], [9.5, 3.0]])
    model = DecisionTreeClassifier(max_depth=1).fit(x, ["a", "a", "a", "b", "b", "b"])
    assert export_text(model).splitlines()[::2] == [
        "|--- feature_0 <= 5.00 or missing",
        "|--- feature_0 >  5.00",
    ]
    assert [str(r.conditions[0]) for r in model.rules(order="leaf")] == [
        "x[0] <= 5 or missing",
        "x[0] > 5",
    ]
    assert "x[0] <= 5.0\\nmissing = True\\ngini" in export_graphviz(model)
    assert "x[0] <= 5.0\nmissing = True\ngini" in plot_tree(model)[0].get_text()
    assert model.to_svg().count(">missing</text>") == 1
    # Where a column missed values at other nodes only, the reader must know all the same.
    x[:, 1] = [1.0, 2.0, np.nan, 3.0, 4.0, 5.0]
    later = DecisionTreeClassifier().fit(x[:, 1:], [0, 0, 0, 1, 1, 0])
    text = export_text(later)
    assert text.count("or missing") == later.tree_.node_count - later.tree_.n_leaves
    assert later.missing_columns_.tolist() == [0]
    whole = DecisionTreeClassifier().fit(np.nan_to_num(x), [0, 0, 0, 1, 1, 1])
    for shown in (export_text(whole), export_graphviz(whole), whole.to_svg(), str(whole.rules())):
        assert "missing" not in shown


def test_a_split_on_missingness_is_shown() -> None:
    x = np.array([[1.0], [np.nan], [2.0], [np.nan], [3.0]])
    model = DecisionTreeRegressor().fit(x, [0.0, 5.0, 0.0, 5.0, 0.0])
    assert export_text(model).splitlines()[::2] == [
        "|--- feature_0 is present",
        "|--- feature_0 is missing",
    ]
    assert [str(r.conditions[0]) for r in model.rules(order="leaf")] == [
        "x[0] is present",
        "x[0] is missing",
    ]
    assert ">is present</text>" in model.to_svg()
    assert 'label="x[0] is present\\n' in export_graphviz(model)


def test_rules_of_a_small_tree_match_values_by_hand() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]})
    y = ["n", "n", "y", "y", "n", "n"]
    rules = DecisionTreeClassifier(max_depth=2).fit(X, y).rules()
    assert [str(rule) for rule in rules] == [
        "if a <= 2.5 then n (33.3 % of the rows, 2; confidence 100 %; lift 1.5)",
        "if 2.5 < a <= 4.5 then y (33.3 % of the rows, 2; confidence 100 %; lift 3)",
        "if a > 4.5 then n (33.3 % of the rows, 2; confidence 100 %; lift 1.5)",
    ]
    frame = rules.to_frame()
    assert list(frame["conditions"]) == ["a <= 2.5", "2.5 < a <= 4.5", "a > 4.5"]
    assert list(frame["lift"]) == pytest.approx([1.5, 3.0, 1.5])
    assert list(frame["support"]) == pytest.approx([1 / 3] * 3)
    with pytest.raises(AttributeError):
        rules[0].support = 0.5  # type: ignore[misc]


def test_rules_of_a_regression_tree_match() -> None:
    model = DecisionTreeRegressor(max_depth=1).fit([[0], [1], [2], [3]], [4.0, 6.0, 9.0, 9.0])
    first, second = model.rules(order="leaf", feature_names=["t"])
    assert (first.prediction, first.deviation, first.confidence, first.lift) == (
        5.0,
        1.0,
        None,
        None,
    )
    assert str(first) == "if t <= 1.5 then 5 (50.0 % of the rows, 2; standard deviation 1)"
    assert second.prediction == 9.0


def test_a_single_leaf_is_a_rule_without_conditions() -> None:
    (rule,) = DecisionTreeClassifier().fit([[0], [0]], ["a", "a"]).rules()
    assert str(rule) == "always a (100 % of the rows, 2; confidence 100 %; lift 1)"
    model = DecisionTreeRegressor().fit([[0], [0]], [1.0, 2.0])
    assert export_text(model) == "|--- value: [1.50]\n"
    assert model.to_svg().count("<title>") == 1


def test_graphviz_writes_to_a_file_and_to_a_stream(tmp_path: Path) -> None:
    model = iris(max_depth=2)
    expected, stream = export_graphviz(model), io.StringIO()
    assert export_graphviz(model, str(tmp_path / "tree.dot")) is None
    assert (tmp_path / "tree.dot").read_text("utf-8") == expected
    assert export_graphviz(model, stream) is None
    assert stream.getvalue() == expected


def test_names_are_escaped_in_dot() -> None:
    names = ['say "x"', "back\\slash", "line\nbreak", "<b>&"]
    model = iris()
    dot = export_graphviz(model, feature_names=names, class_names=['"', "\\", "<"])
    assert 'say \\"x\\"' in dot or "line\\nbreak" in dot
    for line in dot.splitlines():
        inside = line.replace("\\\\", "").replace('\\"', "")
        assert inside.count('"') % 2 == 0
    html = export_graphviz(model, feature_names=["<b>&"] * 4, special_characters=True)
    assert "&lt;b&gt;&amp;" in html
    assert "<b>" not in html


def test_dollars_are_escaped_in_matplotlib() -> None:
    annotations = plot_tree(iris(max_depth=1), feature_names=["$\\frac$"] * 4)
    assert annotations[0].get_text().startswith("$\\frac$ <=")
    annotations[0].axes.figure.canvas.draw()


def test_boxes_of_plot_tree_do_not_overlap() -> None:
    figure, axes = plt.subplots(figsize=(9, 6))
    annotations = plot_tree(iris(), ax=axes, filled=True, rounded=True, class_names=True)
    figure.canvas.draw()
    boxes = [a.get_bbox_patch() for a in annotations]
    extents = [box.get_window_extent() for box in boxes if box is not None]
    assert len(extents) == iris().tree_.node_count
    room = axes.get_window_extent()
    for at, one in enumerate(extents):
        assert room.x0 - 1 <= one.x0
        assert one.x1 <= room.x1 + 1
        assert not any(one.overlaps(other) for other in extents[:at])


def test_regression_boxes_are_darker_for_higher_values() -> None:
    leaves = Node(0, 1.0, left=Node(value=(1.0,)), right=Node(value=(3.0,)))
    dot = export_graphviz(regressor(leaves, 1), filled=True)
    assert dot.count('fillcolor="#ffffff"') == 1
    assert len({line for line in dot.splitlines() if "fillcolor" in line}) == 3


def test_a_loaded_tree_is_described_the_same(tmp_path: Path) -> None:
    X = pd.DataFrame({"hue": ["red", "blue", None, "red", "green"], "size": [1, 2, 3, 4, np.nan]})
    model = DecisionTreeClassifier(categorical_features=["hue"]).fit(X, [0, 1, 1, 0, 2])
    model.save(tmp_path / "tree")
    again = arboleda.load(tmp_path / "tree")
    assert "hue" in export_text(model)
    assert "or missing" in export_text(model)
    assert export_text(again) == export_text(model)
    assert again.to_svg() == model.to_svg()
    assert again.rules() == model.rules()


def test_pruned_trees_are_described_like_others() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (
        PrunedTreeClassifier(random_state=0).fit(X, y),
        PrunedTreeRegressor(pruning="reduced_error", random_state=0).fit(X, y),
    ):
        assert export_text(model).count(": ") == model.get_n_leaves() == len(model.rules())
        assert len(plot_tree(model, label="none")) >= model.tree_.node_count
        assert export_graphviz(model).count(" -> ") == model.tree_.node_count - 1
        assert model.to_svg(max_depth=None).count("<title>") == model.tree_.node_count


def two_classes_and_three() -> Any:
    """Two targets: shares of {a, b}, then of {u, v, w}, in one row of values."""
    left = Node(value=(1.0, 0.0, 0.5, 0.25, 0.25), n=4)
    right = Node(value=(0.25, 0.75, 0.0, 0.0, 1.0), n=4)
    model = classifier(Node(0, 2.5, left=left, right=right), 1, ["a", "b"])
    model.n_outputs_, model.n_classes_ = 2, [2, 3]
    model.classes_ = [np.array(["a", "b"]), np.array(["u", "v", "w"])]
    return model


def test_several_class_targets_are_described() -> None:
    model = two_classes_and_three()
    assert export_text(model, show_weights=True).splitlines()[1] == (
        "|   |--- weights: [[4.00, 0.00], [2.00, 1.00, 1.00]] class: [a, u]"
    )
    dot = export_graphviz(model, filled=True, impurity=False)
    assert '1 [label="samples = 4\\nvalue = [[4, 0]\\n[2, 1, 1]]", fillcolor' in dot
    rule = model.rules(order="leaf")[1]
    assert (rule.prediction, rule.confidence) == (("b", "w"), (0.75, 1.0))
    assert rule.lift == (2.0, 1.6)
    assert str(rule) == (
        "if x[0] > 2.5 then b, w (50.0 % of the rows, 4; confidence 75.0 %, 100 %; lift 2, 1.6)"
    )
    svg = model.to_svg()
    assert ">y[0]: a</text>" in svg
    assert ">y[1]: w</text>" in svg
    with pytest.raises(ValueError, match="one target"):
        export_text(model, class_names=["a", "b"])


def test_several_numeric_targets_are_described() -> None:
    root = Node(0, 2.5, left=Node(value=(1.0, 10.0)), right=Node(value=(2.0, 30.0)))
    model = regressor(root, 1)
    model.n_outputs_ = 2
    assert export_text(model).splitlines()[1] == "|   |--- value: [1.00, 10.00]"
    assert '1 [label="samples = 1\\nvalue = [[1.0]\\n[10.0]]"]' in export_graphviz(
        model, impurity=False
    )
    assert [rule.prediction for rule in model.rules(order="leaf")] == [(1.0, 10.0), (2.0, 30.0)]
    assert ">y[1]: 30</text>" in model.to_svg()


def test_integer_column_labels_of_pandas_are_not_names() -> None:
    values = np.random.default_rng(0).random((30, 3))
    y = values[:, 1] > 0.5
    plain = arboleda.DecisionTreeClassifier().fit(values, y)
    for table in (pd.DataFrame(values), pd.DataFrame(values, columns=np.arange(3))):
        tree = arboleda.DecisionTreeClassifier().fit(table, y)
        assert export_text(tree) == export_text(plain)
        assert str(tree.rules()) == str(plain.rules())
    tree = arboleda.DecisionTreeClassifier().fit(pd.DataFrame(values, columns=[7, 8, 9]), y)
    assert "8 <= " in export_text(tree)


@pytest.mark.parametrize("backend", ["pdf", "svg", "ps", "agg"])
def test_plot_tree_draws_with_every_backend(backend: str) -> None:
    tree = arboleda.DecisionTreeClassifier().fit([[1], [2], [4]], ["low", "low", "high"])
    used = plt.get_backend()
    plt.switch_backend(backend)
    try:
        drawn = plot_tree(tree, ax=plt.figure().add_subplot())
        plt.gcf().savefig(io.BytesIO())
    finally:
        plt.close("all")
        plt.switch_backend(used)
    assert len(drawn) == 5


def test_plot_tree_draws_on_a_figure_without_pyplot() -> None:
    tree = arboleda.DecisionTreeClassifier().fit([[1], [2], [4]], ["low", "low", "high"])
    figure = Figure()
    assert len(plot_tree(tree, ax=figure.add_subplot())) == 5
    figure.savefig(io.BytesIO(), format="png")


def test_alternatives_of_a_rule_have_brackets() -> None:
    """ "A or missing and B" could be read either way."""
    nan = np.nan
    table = np.array([[0, 0], [nan, 0], [0, 1], [nan, 1], [1, 0], [1, 1]] * 4)
    y = [0, 0, 1, 1, 2, 2] * 4
    model = DecisionTreeClassifier(random_state=0).fit(table, y)
    texts = [str(rule).partition(" then")[0] for rule in model.rules(order="leaf")]
    assert texts == [
        "if (x[0] <= 0.5 or missing) and x[1] <= 0.5",
        "if (x[0] <= 0.5 or missing) and x[1] > 0.5",
        "if x[0] > 0.5",
    ]
    assert model.rules().to_frame()["conditions"].str.contains(r"^\(x", regex=True).sum() == 2
    listed = surrogate_rules(model, table, random_state=0).model
    assert all("missing and" not in str(rule) for rule in listed.rules)
