"""Boosting whose rows are on the workers of Dask: one model, byte for byte that of one machine."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from arboleda import boosting as local
from arboleda._base.fitted import check_fitted
from arboleda.boosting import FinishedRounds, RoundKeeping, fit_shard
from arboleda.dask.checkpoints import Checkpoint
from arboleda.dask.coded_tables import refuse_coded_table
from arboleda.dask.fit_arguments import refuse_plain_arguments
from arboleda.dask.partitions import NAMES, VALIDATION_NAMES, Partition, read_collections
from arboleda.dask.predictions import is_lazy, predict_lazily
from arboleda.dask.shard_task import Keep
from arboleda.dask.sharded_estimators import (
    FittedInShards,
    check_sendable,
    clone_on_worker,
    get_fitted,
    split_parts,
)
from arboleda.dask.tasks import check_client
from arboleda.dask.worker_shards import WorkerShards
from arboleda.persist import model_to_bytes

__all__ = [
    "BoostedByWorkers",
    "BoostingClassifier",
    "BoostingRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
    "describe_boosting",
]

_ABOUT = """{first}

The model is that of `arboleda.{name}` on the same rows in the same order, byte for byte, with the
same parameters: with any number of workers, with partitions of any length, and if workers are lost
meanwhile. Each worker holds consecutive partitions and sends sums, not rows. Predictions for
collections of Dask are lazy.

Parameters
----------
client : distributed.Client or None, default=None
    None: the current client.

Attributes
----------
The same as those of `arboleda.{name}`.

Notes
-----
``n_jobs=None`` takes the threads of each worker. Callbacks and ``verbose`` run on the worker of the
first rows, which has copies of the callbacks; after the loss of a worker new copies are first
called for the finished rounds. @others

