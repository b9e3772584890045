"""What a classifier by AdaBoost refuses, and how it tells of members that are of no use."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.base import is_classifier, is_regressor

from arboleda.adaboost._algorithms import ALGORITHMS


def check_algorithm(model: Any) -> None:
    """Refuse an algorithm that does not go with the target or the members."""
    if model.algorithm == "discrete" and model.n_classes_ > 2:
        raise ValueError(
            "Only binary classification is supported by algorithm='discrete', but y has "
            f"{model.n_classes_} classes: 'SAMME', 'M1', 'M2' and 'MH' are for several"
        )
    if model.estimator is None:
        return
    name = type(model.estimator).__name__
    known = hasattr(model.estimator, "__sklearn_tags__")
    if ALGORITHMS[model.algorithm].learns == "numbers":
        if known and not is_regressor(model.estimator):
            raise ValueError(
                f"algorithm={model.algorithm!r} sums regressions, but estimator is a {name}: "
                "give a regressor, or another algorithm"
            )
    elif known and not is_classifier(model.estimator):
        raise ValueError(
            f"algorithm={model.algorithm!r} needs members that are classifiers, but estimator "
            f"is a {name}: give a classifier, or algorithm='gentle' or 'logit'"
        )
    if model.algorithm == "real" and not hasattr(model.estimator, "predict_proba"):
        raise ValueError(
            f"algorithm='real' needs members with predict_proba, which {name} does not have: "
            "give others, or algorithm='discrete' or 'SAMME'"
        )


def check_last_error(model: Any, n_rounds: int, useless: float | None) -> None:
    """Tell why boosting ended with a member that is no better than guessing."""
    if useless is None:
        return
    if model.algorithm == "real":
        needed = "probabilities that are not the same for all classes"
    elif model._algorithm.worst_error == 0.5:
        needed = "an error below 1/2"
    else:
        needed = f"an error below 1 - 1/{model.n_classes_}"
    others = (
        "'SAMME' needs less than 1 - 1/K, 'M2' and 'MH' ask less of members still: choose one "
        "of them, or give a stronger estimator"
        if model.algorithm == "M1" and model.n_classes_ > 2
        else "give a stronger estimator"
    )
    if n_rounds == 0:
        raise ValueError(
            f"the first member errs on {useless:.3g} of the weight, no better than guessing, "
            f"but algorithm={model.algorithm!r} needs {needed} (y has "
            f"{model.n_classes_} classes): {others}"
        )
    again = "" if model.on_degenerate == "reset" else ", or set on_degenerate='reset'"
    warnings.warn(
        f"boosting ended after {n_rounds} of {model.n_estimators} rounds: the next member erred "
        f"on {useless:.3g} of the weight, but algorithm={model.algorithm!r} needs "
        f"{needed}: {others}{again}",
        stacklevel=5,
    )
