"""Import of XGBoost models: Chen and Guestrin (2016), "XGBoost: a scalable tree boosting system".

File format: https://xgboost.readthedocs.io/en/stable/tutorials/saving_model.html.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.labels import Label
from arboleda._engine.tree import Tree
from arboleda._utils.errors import ModelFormatError
from arboleda._utils.files import parse_strict_json
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.importers._columns import (
    Columns,
    as_labels,
    read_entry,
    read_file,
    read_given_categories,
    read_integer,
    read_integers,
    read_numbers,
    read_strings,
    with_error_context,
)
from arboleda.importers._trees import (
    check_class_labels,
    make_histogram_boosting,
    refuse_classes,
    repeat_label_classes,
    to_tree,
)
from arboleda.importers._xgboost_objectives import XgboostObjective, read_objective
from arboleda.importers._xgboost_trees import read_float32s, read_nodes, read_ubjson

_MAX_COLUMNS = 2**22


def read_columns(
    learner: dict[str, Any], place: str, categories: Mapping[Any, Any] | None
) -> Columns:
    """Read the columns; labels of the caller override those in the file.

    Raises
    ------
    ModelFormatError
        If they cannot be read.
    ValueError
        If labels of the caller do not match the model, or categories are neither in the file nor
        given by the caller.
    """
    n_columns, names, is_category, own = with_error_context(place, lambda: _read(learner))
    given = read_given_categories(categories, names, n_columns)
    labels: list[dict[int, Label] | None] = [None] * n_columns
    for column, listed in given.items():
        if column not in is_category:
            raise ValueError(f"categories names column {column}, which is numeric: remove it")
        labels[column] = listed
    for column in is_category - given.keys():
        if column not in own:
            shown = repr(names[column]) if names else str(column)
            raise ValueError(
                f"the model does not contain the categories of column {shown}, or has truncated "
                "labels that are not ASCII: give "
                f"categories={{{shown}: [...]}} with their labels in the order of their codes, "
                "such as a pandas column's .cat.categories; range(12) for the numbers 0 to 11"
            )
        labels[column] = own[column]
    return Columns(None if names is None else tuple(names), tuple(labels))


def _read(
    learner: dict[str, Any],
) -> tuple[int, list[str] | None, set[int], dict[int, dict[int, Label]]]:
    """Read the number of columns, names, categorical columns, and labels of categories."""
    parameters = read_entry(learner, "learner_model_param", dict)
    n_columns = read_integer(read_entry(parameters, "num_feature", object), "num_feature")
    names = read_strings(learner, "feature_names") if "feature_names" in learner else []
    types = read_strings(learner, "feature_types") if "feature_types" in learner else []
    for name, listed in (("feature_names", names), ("feature_types", types)):
        if listed and len(listed) != n_columns:
            raise ModelFormatError(f"{name} has {len(listed)} entries for {n_columns} columns")
    # Without names and types, the size of the file does not limit the number of columns.
    if n_columns > _MAX_COLUMNS:
        raise ModelFormatError(f"it has {n_columns} columns")
    is_category = {j for j, kind in enumerate(types) if kind == "c"}
    return n_columns, names or None, is_category, _read_own_categories(learner, n_columns)


def _read_own_categories(learner: dict[str, Any], n_columns: int) -> dict[int, dict[int, Label]]:
    booster = read_entry(learner, "gradient_booster", dict)
    model = read_entry(booster.get("gbtree", booster), "model", dict)
    if "cats" not in model:
        return {}
    stored = read_entry(read_entry(model, "cats", dict), "enc", list)
    if len(stored) > n_columns:
        raise ModelFormatError("it lists categories of more columns than it has")
    found = {}
    for column, encoded in enumerate(stored):
        labels = with_error_context(
            f"categories of column {column}", partial(_read_labels, encoded)
        )
        if labels:
            found[column] = as_labels(labels, str(column))
    return found


def _read_labels(encoded: Any) -> list[Any]:
    """Read labels: strings are stored as bytes with offsets, numbers as a list.

    Return an empty list if a label is not ASCII.
    """
    if not isinstance(encoded, dict):
        raise ModelFormatError("they are not an object")
    if "offsets" not in encoded:
        listed: list[Any] = read_numbers(encoded, "values").tolist()
        return listed
    offsets, values = read_integers(encoded, "offsets"), read_integers(encoded, "values")
    if not offsets.size:
        return []
    if offsets[0] != 0 or offsets[-1] != values.size or (offsets[1:] < offsets[:-1]).any():
        raise ModelFormatError("their offsets do not match their bytes")
    if values.min(initial=0) < 0 or values.max(initial=0) > 127:
        return []  # XGBoost truncates a label to as many bytes as it has characters
    text = values.astype("u1").tobytes().decode()
    return [
        text[begin:end]
        for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]


Boosted = HistGradientBoostingClassifier | HistGradientBoostingRegressor


def from_xgboost(
    model: Any,
    *,
    classes: npt.ArrayLike | None = None,
    categories: Mapping[str | int, Sequence[Any]] | None = None,
) -> Boosted:
    """Convert a fitted XGBoost model.

    Its predictions are equal to XGBoost's up to rounding: XGBoost sums trees in single precision,
    so raw scores differ by a relative error of about 1e-7. The result supports everything that our
    estimators do: ``save``, explanations, rules of single trees. XGBoost need not be installed to
    read a file.

    Parameters
    ----------
    model : path, Booster, XGBClassifier, XGBRegressor, XGBRanker or a random forest of XGBoost
        The fitted model, or the file that ``save_model`` wrote, as JSON or UBJSON.
    classes : array-like, default=None
        Labels of the classes, in the order of the class numbers. None: those of a fitted
        XGBClassifier, else 0, 1, ... All labels of a multilabel model share two numbers.
    categories : mapping of column name or index to sequence, default=None
        Labels of the categories, in the order of their codes. They are needed for models with
        categorical columns, unless the file has them: XGBoost stores ASCII labels of data frames
        since version 3.1.

    Returns
    -------
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Only the parameters ``max_iter`` and ``loss`` are taken from the model; the others have
        their defaults, which apply if a clone is fitted.

    Raises
    ------
    ModelFormatError
        If the file is damaged, or has unsupported features: linear boosters, objectives with other
        links. It is a ValueError.
    ValueError
        If classes or categories do not match the model.
    OSError
        If the file does not exist or cannot be read.

    Notes
    -----
    In XGBoost, a value goes left if it is less than a threshold after both are rounded to float32.
    The thresholds are converted to equivalent float64 thresholds, so predictions agree for data of
    both types.

    The weight of a node is XGBoost's cover, the sum of hessians, so SHAP values agree too. XGBoost
    does not store the number of rows of a node: ``n_node_samples`` is the rounded cover. A category
    that the model has not seen goes the way of missing values.

    If several quantiles of a row cross, they are sorted, as in our own models.

    A tree with vector leaves (``multi_strategy="multi_output_tree"``, XGBoost 3.2 or later) becomes
    a tree for each output with the same splits, as in our own models.

    With several labels of a row (``binary:logistic`` with a target of several columns), the result
    is multilabel as after our own fit: ``predict_proba`` returns a list with the probabilities of
    both classes of each label, where XGBoost returns those of the second class as columns.

    With early stopping, only the rounds up to the best one of an estimator are converted, as in its
    ``predict``; all rounds of a Booster are converted.

    Examples
    --------
    >>> import arboleda
    >>> model = arboleda.from_xgboost("model.json")  # doctest: +SKIP
    >>> model.predict(X)  # doctest: +SKIP
    """
    content, place = _read_content(model)
    document = with_error_context(place, lambda: _read_document(content))
    parts = with_error_context(place, lambda: _read_learner(document, _find_best_iteration(model)))
    columns = read_columns(parts.learner, place, categories)
    trees = with_error_context(place, lambda: _read_trees(parts, columns))
    objective = parts.objective
    if objective.n_classes == 0:
        refuse_classes(classes, objective.name)
    labels = _read_classes(model, classes, objective) if objective.n_classes else None
    return with_error_context(
        place,
        lambda: make_histogram_boosting(
            columns,
            objective.loss,
            objective.start,
            trees,
            missing_columns=np.arange(columns.n_columns),
            classes=labels,
            parameters=objective.parameters,
        ),
    )


def _read_classes(
    model: Any, classes: npt.ArrayLike | None, objective: XgboostObjective
) -> npt.NDArray[Any] | list[npt.NDArray[Any]]:
    """Return the classes; a list with those of each label for a multilabel model."""
    labels = check_class_labels(classes, getattr(model, "classes_", None), objective.n_classes)
    loss = objective.loss
    return repeat_label_classes(labels, loss.n_outputs) if loss.is_multilabel else labels


@dataclass(frozen=True)
class _Parts:
    learner: dict[str, Any]
    booster: dict[str, Any]  # the object with the entry "model"
    objective: XgboostObjective
    tree_weights: npt.NDArray[np.float64] | None  # for DART
    n_rounds: int | None  # None: all


def _find_best_iteration(model: Any) -> int | None:
    """Return the best round of early stopping, or None for a Booster, which uses all rounds."""
    best = getattr(model, "best_iteration", None) if hasattr(model, "get_booster") else None
    return None if best is None else int(best)


def _read_content(model: Any) -> tuple[bytes, str]:
    """Return the bytes of a model, and its description for messages."""
    if isinstance(model, str | os.PathLike):
        return read_file(model), os.fspath(model)
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise ValueError(
            f"the model uses {missing} as the missing value, which is not supported: fit it with "
            "missing=np.nan on data with NaN instead"
        )
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if not hasattr(booster, "save_raw"):
        raise TypeError(
            f"model must be an XGBoost Booster, one of its estimators, or the path of a file, got "
            f"{type(model).__name__}"
        )
    content = bytes(booster.save_raw(raw_format="ubj"))
    return content, f"the {type(model).__name__}"


def _read_document(content: bytes) -> Any:
    """Read JSON or UBJSON, which both begin with a brace."""
    if content[:1] != b"{":
        raise ModelFormatError(
            "it is neither JSON nor UBJSON, and XGBoost's older binary format is not supported: "
            "load the model with the version that saved it, and save it as model.json"
        )
    if content[1:2] in b' \t\r\n"}':
        return parse_strict_json(content, "it", allow_nan=True)  # a threshold may be -Infinity
    return read_ubjson(content)


def _read_learner(document: Any, best_iteration: int | None) -> _Parts:
    learner = read_entry(document, "learner", dict)
    booster = read_entry(learner, "gradient_booster", dict)
    name = read_entry(booster, "name", str)
    if name not in {"dart", "gbtree"}:
        raise ModelFormatError(
            f"its booster is {name[:60]!r}: only tree models, gbtree and dart, are supported"
        )
    # DART's weights of trees; since XGBoost 3.4, DART is a gbtree with weights in its model.
    weights = None
    if name == "dart":
        weights = read_float32s(booster, "weight_drop")
        booster = read_entry(booster, "gbtree", dict)
    elif "weight_drop" in read_entry(booster, "model", dict):
        weights = read_float32s(booster["model"], "weight_drop")
    attributes = learner.get("attributes")
    if isinstance(attributes, dict) and {"scikit_learn", "best_iteration"} <= attributes.keys():
        best_iteration = read_integer(
            attributes["best_iteration"], "best_iteration"
        )  # an estimator's file
    n_rounds = None if best_iteration is None else best_iteration + 1
    return _Parts(learner, booster, read_objective(learner), weights, n_rounds)


def _read_trees(parts: _Parts, columns: Columns) -> list[Tree]:
    """Read the trees in the order of the rounds, with one tree for each output in a round.

    A tree with vector leaves becomes a tree for each output.
    """
    model = read_entry(parts.booster, "model", dict)
    stored = read_entry(model, "trees", list)
    output = read_integers(model, "tree_info", len(stored))
    n_kept = len(stored)
    if parts.n_rounds is not None:
        ends = read_integers(model, "iteration_indptr")
        if parts.n_rounds < ends.size:
            n_kept = min(n_kept, int(ends[parts.n_rounds]))
    weights = parts.tree_weights
    if weights is not None and (weights.size != len(stored) or not np.isfinite(weights).all()):
        raise ModelFormatError("weight_drop does not have a finite number for each tree")
    n_outputs = parts.objective.loss.n_outputs
    by_output: list[list[Tree]] = [[] for _ in range(n_outputs)]
    for number, tree in enumerate(stored[:n_kept]):
        if not 0 <= output[number] < n_outputs:
            raise ModelFormatError(f"tree {number} has an output that the objective does not have")
        weight = 1.0 if weights is None else float(weights[number])
        made = with_error_context(
            f"tree {number}", partial(_make_trees, tree, weight, columns, n_outputs)
        )
        places = [output[number]] if len(made) == 1 else range(n_outputs)
        for place, of_output in zip(places, made, strict=True):
            by_output[place].append(of_output)
    if len({len(trees) for trees in by_output}) > 1:
        raise ModelFormatError("its outputs have different numbers of trees")
    return [tree for trees_of_round in zip(*by_output, strict=True) for tree in trees_of_round]


def _make_trees(stored: Any, weight: float, columns: Columns, n_outputs: int) -> list[Tree]:
    """Make the trees of the outputs of vector leaves, or else a single one."""
    nodes = read_nodes(stored, weight, columns)
    width = nodes.value.shape[1]
    if width not in {1, n_outputs}:
        raise ModelFormatError(f"its leaves have {width} values for {n_outputs} outputs")
    return [
        to_tree(replace(nodes, value=nodes.value[:, [k]]), columns.n_columns, mean_values=True)
        for k in range(width)
    ]
