"""Studies beside each other: what ``arboleda compare`` runs.

The heavy parts are loaded when first used, so that errors and help come at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arboleda.comparisons._studies import ComparedStudies as ComparedStudies
    from arboleda.comparisons._studies import compare_studies as compare_studies

__all__ = ["ComparedStudies", "compare_studies"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        try:
            return getattr(import_module("arboleda.comparisons._studies"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"comparing studies needs the package {error.name}: pip install 'arboleda[study]'"
            ) from error
    raise AttributeError(f"module 'arboleda.comparisons' has no attribute {name!r}")
