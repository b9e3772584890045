"""How a study was split and scored, in words."""

from collections.abc import Mapping
from typing import Any

from arboleda.report._texts import text
from arboleda.report._words import count_word

__all__ = ["scheme_kind", "scheme_sentence", "scheme_words"]


def scheme_words(study: Mapping[str, Any]) -> str:
    """Name the scheme of cross-validation within a sentence.

    Examples
    --------
    >>> scheme_words({"folds": 5})
    'five-fold cross-validation'
    """
    return text(f"scheme.{scheme_kind(study)}.name", **_numbers(study))


def scheme_sentence(study: Mapping[str, Any]) -> str:
    """Say what the scheme does with the training rows."""
    return text(f"scheme.{scheme_kind(study)}.does", **_numbers(study))


def scheme_kind(study: Mapping[str, Any]) -> str:
    """Find the kind of the scheme, as in ``"kfold"``."""
    return str(study.get("scheme", {}).get("kind", "kfold"))


def _numbers(study: Mapping[str, Any]) -> dict[str, Any]:
    found = study.get("scheme", study)
    folds, repeats = found["folds"], found.get("repeats", 1)
    return {"folds": count_word(folds), "n": folds, "repeats": repeats, "fits": folds * repeats}
