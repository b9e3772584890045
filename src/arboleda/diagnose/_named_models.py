"""Checks of named models to compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import is_classifier


def check_named_models(estimators: Any) -> list[tuple[str, Any]]:
    """Check an estimator, a list of pairs (name, estimator) or a dict, and return such pairs."""
    if hasattr(estimators, "fit"):
        return [(type(estimators).__name__, estimators)]
    if isinstance(estimators, Mapping):
        estimators = estimators.items()
    try:
        pairs = [(name, model) for name, model in estimators]
    except TypeError as error:
        raise TypeError(
            "estimators must be an estimator, a list of pairs (name, estimator) or a dict of them, "
            f"such as [('tree', DecisionTreeClassifier())]; got {estimators!r}"
        ) from error
    if not pairs:
        raise ValueError("estimators must hold at least one model, got none")
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            f"the names of the models must be unique, got {repeated[0]!r} more than once"
        )
    return pairs


def all_classifiers(models: list[tuple[str, Any]]) -> bool:
    """Return whether the models are classifiers; refuse a mixture with regressors."""
    kinds = {bool(is_classifier(model)) for _, model in models}
    if len(kinds) > 1:
        raise ValueError(
            "models are compared by their errors: all must be classifiers, or all regressors"
        )
    return kinds.pop()
