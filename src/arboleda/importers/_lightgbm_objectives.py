"""What the objectives of LightGBM are here: a loss and its link.

https://lightgbm.readthedocs.io/en/stable/Parameters.html#objective
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arboleda._errors import ModelFormatError
from arboleda.boosting._losses import Loss
from arboleda.importers._fields import number, whole
from arboleda.importers._lightgbm_text import Block

# Objectives of numbers: our loss of the same name, or "custom" where we have none; its link.
_NUMBERS: Mapping[str, tuple[str, str]] = {
    "regression": ("squared_error", "identity"),
    "regression_l1": ("absolute_error", "identity"),
    "huber": ("custom", "identity"),
    "fair": ("custom", "identity"),
    "quantile": ("custom", "identity"),
    "mape": ("custom", "identity"),
    "poisson": ("poisson", "log"),
    "gamma": ("gamma", "log"),
    "tweedie": ("tweedie", "log"),
    "lambdarank": ("custom", "identity"),
    "rank_xendcg": ("custom", "identity"),
    "custom": ("custom", "identity"),
}
_WHY_NOT = {
    "multiclassova": "its probabilities do not sum to 1; fit with multiclass",
    "cross_entropy": "our regressors have no logistic link; fit with binary",
    "cross_entropy_lambda": "our regressors have no such link; fit with binary",
}


@dataclass(frozen=True)
class Objective:
    """An objective as our estimators know it.

    Parameters
    ----------
    name : str
        LightGBM's.
    loss : Loss
    n_classes : int
        0 where the target holds numbers.
    scale : float
        By which raw scores are multiplied before the link.
    parameters : dict
        Of our estimator.
    """

    name: str
    loss: Loss
    n_classes: int = 0
    scale: float = 1.0
    parameters: dict[str, Any] = field(default_factory=dict)


def read_objective(header: Block) -> Objective:
    """Read the objective, such as "binary sigmoid:1"; none where the loss was the caller's own.

    Raises
    ------
    ModelFormatError
        If it cannot be read, or has no counterpart here.
    """
    name, *options = header.get("objective", "custom").split(" ") or ["custom"]
    told = dict(option.partition(":")[::2] for option in options)
    if "sqrt" in told:
        raise ModelFormatError(
            "it predicts squares of what its trees add up to (reg_sqrt=True), and ours do not: fit "
            "it on the square root of the target, and square the predictions"
        )
    if name == "binary":
        scale = number(told.get("sigmoid", "1"), "sigmoid")
        if scale <= 0.0:
            raise ModelFormatError(f"sigmoid is {scale:g}, and must be positive")
        return Objective(name, Loss("log_loss", 1, "logit", 2), 2, scale)
    if name == "multiclass":
        return _of_classes(whole(told.get("num_class", ""), "num_class"))
    if name in _NUMBERS:
        return _of_numbers(name, whole(header.get("num_class", "1"), "num_class", 1))
    why = _WHY_NOT.get(name, "it is none that this version knows")
    raise ModelFormatError(f"its objective {name[:60]!r} has no counterpart here: {why}")


def _of_classes(n_classes: int) -> Objective:
    if not 2 <= n_classes <= 2**20:
        raise ModelFormatError(f"num_class is {n_classes}")
    if n_classes == 2:
        raise ModelFormatError(
            "it has a tree for each of two classes, and ours one for both: fit with binary"
        )
    return Objective("multiclass", Loss("log_loss", n_classes, "softmax", n_classes), n_classes)


def _of_numbers(name: str, n_outputs: int) -> Objective:
    if n_outputs != 1:
        raise ModelFormatError(
            f"it has {n_outputs} outputs and the objective {name!r}: what they mean is not known"
        )
    ours, link = _NUMBERS[name]
    loss = Loss(ours, link="log" if link == "log" else "identity")
    return Objective(name, loss, parameters={} if ours == "custom" else {"loss": ours})
