"""Models of LightGBM, as text: Ke et al. (2017), "LightGBM: a highly efficient gradient boosting
decision tree".
"""  # noqa: D205 - one sentence

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.tree import Tree
from arboleda._errors import ModelFormatError
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.importers._columns import Columns
from arboleda.importers._fields import read_file, with_error_context
from arboleda.importers._fitted import check_class_labels, make_histogram_boosting, refuse_classes
from arboleda.importers._lightgbm_columns import read_columns
from arboleda.importers._lightgbm_objectives import read_objective
from arboleda.importers._lightgbm_text import ModelText, read_text
from arboleda.importers._lightgbm_trees import find_missing_columns, read_nodes
from arboleda.importers._nodes import NodeTable, to_tree

Boosted = HistGradientBoostingClassifier | HistGradientBoostingRegressor


def from_lightgbm(
    model: Any,
    *,
    classes: npt.ArrayLike | None = None,
    categories: Mapping[str | int, Sequence[Any]] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Boosted:
    """Convert a fitted LightGBM model.

    Raw scores are equal to those of LightGBM, which also sums trees in double precision. The result
    supports everything that our estimators do: ``save``, explanations, rules of single trees.
    LightGBM need not be installed to read a file.

    Parameters
    ----------
    model : path, Booster, LGBMClassifier, LGBMRegressor or LGBMRanker
        The fitted model, or the text file that ``save_model`` wrote.
    classes : array-like, default=None
        Labels of the classes, in the order of the class numbers. None: those of a fitted
        LGBMClassifier, else 0, 1, ...
    categories : mapping of column name or index to sequence, default=None
        Labels of the categories, in the order of their codes. None: those of the training data
        frame, which LightGBM stores, else the integers in the training data.
    feature_names : sequence of str, default=None
        Names of the columns, if those of the model differ from the table's: LightGBM replaces
        spaces by "_".

    Returns
    -------
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Only the parameters ``max_iter`` and ``loss`` are taken from the model; the others have
        their defaults, which apply if a clone is fitted.

    Raises
    ------
    ModelFormatError
        If the file is damaged, or has unsupported features: linear trees, square roots of targets,
        objectives with other links, zeros as missing values. It is a ValueError.
    ValueError
        If classes, categories or names do not match the model.
    OSError
        If the file does not exist or cannot be read.

    Notes
    -----
    The weight of a node is its number of rows, which LightGBM also uses for SHAP values, so these
    agree too. With early stopping, only the rounds up to the best one are converted, as in
    ``predict``. A model without missing values in training reads them as 0, and so does the
    converted model.

    Examples
    --------
    >>> import arboleda
    >>> model = arboleda.from_lightgbm("model.txt")  # doctest: +SKIP
    >>> model.predict(X)  # doctest: +SKIP
    """
    content, place, own_classes = _read_content(model)
    text = with_error_context(place, lambda: read_text(content))
    columns = read_columns(text, place, categories, feature_names)
    objective = with_error_context(place, lambda: read_objective(text.header))
    nodes = with_error_context(place, lambda: _read_trees(text, columns, objective.loss.n_outputs))
    if objective.n_classes == 0:
        refuse_classes(classes, objective.name)
    labels = (
        check_class_labels(classes, own_classes, objective.n_classes)
        if objective.n_classes
        else None
    )
    return with_error_context(
        place,
        lambda: make_histogram_boosting(
            columns,
            objective.loss,
            np.zeros(objective.loss.n_outputs),
            _make_trees(nodes, columns, objective.scale, text),
            missing_columns=_find_missing_columns(text, columns),
            classes=labels,
            parameters=objective.parameters,
        ),
    )


def _read_content(model: Any) -> tuple[bytes, str, npt.NDArray[Any] | None]:
    """Return the bytes of a model, its description for messages, and its class labels."""
    if isinstance(model, str | os.PathLike):
        return read_file(model), os.fspath(model), None
    booster = model.booster_ if hasattr(type(model), "booster_") else model
    if not hasattr(booster, "model_to_string"):
        raise TypeError(
            f"model must be a LightGBM Booster, one of its estimators, or the path of a file, got "
            f"{type(model).__name__}"
        )
    own_classes = model.classes_ if hasattr(type(model), "classes_") else None
    return booster.model_to_string().encode(), f"the {type(model).__name__}", own_classes


def _read_trees(text: ModelText, columns: Columns, n_outputs: int) -> list[NodeTable]:
    if text.n_trees_per_round != n_outputs:
        raise ModelFormatError(
            f"a round has {text.n_trees_per_round} trees, but the objective has {n_outputs} outputs"
        )
    return [
        with_error_context(f"tree {number}", partial(read_nodes, tree, columns))
        for number, tree in enumerate(text.trees)
    ]


def _make_trees(
    nodes: list[NodeTable], columns: Columns, scale: float, text: ModelText
) -> list[Tree]:
    """Convert the trees so that they sum to raw scores; those of random forests are averaged."""
    if text.is_mean and nodes:
        scale /= len(nodes) // text.n_trees_per_round
    return [
        with_error_context(f"tree {number}", partial(_make_tree, table, columns, scale))
        for number, table in enumerate(nodes)
    ]


def _make_tree(nodes: NodeTable, columns: Columns, scale: float) -> Tree:
    return to_tree(nodes.scaled(scale), columns.n_columns, mean_values=True)


def _find_missing_columns(text: ModelText, columns: Columns) -> npt.NDArray[np.intp]:
    """Return the columns with missing values in training, according to the nodes."""
    misses = np.zeros(columns.n_columns, dtype=bool)
    for tree in text.trees:
        misses[find_missing_columns(tree)] = True
    return np.flatnonzero(misses)
