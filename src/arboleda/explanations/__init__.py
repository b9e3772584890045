"""Explanations of the best model of a study or of one row, as run by ``arboleda explain``.

Heavy modules are loaded on first use, to keep errors and help fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._extras import can_study

if TYPE_CHECKING:
    from arboleda.explanations._explanation import Explanation as Explanation
    from arboleda.explanations._explanation import explain_study as explain_study

__all__ = ["Explanation", "explain_study"]
_LAZY = frozenset(__all__)
if not can_study():
    __all__.clear()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        try:
            return getattr(import_module("arboleda.explanations._explanation"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"explaining a study needs the package {error.name}: pip install 'arboleda[study]'"
            ) from error
    raise AttributeError(f"module 'arboleda.explanations' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
