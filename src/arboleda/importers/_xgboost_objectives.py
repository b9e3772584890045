"""Mapping of XGBoost's objectives to our losses, links and start values of raw scores.

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

from arboleda._utils.errors import ModelFormatError
from arboleda.boosting import Loss
from arboleda.importers._columns import read_entry, read_float, read_integer

Floats = npt.NDArray[np.float64]

_MAX_OUTPUTS = 2**20
_MAX_LABELS = 2**16  # each has an array of classes

# Regression objectives: our corresponding loss, or "custom" if there is none, and the link.
_NUMBERS: Mapping[str, tuple[str, str]] = {
    "reg:squarederror": ("squared_error", "identity"),
    "reg:linear": ("squared_error", "identity"),  # its name before version 0.83
    "reg:squaredlogerror": ("custom", "identity"),
    "reg:pseudohubererror": ("pseudo_huber", "identity"),
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
_UNSUPPORTED = {
    "reg:logistic": "our regressors have no logistic link; fit with binary:logistic",
    "binary:hinge": "it gives classes and no probabilities; fit with binary:logistic",
}


@dataclass(frozen=True)
class XgboostObjective:
    """An objective in terms of our losses.

    Parameters
    ----------
    name : str
        XGBoost's name.
    loss : Loss
    start : ndarray of shape (n_outputs,)
        Raw scores before the first tree.
    n_classes : int
        0 for regression; of each label if there are several.
    parameters : dict
        Parameters of our estimator.
    """

    name: str
    loss: Loss
    start: Floats
    n_classes: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)


def read_objective(learner: dict[str, Any]) -> XgboostObjective:
    """Read the objective and its start values.

    Raises
    ------
    ModelFormatError
        If it cannot be read, or is not supported.
    """
    stored = read_entry(learner, "objective", dict)
    name = read_entry(stored, "name", str)
    parameters = read_entry(learner, "learner_model_param", dict)
    base = _parse_base_scores(read_entry(parameters, "base_score", object))
    n_targets = read_integer(parameters.get("num_target", 1), "num_target")
    if name in {"binary:logistic", "binary:logitraw"}:
        if n_targets > _MAX_LABELS:
            raise ModelFormatError(f"num_target is {n_targets}")
        loss = Loss("log_loss", max(n_targets, 1), "logit", 2)
        start = base if name == "binary:logitraw" else np.array([_compute_logit(x) for x in base])
        objective = XgboostObjective(name, loss, start, 2)
    elif name in {"multi:softmax", "multi:softprob"}:
        objective = _make_multiclass_objective(
            name, read_integer(read_entry(parameters, "num_class", object), "num_class"), base
        )
    elif name == "reg:quantileerror":
        objective = _make_quantile_objective(stored, base)
    elif name in _NUMBERS:
        objective = _make_regression_objective(name, stored, base, n_targets)
    else:
        reason = _UNSUPPORTED.get(name, "it is not known to this version")
        raise ModelFormatError(f"its objective {name[:60]!r} has no counterpart here: {reason}")
    if n_targets > 1 and objective.loss.link == "softmax":
        raise ModelFormatError(
            f"it predicts {n_targets} labels of several classes for each row, and our classifiers "
            "several labels of two classes only: fit a model for each label"
        )
    return _expand_start(objective)


def _expand_start(objective: XgboostObjective) -> XgboostObjective:
    """Repeat a single base score for all outputs."""
    n_outputs = objective.loss.n_outputs
    start = objective.start
    if start.size == 1:
        start = np.repeat(start, n_outputs)
    if start.size != n_outputs:
        raise ModelFormatError(f"base_score has {start.size} numbers for {n_outputs} outputs")
    return XgboostObjective(
        objective.name, objective.loss, start, objective.n_classes, objective.parameters
    )


def _make_multiclass_objective(name: str, n_classes: int, base: Floats) -> XgboostObjective:
    if not 2 <= n_classes <= _MAX_OUTPUTS:
        raise ModelFormatError(f"num_class is {n_classes}")
    if n_classes == 2:
        raise ModelFormatError(
            "it has a score for each of two classes, and our models one for both: fit with "
            "binary:logistic"
        )
    return XgboostObjective(
        name, Loss("log_loss", n_classes, "softmax", n_classes), base, n_classes
    )


def _make_quantile_objective(stored: dict[str, Any], base: Floats) -> XgboostObjective:
    parameters = read_entry(stored, "quantile_loss_param", dict)
    levels = tuple(
        _parse_float32s(read_entry(parameters, "quantile_alpha", object), "quantile_alpha")
    )
    if not levels or len(set(levels)) != len(levels) or not 0 < min(levels) <= max(levels) < 1:
        raise ModelFormatError("quantile_alpha does not hold different levels between 0 and 1")
    loss = Loss("quantile", len(levels), levels=levels)
    quantile = levels[0] if len(levels) == 1 else list(levels)
    return XgboostObjective(
        "reg:quantileerror", loss, base, 0, {"loss": "quantile", "quantile": quantile}
    )


def _make_regression_objective(
    name: str, stored: dict[str, Any], base: Floats, n_targets: int
) -> XgboostObjective:
    if n_targets > _MAX_OUTPUTS:
        raise ModelFormatError(f"num_target is {n_targets}")
    ours, link = _NUMBERS[name]
    start = base
    if link == "log":
        if base.min() <= 0.0:
            raise ModelFormatError(f"base_score must be positive for {name}, got {base.min():g}")
        start = np.log(base)
    parameters: dict[str, Any] = {} if ours == "custom" else {"loss": ours}
    power = 1.5
    if ours == "tweedie":
        tweedie = read_entry(stored, "tweedie_regression_param", dict)
        stored_power = read_entry(tweedie, "tweedie_variance_power", object)
        [power] = _parse_float32s(stored_power, "tweedie_variance_power")
        if not 1.0 < power < 2.0:
            raise ModelFormatError(f"tweedie_variance_power must be between 1 and 2, got {power:g}")
        parameters["power"] = power
    loss = Loss(ours, max(n_targets, 1), link="log" if link == "log" else "identity", power=power)
    return XgboostObjective(name, loss, start, 0, parameters)


def _parse_base_scores(stored: Any) -> Floats:
    """Parse the means before the first tree: "5E-1", or since version 3 "[5E-1,2E-1]"."""
    return np.array(_parse_float32s(stored, "base_score"))


def _parse_float32s(stored: Any, name: str) -> list[float]:
    """Parse single-precision numbers from a string, a single one or a list in brackets."""
    text = str(stored).strip("()")
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(f"{name} is not a number") from error
    items = listed if isinstance(listed, list) else [listed]
    if not items or not all(type(item) in (int, float) for item in items):
        raise ModelFormatError(f"{name} is not a number")
    with np.errstate(over="ignore"):
        return [read_float(np.float32(read_float(item, name)), name) for item in items]


def _compute_logit(share: float) -> float:
    if not 0.0 < share < 1.0:
        raise ModelFormatError(f"base_score must be a probability, got {share:g}")
    return -math.log(1.0 / share - 1.0)
