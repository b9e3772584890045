"""Independent fits on the workers of Dask: studies, grid searches, forests, bagging.

A task is a fit that needs no other one: a fold of a candidate, a block of a forest's trees, a
member of an ensemble. Its result depends on the data, the parameters and the seed alone, so any
number of workers gives the same bytes, also if one is lost meanwhile and its tasks run again.

``handshake.py`` checks that the workers have this process's environment, ``tasks.py`` places the
data, submits tasks and receives their results, and ``clients.py`` connects the command. Nothing
here imports Dask before it is used; ``pip install 'arboleda[dask]'`` installs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._utils.errors import ClusterError

if TYPE_CHECKING:
    from arboleda.dask.forests import ExtraTreesClassifier as ExtraTreesClassifier
    from arboleda.dask.forests import ExtraTreesRegressor as ExtraTreesRegressor
    from arboleda.dask.forests import RandomForestClassifier as RandomForestClassifier
    from arboleda.dask.forests import RandomForestRegressor as RandomForestRegressor

__all__ = [
    "ClusterError",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("arboleda.dask.forests"), name)
    raise AttributeError(f"module 'arboleda.dask' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
