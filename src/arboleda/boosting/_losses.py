"""The losses of gradient boosting: names, parameters, link functions and valid targets.

The engine computes their values, gradients and hessians.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import expit, softmax

from arboleda._engine.boosting import CustomLoss as NativeCustomLoss
from arboleda._engine.boosting import LossOptions
from arboleda._utils.distribution_families import FAMILIES
from arboleda._utils.errors import ModelFormatError

if TYPE_CHECKING:
    from arboleda.boosting._rows import TrainingRows
    from arboleda.persist.fields import Sections

Floats = npt.NDArray[np.float64]
Link = Literal["identity", "log", "logit", "half_logit", "softmax", "certain", "distribution"]
CustomLoss = Callable[[Floats, Floats], tuple[npt.ArrayLike, npt.ArrayLike]]

CLASSIFICATION = frozenset({"log_loss", "exponential"})
REGRESSION = frozenset(
    {
        "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie",
    }
)  # fmt: skip

# Losses of `HistGradientBoostingClassifier` and `HistGradientBoostingRegressor` alone.
HIST_CLASSIFICATION = CLASSIFICATION | {"focal"}
HIST_REGRESSION = REGRESSION | {"expectile", "pseudo_huber", "mape"}

RANKING = frozenset({"lambdarank", "pairwise", "xe_ndcg", "yetirank"})

SURVIVAL = frozenset(
    {
        "cox_efron", "cox_breslow", "aft_normal", "aft_logistic", "aft_extreme", "discrete_time",
    }
)  # fmt: skip

_SAVED = HIST_CLASSIFICATION | HIST_REGRESSION | RANKING | SURVIVAL | {"custom"} | set(FAMILIES)

_LINKS: dict[str, Link] = {"poisson": "log", "gamma": "log", "tweedie": "log"}


@dataclass(frozen=True)
class Loss:
    """A loss with its parameters.

    Parameters
    ----------
    name : str
        One of the engine's losses, or "custom".
    n_outputs : int
        Number of raw scores per row, and of trees per round.
    link : str
        Link function between predictions and raw scores.
    levels : tuple of float
        Levels of the quantile loss, in the caller's order.
    alpha : float
        For the Huber loss: errors above this quantile of the absolute errors count linearly.
    power : float
        For the Tweedie loss: the variance is proportional to this power of the mean.
    truncation_level : int
        For lambdarank: pairs have a row among so many first ranks.
    label_gain : tuple of float
        Gains of relevance 0, 1, .. in rankings; empty: 2^y - 1.
    scale : float
        For accelerated failure times: standard deviation or scale of the logarithm of the time.
    expectile : float
        Level of the expectile loss.
    huber_slope : float
        For the pseudo-Huber loss: size of errors from which they count linearly.
    focal_gamma : float
        For the focal loss: exponent of the probability of the other class.
    score : str
        For distributions: "nll" or "crps".
    function : callable
        Function of a custom loss.
    """

    name: str
    n_outputs: int = 1
    link: Link = "identity"
    n_classes: int = 0
    levels: tuple[float, ...] = ()
    alpha: float = 0.9
    power: float = 1.5
    truncation_level: int = 30
    label_gain: tuple[float, ...] = ()
    scale: float = 1.0
    expectile: float = 0.5
    huber_slope: float = 1.0
    focal_gamma: float = 2.0
    score: str = ""
    function: CustomLoss | None = field(default=None, repr=False)

    @property
    def native(self) -> LossOptions | NativeCustomLoss:
        """The engine's object for the loss."""
        if self.function is not None:
            return NativeCustomLoss(self.function, self.n_outputs)
        return LossOptions(
            self.name,
            n_classes=self.n_classes,
            levels=list(self.levels),
            alpha=self.alpha,
            power=self.power,
            n_targets=self.n_outputs if self._has_loss_per_output else 1,
            truncation_level=self.truncation_level,
            label_gain=list(self.label_gain),
            scale=self.scale,
            expectile=self.expectile,
            huber_slope=self.huber_slope,
            focal_gamma=self.focal_gamma,
            score=self.score,
        )

    @property
    def _has_loss_per_output(self) -> bool:
        is_joint = self.link in {"softmax", "distribution"} or self.name == "discrete_time"
        return not (self.levels or is_joint)

    @property
    def is_multilabel(self) -> bool:
        """Whether each score is that of a label of two classes."""
        return self.link in {"logit", "half_logit"} and self.n_outputs > 1

    def predictions(self, raw: Floats) -> Floats:
        """Transform raw scores (n, n_outputs) to means, quantiles or class probabilities.

        Of several labels, the probabilities are those of the second class of each; of
        distributions, the means (n, 1).
        Quantiles are sorted within each row and therefore do not cross: rearrangement,
        Chernozhukov, Fernandez-Val and Galichon (2010).
        """
        if self.link == "certain":  # there is only one class
            return np.ones_like(raw)
        if self.link == "softmax":
            shares: Floats = softmax(raw, axis=1)
            return shares
        if self.link in {"logit", "half_logit"}:
            positive: Floats = expit(raw if self.link == "logit" else 2.0 * raw)
            if self.is_multilabel:
                return positive
            both = np.empty((len(positive), 2))
            np.subtract(1.0, positive[:, 0], out=both[:, 0])
            both[:, 1] = positive[:, 0]
            return both
        if self.link == "distribution":
            return FAMILIES[self.name].mean(*distribution_parameters(self.name, raw))[:, None]
        if self.link == "log":
            with np.errstate(over="ignore"):
                means: Floats = np.exp(raw)
            return means
        if len(self.levels) > 1:
            ordered = np.empty_like(raw)
            ordered[:, np.argsort(self.levels, kind="stable")] = np.sort(raw, axis=1)
            return ordered
        return raw

    def scores(self, predictions: Floats) -> Floats:
        """Return the raw scores (n, n_outputs) of an initial model's predictions.

        Probabilities are clipped by the machine epsilon of float64.
        """
        if self.link in {"logit", "half_logit", "softmax"}:
            eps = np.finfo(np.float64).eps
            shares = np.clip(predictions, eps, 1.0 - eps)
            if self.link == "softmax":
                logs = np.log(shares)
                centred: Floats = logs - logs.mean(axis=1, keepdims=True)
                return centred
            odds = np.log(shares[:, 1:] / (1.0 - shares[:, 1:]))
            return odds if self.link == "logit" else 0.5 * odds
        means = np.asarray(predictions, dtype=np.float64).reshape(len(predictions), -1)
        if self.link == "log":
            with np.errstate(divide="ignore", invalid="ignore"):
                means = np.log(means)
        return np.repeat(means, self.n_outputs // means.shape[1], axis=1)


def classification_loss(loss: str | CustomLoss, n_classes: int, n_labels: int = 1) -> Loss:
    """Return the loss of a classifier; several labels have two classes each.

    Raises
    ------
    ValueError
        If the exponential or focal loss is used with more than two classes.
    """
    if n_classes == 1:
        return Loss("log_loss", 1, "certain", 1)
    n_outputs = n_labels if n_classes == 2 else n_classes
    if loss in {"exponential", "focal"}:
        if n_classes > 2:
            raise ValueError(
                f"loss={loss!r} is only suitable for a binary classification problem, you have "
                f"n_classes={n_classes}. Please use loss='log_loss' instead"
            )
        link_of_two: Link = "half_logit" if loss == "exponential" else "logit"
        return Loss(str(loss), n_outputs, link_of_two, n_classes)
    link: Link = "logit" if n_classes == 2 else "softmax"
    if isinstance(loss, str):
        return Loss("log_loss", n_outputs, link, n_classes)
    return Loss("custom", n_outputs, link, n_classes, function=loss)


def regression_loss(
    loss: str | CustomLoss,
    levels: tuple[float, ...],
    alpha: float,
    power: float,
    n_targets: int = 1,
) -> Loss:
    """Return the loss of a regressor; ``levels`` are the quantiles, ``alpha`` is Huber's.

    Raises
    ------
    ValueError
        If there are several quantiles of several targets.
    """
    if not isinstance(loss, str):
        return Loss("custom", n_targets, function=loss)
    if loss == "quantile":
        if n_targets > 1:
            raise ValueError(
                f"loss='quantile' supports a single target, and y has {n_targets}: fit one model "
                "for each"
            )
        return Loss("quantile", len(levels), levels=levels)
    return Loss(loss, n_targets, _LINKS.get(loss, "identity"), alpha=alpha, power=power)


def distribution_loss(distribution: str, score: str) -> Loss:
    """Return the loss of a distribution's parameters.

    Raises
    ------
    ValueError
        If the distribution does not support the score.
    """
    family = FAMILIES[distribution]
    if score == "crps" and not family.has_crps_loss:
        supported = ", ".join(repr(name) for name, each in FAMILIES.items() if each.has_crps_loss)
        raise ValueError(
            f"scoring_rule='crps' is supported for the distributions {supported}, got distribution="
            f"{distribution!r}: set scoring_rule='nll'"
        )
    return Loss(distribution, len(family.parameters), "distribution", score=score)


def distribution_parameters(distribution: str, raw: Floats) -> tuple[Floats, ...]:
    """Return the parameters of raw scores (n, n_parameters), each (n,)."""
    parameters = FAMILIES[distribution].parameters
    return tuple(each.from_score(raw[:, k]) for k, each in enumerate(parameters))


class LossField:
    """Field of model files for a loss, with what predictions need."""

    def encode(self, name: str, value: Loss, sections: Sections) -> Any:
        """Return the name, the number of scores, the link, and the levels or the scale."""
        levels = list(value.levels)
        return {"name": value.name, "n_outputs": value.n_outputs, "link": value.link} | (
            {"levels": levels}
            if levels
            else {"scale": value.scale}
            if value.name.startswith("aft_")
            else {}
        )

    def decode(self, name: str, stored: Any, sections: Sections) -> Loss:
        """Check and return the loss."""
        match stored:
            case {"name": str(loss), "n_outputs": int(n), "link": str(link), **rest}:
                levels: Any = rest.pop("levels", [])
                scale: Any = rest.pop("scale", 1.0)
                is_known = loss in _SAVED and link in get_args(Link)
                is_consistent = (
                    isinstance(levels, list) and len(levels) in {0, n} and n > 0 and not rest
                )
                if link == "distribution":
                    is_known &= loss in FAMILIES and n == len(FAMILIES[loss].parameters)
                is_consistent &= all(type(number) is float for number in (*levels, scale))
                if is_known and is_consistent and scale > 0.0:
                    kept_link = cast("Link", link)
                    return Loss(loss, n, kept_link, levels=tuple(levels), scale=scale)
        raise ModelFormatError(f"{name} is not a boosting loss")


def read_quantile_levels(quantile: Any, name: str) -> tuple[float, ...]:
    """Check and return the levels of the quantile loss: one, or several distinct ones.

    Raises
    ------
    ValueError
        If there is no level, a level is not between 0 and 1, or two levels are equal.
    """
    levels = np.empty(0)
    if quantile is not None:
        with suppress(TypeError, ValueError):
            levels = np.atleast_1d(np.asarray(quantile, dtype=np.float64))
    if levels.ndim != 1 or not levels.size:
        raise ValueError(
            f"loss='quantile' requires {name}: a level between 0 and 1, such as 0.5 for the "
            f"median, or a list of levels; got {quantile!r}"
        )
    wrong = levels[~((levels > 0.0) & (levels < 1.0))]
    if wrong.size:
        raise ValueError(f"{name} must hold levels between 0 and 1, got {wrong[0]:g}")
    if len(set(levels.tolist())) != levels.size:
        raise ValueError(f"{name}={quantile!r} holds a level twice: give each level once")
    return tuple(levels.tolist())


def check_target_range(loss: Loss, rows: TrainingRows) -> None:
    """Raise an error for targets outside the domain of a loss.

    Raises
    ------
    ValueError
        If a target is negative (Poisson, Tweedie) or not positive (gamma), or all are 0. The
        message names the row.
    """
    if loss.link == "distribution":
        _check_support(loss.name, rows)
        return
    if loss.name not in {"poisson", "gamma", "tweedie"}:
        return
    rows.shards.run_together(lambda: _check_signs(loss, rows))
    positive = rows.shards.is_any(np.atleast_1d(rows.targets.any(axis=0)))
    if not positive.all():
        place = _name_output(rows, int(np.flatnonzero(~positive)[0]))
        raise ValueError(
            f"{_describe_requirement(loss)}, but {place} is 0 in every row; choose another loss"
        )


def _check_signs(loss: Loss, rows: TrainingRows) -> None:
    """Raise an error if a target is negative, or not positive where it must be."""
    for k, targets in enumerate(np.atleast_2d(rows.targets.T)):
        wrong = np.flatnonzero(targets <= 0.0 if loss.name == "gamma" else targets < 0.0)
        if wrong.size:
            raise ValueError(
                f"{_describe_requirement(loss)}, but {_name_output(rows, k)} is "
                f"{targets[wrong[0]]} in row {rows.first_row + rows.numbers[wrong[0]]}; drop such "
                "rows or choose another loss"
            )


def _name_output(rows: TrainingRows, k: int) -> str:
    return "y" if rows.target.ndim == 1 else f"output {k} of y"


def _check_support(distribution: str, rows: TrainingRows) -> None:
    """Raise an error for targets outside the support of a distribution."""
    y, family = rows.targets, FAMILIES[distribution]
    place = np.flatnonzero(~family.supports(y))
    needs, others = {
        "real": ("numbers", "'normal'"),
        "positive": ("strictly positive y", "'normal'"),
        "count": ("y of counts, integers from 0 on", "'normal' or 'gamma'"),
    }[family.support]
    if place.size:
        raise ValueError(
            f"distribution={distribution!r} requires {needs}, but y is {y[place[0]]} in row "
            f"{rows.numbers[place[0]]}; drop such rows or choose another distribution, such as "
            f"{others}"
        )
    if family.is_discrete and not y.any():
        raise ValueError(
            f"distribution={distribution!r} requires a positive count, but y is 0 in every row; "
            "there is nothing to learn"
        )


def _describe_requirement(loss: Loss) -> str:
    """Return scikit-learn's sentence about the valid targets of a loss."""
    if loss.name == "gamma":
        return "loss='gamma' requires strictly positive y"
    return f"loss={loss.name!r} requires non-negative y and sum(y) > 0"
