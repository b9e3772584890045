"""One tree from a table in shards: every shard runs the same fit on its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import check_random_state

from arboleda._base.tree_learner import Array, Training
from arboleda._engine.columns import SparseTable
from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.shard_weights import read_shard_weights
from arboleda._engine.shards import Shards, check_fits_shards
from arboleda._engine.target import check_total_weight, read_target

if TYPE_CHECKING:
    from arboleda.tree._decision_tree import DecisionTree

__all__ = ["check_shard_support", "fit_shard", "read_shard_training"]

Model = TypeVar("Model", bound="DecisionTree")


def fit_shard(
    estimator: Model,
    X: Sequence[Any],
    y: Sequence[Any],
    sample_weight: Sequence[Any] | None,
    shards: Shards,
) -> Model:
    """Fit a tree to the rows of all shards, of which these are the rows of one.

    It is called in every shard with the same parameters, and fits the same tree in each: that of
    the plain fit to all rows, shard after shard.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
    X : sequence of arrays or frames
        The partitions of this shard in the order of their rows; may be empty, or have partitions
        without rows.
    y : sequence of array-likes
        The target of each partition.
    sample_weight : sequence of array-likes, or None
        The weights of each partition.
    shards : Shards
        The connection to the other shards.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError, TypeError
        As the plain fit, in all shards; also for what a table in shards does not support.
    ShardLostError
        If another shard is lost.
    """
    check_shard_support(estimator)
    estimator._validate_params()
    return estimator.fit(ShardParts(X, shards), y, sample_weight)


def check_shard_support(estimator: DecisionTree) -> None:
    """Raise an error for estimators and parameters that need all rows in one place.

    Raises
    ------
    TypeError, ValueError
        The message names one of them.
    """
    check_fits_shards(estimator)
    name = type(estimator).__name__
    if estimator.max_bins is None:
        raise ValueError(
            f"{name} does not support max_bins=None for a table in shards, which are compared by "
            "bins: set max_bins=255"
        )
    if estimator.splitter == "random":
        raise ValueError(
            f'{name} does not support splitter="random" for a table in shards: set splitter="best"'
        )
    criterion = getattr(estimator, "criterion", None)
    if criterion == "absolute_error":
        raise ValueError(
            f'{name} does not support criterion="absolute_error" for a table in shards, as medians '
            'are not sums over rows: set criterion="squared_error"'
        )


def read_shard_training(
    model: DecisionTree, X: ShardParts, y: Sequence[Any], sample_weight: Any
) -> Training:
    """Check and bin the rows of a shard, with the columns, bins and classes of all shards.

    Raises
    ------
    ValueError, TypeError
        As for a table that is not cut, in all shards: the message names the partition in which a
        value is wrong.
    """
    shards = X.shards
    table = X.learn_table(model, model.categorical_features, many_levels=False)
    if isinstance(table, SparseTable):
        raise TypeError(
            f"X is sparse, which {type(model).__name__} does not support for a table in shards: "
            "use dense parts"
        )

    def read() -> Array | None:
        values = X.join(y, lambda part: read_target(part, numeric=is_regressor(model)), "y")
        if values is None:
            return None
        with X.naming():
            if model._has_several_outputs(values):
                raise ValueError(
                    f"y has {values.shape[1]} columns, and {type(model).__name__} supports one "
                    "target for a table in shards: fit a tree for each"
                )
            return model._encode_shard_target(values)

    target = model._unite_target(shards.run_together(read), shards)
    weight = model._shard_weight(target, read_shard_weights(X, sample_weight), shards)
    check_total_weight(weight, shards)
    n_threads = resolve_n_jobs(model.n_jobs)
    seed = shards.choose_first(
        lambda: int(check_random_state(model.random_state).randint(np.iinfo(np.int32).max))
    )
    coded = table.code(n_threads, model.max_bins)
    model.missing_columns_ = coded.missing_columns()
    return Training(table, coded, target, weight, n_threads, seed, X.n_rows_of_all, shards)
