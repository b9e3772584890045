"""What options can be, with a few words on each: for ``arboleda models`` and completion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arboleda.catalogue.model import Model
    from arboleda.study.config.presets import Preset

__all__ = [
    "ListedModel",
    "list_metrics",
    "list_model_keys",
    "list_model_words",
    "list_models",
    "list_presets",
    "list_tables",
]

Pairs = list[tuple[str, str]]


def list_metrics() -> Pairs:
    """List the keys of the metrics with their names."""
    from arboleda.reports.metric_names import METRIC_NAMES

    return [(key, name.full_label) for key, name in METRIC_NAMES.items() if name.task is not None]


def list_model_words() -> Pairs:
    """List what ``--models`` takes: words for several models, and keys."""
    from arboleda.catalogue.entries import WORDS

    models = [(model.key, model.name) for model in list_models()]
    return [*((word, "several models") for word in WORDS), *models]


def list_model_keys() -> Pairs:
    """List the keys of models and combinations, as a study has them."""
    from arboleda.study.combination.methods import METHODS

    models = [(model.key, model.name) for model in list_models()]
    return [*models, *((method.key, method.name) for method in METHODS)]


def list_presets() -> Pairs:
    """List the presets with what they are."""
    from arboleda.study.config.presets import PRESETS

    return [(preset.key, preset.about) for preset in PRESETS.values()]


def list_tables() -> Pairs:
    """List the bundled tables."""
    from arboleda.tables.reading import BUNDLED

    return [(name, "a bundled table") for name in BUNDLED]


@dataclass(frozen=True)
class ListedModel:
    """A model of the catalogue as it is listed.

    Attributes
    ----------
    family, key, name, about : str
    tasks : tuple of str
        Of "classification", "binary" (two classes only), "regression", "survival" and "ranking".
    presets : tuple of str
        The presets that try it by default.
    """

    family: str
    key: str
    name: str
    about: str
    tasks: tuple[str, ...]
    presets: tuple[str, ...]


def list_models() -> list[ListedModel]:
    """List the catalogue by family; the two tasks of a model are one entry.

    Examples
    --------
    >>> [model.key for model in list_models() if model.family == "Trees"]
    ['cart', 'pruned_tree', 'reduced_error_tree']
    """
    from arboleda.catalogue.families import FAMILIES

    return [
        _list_model(family, [model for model in models if model.key == key])
        for family, models in FAMILIES
        for key in dict.fromkeys(model.key for model in models)
    ]


def _list_model(family: str, entries: Sequence[Model]) -> ListedModel:
    from arboleda.catalogue.families import ABOUT
    from arboleda.study.config.presets import PRESETS

    first = entries[0]
    presets = [preset.key for preset in PRESETS.values() if _is_in(first, preset)]
    names = dict.fromkeys(model.name for model in entries)
    return ListedModel(
        family,
        first.key,
        " / ".join(names),
        ABOUT[first.key],
        tuple(model.task for model in entries),
        tuple(presets),
    )


def _is_in(model: Model, preset: Preset) -> bool:
    from arboleda.catalogue.entries import ALL, CORE, PORTFOLIO_WORD

    word = PORTFOLIO_WORD if model.bag else ALL
    is_core = model.core and CORE in preset.models
    return model.key in preset.models or word in preset.models or is_core
