"""The text of trees is scikit-learn's, letter by letter, where both have the same tree.

Thresholds are rounded where scikit-learn keeps float32, so the tables hold multiples of 1/8: midway
between two of them is a float32 too. A random target leaves no ties at the nodes shown.
"""

import re
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sklearn.tree as theirs

import arboleda as ours


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Leave no figure open."""
    yield
    plt.close("all")


def _table(kind: str) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(5)
    X = random.integers(-400, 400, size=(600, 5)) / 8
    signal = X[:, 0] + 3 * np.abs(X[:, 1]) - X[:, 2] + random.integers(-160, 160, size=600) / 8
    if kind == "regression":
        return X, signal / 7, None  # sevenths: no impurity lies midway between two decimals
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    weight = random.integers(1, 9, size=600) / 4 if kind == "weighted" else None
    return X, np.array(["low", "middle", "high"])[y], weight


def _pair(kind: str) -> tuple[Any, Any]:
    X, y, weight = _table(kind)
    name = "DecisionTreeRegressor" if kind == "regression" else "DecisionTreeClassifier"
    limits = {"max_depth": 4, "min_samples_leaf": 10, "random_state": 0}
    pair = [getattr(module, name)(**limits).fit(X, y, weight) for module in (ours, theirs)]
    assert np.array_equal(pair[0].tree_.threshold, pair[1].tree_.threshold)
    return pair[0], pair[1]


def _whole(text: str) -> str:
    """Write whole weights without a point: scikit-learn's products of shares miss some by a bit."""
    return re.sub(r"(?<=\d)\.0(?=[],])", "", text)


KINDS = pytest.mark.parametrize("kind", ["classes", "weighted", "regression"])
NAMES = [f"column {letter}" for letter in "abcde"]


@KINDS
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"decimals": 0, "spacing": 1},
        {"max_depth": 0},
        {"max_depth": 2, "spacing": 6, "show_weights": True},
        {"feature_names": NAMES, "decimals": 4},
    ],
    ids=str,
)
def test_export_text_matches(kind: str, how: dict[str, Any]) -> None:
    our, their = _pair(kind)
    assert ours.export_text(our, **how) == theirs.export_text(their, **how)


BOXES = [
    {},
    {"label": "root", "node_ids": True},
    {"label": "none", "impurity": False, "precision": 1},
    {"proportion": True, "class_names": True, "rounded": True},
    {"max_depth": 2, "feature_names": NAMES, "precision": 5},
]


@KINDS
@pytest.mark.parametrize("how", BOXES, ids=str)
@pytest.mark.parametrize("special_characters", [False, True])
@pytest.mark.parametrize("layout", [{}, {"leaves_parallel": True, "rotate": True}], ids=str)
def test_export_graphviz_matches(
    kind: str, how: dict[str, Any], special_characters: bool, layout: dict[str, Any]
) -> None:
    our, their = _pair(kind)
    how = how | layout | {"special_characters": special_characters}
    assert _whole(ours.export_graphviz(our, **how)) == _whole(theirs.export_graphviz(their, **how))


@KINDS
def test_class_names_match(kind: str) -> None:
    our, their = _pair(kind)
    names = ["H", "L", "M"]
    if kind != "regression":
        ours_text = ours.export_text(our, class_names=names)
        assert ours_text == theirs.export_text(their, class_names=names)
        ours_dot = ours.export_graphviz(our, class_names=names)
        assert _whole(ours_dot) == _whole(theirs.export_graphviz(their, class_names=names))


@KINDS
def test_colours_differ_and_positions_match(kind: str) -> None:
    our, their = _pair(kind)
    dots = [
        re.sub(
            r', fillcolor="[^"]*"', ", fillcolor", _whole(module.export_graphviz(tree, filled=True))
        )
        for module, tree in ((ours, our), (theirs, their))
    ]
    assert dots[0] == dots[1]


@KINDS
@pytest.mark.parametrize("how", BOXES, ids=str)
def test_boxes_of_plot_tree_match(kind: str, how: dict[str, Any]) -> None:
    our, their = _pair(kind)
    texts = [
        [_whole(annotation.get_text()) for annotation in module.plot_tree(tree, **how)]
        for module, tree in ((ours, our), (theirs, their))
    ]
    assert texts[0] == texts[1]
