"""Estimators that are fitted in shards: the rows on the workers of Dask, one model of all."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Self

import cloudpickle
import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from arboleda._base.mixins import restore_on_failure
from arboleda.dask.attempts import ShardedFit
from arboleda.dask.checkpoints import Checkpoint
from arboleda.dask.estimators import FittedByWorkers
from arboleda.dask.exchange import Traffic
from arboleda.dask.partitions import Partition
from arboleda.dask.predictions import compute_all, is_lazy
from arboleda.dask.shard_task import ShardWork
from arboleda.dask.tasks import load_distributed

__all__ = ["FittedInShards", "check_sendable", "clone_on_worker", "get_fitted", "split_parts"]


def check_sendable(estimator: Any) -> None:
    """Raise an error if a parameter cannot be pickled.

    Raises
    ------
    TypeError
    """
    for name, value in estimator.get_params(deep=False).items():
        if name == "client":
            continue
        try:
            cloudpickle.dumps(value)
        except Exception as error:
            reason = next(iter(str(error).splitlines()), type(error).__name__)
            raise TypeError(
                f"{name} cannot be sent to the workers ({reason}): let it open files, locks and "
                "connections when it is called"
            ) from error


def clone_on_worker(estimator: Any) -> Any:
    """Return an unfitted copy; ``n_jobs=None`` is all threads of the worker."""
    own = clone(estimator)
    if own.n_jobs is None:
        own.n_jobs = load_distributed().get_worker().state.nthreads
    return own


def get_fitted(estimator: Any, own: Collection[str]) -> dict[str, Any]:
    """Return the attributes that are not among its own, which it had before `fit`."""
    return {name: value for name, value in vars(estimator).items() if name not in own}


def split_parts(
    parts: Sequence[tuple[Any, ...]], names: Sequence[str], given: Collection[str]
) -> dict[str, list[Any]]:
    """Return the parts of all partitions by name, of those that are given."""
    return {name: [part[i] for part in parts] for i, name in enumerate(names) if name in given}


class FittedInShards(FittedByWorkers):
    """A plain estimator whose `fit` runs in shards on workers; it stands before the plain class."""

    _traffic: Sequence[Traffic] = ()

    def _fix_random_state(self, plain: Any) -> None:
        """Let every attempt of a fit draw from the same state."""
        if isinstance(plain.random_state, int | np.integer):
            return
        random_state = check_random_state(self.random_state)  # type: ignore[attr-defined]
        plain.random_state = copy.deepcopy(random_state)
        random_state.randint(np.iinfo(np.int32).max)

    def _fit_shards(
        self,
        client: Any,
        work: ShardWork,
        read: Callable[[], tuple[list[Partition], list[Partition] | None]],
        checkpoint: Checkpoint | None = None,
    ) -> Self:
        """Fit on workers and take over the fitted attributes; unchanged after an error."""
        with restore_on_failure(self):
            sharded = ShardedFit(client, self._plain.__name__, work, read, checkpoint)
            state = sharded.run()
            for name in set(vars(self)) - set(self._get_param_names()):
                delattr(self, name)
            vars(self).update(state)
            self._traffic = sharded.traffic
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the plain class; predictions and y are brought to this process.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        y : the same
        sample_weight : the same, default=None

        Returns
        -------
        score : float
        """
        if not is_lazy(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        predictions, y, sample_weight = compute_all(
            self.predict(X),  # type: ignore[attr-defined]
            y,
            sample_weight,
        )
        score = self._compute_score(y, predictions, sample_weight)  # type: ignore[attr-defined]
        return float(score)

    def save(
        self, path: str | os.PathLike[str], *, metrics: Mapping[str, Any] | None = None
    ) -> None:
        """Write the fitted model as the file of the plain class.

        Parameters
        ----------
        path : str or path-like
        metrics : mapping of str, default=None
            As in the plain class.
        """
        self.to_local().save(path, metrics=metrics)

    def to_local(self) -> Any:
        """Return the fitted model as the plain class, which needs no Dask.

        Returns
        -------
        model : estimator
        """
        model = super().to_local()
        vars(model).pop("_traffic", None)
        return model
