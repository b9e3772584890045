"""Exploration of a table before modelling, as run by ``arboleda explore``.

Heavy modules are loaded on first use, to keep errors and help fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._extras import can_study

if TYPE_CHECKING:
    from arboleda.explore._exploration import Exploration as Exploration
    from arboleda.explore._exploration import explore as explore

__all__ = ["Exploration", "explore"]
_LAZY = frozenset(__all__)
if not can_study():
    __all__.clear()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        try:
            return getattr(import_module("arboleda.explore._exploration"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"exploring needs the package {error.name}: pip install 'arboleda[study]'"
            ) from error
    raise AttributeError(f"module 'arboleda.explore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
