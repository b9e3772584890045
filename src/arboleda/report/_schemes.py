"""Names and descriptions of cross-validation schemes."""

from collections.abc import Mapping
from typing import Any

from arboleda.report._texts import text
from arboleda.report._words import spell_count

__all__ = ["describe_scheme", "get_scheme_kind", "name_scheme"]


def name_scheme(study: Mapping[str, Any]) -> str:
    """Return the name of the cross-validation scheme, for use within a sentence.

    Examples
    --------
    >>> name_scheme({"folds": 5})
    'five-fold cross-validation'
    """
    return text(f"scheme.{get_scheme_kind(study)}.name", **_get_numbers(study))


def describe_scheme(study: Mapping[str, Any]) -> str:
    """Describe how the scheme uses the training rows."""
    return text(f"scheme.{get_scheme_kind(study)}.does", **_get_numbers(study))


def get_scheme_kind(study: Mapping[str, Any]) -> str:
    """Return the kind of the scheme, for example ``"kfold"``."""
    return str(study.get("scheme", {}).get("kind", "kfold"))


def _get_numbers(study: Mapping[str, Any]) -> dict[str, Any]:
    result = study.get("scheme", study)
    folds, repeats = result["folds"], result.get("repeats", 1)
    return {"folds": spell_count(folds), "n": folds, "repeats": repeats, "fits": folds * repeats}