Examples
--------
>>> import numpy as np
>>> from arboleda.dask import ClusterError, {name}
>>> X = np.arange(40.0).reshape(20, 2)
>>> y = @target
>>> try:
...     model = {name}(random_state=0).fit(@arguments).to_local()
... except (ClusterError, ImportError) as error:  # without workers
...     print("connect first: client = distributed.Client('tcp://scheduler:8786')")
connect first: client = distributed.Client('tcp://scheduler:8786')
"""


def describe_boosting(target: str, arguments: str = "X, y", others: str = "") -> str:
    """Return the docstring of an estimator; `FittedByWorkers` fills in its name.

    Parameters
    ----------
    target : str
        Target of the example.
    arguments : str
        Of `fit` in the example.
    others : str
        More notes.
    """
    about = _ABOUT.replace("@target", target).replace("@arguments", arguments)
    return about.replace(" @others", f"\n{others}" if others else "")


_SCORING = """A callable ``scoring`` is called on the worker of the first rows, with the rows that
the plain fit scores, in their order and in a table of the kind of the partitions. They are taken
there once, and may be at most a tenth of the memory available to a worker."""

# Members are fitted one after the other, each by all workers.
_ABOUT_AUTOMATIC = describe_boosting(
    "np.arange(20) % 2",
    others=_SCORING
    + "\nIf a worker is lost, the fit begins again. ``checkpoint`` is not supported.",
)


@dataclass(frozen=True)
class BoostingWork:
    """The fit of a shard: an unfitted plain estimator, and what its rows have.

    ``earlier`` are the fitted attributes of the model that a warm start continues; none otherwise.
    ``given`` are the names of the arguments of `fit` that are given as parts of the partitions, and
    ``others`` are further arguments.
    """

    estimator: Any
    earlier: Mapping[str, Any]
    given: frozenset[str]
    others: Mapping[str, Any]

    def run(
        self,
        parts: Sequence[tuple[Any, ...]],
        validation: Sequence[tuple[Any, ...]] | None,
        shards: WorkerShards,
        rounds: Any,
        keep: Keep,
        keep_every: int | None,
    ) -> dict[str, Any]:
        """Return the fitted attributes."""
        estimator = clone_on_worker(self.estimator)
        own = set(vars(estimator))
        vars(estimator).update(self.earlier)
        own_parts = split_parts(parts, NAMES, self.given)
        arguments = {"sample_weight": None, **self.others, **own_parts}
        if validation is not None:
            arguments |= split_parts(validation, VALIDATION_NAMES, self.given)
        keeping = None
        if keep_every is not None:
            keeping = RoundKeeping(keep_every, lambda n, kept: keep(n, _encode(estimator, kept)))
        fit_shard(estimator, **arguments, shards=shards, resume=rounds, keeping=keeping)
        return get_fitted(estimator, own)

    def count_rounds(self, rounds: Any) -> int:
        """Return the number of finished rounds."""
        return 0 if rounds is None else int(rounds.ensemble.n_rounds)


def _get_rounds(model: Any) -> Any:
    """Return the rounds of a model, as `fit_shard` takes them."""
    return FinishedRounds(model.ensemble_, model.history_)


def _encode(estimator: Any, rounds: FinishedRounds) -> bytes:
    """Return the model file of an estimator that is being fitted, with the rounds so far."""
    model = copy.copy(estimator)
    model.ensemble_, model.history_ = rounds.ensemble, rounds.history
    model.train_score_ = model.validation_score_ = np.empty(0)
    with warnings.catch_warnings():
        # Functions are not saved; the fit that goes on has its own.
        warnings.filterwarnings("ignore", ".* is not saved", UserWarning)
        return model_to_bytes(model)


# Returns the partitions of X, y, the weights and the queries, which messages call by these names.
Read = Callable[[Any, Sequence[Any], tuple[str, str, str, str]], list[Partition]]


def _read_rows(
    client: Any, given: Sequence[Any], names: tuple[str, str, str, str]
) -> list[Partition]:
    return read_collections(client, *given, names=names)


class BoostedByWorkers(FittedInShards):
    """Boosting whose `fit` runs in shards on workers; it stands before the plain class."""

    _about = describe_boosting(
        "np.arange(20) % 2",
        others=_SCORING
        + '\nA ``checkpoint`` does not support ``warm_start``, ``max_iter="auto"`` and '
        "``validation_folds``.",
    )

    @refuse_plain_arguments
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 10,
    ) -> Self:
        """Boost trees on the rows of the workers.

        Parameters
        ----------
        X : dask.dataframe, dask.array, list of delayed parts, path, or array-like
            The order of rows is that of the partitions, which need not be of equal length and may
            be empty. All parts, or all blocks of an array, may be sparse matrices of SciPy. A path,
            or a list of them, names Parquet files that the workers read themselves;
            ``"part-*.parquet"`` are those of a folder, sorted by name. A table of this process is
            cut into blocks and sent to the workers.
        y : the same, cut at the same rows; or the names of one or more columns of the files
        sample_weight : the same as y, default=None
        X_val, y_val, sample_weight_val : the same, default=None
            Validation rows for early stopping.
        checkpoint : str or path-like, default=None
            A model file of this process in which rounds are kept. If it exists, the fit goes on
            from it: the same call continues after the death of this process, the scheduler or all
            workers. It needs an integer ``random_state``.
        checkpoint_every : int, default=10
            Number of rounds between two writes of the checkpoint.

        Returns
        -------
        self

        Raises
        ------
        ClusterError
            If there is no client, no worker, a worker of another environment, too little memory, or
            the scheduler is gone.
        ValueError
            If partitions of X and y differ in length, the checkpoint is of another fit, or for the
            reasons of the plain class. The estimator is left unchanged.
        """
        given = X, y, sample_weight, None
        validation = X_val, y_val, sample_weight_val, None
        return self._fit_rows(given, validation, checkpoint, checkpoint_every)

    def _fit_rows(
        self,
        given: Sequence[Any],
        validation: Sequence[Any],
        checkpoint: str | os.PathLike[str] | None,
        checkpoint_every: int,
        others: Mapping[str, Any] | None = None,
        read: Read = _read_rows,
    ) -> Self:
        """Boost trees on X, y, weights and queries.

        ``others`` are further arguments of the plain `fit`.
        """
        if (validation[0] is None) is not (validation[1] is None):
            raise ValueError("X_val and y_val belong together: give both or neither")
        for X, name in ((given[0], "X"), (validation[0], "X_val")):
            refuse_coded_table(X, name)
        client = check_client(self.client)
        check_sendable(self)
        plain = self._make_plain()
        plain._validate_params()
        earlier: dict[str, Any] = {}
        if plain.warm_start and hasattr(self, "ensemble_"):
            params = plain.get_params(deep=False)
            earlier = {k: v for k, v in vars(self.to_local()).items() if k not in params}
        kept = None
        if checkpoint is not None:
            _check_one_ensemble(plain)
            kept = Checkpoint(checkpoint, plain, checkpoint_every, _get_rounds)
        if not earlier:
            self._fix_random_state(plain)

        def read_all() -> tuple[list[Partition], list[Partition] | None]:
            training = read(client, given, NAMES)
            if validation[0] is None:
                return training, None
            return training, read(client, validation, VALIDATION_NAMES)

        named = zip((*NAMES, *VALIDATION_NAMES), (*given, *validation), strict=True)
        names = frozenset(name for name, part in named if part is not None)
        work = BoostingWork(plain, earlier, names, others or {})
        return self._fit_shards(client, work, read_all, kept)

    def _predict(self, method: str, X: Any, arguments: tuple[Any, ...]) -> Any:
        """Call a method of the plain class, lazily for collections of Dask."""
        if not is_lazy(X):
            return getattr(self._plain, method)(self, X, *arguments)
        check_fitted(self)
        if any(argument is not None for argument in arguments):
            raise ValueError("init_score is not supported for collections of Dask")
        model = self.to_local()
        example = copy.copy(model)
        # What the method returns for raw scores of one row.
        raw = np.zeros((1, model.ensemble_.n_outputs))
        vars(example)["_raw_scores"] = lambda X: raw
        returned = getattr(example, method)(None)
        if isinstance(returned, list):
            raise TypeError(
                f"{method} returns a list for several labels, which is not supported for "
                "collections of Dask: compute them, or use decision_function"
            )
        return predict_lazily(model, method, X, returned.shape[1:], returned.dtype)

    def predict(self, X: Any, init_score: Any = None) -> Any:
        """Predict; see the plain class.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        init_score : array-like, default=None
            Not for collections of Dask.

        Returns
        -------
        y : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        return self._predict("predict", X, (init_score,))


