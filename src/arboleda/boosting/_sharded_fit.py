"""Boosting on a table in shards: every shard runs the same fit on its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.shards import Shards
from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting

__all__ = ["fit_shard"]

Model = TypeVar("Model", bound=HistGradientBoosting)


def fit_shard(
    estimator: Model,
    X: Sequence[Any],
    y: Sequence[Any],
    sample_weight: Sequence[Any] | None,
    shards: Shards,
    *,
    X_val: Sequence[Any] | None = None,
    y_val: Sequence[Any] | None = None,
    sample_weight_val: Sequence[Any] | None = None,
) -> Model:
    """Fit an estimator to the rows of all shards, of which these are the rows of one.

    It is called in every shard with the same parameters, and fits the same model in each: that of
    the plain fit to all rows, shard after shard.

    Parameters
    ----------
    estimator : HistGradientBoostingClassifier or HistGradientBoostingRegressor
    X : sequence of arrays or frames
        The partitions of this shard in the order of their rows; may be empty, or have partitions
        without rows.
    y : sequence of array-likes
        The target of each partition.
    sample_weight : sequence of array-likes, or None
        The weights of each partition.
    shards : Shards
        The connection to the other shards.
    X_val, y_val, sample_weight_val : sequences, or None
        Validation rows of this shard, in the same form.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError, TypeError
        As the plain fit, in all shards; also for what a table in shards does not support.
    """
    _check_supported(estimator)
    validation = None if X_val is None else ShardParts(X_val, shards)
    return estimator.fit(
        ShardParts(X, shards),
        y,
        sample_weight,
        X_val=validation,
        y_val=y_val,
        sample_weight_val=sample_weight_val,
    )


def _check_supported(estimator: HistGradientBoosting) -> None:
    """Raise an error for parameters that need all rows in one place."""
    name = type(estimator).__name__
    for parameter, is_refused, remedy in (
        ("max_iter", estimator.max_iter == "auto", "set a number of rounds"),
        ("validation_folds", estimator.validation_folds is not None, "use validation_fraction"),
        ("warm_start", bool(estimator.warm_start), "set warm_start=False"),
        ("scoring", estimator.scoring != "loss" and estimator.early_stopping is not False,
         "set scoring='loss' or early_stopping=False"),
    ):  # fmt: skip
        if is_refused:
            value = getattr(estimator, parameter)
            raise ValueError(
                f"{name} does not support {parameter}={value!r} for a table in shards: {remedy}"
            )
