"""Import of LightGBM models: Ke et al. (2017), NIPS 30.

https://lightgbm.readthedocs.io/en/stable/Parameters.html#objective

decision tree".
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.labels import Label
from arboleda._engine.tree import Tree
from arboleda._utils.errors import ModelFormatError
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor, Loss
from arboleda.importers._columns import (
    Columns,
    Integers,
    as_labels,
    check_category_count,
    read_file,
    read_float,
    read_given_categories,
    read_integer,
    with_error_context,
)
from arboleda.importers._lightgbm_trees import (
    Block,
    ModelText,
    collect_categories,
    find_missing_columns,
    read_nodes,
    read_text,
    read_text_entry,
)
from arboleda.importers._trees import (
    NodeTable,
    check_class_labels,
    make_histogram_boosting,
    refuse_classes,
    to_tree,
)

_MAX_COLUMNS = 2**24


def read_columns(
    text: ModelText,
    place: str,
    categories: Mapping[Any, Any] | None,
    feature_names: Sequence[str] | None,
) -> Columns:
    """Read the columns; names and labels of the caller override those in the file.

    Raises
    ------
    ModelFormatError
        If they cannot be read.
    ValueError
        If names or labels of the caller do not match the model.
    """
    own_names, labels = with_error_context(place, lambda: (_read_names(text), _read_labels(text)))
    names = own_names
    if feature_names is not None:
        names = [str(name) for name in feature_names]
        if len(names) != len(labels):
            raise ValueError(
                f"feature_names must hold a name for each of the {len(labels)} columns, got "
                f"{len(names)} names"
            )
    for column, listed in read_given_categories(categories, names, len(labels)).items():
        if labels[column] is None:
            raise ValueError(f"categories names column {column}, which is numeric: remove it")
        labels[column] = listed
    return Columns(None if names is None else tuple(names), tuple(labels))


def _read_names(text: ModelText) -> list[str] | None:
    """Read the names, or return None if they are LightGBM's defaults for arrays."""
    names = read_text_entry(text.header, "feature_names").split(" ")
    if len(names) != text.n_columns:
        raise ModelFormatError(f"it has {len(names)} names for {text.n_columns} columns")
    if names == [f"Column_{j}" for j in range(len(names))]:
        return None
    return names


def _read_labels(text: ModelText) -> list[Mapping[int, Label] | None]:
    """Read the labels of each categorical column, by their codes."""
    n_columns = text.n_columns
    if n_columns > _MAX_COLUMNS:
        raise ModelFormatError(f"it has {n_columns} columns")
    infos = read_text_entry(text.header, "feature_infos").split(" ")
    if len(infos) != n_columns:
        raise ModelFormatError(f"feature_infos has {len(infos)} entries for {n_columns} columns")
    numbers = {
        j: _parse_categories(info) for j, info in enumerate(infos) if _lists_categories(info)
    }
    for tree in text.trees:
        for column, codes in collect_categories(tree).items():
            check_category_count(codes.size, str(column))  # before they are compared
            numbers[column] = np.union1d(numbers.get(column, codes), codes)
            check_category_count(numbers[column].size, str(column))
    labels: list[Mapping[int, Label] | None] = [None] * n_columns
    for column, known in numbers.items():
        if not 0 <= column < n_columns:
            raise ModelFormatError(f"a node splits on column {column}, but there are {n_columns}")
        labels[column] = {code: code for code in known.tolist()}
    if text.categories:
        places = _find_categorical_columns(text, sorted(numbers))
        for column, listed in zip(places, text.categories, strict=True):
            labels[column] = as_labels(listed, str(column))
    return labels


def _find_categorical_columns(text: ModelText, columns_in_trees: list[int]) -> list[int]:
    """Return the indices of the columns whose labels the file lists."""
    words = text.parameters.get("categorical_feature", "").replace(",", " ").split()
    listed = sorted({int(word) for word in words if word.isascii() and word.isdigit()})
    for columns in (listed, columns_in_trees):
        if len(columns) == len(text.categories or ()) and all(j < text.n_columns for j in columns):
            return columns
    raise ModelFormatError(
        f"it lists categories of {len(text.categories or ())} columns without their indices"
    )


