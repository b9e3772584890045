"""Ensemble learning on tables: every textbook method over one native engine.

Public names are loaded when first used, so that ``import arboleda`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that defines it.
_PUBLIC = {
    "DecisionTreeClassifier": "arboleda.tree",
    "DecisionTreeRegressor": "arboleda.tree",
    "Study": "arboleda.study",
}

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor", "Study", "__version__", "metrics"]

if TYPE_CHECKING:
    from arboleda import metrics as metrics
    from arboleda.study import Study as Study
    from arboleda.tree import DecisionTreeClassifier as DecisionTreeClassifier
    from arboleda.tree import DecisionTreeRegressor as DecisionTreeRegressor


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    if name == "metrics":
        return import_module("arboleda.metrics")
    raise AttributeError(f"module 'arboleda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
