"""Fits on the workers of Dask: studies, grid searches, forests, bagging; models of rows in shards.

Most tasks are fits that need no other one: a fold of a candidate, a block of a forest's trees, a
member of an ensemble. Their results depend on the data, the parameters and the seed alone, so any
number of workers gives the same bytes, also if one is lost meanwhile and its tasks run again.
``tasks.py`` places the data, submits tasks and receives their results.

Boosting, and a single tree, is one fit in shards, the rows of one worker each, which go on in step.
``boosting.py``, ``ranking.py``, ``survival.py`` and ``trees.py`` have the estimators,
``sharded_estimators.py`` what these share, ``partitions.py`` what they are fitted to,
``placement.py`` chooses workers, ``attempts.py`` and ``watch.py`` run the fit from this process,
``shard_task.py`` on the workers, where ``worker_shards.py`` and ``exchange.py`` add up what all
shards have.

``handshake.py`` checks that the workers have this process's environment, and ``clients.py``
connects the command. Nothing here imports Dask before it is used; ``pip install 'arboleda[dask]'``
installs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._utils.errors import ClusterError

if TYPE_CHECKING:
    from arboleda.dask.boosting import BoostingClassifier as BoostingClassifier
    from arboleda.dask.boosting import BoostingRegressor as BoostingRegressor
    from arboleda.dask.boosting import (
        HistGradientBoostingClassifier as HistGradientBoostingClassifier,
    )
    from arboleda.dask.boosting import (
        HistGradientBoostingRegressor as HistGradientBoostingRegressor,
    )
    from arboleda.dask.forests import ExtraTreesClassifier as ExtraTreesClassifier
    from arboleda.dask.forests import ExtraTreesRegressor as ExtraTreesRegressor
    from arboleda.dask.forests import RandomForestClassifier as RandomForestClassifier
    from arboleda.dask.forests import RandomForestRegressor as RandomForestRegressor
    from arboleda.dask.ranking import HistGradientBoostingRanker as HistGradientBoostingRanker
    from arboleda.dask.survival import HistGradientBoostingSurvival as HistGradientBoostingSurvival
    from arboleda.dask.trees import DecisionTreeClassifier as DecisionTreeClassifier
    from arboleda.dask.trees import DecisionTreeRegressor as DecisionTreeRegressor

_MODULES = {
    "BoostingClassifier": "boosting",
    "BoostingRegressor": "boosting",
    "DecisionTreeClassifier": "trees",
    "DecisionTreeRegressor": "trees",
    "ExtraTreesClassifier": "forests",
    "ExtraTreesRegressor": "forests",
    "HistGradientBoostingClassifier": "boosting",
    "HistGradientBoostingRanker": "ranking",
    "HistGradientBoostingRegressor": "boosting",
    "HistGradientBoostingSurvival": "survival",
    "RandomForestClassifier": "forests",
    "RandomForestRegressor": "forests",
}
__all__ = [
    "BoostingClassifier",
    "BoostingRegressor",
    "ClusterError",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "HistGradientBoostingClassifier",
    "HistGradientBoostingRanker",
    "HistGradientBoostingRegressor",
    "HistGradientBoostingSurvival",
    "RandomForestClassifier",
    "RandomForestRegressor",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"arboleda.dask.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'arboleda.dask' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
