"""Boosting on a table in shards: every shard runs the same fit on its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from arboleda._engine.all_shards import AllShards
from arboleda._engine.shard_parts import ShardParts
from arboleda._engine.shards import Shards, check_fits_shards
from arboleda.boosting._hist_gradient_boosting import HistGradientBoosting
from arboleda.boosting._hist_gradient_boosting_ranker import HistGradientBoostingRanker
from arboleda.boosting._rows import FinishedRounds, RoundKeeping

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
    qid: Sequence[Any] | str | None = None,
    qid_val: Sequence[Any] | str | None = None,
    resume: FinishedRounds | None = None,
    keeping: RoundKeeping | None = None,
) -> Model:
    """Fit an estimator to the rows of all shards, of which these are the rows of one.

    It is called in every shard with the same parameters, and fits the same model in each: that of
    the plain fit to all rows, shard after shard.

    Parameters
    ----------
    estimator : HistGradientBoostingClassifier, -Regressor, -Ranker or -Survival
        With ``warm_start=True``, fitted before: the same model in all shards.
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
        Validation rows of this shard, in the same form; given in all shards or in none.
    qid, qid_val : sequence of array-likes, str or None
        Of a ranker: the queries of the rows of each partition, or the name of their column. All
        rows of a query are in one partition.
    resume : FinishedRounds or None
        The attribute `rounds` of the `ShardLostError` of an earlier attempt on the same rows, which
        may have been cut differently; the same in all shards. The model is that of a fit that was
        never interrupted.
    keeping : RoundKeeping or None
        Where rounds are kept during the fit; the model is the same.

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
    check_fits_shards(estimator)
    given = X_val is not None, y_val is not None
    gathered = AllShards(shards).gather((given, _count_earlier_rounds(estimator)))
    all_given, all_earlier = zip(*gathered, strict=True)
    if len(set(all_earlier)) > 1:
        raise ValueError(
            "warm_start=True must continue the same model in all shards, but they have models of "
            f"{', '.join(map(str, all_earlier))} rounds"
        )
    if len(set(all_given)) > 1:
        raise ValueError(
            "X_val and y_val are given in some shards only: give them in all, empty where a shard "
            "has no such rows"
        )
    if resume is not None and resume.ensemble.n_rounds == 0:
        resume = None
    validation = None if X_val is None else ShardParts(X_val, shards)
    is_ranker = isinstance(estimator, HistGradientBoostingRanker)
    queries = {"qid": qid, "qid_val": qid_val} if is_ranker else {}
    return estimator.fit(
        ShardParts(X, shards, resume, keeping),
        y,
        sample_weight,
        X_val=validation,
        y_val=y_val,
        sample_weight_val=sample_weight_val,
        **queries,
    )


def _count_earlier_rounds(estimator: Any) -> int:
    """Return the number of rounds of the model that a warm start continues."""
    if not (estimator.warm_start and hasattr(estimator, "ensemble_")):
        return 0
    return int(estimator.ensemble_.n_rounds)
