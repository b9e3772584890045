"""Comparison of studies, as run by ``arboleda compare``.

Heavy modules are loaded on first use, to keep errors and help fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._extras import can_study

if TYPE_CHECKING:
    from arboleda.comparisons._studies import ComparedStudies as ComparedStudies
    from arboleda.comparisons._studies import compare_studies as compare_studies

__all__ = ["ComparedStudies", "compare_studies"]
_LAZY = frozenset(__all__)
if not can_study():
    __all__.clear()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        try:
            return getattr(import_module("arboleda.comparisons._studies"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"comparing studies needs the package {error.name}: pip install 'arboleda[study]'"
            ) from error
    raise AttributeError(f"module 'arboleda.comparisons' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
