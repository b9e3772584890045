"""Studies of a table from end to end: the code behind ``arboleda study``.

``study.py`` is the spine, ``plan.py`` fixes everything before the first fit, and ``runner.py`` runs
it. The folders show the way of the data: `config`, `data`, `catalogue`, `search`, `execution`,
`combination`, `artifacts`, `results`. The other commands have `exploration`, `explanation` and
`comparison`. Each command has one function or class of its name, which is imported from here.

Heavy modules are imported on first use, so errors and help appear immediately.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._utils.errors import can_study
from arboleda.study.errors import OptionError, StudyError, StudyFormatError, TableError

if TYPE_CHECKING:
    from arboleda.study.artifacts.estimators import StudyClassifier as StudyClassifier
    from arboleda.study.artifacts.estimators import StudyRegressor as StudyRegressor
    from arboleda.study.artifacts.exports import export as export
    from arboleda.study.artifacts.layout import Layout as Layout
    from arboleda.study.artifacts.loaded import LoadedStudy as LoadedStudy
    from arboleda.study.artifacts.rows import Rows as Rows
    from arboleda.study.comparison.compare import ComparedStudies as ComparedStudies
    from arboleda.study.comparison.compare import compare as compare
    from arboleda.study.explanation.explain import Explanation as Explanation
    from arboleda.study.explanation.explain import explain as explain
    from arboleda.study.exploration.explore import Exploration as Exploration
    from arboleda.study.exploration.explore import explore as explore
    from arboleda.study.results.predict_file import predict as predict
    from arboleda.study.results.predict_file import predict_file as predict_file
    from arboleda.study.study import Study as Study
    from arboleda.study.study import StudyResult as StudyResult

__all__ = [
    "ComparedStudies",
    "Explanation",
    "Exploration",
    "Layout",
    "LoadedStudy",
    "OptionError",
    "Rows",
    "Study",
    "StudyClassifier",
    "StudyError",
    "StudyFormatError",
    "StudyRegressor",
    "StudyResult",
    "TableError",
    "compare",
    "explain",
    "explore",
    "export",
    "predict",
    "predict_file",
]

_HOMES = {
    "ComparedStudies": "arboleda.study.comparison.compare",
    "Explanation": "arboleda.study.explanation.explain",
    "Exploration": "arboleda.study.exploration.explore",
    "Layout": "arboleda.study.artifacts.layout",
    "LoadedStudy": "arboleda.study.artifacts.loaded",
    "Rows": "arboleda.study.artifacts.rows",
    "Study": "arboleda.study.study",
    "StudyClassifier": "arboleda.study.artifacts.estimators",
    "StudyRegressor": "arboleda.study.artifacts.estimators",
    "StudyResult": "arboleda.study.study",
    "compare": "arboleda.study.comparison.compare",
    "explain": "arboleda.study.explanation.explain",
    "explore": "arboleda.study.exploration.explore",
    "export": "arboleda.study.artifacts.exports",
    "predict": "arboleda.study.results.predict_file",
    "predict_file": "arboleda.study.results.predict_file",
}

if not can_study():
    __all__[:] = [name for name in __all__ if name not in _HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        try:
            return getattr(import_module(_HOMES[name]), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"a study needs the package {error.name}: pip install 'arboleda[study]'"
            ) from error
    raise AttributeError(f"module 'arboleda.study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