def _check_one_ensemble(model: Any) -> None:
    """Raise an error for parameters with which a checkpoint would not have all rounds."""
    if model.warm_start:
        raise ValueError(
            "checkpoint does not support warm_start=True: the file would lack what the rounds of "
            "the earlier fit were. Leave it out"
        )
    if model._is_automatic or model._n_validation_folds:
        raise ValueError(
            "checkpoint keeps the rounds of one model, and this fit makes several: call "
            "fit without it, or set max_iter to a number and validation_folds=None"
        )


class _ClassifierByWorkers(BoostedByWorkers):
    """The further predictions of a classifier."""

    def predict_proba(self, X: Any, init_score: Any = None) -> Any:
        """Predict the probability of each class; see `predict`.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        init_score : array-like, default=None

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes), or dask.array, or list of delayed arrays
        """
        return self._predict("predict_proba", X, (init_score,))

    def predict_log_proba(self, X: Any, init_score: Any = None) -> Any:
        """Return the logarithm of `predict_proba`; see `predict`.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        init_score : array-like, default=None

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), or dask.array, or list of delayed arrays
        """
        return self._predict("predict_log_proba", X, (init_score,))

    def decision_function(self, X: Any, init_score: Any = None) -> Any:
        """Return the raw scores; see `predict`.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts
        init_score : array-like, default=None

        Returns
        -------
        score : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        return self._predict("decision_function", X, (init_score,))


class HistGradientBoostingClassifier(  # type: ignore[misc]
    _ClassifierByWorkers,
    local.HistGradientBoostingClassifier,
    plain=local.HistGradientBoostingClassifier,
):
    """Histogram-based gradient boosting for classification, of rows on the workers of Dask."""


class HistGradientBoostingRegressor(  # type: ignore[misc]
    BoostedByWorkers,
    local.HistGradientBoostingRegressor,
    plain=local.HistGradientBoostingRegressor,
):
    """Histogram-based gradient boosting for regression, of rows on the workers of Dask."""


class BoostingClassifier(  # type: ignore[misc]
    _ClassifierByWorkers, local.BoostingClassifier, plain=local.BoostingClassifier
):
    """Boosting for classification that chooses its parameters, of rows on the workers of Dask."""

    _about = _ABOUT_AUTOMATIC


class BoostingRegressor(  # type: ignore[misc]
    BoostedByWorkers, local.BoostingRegressor, plain=local.BoostingRegressor
):
    """Boosting for regression that chooses its parameters, of rows on the workers of Dask."""

    _about = _ABOUT_AUTOMATIC
