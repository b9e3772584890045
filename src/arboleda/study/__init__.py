"""Studies of a table from end to end: the code behind ``arboleda study``.

``study.py`` is the spine, ``plan.py`` fixes everything before the first fit, and ``runner.py`` runs
it. The folders show the way of the data: `config`, `search`, `execution`, `combination`,
`artifacts`, `results`. Tables are read by `arboleda.tables`, the models are those of
`arboleda.catalogue`, predictions are scored by `arboleda.scoring`, and the commands ``explore``,
``explain`` and ``compare`` are in `arboleda.analysis`. Each command has one function or class of
its name, imported from here.

Heavy modules are imported on first use, so errors and help appear immediately.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from arboleda._utils.errors import OptionError, StudyError, StudyFormatError, TableError, can_study

if TYPE_CHECKING:
    from arboleda.analysis.comparison.compare import compare as compare
    from arboleda.analysis.comparison.compared_studies import ComparedStudies as ComparedStudies
    from arboleda.analysis.explanation.explain import explain as explain
    from arboleda.analysis.explanation.explanation import Explanation as Explanation
    from arboleda.analysis.exploration.exploration import Exploration as Exploration
    from arboleda.analysis.exploration.explore import explore as explore
    from arboleda.scoring.user_function import MetricFunction as MetricFunction
    from arboleda.study.artifacts.estimators import StudyClassifier as StudyClassifier
    from arboleda.study.artifacts.estimators import StudyRegressor as StudyRegressor
    from arboleda.study.artifacts.exports import export as export
    from arboleda.study.artifacts.loaded import StudyResult as StudyResult
    from arboleda.study.artifacts.pages import page as page
    from arboleda.study.artifacts.rows import Rows as Rows
    from arboleda.study.artifacts.timed_estimators import StudyRanker as StudyRanker
    from arboleda.study.artifacts.timed_estimators import StudySurvivalModel as StudySurvivalModel
    from arboleda.study.results.predict_file import predict as predict
    from arboleda.study.results.predict_file import predict_file as predict_file
    from arboleda.study.study import Study as Study
    from arboleda.tables.layout import Layout as Layout

__all__ = [
    "ComparedStudies",
    "Explanation",
    "Exploration",
    "Layout",
    "MetricFunction",
    "OptionError",
    "Rows",
    "Study",
    "StudyClassifier",
    "StudyError",
    "StudyFormatError",
    "StudyRanker",
    "StudyRegressor",
    "StudyResult",
    "StudySurvivalModel",
    "TableError",
    "compare",
    "explain",
    "explore",
    "export",
    "page",
    "predict",
    "predict_file",
]

_HOMES = {
    "ComparedStudies": "arboleda.analysis.comparison.compared_studies",
    "Explanation": "arboleda.analysis.explanation.explanation",
    "Exploration": "arboleda.analysis.exploration.exploration",
    "Layout": "arboleda.tables.layout",
    "MetricFunction": "arboleda.scoring.user_function",
    "Rows": "arboleda.study.artifacts.rows",
    "Study": "arboleda.study.study",
    "StudyClassifier": "arboleda.study.artifacts.estimators",
    "StudyRanker": "arboleda.study.artifacts.timed_estimators",
    "StudyRegressor": "arboleda.study.artifacts.estimators",
    "StudySurvivalModel": "arboleda.study.artifacts.timed_estimators",
    "compare": "arboleda.analysis.comparison.compare",
    "explain": "arboleda.analysis.explanation.explain",
    "explore": "arboleda.analysis.exploration.explore",
    "StudyResult": "arboleda.study.artifacts.loaded",
    "export": "arboleda.study.artifacts.exports",
    "page": "arboleda.study.artifacts.pages",
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
