"""Export of a fitted model as a page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.columns import Schema
from arboleda._utils.files import write_atomically
from arboleda.explain import read_rows
from arboleda.onnx_export import (
    GivenMatrix,
    ModelContext,
    add_class_scores,
    add_model,
    add_probabilities,
    expand_shares,
    has_scores_alone,
    read_schema,
)
from arboleda.page_export._columns import make_columns
from arboleda.page_export._explanations import describe_explanation
from arboleda.page_export._graph import PageColumns, PageGraph
from arboleda.page_export._html import PageContent, write_page
from arboleda.page_export._scored_models import make_converters, name_outputs
from arboleda.page_export._tables import Tables

Language = Literal["en", "es"]

Floats = npt.NDArray[np.float64]

_MAX_ROWS = 1000


def to_page(
    model: Any,
    X_sample: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    include_rows: int = 0,
    language: Language = "en",
) -> str:
    """Convert a model to a page: one HTML file that predicts offline, in the browser.

    The page has a form with the model's columns, the prediction and what explains it: exact Shapley
    values, the prediction as a function of one and of two columns. It predicts the rows of a CSV
    file, too. Nothing is sent anywhere.

    Parameters
    ----------
    model : estimator
        A fitted decision tree, forest, ensemble of bagged trees, gradient boosting, AdaBoost of
        trees, or a mean or stack of these; also with linear models, Gaussian naive Bayes and
        perceptrons of scikit-learn, and pipelines that scale, rank and impute. Isolation forests
        have anomaly scores, and models of the time to an event the risk with the probability of no
        event by a few times.
    X_sample : array-like, frame or sparse matrix of shape (n_rows, n_columns), default=None
        Rows, such as those of training, from which the form gets typical values, ranges and
        distributions. The page contains these summaries, no row.
    title : str, default=None
        Title of the page; None: the name of the model's class.
    target : str, default=None
        Name of what is predicted.
    include_rows : int, default=0
        Number of rows of the sample to put into the page, up to 1,000, as examples and to show the
        nearest ones. Everyone who has the page can read them.
    language : {"en", "es"}, default="en"
        Language of the page.

    Returns
    -------
    page : str
        HTML, with its style and script, the model's tables, and a content security policy that
        forbids all requests.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be computed by a page: kernel machines, nearest neighbours, votes of
        members, models with options that `to_onnx` does not support.

    See Also
    --------
    arboleda.explain.surrogate_tree : A small tree that approximates a model of any kind.

    Notes
    -----
    Scores of trees have the bits of the model: the page adds the same float64 numbers in the same
    order. Exponentials depend on the browser, within a few units in the last place.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> arboleda.to_page(tree, [[0], [1]]).splitlines()[0]
    '<!doctype html>'
    """
    if not hasattr(model, "fit"):
        raise TypeError(f"{type(model).__name__} is not an estimator: give a fitted model")
    check_is_fitted(model)
    if not 0 <= include_rows <= _MAX_ROWS:
        raise ValueError(f"include_rows must be from 0 to {_MAX_ROWS:,}, got {include_rows}")
    if include_rows and X_sample is None:
        raise ValueError("include_rows needs X_sample: give the rows of which some are included")
    schema = read_schema(model)
    sample = None if X_sample is None else _read_sample(model, X_sample, schema)
    inner = model.estimator if isinstance(model, FrozenEstimator) else model
    graph = PageGraph(Tables())
    context = ModelContext(
        graph, PageColumns(graph, schema.levels), extra_converters=make_converters()
    )
    output = _add_model(inner, context)
    classes = inner.classes_ if is_classifier(model) else None
    explanation = describe_explanation(inner, graph, list(range(schema.n_columns)))
    rules = write_output_rules(inner)
    if not rules and classes is None and explanation is not None:
        rules = {"outputs": explanation["outputs"]}
    return write_page(
        PageContent(
            title=title or type(inner).__name__,
            model=type(inner).__name__,
            graph=graph,
            n_columns=schema.n_columns,
            output=int(output),
            scores=int(context.scores.get(id(inner), output)),
            columns=make_columns(schema, sample),
            classes=None if classes is None else [str(label) for label in classes.tolist()],
            target=target,
            explanation=explanation,
            rows=_write_rows(sample, include_rows, schema),
            rules=rules,
        ),
        language,
    )


def export_page(
    model: Any,
    path: str | os.PathLike[str],
    X_sample: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    include_rows: int = 0,
    language: Language = "en",
) -> None:
    """Write a page that computes a model's predictions in the browser.

    Parameters
    ----------
    model, X_sample, title, target, include_rows, language
        As in `to_page`.
    path : str or path-like
        Output file, conventionally named ``.html``. An existing file is replaced atomically, and
        left unchanged if anything fails.

    Raises
    ------
    TypeError, ValueError
        As in `to_page`.
    OSError
        If the file cannot be written.

    Warns
    -----
    UserWarning
        If the page has more than 20 MB, which a browser opens slowly.

    Examples
    --------
    >>> import arboleda
    >>> tree = arboleda.DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> arboleda.export_page(tree, "tree.html", [[0], [1]])  # doctest: +SKIP
    """
    page = to_page(
        model,
        X_sample,
        title=title,
        target=target,
        include_rows=include_rows,
        language=language,
    )
    write_atomically(Path(path), page)


def _add_model(model: Any, context: ModelContext) -> str:
    """Add a model to the graph; the errors of the walk name the page and the remedy."""
    try:
        return add_model(model, context)
    except (TypeError, ValueError) as error:
        remedy = "export a surrogate instead, arboleda.explain.surrogate_tree(model, X).model"
        refusal = describe_refusal(type(model).__name__, error)
        raise type(error)(f"{refusal}: {remedy}") from error


def describe_refusal(name: str, error: Exception) -> str:
    """Describe why a model cannot be on a page."""
    reason = str(error).replace("exported to ONNX", "exported").split(": supported are")[0]
    return f"{name} cannot be computed by a page ({reason})"


def convert_coded(
    model: Any, n_classes: int, extra_converters: Mapping[type, Any]
) -> tuple[PageGraph, int, int]:
    """Convert a pipeline over a numeric matrix, whose classes are 0, 1, ...

    Parameters
    ----------
    model : estimator
    n_classes : int
        Number of classes; the pipeline may know fewer. 0 for a regressor.
    extra_converters : mapping of type to callable
        As in `arboleda.onnx_export.coded_to_onnx`.

    Returns
    -------
    graph : PageGraph
    output, scores : int
        Its steps with probabilities or values, and with the scores that decide.

    Raises
    ------
    TypeError, ValueError
        If the model cannot be computed by a page.
    """
    graph = PageGraph(Tables())
    context = ModelContext(graph, GivenMatrix(graph, "0"), extra_converters=extra_converters)
    if not n_classes:
        output = add_model(model, context)
        return graph, int(output), int(output)
    n_known = len(model.classes_)
    if has_scores_alone(model):
        scores = add_class_scores(model, context)
        output = add_probabilities(scores, n_known, graph)
        if n_known == 2:
            scores = graph.concat_columns([graph.add("Neg", scores), scores])
    else:
        output = add_model(model, context)
        scores = context.scores.get(id(model), output)
    if n_known < n_classes:
        output, scores = (
            expand_shares(part, n_known, model.classes_, n_classes, context)
            for part in (output, output)
        )
    return graph, int(output), int(scores)


def write_output_rules(model: Any, times: Sequence[float] | None = None) -> dict[str, Any]:
    """Return the rules of a page with the names of a model's outputs, if it has several.

    Parameters
    ----------
    model : estimator
    times : sequence of float, default=None
        Times of probabilities of no event; None: a few times of the model.
    """
    names = name_outputs(model, times)
    return {} if names is None else {"outputs": names.texts, "header": names.header}


def _read_sample(model: Any, X: Any, schema: Schema) -> Floats:
    """Return rows as the page's numbers: codes of categories, NaN if missing or unknown.

    Raises
    ------
    ValueError
        If the rows have other columns than the model.
    """
    rows = read_rows(X, model)
    if rows.n_columns != schema.n_columns:
        raise ValueError(
            f"X_sample has {rows.n_columns} columns, but the model was fitted on "
            f"{schema.n_columns}: give rows like those of training"
        )
    names = None if schema.names is None else [str(name) for name in schema.names]
    by_name = names is not None and sorted(names) == sorted(map(str, rows.names))
    sample = np.full((rows.n_rows, schema.n_columns), np.nan)
    for j, codes in enumerate(schema.codes):
        at = list(map(str, rows.names)).index(names[j]) if by_name and names else j
        values = rows.values(at)
        if codes is None or not rows.categorical[at]:
            sample[:, j] = values if codes is None else [codes.get(x, np.nan) for x in values]
            continue
        known = [float(codes.get(label, np.nan)) for label in rows.levels(at)]
        sample[:, j] = np.array([*known, np.nan])[
            np.where(np.isnan(values), -1, values).astype(np.intp)
        ]
    return sample


def _write_rows(sample: Floats | None, count: int, schema: Schema) -> list[list[str]] | None:
    """Write rows at equal distances, so that they come from the whole sample, as texts of cells."""
    if not count or sample is None:
        return None
    places = np.unique(np.linspace(0, len(sample) - 1, count).astype(np.intp))
    return [
        [
            "" if np.isnan(value) else repr(value) if levels is None else str(levels[int(value)])
            for value, levels in zip(row, schema.levels, strict=True)
        ]
        for row in sample[places].tolist()
    ]
