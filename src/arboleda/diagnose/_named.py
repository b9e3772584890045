"""Models to compare, with their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import is_classifier


def named_models(estimators: Any) -> list[tuple[str, Any]]:
    """Return pairs (name, estimator) of one estimator, a list of such pairs or a dict, checked."""
    if hasattr(estimators, "fit"):
        return [(type(estimators).__name__, estimators)]
    if isinstance(estimators, Mapping):
        estimators = estimators.items()
    try:
        pairs = [(name, model) for name, model in estimators]
    except TypeError as error:
        raise TypeError(
            "estimators must be an estimator, a list of pairs (name, estimator) or a dict of them, "
            f"as [('tree', DecisionTreeClassifier())]; got {estimators!r}"
        ) from error
    if not pairs:
        raise ValueError("estimators names no model")
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the name {twice[0]!r} stands for two models: give each its own")
    return pairs


def all_classifiers(models: list[tuple[str, Any]]) -> bool:
    """Tell whether the models predict classes; refuse a mixture."""
    kinds = {bool(is_classifier(model)) for _, model in models}
    if len(kinds) > 1:
        raise ValueError(
            "models are compared by their errors: all must be classifiers, or all regressors"
        )
    return kinds.pop()
