"""Studying a table from end to end: what ``arboleda study`` runs.

The heavy parts are loaded when first used, so that errors and help come at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda.study.errors import StudyError

if TYPE_CHECKING:
    from arboleda.study.folder.loaded import LoadedStudy as LoadedStudy
    from arboleda.study.study import Study as Study
    from arboleda.study.study import StudyResult as StudyResult

__all__ = ["LoadedStudy", "Study", "StudyError", "StudyResult"]


def __getattr__(name: str) -> Any:
    if name in ("LoadedStudy", "Study", "StudyResult"):
        try:
            return getattr(import_module("arboleda.study.study"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"a study needs the package {error.name}: pip install 'arboleda[study]'"
            ) from error
    raise AttributeError(f"module 'arboleda.study' has no attribute {name!r}")