def _lists_categories(info: str) -> bool:
    return info != "none" and not info.startswith("[")


def _parse_categories(info: str) -> Integers:
    """Parse the categories of the training data, such as "-1:0:2"; negative ones are missing."""
    try:
        codes = np.array(info.split(":"), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError("feature_infos holds a value that is not a category") from error
    return np.unique(codes[codes >= 0])


# Regression objectives: our corresponding loss, or "custom" if there is none, and the link.
_NUMBERS: Mapping[str, tuple[str, str]] = {
    "regression": ("squared_error", "identity"),
    "regression_l1": ("absolute_error", "identity"),
    "huber": ("custom", "identity"),
    "fair": ("custom", "identity"),
    "quantile": ("custom", "identity"),
    "mape": ("mape", "identity"),
    "poisson": ("poisson", "log"),
    "gamma": ("gamma", "log"),
    "tweedie": ("tweedie", "log"),
    "lambdarank": ("custom", "identity"),
    "rank_xendcg": ("custom", "identity"),
    "custom": ("custom", "identity"),
}
_UNSUPPORTED = {
    "multiclassova": "its probabilities do not sum to 1; fit with multiclass",
    "cross_entropy": "our regressors have no logistic link; fit with binary",
    "cross_entropy_lambda": "our regressors have no such link; fit with binary",
}


@dataclass(frozen=True)
class LightgbmObjective:
    """An objective in terms of our losses.

    Parameters
    ----------
    name : str
        LightGBM's name.
    loss : Loss
    n_classes : int
        0 for regression.
    scale : float
        Factor of raw scores before the link is applied.
    parameters : dict
        Parameters of our estimator.
    """

    name: str
    loss: Loss
    n_classes: int = 0
    scale: float = 1.0
    parameters: dict[str, Any] = field(default_factory=dict)


def read_objective(header: Block) -> LightgbmObjective:
    """Read the objective, such as "binary sigmoid:1"; it is missing for a custom loss.

    Raises
    ------
    ModelFormatError
        If it cannot be read, or is not supported.
    """
    name, *options = header.get("objective", "custom").split(" ") or ["custom"]
    values = dict(option.partition(":")[::2] for option in options)
    if "sqrt" in values:
        raise ModelFormatError(
            "it predicts squares of the sums of its trees (reg_sqrt=True), which is not supported: "
            "fit it on the square root of the target, and square the predictions"
        )
    if name == "binary":
        scale = read_float(values.get("sigmoid", "1"), "sigmoid")
        if scale <= 0.0:
            raise ModelFormatError(f"sigmoid must be positive, got {scale:g}")
        return LightgbmObjective(name, Loss("log_loss", 1, "logit", 2), 2, scale)
    if name == "multiclass":
        return _make_multiclass_objective(read_integer(values.get("num_class", ""), "num_class"))
    if name in _NUMBERS:
        return _make_regression_objective(
            name, read_integer(header.get("num_class", "1"), "num_class", 1)
        )
    reason = _UNSUPPORTED.get(name, "it is not known to this version")
    raise ModelFormatError(f"its objective {name[:60]!r} has no counterpart here: {reason}")


def _make_multiclass_objective(n_classes: int) -> LightgbmObjective:
    if not 2 <= n_classes <= 2**20:
        raise ModelFormatError(f"num_class is {n_classes}")
    if n_classes == 2:
        raise ModelFormatError(
            "it has a tree for each of two classes, and our models one for both: fit with binary"
        )
    return LightgbmObjective(
        "multiclass", Loss("log_loss", n_classes, "softmax", n_classes), n_classes
    )


def _make_regression_objective(name: str, n_outputs: int) -> LightgbmObjective:
    if n_outputs != 1:
        raise ModelFormatError(
            f"it has {n_outputs} outputs, which is not supported for the objective {name!r}"
        )
    ours, link = _NUMBERS[name]
    loss = Loss(ours, link="log" if link == "log" else "identity")
    return LightgbmObjective(name, loss, parameters={} if ours == "custom" else {"loss": ours})


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
