"""Completion of arguments by the shell: tables, models, metrics and choices of options."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from arboleda.study import choices

__all__ = ["COMPLETERS", "complete_study_model", "complete_table"]

Pairs = Iterator[tuple[str, str]]  # values with their help
Completer = Callable[[str], Pairs]
_TABLES = (".csv", ".tsv", ".parquet", ".gz", ".bz2", ".xz", ".zst", ".zip")


def complete_table(incomplete: str) -> Pairs:
    """Yield bundled tables, and files and folders, that begin with a text."""
    yield from _select(choices.list_tables(), incomplete)
    folder, slash, start = incomplete.rpartition("/")
    where = Path(f"{folder}{slash}" or ".")
    if not where.is_dir():
        return
    for path in sorted(where.iterdir()):
        is_table = path.is_dir() or path.suffix in _TABLES
        if is_table and path.name.startswith(start) and not path.name.startswith("."):
            yield f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}", ""


def complete_models(incomplete: str) -> Pairs:
    """Yield keys of models for the last of several names that commas separate."""
    before, comma, last = incomplete.rpartition(",")
    for key, name in _select(choices.list_model_words(), last):
        yield f"{before}{comma}{key}", name


def complete_study_model(incomplete: str) -> Pairs:
    """Yield keys of models and combinations."""
    return _select(choices.list_model_keys(), incomplete)


def complete_metric(incomplete: str) -> Pairs:
    """Yield metrics."""
    return _select(choices.list_metrics(), incomplete)


def complete_preset(incomplete: str) -> Pairs:
    """Yield presets."""
    return _select(choices.list_presets(), incomplete)


def _make_completer(*words: str) -> Completer:
    return lambda incomplete: _select([(word, "") for word in words], incomplete)


# By the name of the option.
COMPLETERS: dict[str, Completer] = {
    "metric": complete_metric,
    "models": complete_models,
    "preset": complete_preset,
    "task": _make_completer("classification", "regression"),
    "search": _make_completer("grid", "halving", "random:30", "tpe:30"),
    "cv": _make_completer("5", "10", "5x3", "group:5", "time:5", "loo", "bootstrap"),
    "lang": _make_completer("en", "es"),
}


def _select(pairs: Iterable[tuple[str, str]], incomplete: str) -> Pairs:
    return ((word, text) for word, text in pairs if word.startswith(incomplete))
