"""ONNX export of pipelines that were fitted on encoded columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from arboleda.onnx_export._export import declare_classes, declare_scores, declare_values
from arboleda.onnx_export._graph import Graph
from arboleda.onnx_export._inputs import GivenMatrix, InputType, ModelContext
from arboleda.onnx_export._models import add_model, has_scores_alone
from arboleda.onnx_export._stacking import expand_shares


def coded_to_onnx(
    model: Any,
    names: Sequence[str],
    levels: Mapping[int, Sequence[str]],
    *,
    missing: Sequence[str],
    classes: Any = None,
    input_type: InputType = "float64",
    extra_converters: Mapping[type, Callable[[Any, ModelContext], str]] | None = None,
) -> Any:
    """Make an ONNX model of a pipeline that was fitted on codes of texts.

    Parameters
    ----------
    model : estimator
        A fitted pipeline over a numeric matrix. A classifier's classes are 0, 1, ...
    names : sequence of str
        Names of the columns.
    levels : mapping of int to sequence of str
        Texts of each text column: the code of a text is its index, -1 is missing, and the number of
        texts is the code of unknown ones.
    missing : sequence of str
        Texts that represent missing values.
    classes : ndarray, or None
        Labels of the classes.
    input_type : {"float64", "float32"}, default="float64"
    more : mapping of type to callable, or None
        Functions that add further kinds of models and transformers to the graph, given the model
        and its `ModelContext`.

    Returns
    -------
    onnx_model : onnx.ModelProto
        With an input of shape (n_rows, 1) for each column, under its name.

    Raises
    ------
    TypeError, ValueError
        As in `to_onnx`.
    """
    graph = Graph()
    columns = [
        _add_category_input(graph, name, levels[j], missing)
        if j in levels
        else _add_number_input(graph, name, input_type)
        for j, name in enumerate(names)
    ]
    context = ModelContext(
        graph,
        GivenMatrix(graph, graph.concat_columns(columns)),
        extra_converters=extra_converters or {},
    )
    if has_scores_alone(model):
        declare_scores(context, model, np.asarray(classes), input_type, np.asarray(model.classes_))
        return graph.model("A study's model of arboleda")
    found = add_model(model, context)
    if not is_classifier(model):
        declare_values(graph, found, 1, input_type)
        return graph.model("A study's model of arboleda")
    known = np.asarray(model.classes_)
    scores = context.scores.get(id(model), found)
    if len(known) < len(classes):
        found = expand_shares(found, len(known), known, len(classes), context)
    declare_classes(graph, found, scores, np.asarray(classes), input_type, known)
    return graph.model("A study's model of arboleda")


def _add_number_input(graph: Graph, name: str, dtype: InputType) -> str:
    value = graph.input(name, dtype, 1)
    return graph.cast(value, "float64") if dtype == "float32" else value


def _add_category_input(
    graph: Graph, name: str, levels: Sequence[str], missing: Sequence[str]
) -> str:
    missing_texts = [text for text in missing if text not in set(levels)]
    codes = np.concatenate([np.arange(len(levels)), np.full(len(missing_texts), -1)]).astype(
        np.float64
    )
    keys = np.array([*levels, *missing_texts], dtype=object)
    return graph.map_values(graph.input(name, "text", 1), keys, codes, float(len(levels)))
