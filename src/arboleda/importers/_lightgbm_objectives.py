"""Mapping of LightGBM's objectives to our losses and links.

https://lightgbm.readthedocs.io/en/stable/Parameters.html#objective
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from arboleda._errors import ModelFormatError
from arboleda.boosting._losses import Loss
from arboleda.importers._fields import read_float, read_integer
from arboleda.importers._lightgbm_text import Block

# Regression objectives: our corresponding loss, or "custom" if there is none, and the link.
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
_UNSUPPORTED = {
    "multiclassova": "its probabilities do not sum to 1; fit with multiclass",
    "cross_entropy": "our regressors have no logistic link; fit with binary",
    "cross_entropy_lambda": "our regressors have no such link; fit with binary",
}


@dataclass(frozen=True)
class Objective:
    """An objective in terms of our losses.

    Parameters
    ----------
    name : str
        LightGBM's name.
    loss : Loss
    n_classes : int
        0 for regression.
    scale : float
        Factor of raw scores before the link is applied.
    parameters : dict
        Parameters of our estimator.
    """

    name: str
    loss: Loss
    n_classes: int = 0
    scale: float = 1.0
    parameters: dict[str, Any] = field(default_factory=dict)


def read_objective(header: Block) -> Objective:
    """Read the objective, such as "binary sigmoid:1"; it is missing for a custom loss.

    Raises
    ------
    ModelFormatError
        If it cannot be read, or is not supported.
    """
    name, *options = header.get("objective", "custom").split(" ") or ["custom"]
    values = dict(option.partition(":")[::2] for option in options)
    if "sqrt" in values:
        raise ModelFormatError(
            "it predicts squares of the sums of its trees (reg_sqrt=True), which is not supported: "
            "fit it on the square root of the target, and square the predictions"
        )
    if name == "binary":
        scale = read_float(values.get("sigmoid", "1"), "sigmoid")
        if scale <= 0.0:
            raise ModelFormatError(f"sigmoid must be positive, got {scale:g}")
        return Objective(name, Loss("log_loss", 1, "logit", 2), 2, scale)
    if name == "multiclass":
        return _make_multiclass_objective(read_integer(values.get("num_class", ""), "num_class"))
    if name in _NUMBERS:
        return _make_regression_objective(
            name, read_integer(header.get("num_class", "1"), "num_class", 1)
        )
    reason = _UNSUPPORTED.get(name, "it is not known to this version")
    raise ModelFormatError(f"its objective {name[:60]!r} has no counterpart here: {reason}")


def _make_multiclass_objective(n_classes: int) -> Objective:
    if not 2 <= n_classes <= 2**20:
        raise ModelFormatError(f"num_class is {n_classes}")
    if n_classes == 2:
        raise ModelFormatError(
            "it has a tree for each of two classes, and our models one for both: fit with binary"
        )
    return Objective("multiclass", Loss("log_loss", n_classes, "softmax", n_classes), n_classes)


def _make_regression_objective(name: str, n_outputs: int) -> Objective:
    if n_outputs != 1:
        raise ModelFormatError(
            f"it has {n_outputs} outputs, which is not supported for the objective {name!r}"
        )
    ours, link = _NUMBERS[name]
    loss = Loss(ours, link="log" if link == "log" else "identity")
    return Objective(name, loss, parameters={} if ours == "custom" else {"loss": ours})
