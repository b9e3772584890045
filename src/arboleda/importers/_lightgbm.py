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
from arboleda.importers._fields import read_file, refusing
from arboleda.importers._fitted import class_labels, histogram_boosting, no_classes
from arboleda.importers._lightgbm_columns import read_columns
from arboleda.importers._lightgbm_objectives import read_objective
from arboleda.importers._lightgbm_text import ModelText, read_text
from arboleda.importers._lightgbm_trees import misses_values, read_nodes
from arboleda.importers._nodes import NodeTable, to_tree

Boosted = HistGradientBoostingClassifier | HistGradientBoostingRegressor


def from_lightgbm(
    model: Any,
    *,
    classes: npt.ArrayLike | None = None,
    categories: Mapping[str | int, Sequence[Any]] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Boosted:
    """Make a model of ours of one that LightGBM has fitted.

    Raw scores are those of LightGBM, which adds trees up in double precision as we do. All else is
    that of our estimators: ``save``, explanations, rules of single trees. LightGBM need not be
    installed to read a file.

    Parameters
    ----------
    model : path, Booster, LGBMClassifier, LGBMRegressor or LGBMRanker
        The fitted model, or the text file that ``save_model`` wrote.
    classes : array-like, default=None
        Labels of the classes, by their numbers. None: those of a fitted LGBMClassifier, else 0, 1,
        ...
    categories : mapping of column name or place to sequence, default=None
        Labels of the categories, in the order of their codes. None: those of the data frame of the
        fit, which LightGBM keeps, else the whole numbers that were in the table.
    feature_names : sequence of str, default=None
        Names of the columns, where those of the model are not the table's: LightGBM puts "_" in
        the place of blanks.

    Returns
    -------
    model : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Of its parameters ``max_iter`` and ``loss`` tell of the model, the others are defaults: a
        fit of a clone learns anew, by our rules.

    Raises
    ------
    ModelFormatError
        If the file is damaged, or holds what has no counterpart here: linear trees, square roots of
        targets, objectives with a link of their own, zeros that count as missing. It is a
        ValueError.
    ValueError
        If classes, categories or names do not go with the model.
    OSError
        If there is no such file, or it cannot be read.

    Notes
    -----
    Weights of nodes are numbers of rows, by which LightGBM weighs the paths of SHAP values, so
    those agree too. Early stopping: the rounds up to the best one are taken, as ``predict`` does.
    A model that knows no missing values reads them as 0, and so does the model made of it.

    Examples
    --------
    >>> import arboleda
    >>> model = arboleda.from_lightgbm("model.txt")  # doctest: +SKIP
    >>> model.predict(X)  # doctest: +SKIP
    """
    content, place, own_classes = _content_of(model)
    text = refusing(place, lambda: read_text(content))
    columns = read_columns(text, place, categories, feature_names)
    objective = refusing(place, lambda: read_objective(text.header))
    nodes = refusing(place, lambda: _read_trees(text, columns, objective.loss.n_outputs))
    if objective.n_classes == 0:
        no_classes(classes, objective.name)
    labels = (
        class_labels(classes, own_classes, objective.n_classes) if objective.n_classes else None
    )
    return refusing(
        place,
        lambda: histogram_boosting(
            columns,
            objective.loss,
            np.zeros(objective.loss.n_outputs),
            _scaled_trees(nodes, columns, objective.scale, text),
            missing_columns=_missing_columns(text, columns),
            classes=labels,
            parameters=objective.parameters,
        ),
    )


def _content_of(model: Any) -> tuple[bytes, str, npt.NDArray[Any] | None]:
    """Bytes of a model, what messages call it, and its labels of classes."""
    if isinstance(model, str | os.PathLike):
        return read_file(model), os.fspath(model), None
    booster = model.booster_ if hasattr(type(model), "booster_") else model
    if not hasattr(booster, "model_to_string"):
        raise TypeError(
            f"a {type(model).__name__} is no model of LightGBM: give a Booster, one of its "
            "estimators, or the path of a file"
        )
    own_classes = model.classes_ if hasattr(type(model), "classes_") else None
    return booster.model_to_string().encode(), f"the {type(model).__name__}", own_classes


def _read_trees(text: ModelText, columns: Columns, n_outputs: int) -> list[NodeTable]:
    if text.trees_a_round != n_outputs:
        raise ModelFormatError(
            f"a round has {text.trees_a_round} trees, and the objective {n_outputs} outputs"
        )
    return [
        refusing(f"tree {number}", partial(read_nodes, tree, columns))
        for number, tree in enumerate(text.trees)
    ]


def _scaled_trees(
    nodes: list[NodeTable], columns: Columns, scale: float, text: ModelText
) -> list[Tree]:
    """Trees whose leaves add up to raw scores; of a random forest the mean counts."""
    if text.is_mean and nodes:
        scale /= len(nodes) // text.trees_a_round
    return [
        refusing(f"tree {number}", partial(_scaled_tree, table, columns, scale))
        for number, table in enumerate(nodes)
    ]


def _scaled_tree(nodes: NodeTable, columns: Columns, scale: float) -> Tree:
    return to_tree(nodes.scaled(scale), columns.n_columns, mean_values=True)


def _missing_columns(text: ModelText, columns: Columns) -> npt.NDArray[np.intp]:
    """Columns that missed values in training: their nodes say so."""
    misses = np.zeros(columns.n_columns, dtype=bool)
    for tree in text.trees:
        misses[misses_values(tree)] = True
    return np.flatnonzero(misses)
