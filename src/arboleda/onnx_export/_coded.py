"""Pipelines over columns that were coded before they were learned from, in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from arboleda.onnx_export._export import give_classes, give_scores, give_values
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import GivenMatrix, InputType, Place
from arboleda.onnx_export._models import answer, has_scores_alone
from arboleda.onnx_export._stacking import spread


def coded_to_onnx(
    model: Any,
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
    *,
    missing: Sequence[str],
    classes: Any = None,
    input_type: InputType = "float64",
    more: Mapping[type, Callable[[Any, Place], str]] | None = None,
) -> Any:
    """Make an ONNX model of a pipeline that knows texts by their codes.

    Parameters
    ----------
    model : estimator
        A fitted pipeline over a matrix of numbers. A classifier's classes are 0, 1, ..
    names : sequence of str
        Of the columns.
    levels : mapping of int to sequence of str
        Texts of the columns that hold some: the code of a text is its place; -1 is missing, and
        what follows the last place is a text that is not among them.
    missing : sequence of str
        Texts that mean that there is none.
    classes : ndarray, or None
        Labels of the classes.
    input_type : {"float64", "float32"}, default="float64"
    more : mapping of type to callable, or None
        Further kinds of models and of steps before them, and what adds one to the graph, given it
        and its `Place`.

    Returns
    -------
    onnx_model : onnx.ModelProto
        With an input of shape (n_rows, 1) for each column, under its name.

    Raises
    ------
    TypeError, ValueError
        As `to_onnx`.
    """
    graph = Graph()
    columns = [
        _coded(graph, name, levels[j], missing) if j in levels else _number(graph, name, input_type)
        for j, name in enumerate(names)
    ]
    place = Place(graph, GivenMatrix(graph, graph.side_by_side(columns)), more=more or {})
    if has_scores_alone(model):
        give_scores(place, model, np.asarray(classes), input_type, np.asarray(model.classes_))
        return graph.model("A study's model of arboleda")
    found = answer(model, place)
    if not is_classifier(model):
        give_values(graph, found, 1, input_type)
        return graph.model("A study's model of arboleda")
    known = np.asarray(model.classes_)
    scores = place.scores.get(id(model), found)
    if len(known) < len(classes):
        found = spread(found, len(known), known, len(classes), place)
    give_classes(graph, found, scores, np.asarray(classes), input_type, known)
    return graph.model("A study's model of arboleda")


def _number(graph: Graph, name: str, dtype: InputType) -> str:
    value = graph.input(name, dtype, 1)
    return graph.cast(value, "float64") if dtype == "float32" else value


def _coded(graph: Graph, name: str, levels: Sequence[str], missing: Sequence[str]) -> str:
    gone = [text for text in missing if text not in set(levels)]
    codes = np.concatenate([np.arange(len(levels)), np.full(len(gone), -1)]).astype(np.float64)
    keys = np.array([*levels, *gone], dtype=object)
    return graph.looked_up(graph.input(name, "text", 1), keys, codes, float(len(levels)))
