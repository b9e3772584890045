"""Conversion of another library's trees to a fitted estimator of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda.boosting import (
    BoostedModel,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    Loss,
    TargetStatistics,
)
from arboleda.importers._columns import Columns


def set_columns(estimator: Any, columns: Columns) -> None:
    """Set the column attributes of an estimator."""
    estimator.schema_ = columns.schema
    estimator.n_features_in_ = columns.n_columns
    if columns.names is not None:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)


def set_boosting_state(
    estimator: BoostedModel,
    columns: Columns,
    loss: Loss,
    start: npt.ArrayLike,
    trees: Sequence[Tree],
    missing_columns: npt.ArrayLike,
) -> None:
    """Set start values and trees, in the order of the rounds, of a boosting estimator.

    Raises
    ------
    ValueError
        If they are inconsistent.
    """
    set_columns(estimator, columns)
    estimator.ensemble_ = Ensemble.from_trees(start, trees)
    estimator.loss_ = loss
    estimator.history_ = {}
    estimator.missing_columns_ = np.array(missing_columns, dtype=np.int64)
    estimator.seed_ = 0
    estimator.statistics_ = TargetStatistics((), ())


def make_histogram_boosting(
    columns: Columns,
    loss: Loss,
    start: npt.ArrayLike,
    trees: Sequence[Tree],
    *,
    missing_columns: npt.ArrayLike,
    classes: npt.NDArray[Any] | None,
    parameters: dict[str, Any],
) -> HistGradientBoostingClassifier | HistGradientBoostingRegressor:
    """Make a fitted boosting estimator; a classifier if there are classes.

    Raises
    ------
    ValueError
        If its attributes are inconsistent.
    """
    rounds = max(1, len(trees) // max(1, loss.n_outputs))
    kind = HistGradientBoostingRegressor if classes is None else HistGradientBoostingClassifier
    estimator: Any = kind(max_iter=rounds, **parameters)
    if classes is not None:
        estimator.classes_ = classes
    set_boosting_state(estimator, columns, loss, start, trees, missing_columns)
    estimator.train_score_ = estimator.validation_score_ = np.empty(0)
    boosted: HistGradientBoostingClassifier | HistGradientBoostingRegressor = check_state(estimator)
    return boosted


def check_state(estimator: Any) -> Any:
    """Check that the attributes of an estimator are consistent, and return it.

    Raises
    ------
    ValueError
        If they are not.
    """
    defect = estimator._defect()
    if defect is not None:
        raise ValueError(defect)
    return estimator


def check_class_labels(
    classes: Any, own: npt.NDArray[Any] | None, n_classes: int
) -> npt.NDArray[Any]:
    """Return the labels of the classes: the argument, the model's own labels, or 0, 1, ...

    Raises
    ------
    ValueError
        If there is not exactly one distinct label for each class.
    """
    labels = np.arange(n_classes) if own is None else np.asarray(own)
    if classes is not None:
        labels = np.asarray(classes)
    if labels.ndim != 1 or len(labels) != n_classes or len(set(labels.tolist())) != n_classes:
        raise ValueError(
            f"the model has {n_classes} classes, so classes must hold {n_classes} distinct labels, "
            f"got {labels.tolist()!r}"
        )
    return labels


def refuse_classes(classes: Any, objective: str) -> None:
    """Refuse class labels for a model without classes.

    Raises
    ------
    ValueError
        If there are labels.
    """
    if classes is not None:
        raise ValueError(
            f"a model of the objective {objective} has no classes: set classes=None, got "
            f"{classes!r}"
        )
