"""Trees of another library become a fitted estimator of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._engine.ensemble import Ensemble
from arboleda._engine.tree import Tree
from arboleda.boosting import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from arboleda.boosting._boosted_model import BoostedModel
from arboleda.boosting._losses import Loss
from arboleda.boosting._target_statistics import TargetStatistics
from arboleda.importers._columns import Columns


def keep_columns(estimator: Any, columns: Columns) -> None:
    """Give an estimator its columns."""
    estimator.schema_ = columns.schema
    estimator.n_features_in_ = columns.n_columns
    if columns.names is not None:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)


def keep_trees(
    estimator: BoostedModel,
    columns: Columns,
    loss: Loss,
    start: npt.ArrayLike,
    trees: Sequence[Tree],
    missing_columns: npt.ArrayLike,
) -> None:
    """Give an estimator of boosting start values and trees, those of one round after another.

    Raises
    ------
    ValueError
        If they do not go together.
    """
    keep_columns(estimator, columns)
    estimator.ensemble_ = Ensemble.from_trees(start, trees)
    estimator.loss_ = loss
    estimator.history_ = {}
    estimator.missing_columns_ = np.array(missing_columns, dtype=np.int64)
    estimator.seed_ = 0
    estimator.statistics_ = TargetStatistics((), ())


def histogram_boosting(
    columns: Columns,
    loss: Loss,
    start: npt.ArrayLike,
    trees: Sequence[Tree],
    *,
    missing_columns: npt.ArrayLike,
    classes: npt.NDArray[Any] | None,
    parameters: dict[str, Any],
) -> HistGradientBoostingClassifier | HistGradientBoostingRegressor:
    """Make a fitted estimator of boosting; a classifier where there are classes.

    Raises
    ------
    ValueError
        If the parts do not go together.
    """
    rounds = max(1, len(trees) // max(1, loss.n_outputs))
    kind = HistGradientBoostingRegressor if classes is None else HistGradientBoostingClassifier
    estimator: Any = kind(max_iter=rounds, **parameters)
    if classes is not None:
        estimator.classes_ = classes
    keep_trees(estimator, columns, loss, start, trees, missing_columns)
    estimator.train_score_ = estimator.validation_score_ = np.empty(0)
    boosted: HistGradientBoostingClassifier | HistGradientBoostingRegressor = checked(estimator)
    return boosted


def checked(estimator: Any) -> Any:
    """Return an estimator whose parts go together.

    Raises
    ------
    ValueError
        If they do not.
    """
    defect = estimator._defect()
    if defect is not None:
        raise ValueError(defect)
    return estimator


def class_labels(classes: Any, own: npt.NDArray[Any] | None, n_classes: int) -> npt.NDArray[Any]:
    """Labels of the classes: those that were given, or the model's own, or 0, 1, ..

    Raises
    ------
    ValueError
        If they are not as many different labels as the model has classes.
    """
    found = np.arange(n_classes) if own is None else np.asarray(own)
    if classes is not None:
        found = np.asarray(classes)
    if found.ndim != 1 or len(found) != n_classes or len(set(found.tolist())) != n_classes:
        raise ValueError(
            f"the model has {n_classes} classes, and classes={found.tolist()!r} does not name each "
            "of them once"
        )
    return found


def no_classes(classes: Any, objective: str) -> None:
    """Refuse labels for a model that has no classes.

    Raises
    ------
    ValueError
        If there are some.
    """
    if classes is not None:
        raise ValueError(f"classes names labels, but a model of {objective} has no classes")
