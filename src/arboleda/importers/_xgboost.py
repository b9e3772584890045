"""Import of XGBoost models: Chen and Guestrin (2016), "XGBoost: a scalable tree boosting system".

File format: https://xgboost.readthedocs.io/en/stable/tutorials/saving_model.html.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda._errors import ModelFormatError
from arboleda._strict_json import parse_strict_json
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.importers._columns import Columns
from arboleda.importers._fields import (
    read_entry,
    read_file,
    read_floats,
    read_integer,
    read_integers,
    with_error_context,
)
from arboleda.importers._fitted import check_class_labels, make_histogram_boosting, refuse_classes
from arboleda.importers._nodes import to_tree
from arboleda.importers._ubjson import read_ubjson
from arboleda.importers._xgboost_columns import read_columns
from arboleda.importers._xgboost_objectives import Objective, read_objective
from arboleda.importers._xgboost_trees import read_nodes

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
        XGBClassifier, else 0, 1, ...
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
        If the file is damaged, or has unsupported features: linear boosters, trees with several
        outputs, objectives with other links. It is a ValueError.
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
    labels = (
        check_class_labels(classes, getattr(model, "classes_", None), objective.n_classes)
        if objective.n_classes
        else None
    )
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


@dataclass(frozen=True)
class _Parts:
    learner: dict[str, Any]
    booster: dict[str, Any]  # the object with the entry "model"
    objective: Objective
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
        return parse_strict_json(content, "it")
    return read_ubjson(content)


def _read_learner(document: Any, best_iteration: int | None) -> _Parts:
    learner = read_entry(document, "learner", dict)
    booster = read_entry(learner, "gradient_booster", dict)
    name = read_entry(booster, "name", str)
    weights = None
    if name == "dart":
        weights = read_floats(booster, "weight_drop")
        booster = read_entry(booster, "gbtree", dict)
    elif name != "gbtree":
        raise ModelFormatError(
            f"its booster is {name[:60]!r}: only tree models, gbtree and dart, are supported"
        )
    attributes = learner.get("attributes")
    if isinstance(attributes, dict) and {"scikit_learn", "best_iteration"} <= attributes.keys():
        best_iteration = read_integer(
            attributes["best_iteration"], "best_iteration"
        )  # an estimator's file
    n_rounds = None if best_iteration is None else best_iteration + 1
    return _Parts(learner, booster, read_objective(learner), weights, n_rounds)


def _read_trees(parts: _Parts, columns: Columns) -> list[Tree]:
    """Read the trees in the order of the rounds, with one tree for each output in a round."""
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
        made = with_error_context(f"tree {number}", partial(_tree, tree, weight, columns))
        by_output[output[number]].append(made)
    if len({len(trees) for trees in by_output}) > 1:
        raise ModelFormatError("its outputs have different numbers of trees")
    return [tree for trees_of_round in zip(*by_output, strict=True) for tree in trees_of_round]


def _tree(stored: Any, weight: float, columns: Columns) -> Tree:
    return to_tree(read_nodes(stored, weight, columns), columns.n_columns, mean_values=True)
