"""Export of a fitted model to an ONNX file: https://onnx.ai."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from arboleda._utils.files import write_atomically
from arboleda.onnx_export._ensembles import expand_shares
from arboleda.onnx_export._graph import GivenMatrix, Graph, Inputs, InputType, ModelContext
from arboleda.onnx_export._models import add_class_scores, add_model, has_scores_alone, read_schema


def to_onnx(model: Any, *, input_type: InputType = "float64") -> Any:
    """Make an ONNX model of a tree ensemble.

    The ONNX model predicts the same as the model: thresholds, leaves and sums are float64.

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, ensemble of bagged trees, gradient boosting, AdaBoost of
        trees, or a mean or stack of these; also with linear models, Gaussian naive Bayes, nearest
        neighbours, RBF kernels or perceptrons of scikit-learn, and pipelines that scale, rank,
        impute and encode.
    input_type : {"float64", "float32"}, default="float64"
        Type of the input numbers. With "float32" a runtime receives rounded values, and each takes
        the path of that rounded value in the model.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Its input is ``X`` of shape (n_rows, n_features) or, if a column holds texts, one input of
        shape (n_rows, 1) per column, with its name (``label_`` for ``label``, which is the name of
        an output). NaN is a missing number; an unknown category, such as "", is a missing text.

        Its outputs are ``label`` (n_rows,) and ``probabilities`` (n_rows, n_classes) for a
        classifier, and ``prediction`` for a regressor: (n_rows,), or one column per value. A
        classifier without probabilities has ``scores`` instead, its decision function: one column
        for two classes, else one per class.

    Raises
    ------
    TypeError
        If the model cannot be exported.
    ValueError
        If the model uses options that cannot be expressed in ONNX: an initial estimator, votes of
        members, several classification targets, dates as categories.
    ModuleNotFoundError
        If the package onnx is not installed: ``pip install "arboleda[onnx]"``.

    Examples
    --------
    >>> import arboleda
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = arboleda.RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> onnx_model = arboleda.to_onnx(model)  # doctest: +SKIP
    >>> [output.name for output in onnx_model.graph.output]  # doctest: +SKIP
    ['label', 'probabilities']
    """
    if input_type not in {"float64", "float32"}:
        raise ValueError(f"input_type must be 'float64' or 'float32', got {input_type!r}")
    if not hasattr(model, "fit"):
        raise TypeError(f"{type(model).__name__} is not an estimator: give a fitted model")
    check_is_fitted(model)
    schema = read_schema(model)
    graph = Graph()
    context = ModelContext(graph, Inputs(graph, schema, input_type))
    if has_scores_alone(model):
        declare_scores(context, model, np.asarray(model.classes_), input_type)
        return graph.model(f"{type(model).__name__} of arboleda")
    found = add_model(model, context)
    if is_classifier(model):
        scores = context.scores.get(id(model), found)
        declare_classes(graph, found, scores, np.asarray(model.classes_), input_type)
    else:
        declare_values(graph, found, int(_count_values(model)), input_type)
    return graph.model(f"{type(model).__name__} of arboleda")


def export_onnx(
    model: Any, path: str | os.PathLike[str], *, input_type: InputType = "float64"
) -> None:
    """Write a tree ensemble to an ONNX file.

    Parameters
    ----------
    model, input_type
        As in `to_onnx`.
    path : str or path-like
        Output file, conventionally named ``.onnx``. An existing file is replaced atomically, and
        left unchanged if anything fails.

    Raises
    ------
    TypeError, ValueError, ModuleNotFoundError
        As in `to_onnx`.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> arboleda.export_onnx(tree, "tree.onnx")  # doctest: +SKIP
    """
    content = to_onnx(model, input_type=input_type).SerializeToString()
    write_atomically(Path(path), content)


def declare_classes(
    graph: Graph, shares: str, scores: str, classes: Any, dtype: str, known: Any = None
) -> None:
    """Declare a classifier's outputs: the class with the largest score, and probabilities.

    ``known``: indices of the classes that have scores; None: all.
    """
    _declare_label(graph, scores, classes, known)
    shares = graph.cast(shares, "float32") if dtype == "float32" else shares
    graph.output("probabilities", shares, dtype, [None, len(classes)])


def declare_scores(
    context: ModelContext, model: Any, classes: Any, dtype: InputType, known: Any = None
) -> None:
    """Declare the outputs of a classifier without probabilities: its class and its scores.

    ``known`` is as in `declare_classes`.
    """
    graph, n_scored = context.graph, len(model.classes_)
    scores = add_class_scores(model, context)
    deciding = context.scores.get(id(model), scores)
    if n_scored == 2:
        deciding = graph.concat_columns([graph.times(scores, -1.0), scores])
    _declare_label(graph, deciding, classes, known)
    scores = graph.cast(scores, "float32") if dtype == "float32" else scores
    graph.output("scores", scores, dtype, [None, n_scored if n_scored > 2 else 1])


def _declare_label(graph: Graph, scores: str, classes: Any, known: Any) -> None:
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    if known is not None:
        best = graph.add("Gather", graph.constant(np.asarray(known, np.int64)), best, axis=0)
    kind = classes.dtype.kind
    if kind in "biu":
        labels, label_type = classes.astype(np.int64), "int64"
    elif kind == "f":
        labels, label_type = classes.astype(np.float64), "float64"
    else:
        labels, label_type = np.array([str(label) for label in classes], dtype=object), "text"
    label = graph.add("Gather", graph.constant(labels), best, axis=0)
    graph.output("label", label, label_type, [None])


def declare_values(graph: Graph, values: str, n_values: int, dtype: str) -> None:
    """Declare a regressor's output."""
    values = graph.cast(values, "float32") if dtype == "float32" else values
    if n_values > 1:
        graph.output("prediction", values, dtype, [None, n_values])
        return
    one = graph.add("Squeeze", values, graph.constant(np.array([1], dtype=np.int64)))
    graph.output("prediction", one, dtype, [None])


def _count_values(model: Any) -> int:
    if hasattr(model, "loss_"):
        return int(model.loss_.n_outputs)
    return int(getattr(model, "n_outputs_", 1))


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
