"""Forests whose trees grow in blocks on the workers of Dask.

The random numbers of a tree are keyed by its number, so a block of trees is the same bytes as in
the whole forest, whichever worker grows it.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from arboleda import forest as local
from arboleda.dask.coded_tables import open_coded_table, pack_series, unpack_series
from arboleda.dask.estimators import FittedByWorkers
from arboleda.dask.handshake import check_versions, read_versions
from arboleda.dask.tasks import Tasks, load_distributed

if TYPE_CHECKING:
    from arboleda._base.tree_learner import Training

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]

# Blocks of trees for each thread of the workers: they end at about the same time.
_BLOCKS_PER_SLOT = 2
_ABOUT = """{first}

The forest is that of `arboleda.{name}`, byte for byte, with the same parameters; each worker gets
the table once and codes it itself, and a block whose worker is lost grows on another. Out-of-bag
estimates and predictions are computed in this process. ``n_jobs`` is the number of threads of a
block on its worker, by default 1.

Parameters
----------
client : distributed.Client or None, default=None
    None: the current client.

Attributes
----------
The same as those of `arboleda.{name}`.

Raises
------
ClusterError
    In `fit`, if there is no client, no worker, a worker of another environment or without the file
    of a `CodedTable`, or the scheduler is gone.

Examples
--------
>>> from sklearn.datasets import load_diabetes
>>> from arboleda.dask import ClusterError, {name}
>>> X, y = load_diabetes(return_X_y=True)
>>> try:
...     model = {name}(random_state=0).fit(X, y).to_local()
... except (ClusterError, ImportError) as error:  # without workers
...     print("connect first: client = distributed.Client('tcp://scheduler:8786')")
connect first: client = distributed.Client('tcp://scheduler:8786')
"""


class PlacedTraining:
    """An unfitted forest and its training data, as sent to workers; each codes the table once."""

    def __init__(self, forest: Any, X: Any, y: Any, sample_weight: Any) -> None:
        y, sample_weight = pack_series(X, y, "y"), pack_series(X, sample_weight, "sample_weight")
        self._given = forest, X, y, sample_weight, read_versions()
        self._prepare()

    def _prepare(self) -> None:
        self._lock = Lock()
        self._training: Training | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        return self._given

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._given = state
        self._prepare()

    def grow(self, seed: int, first: int, n_trees: int) -> Any:
        """Grow some trees of the forest with this seed."""
        forest, X, y, sample_weight, versions = self._given
        with self._lock:
            if self._training is None:
                address = load_distributed().get_worker().address
                check_versions(address, read_versions(), versions)
                open_coded_table(X)
                y, sample_weight = unpack_series(X, y), unpack_series(X, sample_weight)
                self._training = forest._training(X, y, sample_weight)
                forest.seed_ = seed
        training = replace(self._training, seed=seed)
        return forest._fit_block(training, forest._make_bags(training), first, n_trees)


def grow_block(placed: PlacedTraining, seed: int, first: int, n_trees: int) -> Any:
    """Grow trees ``first`` to ``first + n_trees - 1`` on this worker."""
    return placed.grow(seed, first, n_trees)


class _GrownByWorkers(FittedByWorkers):
    """Forest whose `fit` submits blocks of trees; it stands before the plain class."""

    _about = _ABOUT

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_tasks", None)
        return state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees on the workers; see the plain class.

        Parameters
        ----------
        X : array-like or CodedTable of shape (n_samples, n_features)
            The file of a `CodedTable` must be on a disk that all workers share.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        plain = self._make_plain().set_params(random_state=0, verbose=0, warm_start=False)
        if plain.n_jobs is None:
            plain.n_jobs = 1
        with Tasks(self.client, PlacedTraining(plain, X, y, sample_weight), X) as self._tasks:
            try:
                super().fit(X, y, sample_weight)  # type: ignore[misc]
            finally:
                vars(self).pop("_tasks", None)
        return self

    def _fit_block(self, training: Training, bags: Any, first: int, n_trees: int) -> Any:
        """Grow the trees as blocks on workers, and put them together in their order."""
        tasks = self._tasks
        size = -(-n_trees // (_BLOCKS_PER_SLOT * tasks.n_slots))
        name = self._plain.__name__
        numbers = []
        for start in range(first, first + n_trees, size):
            end = min(start + size, first + n_trees)
            text = f"trees {start + 1} to {end} of {name}"
            numbers.append(tasks.submit(text, grow_block, training.seed, start, end - start))
        blocks = [tasks.result(number) for number in numbers]
        trees = blocks[0]
        for block in blocks[1:]:
            trees = trees.extended(block)
        # Set by growth, and the same for all blocks.
        self._growth_limits(training.table.n_rows)  # type: ignore[attr-defined]
        return trees


class RandomForestClassifier(
    _GrownByWorkers,
    local.RandomForestClassifier,
    plain=local.RandomForestClassifier,
):
    """Random forest of classification trees, grown in blocks on the workers of Dask."""


class RandomForestRegressor(
    _GrownByWorkers,
    local.RandomForestRegressor,
    plain=local.RandomForestRegressor,
):
    """Random forest of regression trees, grown in blocks on the workers of Dask."""


class ExtraTreesClassifier(
    _GrownByWorkers,
    local.ExtraTreesClassifier,
    plain=local.ExtraTreesClassifier,
):
    """Extremely randomized classification trees, grown in blocks on the workers of Dask."""


class ExtraTreesRegressor(
    _GrownByWorkers,
    local.ExtraTreesRegressor,
    plain=local.ExtraTreesRegressor,
):
    """Extremely randomized regression trees, grown in blocks on the workers of Dask."""
