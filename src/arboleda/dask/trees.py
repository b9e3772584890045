"""One tree whose rows are on the workers of Dask: byte for byte that of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from arboleda import tree as local
from arboleda._base.fitted import check_fitted
from arboleda.dask.coded_tables import refuse_coded_table
from arboleda.dask.partitions import NAMES, Partition, read_collections
from arboleda.dask.predictions import is_lazy, predict_lazily
from arboleda.dask.shard_task import Keep
from arboleda.dask.sharded_estimators import (
    FittedInShards,
    clone_on_worker,
    get_fitted,
    split_parts,
)
from arboleda.dask.tasks import check_client
from arboleda.dask.worker_shards import WorkerShards
from arboleda.tree import check_shard_support, fit_shard

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor"]

_ABOUT = """{first}

The tree is that of `arboleda.{name}` on the same rows in the same order, byte for byte, with the
same parameters: with any number of workers, with partitions of any length, and if workers are lost
meanwhile; the fit then begins again. Each worker holds consecutive partitions. Large nodes are
split by sums over all workers; the rows of small ones are sent, and each worker grows what is below
some of them. Predictions for collections of Dask are lazy.

Parameters
----------
client : distributed.Client or None, default=None
    None: the current client.
max_bins : int, default=255
    As in `arboleda.{name}`, whose default is None. None is not supported, as sums over workers are
    sums of bins.

Attributes
----------
The same as those of `arboleda.{name}`.

Notes
-----
``n_jobs=None`` takes the threads of each worker. Not supported: @others``splitter="random"``,
several targets and sparse partitions.

Examples
--------
>>> import numpy as np
>>> from arboleda.dask import ClusterError, {name}
>>> X = np.arange(40.0).reshape(20, 2)
>>> y = np.arange(20) % 2
>>> try:
...     model = {name}(random_state=0).fit(X, y).to_local()
... except (ClusterError, ImportError) as error:  # without workers
...     print("connect first: client = distributed.Client('tcp://scheduler:8786')")
connect first: client = distributed.Client('tcp://scheduler:8786')
"""


@dataclass(frozen=True)
class TreeWork:
    """The fit of a shard: an unfitted plain tree, and the names of the parts that are given."""

    estimator: Any
    given: frozenset[str]

    def run(
        self,
        parts: Sequence[tuple[Any, ...]],
        validation: Any,
        shards: WorkerShards,
        rounds: Any,
        keep: Keep,
        keep_every: int | None,
    ) -> dict[str, Any]:
        """Return the fitted attributes."""
        estimator = clone_on_worker(self.estimator)
        own = set(vars(estimator))
        arguments: dict[str, Any] = split_parts(parts, NAMES, self.given)
        arguments.setdefault("sample_weight", None)
        fit_shard(estimator, **arguments, shards=shards)
        return get_fitted(estimator, own)

    def count_rounds(self, rounds: Any) -> int:
        """Return 0: a tree is grown at once."""
        return 0


class _TreeByWorkers(FittedInShards):
    """A tree whose `fit` runs in shards on workers; it stands before the plain class."""

    _about = _ABOUT.replace("@others", "")
    _defaults: ClassVar[dict[str, Any]] = {"max_bins": 255}

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree from the rows of the workers.

        Parameters
        ----------
        X : dask.dataframe, dask.array, list of delayed parts, path, or array-like
            The order of rows is that of the partitions, which need not be of equal length and may
            be empty. A path, or a list of them, names Parquet files that the workers read
            themselves; ``"part-*.parquet"`` are those of a folder, sorted by name. A table of this
            process is cut into blocks and sent to the workers.
        y : the same, cut at the same rows; or the name of a column of the files
        sample_weight : the same as y, default=None

        Returns
        -------
        self

        Raises
        ------
        ClusterError
            If there is no client, no worker, a worker of another environment, too little memory, or
            the scheduler is gone.
        ValueError
            If partitions of X and y differ in length, a parameter is not supported, or for the
            reasons of the plain class. The estimator is left unchanged.
        """
        refuse_coded_table(X, "X")
        client = check_client(self.client)
        plain = self._make_plain()
        plain._validate_params()
        check_shard_support(plain)
        self._fix_random_state(plain)

        def read() -> tuple[list[Partition], None]:
            return read_collections(client, X, y, sample_weight, names=NAMES), None

        given = zip(NAMES, (X, y, sample_weight, None), strict=True)
        names = frozenset(name for name, part in given if part is not None)
        return self._fit_shards(client, TreeWork(plain, names), read)

    def _predict(self, method: str, X: Any, width: int | None, dtype: Any) -> Any:
        """Call a method of the plain class, lazily for collections of Dask.

        ``width`` is the number of values of a row; None: a number for each row.
        """
        if not is_lazy(X):
            return getattr(self._plain, method)(self, X)
        shape = () if width is None else (width,)
        return predict_lazily(self.to_local(), method, X, shape, np.dtype(dtype))

    def apply(self, X: Any) -> Any:
        """Return the index of the leaf of each row; see the plain class.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts

        Returns
        -------
        leaves : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        check_fitted(self)
        return self._predict("apply", X, None, np.intp)


class DecisionTreeClassifier(
    _TreeByWorkers, local.DecisionTreeClassifier, plain=local.DecisionTreeClassifier
):
    """Classification tree (CART) of rows on the workers of Dask."""

    def predict(self, X: Any) -> Any:
        """Predict the class; see the plain class.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts

        Returns
        -------
        y : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        check_fitted(self)
        return self._predict("predict", X, None, self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class; see `predict`.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes), or dask.array, or list of delayed arrays
        """
        check_fitted(self)
        return self._predict("predict_proba", X, len(self.classes_), np.float64)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of `predict_proba`; see `predict`.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), or dask.array, or list of delayed arrays
        """
        check_fitted(self)
        return self._predict("predict_log_proba", X, len(self.classes_), np.float64)

    def _compute_score(self, y: Any, predictions: Any, sample_weight: Any) -> float:
        return float(accuracy_score(y, predictions, sample_weight=sample_weight))


class DecisionTreeRegressor(
    _TreeByWorkers, local.DecisionTreeRegressor, plain=local.DecisionTreeRegressor
):
    """Regression tree (CART) of rows on the workers of Dask."""

    _about = _ABOUT.replace("@others", '``criterion="absolute_error"``, ')

    def predict(self, X: Any) -> Any:
        """Predict the target; see the plain class.

        Parameters
        ----------
        X : array-like, dask.dataframe, dask.array, or list of delayed parts

        Returns
        -------
        y : ndarray, or dask.array of the chunks of X, or list of delayed arrays
        """
        check_fitted(self)
        return self._predict("predict", X, None, np.float64)

    def _compute_score(self, y: Any, predictions: Any, sample_weight: Any) -> float:
        return float(r2_score(y, predictions, sample_weight=sample_weight))
