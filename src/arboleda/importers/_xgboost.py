"""Models of XGBoost: Chen and Guestrin (2016), "XGBoost: a scalable tree boosting system".

Its format: https://xgboost.readthedocs.io/en/stable/tutorials/saving_model.html.
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
    entry,
    floats,
    integers,
    read_file,
    refusing,
    whole,
)
from arboleda.importers._fitted import class_labels, histogram_boosting, no_classes
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
    """Make a model of ours of one that XGBoost has fitted.

    It predicts what XGBoost predicts, up to the single precision in which XGBoost adds trees up: a
    raw score differs by some 1e-7 of the sum of what the trees add. All else is that of our
    estimators: ``save``, explanations, rules of single trees. XGBoost need not be installed to read
    a file.

    Parameters
    ----------
    model : path, Booster, XGBClassifier, XGBRegressor, XGBRanker or a random forest of XGBoost
        The fitted model, or the file that ``save_model`` wrote, as JSON or UBJSON.
    classes : array-like, default=None
        Labels of the classes, by their numbers. None: those of a fitted XGBClassifier, else 0, 1,
        ...
    categories : mapping of column name or place to sequence, default=None
        Labels of the categories, in the order of their codes. XGBoost keeps those of data frames
        from its version 3.1 on, whole if they are ASCII; they are needed of other models with
        categorical columns.

    Returns
    -------
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Of its parameters ``max_iter`` and ``loss`` tell of the model, the others are defaults: a
        fit of a clone learns anew, by our rules.

    Raises
    ------
    ModelFormatError
        If the file is damaged, or holds what has no counterpart here: linear boosters, trees of
        several outputs, objectives of one's own link. It is a ValueError.
    ValueError
        If classes or categories do not go with the model.
    OSError
        If there is no such file, or it cannot be read.

    Notes
    -----
    A value goes left where it is less than a threshold, after both are rounded to float32; the
    thresholds of the tree here say the same of float64, so predictions agree for data of both.

    Weights of nodes are XGBoost's cover, the sum of hessians, so SHAP values agree too. XGBoost
    does not keep how many rows a node had: ``n_node_samples`` is the cover, rounded. A category
    that the model did not see goes where missing values go.

    Several quantiles of a row are put in order where they cross, as all of ours are.

    Early stopping: of estimators the rounds up to the best one are taken, as their ``predict``
    does; of a Booster all rounds.

    Examples
    --------
    >>> import arboleda
    >>> model = arboleda.from_xgboost("model.json")  # doctest: +SKIP
    >>> model.predict(X)  # doctest: +SKIP
    """
    content, place = _content_of(model)
    document = refusing(place, lambda: _read_document(content))
    parts = refusing(place, lambda: _read_learner(document, _best_iteration(model)))
    columns = read_columns(parts.learner, place, categories)
    trees = refusing(place, lambda: _read_trees(parts, columns))
    objective = parts.objective
    if objective.n_classes == 0:
        no_classes(classes, objective.name)
    labels = (
        class_labels(classes, getattr(model, "classes_", None), objective.n_classes)
        if objective.n_classes
        else None
    )
    return refusing(
        place,
        lambda: histogram_boosting(
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
    booster: dict[str, Any]  # what holds "model"
    objective: Objective
    tree_weights: npt.NDArray[np.float64] | None  # of DART
    n_rounds: int | None  # None: all


def _best_iteration(model: Any) -> int | None:
    """Where early stopping found the best round; a Booster predicts with all of them."""
    found = getattr(model, "best_iteration", None) if hasattr(model, "get_booster") else None
    return None if found is None else int(found)


def _content_of(model: Any) -> tuple[bytes, str]:
    """Bytes of a model, and what messages call it."""
    if isinstance(model, str | os.PathLike):
        return read_file(model), os.fspath(model)
    missing = getattr(model, "missing", np.nan)
    if missing is not None and not np.isnan(missing):
        raise ValueError(
            f"the model takes {missing} for a missing value, and ours take NaN: fit it with "
            "missing=np.nan on data with NaN in the place of that number"
        )
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if not hasattr(booster, "save_raw"):
        raise TypeError(
            f"a {type(model).__name__} is no model of XGBoost: give a Booster, one of its "
            "estimators, or the path of a file"
        )
    content = bytes(booster.save_raw(raw_format="ubj"))
    return content, f"the {type(model).__name__}"


def _read_document(content: bytes) -> Any:
    """JSON or UBJSON: both begin with a brace."""
    if content[:1] != b"{":
        raise ModelFormatError(
            "this is neither JSON nor UBJSON: XGBoost's older binary format cannot be read; load "
            "the model with the version that saved it and save it as model.json"
        )
    if content[1:2] in b' \t\r\n"}':
        return parse_strict_json(content, "it")
    return read_ubjson(content)


def _read_learner(document: Any, best_iteration: int | None) -> _Parts:
    learner = entry(document, "learner", dict)
    booster = entry(learner, "gradient_booster", dict)
    name = entry(booster, "name", str)
    weights = None
    if name == "dart":
        weights = floats(booster, "weight_drop")
        booster = entry(booster, "gbtree", dict)
    elif name != "gbtree":
        raise ModelFormatError(
            f"its booster is {name[:60]!r}: only models of trees, gbtree and dart, can be read"
        )
    attributes = learner.get("attributes")
    if isinstance(attributes, dict) and {"scikit_learn", "best_iteration"} <= attributes.keys():
        best_iteration = whole(
            attributes["best_iteration"], "best_iteration"
        )  # an estimator's file
    n_rounds = None if best_iteration is None else best_iteration + 1
    return _Parts(learner, booster, read_objective(learner), weights, n_rounds)


def _read_trees(parts: _Parts, columns: Columns) -> list[Tree]:
    """Trees of one round after another, one for each output."""
    model = entry(parts.booster, "model", dict)
    stored = entry(model, "trees", list)
    output = integers(model, "tree_info", len(stored))
    kept = len(stored)
    if parts.n_rounds is not None:
        ends = integers(model, "iteration_indptr")
        if parts.n_rounds < ends.size:
            kept = min(kept, int(ends[parts.n_rounds]))
    weights = parts.tree_weights
    if weights is not None and (weights.size != len(stored) or not np.isfinite(weights).all()):
        raise ModelFormatError("weight_drop has not a number for each tree")
    n_outputs = parts.objective.loss.n_outputs
    by_output: list[list[Tree]] = [[] for _ in range(n_outputs)]
    for number, tree in enumerate(stored[:kept]):
        if not 0 <= output[number] < n_outputs:
            raise ModelFormatError(f"tree {number} is of an output that the objective has not")
        weight = 1.0 if weights is None else float(weights[number])
        made = refusing(f"tree {number}", partial(_tree, tree, weight, columns))
        by_output[output[number]].append(made)
    if len({len(trees) for trees in by_output}) > 1:
        raise ModelFormatError("its outputs have different numbers of trees")
    return [tree for a_round in zip(*by_output, strict=True) for tree in a_round]


def _tree(stored: Any, weight: float, columns: Columns) -> Tree:
    return to_tree(read_nodes(stored, weight, columns), columns.n_columns, mean_values=True)
