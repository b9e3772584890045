"""What the objectives of XGBoost are here: a loss, its link, and start values of raw scores.

https://xgboost.readthedocs.io/en/stable/parameter.html#learning-task-parameters
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._errors import ModelFormatError
from arboleda.boosting._losses import Loss
from arboleda.importers._fields import entry, number, whole

Floats = npt.NDArray[np.float64]

# Objectives of numbers: our loss of the same name, or "custom" where we have none; its link.
_NUMBERS: Mapping[str, tuple[str, str]] = {
    "reg:squarederror": ("squared_error", "identity"),
    "reg:linear": ("squared_error", "identity"),  # its name before version 0.83
    "reg:squaredlogerror": ("custom", "identity"),
    "reg:pseudohubererror": ("custom", "identity"),
    "reg:absoluteerror": ("absolute_error", "identity"),
    "count:poisson": ("poisson", "log"),
    "reg:gamma": ("gamma", "log"),
    "reg:tweedie": ("tweedie", "log"),
    "survival:cox": ("custom", "log"),
    "survival:aft": ("custom", "log"),
    "rank:pairwise": ("custom", "identity"),
    "rank:ndcg": ("custom", "identity"),
    "rank:map": ("custom", "identity"),
}
_WHY_NOT = {
    "reg:logistic": "our regressors have no logistic link; fit with binary:logistic",
    "binary:hinge": "it gives classes and no probabilities; fit with binary:logistic",
}


@dataclass(frozen=True)
class Objective:
    """An objective as our estimators know it.

    Parameters
    ----------
    name : str
        XGBoost's.
    loss : Loss
    start : ndarray of shape (n_outputs,)
        Raw scores before the first tree.
    n_classes : int
        0 where the target holds numbers.
    parameters : dict
        Of our estimator.
    """

    name: str
    loss: Loss
    start: Floats
    n_classes: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)


def read_objective(learner: dict[str, Any]) -> Objective:
    """Read the objective and its start values.

    Raises
    ------
    ModelFormatError
        If it cannot be read, or has no counterpart here.
    """
    stored = entry(learner, "objective", dict)
    name = entry(stored, "name", str)
    parameters = entry(learner, "learner_model_param", dict)
    base = _base_scores(entry(parameters, "base_score", object))
    n_targets = whole(parameters.get("num_target", 1), "num_target")
    if name in {"binary:logistic", "binary:logitraw"}:
        loss = Loss("log_loss", 1, "logit", 2)
        start = base if name == "binary:logitraw" else np.array([_logit(x) for x in base])
        found = Objective(name, loss, start, 2)
    elif name in {"multi:softmax", "multi:softprob"}:
        found = _of_classes(name, whole(entry(parameters, "num_class", object), "num_class"), base)
    elif name == "reg:quantileerror":
        found = _of_quantiles(stored, base)
    elif name in _NUMBERS:
        found = _of_numbers(name, stored, base)
    else:
        why = _WHY_NOT.get(name, "it is none that this version knows")
        raise ModelFormatError(f"its objective {name[:60]!r} has no counterpart here: {why}")
    if n_targets > 1 and name != "reg:quantileerror":
        raise ModelFormatError(
            f"it predicts {n_targets} targets, and our boosting predicts one: fit one model for "
            "each"
        )
    return _with_all_starts(found)


def _with_all_starts(objective: Objective) -> Objective:
    """One base score stands for all outputs."""
    n_outputs = objective.loss.n_outputs
    start = objective.start
    if start.size == 1:
        start = np.repeat(start, n_outputs)
    if start.size != n_outputs:
        raise ModelFormatError(f"base_score has {start.size} numbers for {n_outputs} outputs")
    return Objective(
        objective.name, objective.loss, start, objective.n_classes, objective.parameters
    )


def _of_classes(name: str, n_classes: int, base: Floats) -> Objective:
    if not 2 <= n_classes <= 2**20:
        raise ModelFormatError(f"num_class is {n_classes}")
    if n_classes == 2:
        raise ModelFormatError(
            "it has a tree for each of two classes, and ours one for both: fit with binary:logistic"
        )
    return Objective(name, Loss("log_loss", n_classes, "softmax", n_classes), base, n_classes)


def _of_quantiles(stored: dict[str, Any], base: Floats) -> Objective:
    parameters = entry(stored, "quantile_loss_param", dict)
    levels = tuple(_float32s(entry(parameters, "quantile_alpha", object), "quantile_alpha"))
    if not levels or len(set(levels)) != len(levels) or not 0 < min(levels) <= max(levels) < 1:
        raise ModelFormatError("quantile_alpha does not hold different levels between 0 and 1")
    loss = Loss("quantile", len(levels), levels=levels)
    quantile = levels[0] if len(levels) == 1 else list(levels)
    return Objective("reg:quantileerror", loss, base, 0, {"loss": "quantile", "quantile": quantile})


def _of_numbers(name: str, stored: dict[str, Any], base: Floats) -> Objective:
    ours, link = _NUMBERS[name]
    start = base
    if link == "log":
        if base.min() <= 0.0:
            raise ModelFormatError(f"base_score is {base.min():g}, and {name} has no such mean")
        start = np.log(base)
    parameters: dict[str, Any] = {} if ours == "custom" else {"loss": ours}
    power = 1.5
    if ours == "tweedie":
        told = entry(stored, "tweedie_regression_param", dict)
        stated = entry(told, "tweedie_variance_power", object)
        [power] = _float32s(stated, "tweedie_variance_power")
        if not 1.0 < power < 2.0:
            raise ModelFormatError(f"tweedie_variance_power is {power:g}, not between 1 and 2")
        parameters["power"] = power
    loss = Loss(ours, link="log" if link == "log" else "identity", power=power)
    return Objective(name, loss, start, 0, parameters)


def _base_scores(stored: Any) -> Floats:
    """Means before the first tree: "5E-1", or from version 3 on "[5E-1,2E-1]"."""
    return np.array(_float32s(stored, "base_score"))


def _float32s(stored: Any, name: str) -> list[float]:
    """Numbers of single precision that stand as text, alone or as a list in brackets."""
    text = str(stored).strip("()")
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{name} is no number") from error
    items = listed if isinstance(listed, list) else [listed]
    if not items or not all(type(item) in (int, float) for item in items):
        raise ModelFormatError(f"{name} is no number")
    with np.errstate(over="ignore"):
        return [number(np.float32(number(item, name)), name) for item in items]


def _logit(share: float) -> float:
    if not 0.0 < share < 1.0:
        raise ModelFormatError(f"base_score is {share:g}, which is no probability")
    return -math.log(1.0 / share - 1.0)
