"""What options can be, with a few words on each: for completion by a shell."""

__all__ = ["list_metrics", "list_model_keys", "list_model_words", "list_presets", "list_tables"]

Pairs = list[tuple[str, str]]


def list_metrics() -> Pairs:
    """List the keys of the metrics with their names."""
    from arboleda.reports.metric_names import METRIC_NAMES

    return [(key, name.full_label) for key, name in METRIC_NAMES.items() if name.task is not None]


def list_model_words() -> Pairs:
    """List what ``--models`` takes: words for several models, and keys."""
    from arboleda.catalogue.entries import WORDS
    from arboleda.study.model_list import list_models

    models = [(model.key, model.name) for model in list_models()]
    return [*((word, "several models") for word in WORDS), *models]


def list_model_keys() -> Pairs:
    """List the keys of models and combinations, as a study has them."""
    from arboleda.study.combination.methods import METHODS
    from arboleda.study.model_list import list_models

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
