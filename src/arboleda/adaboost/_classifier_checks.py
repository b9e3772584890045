"""Checks of the parameters and of the last member of a boosted classifier."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import is_classifier, is_regressor

from arboleda.adaboost._algorithms import ALGORITHMS


def check_algorithm(model: Any) -> None:
    """Check that the algorithm suits the target and the members."""
    if model.algorithm == "discrete" and model.n_classes_ > 2:
        raise ValueError(
            "Only binary classification is supported by algorithm='discrete', but y has "
            f"{model.n_classes_} classes: use 'SAMME', 'M1', 'M2' or 'MH'."
        )
    if model.estimator is None:
        return
    name = type(model.estimator).__name__
    known = hasattr(model.estimator, "__sklearn_tags__")
    if ALGORITHMS[model.algorithm].learns == "numbers":
        if known and not is_regressor(model.estimator):
            raise ValueError(
                f"algorithm={model.algorithm!r} needs members that are regressors, but estimator "
                f"is a {name}: use a regressor, or another algorithm."
            )
    elif known and not is_classifier(model.estimator):
        raise ValueError(
            f"algorithm={model.algorithm!r} needs members that are classifiers, but estimator "
            f"is a {name}: use a classifier, or algorithm='gentle' or 'logit'."
        )
    if model.algorithm == "real" and not hasattr(model.estimator, "predict_proba"):
        raise ValueError(
            f"algorithm='real' needs members with predict_proba, which {name} does not have: "
            "use another estimator, or algorithm='discrete' or 'SAMME'."
        )


def check_last_error(model: Any, n_rounds: int, useless: float | None) -> None:
    """Warn if a useless member ended boosting; raise if it was the first."""
    if useless is None:
        return
    if model.algorithm == "real":
        needed = "probabilities that are not the same for all classes"
    elif model._algorithm.worst_error == 0.5:
        needed = "an error below 1/2"
    else:
        needed = f"an error below 1 - 1/{model.n_classes_}"
    others = (
        "use 'SAMME', which needs an error below 1 - 1/K, 'M2' or 'MH', which need even less, or "
        "a stronger estimator"
        if model.algorithm == "M1" and model.n_classes_ > 2
        else "use a stronger estimator"
    )
    if n_rounds == 0:
        raise ValueError(
            f"The first member has a weighted error of {useless:.3g}, no better than "
            f"guessing, but algorithm={model.algorithm!r} needs {needed} (y has "
            f"{model.n_classes_} classes): {others}."
        )
    reset = "" if model.on_degenerate == "reset" else ", or set on_degenerate='reset'"
    warnings.warn(
        f"Boosting ended after {n_rounds} of {model.n_estimators} rounds: the next member had a "
        f"weighted error of {useless:.3g}, but algorithm={model.algorithm!r} needs "
        f"{needed}: {others}{reset}.",
        stacklevel=5,
    )
