"""The catalogue: every model a study can try, in the order in which equals are ranked."""

from collections.abc import Sequence

from arboleda.study.catalogue.boosting import BOOSTING, BOOSTING_STYLES
from arboleda.study.catalogue.ensembles import ADABOOST, FORESTS
from arboleda.study.catalogue.kernels import CLASS_MODELS, KERNELS
from arboleda.study.catalogue.model import Model
from arboleda.study.catalogue.portfolio import PORTFOLIO
from arboleda.study.catalogue.selected import AVERAGES, SELECTED
from arboleda.study.catalogue.simple_models import BASELINES, LINEAR, NEIGHBOURS, NETWORKS, TREES
from arboleda.study.errors import StudyError

__all__ = ["ALL", "CATALOGUE", "CORE", "PORTFOLIO_WORD", "known_words", "models_for"]

CATALOGUE: tuple[Model, ...] = (
    *BASELINES,
    *TREES,
    *FORESTS,
    *ADABOOST,
    *BOOSTING,
    *BOOSTING_STYLES,
    *LINEAR,
    *CLASS_MODELS,
    *NEIGHBOURS,
    *KERNELS,
    *NETWORKS,
    *SELECTED,
    *AVERAGES,
)
CORE, ALL, PORTFOLIO_WORD = "core", "all", "portfolio"
WORDS = (CORE, ALL, PORTFOLIO_WORD)


def models_for(task: str, wanted: Sequence[str] = (CORE,)) -> list[Model]:
    """The wanted models for a task ("binary", "multiclass", "regression"), in their fixed order.

    ``wanted`` holds keys of models, "core" for the textbook models that every study tries, "all"
    for the whole catalogue, or "portfolio" for the fixed configurations of preset "best".

    Raises
    ------
    StudyError
        If there is no such model for the task, or none is wanted.
    """
    kind, known = _of_task(task)
    keys = [model.key for model in known if not model.bag]
    bags = [model.key for model in known if model.bag]
    strange = next((word for word in wanted if word not in (*keys, *bags, *WORDS)), None)
    if strange is not None or not wanted:
        what = "No model is named" if strange is None else f"There is no model {strange!r}"
        some = f"{CORE}, {ALL}, or some of {', '.join(keys)}; or {PORTFOLIO_WORD}"
        raise StudyError(f"{what} for {kind}; choose {some}.")
    return [
        model
        for model in known
        if model.key in wanted
        or (PORTFOLIO_WORD if model.bag else ALL) in wanted
        or (model.core and CORE in wanted)
    ]


def known_words(task: str, words: Sequence[str]) -> tuple[str, ...]:
    """Those of the words that name models of a task."""
    keys = {model.key for model in _of_task(task)[1]}
    return tuple(word for word in words if word in (*WORDS, *keys))


def _of_task(task: str) -> tuple[str, list[Model]]:
    """What a task is called in the catalogue, and its models."""
    kind = "regression" if task == "regression" else "classification"
    return kind, [model for model in (*CATALOGUE, *PORTFOLIO) if model.task in (kind, task)]
