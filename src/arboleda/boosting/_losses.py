"""The losses of gradient boosting as Python knows them: their scores' link, legal targets, names.

Values, gradients and hessians are the engine's.
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
from arboleda._errors import ModelFormatError

if TYPE_CHECKING:
    from arboleda.boosting._rows import Rows
    from arboleda.persist._fields import Sections

Floats = npt.NDArray[np.float64]
Link = Literal["identity", "log", "logit", "half_logit", "softmax", "certain"]
CustomLoss = Callable[[Floats, Floats], tuple[npt.ArrayLike, npt.ArrayLike]]

CLASSIFICATION = frozenset({"log_loss", "exponential"})
REGRESSION = frozenset(
    {
        "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie",
    }
)  # fmt: skip

_LINKS: dict[str, Link] = {"poisson": "log", "gamma": "log", "tweedie": "log"}


@dataclass(frozen=True)
class Loss:
    """A loss with its parameters.

    Parameters
    ----------
    name : str
        One of the engine's, or "custom".
    n_outputs : int
        Raw scores of a row, and trees of a round.
    link : str
        How predictions are made of raw scores.
    levels : tuple of float
        Of the quantile loss, in the caller's order.
    alpha : float
        Of the Huber loss: the quantile of the errors from which on they count linearly.
    power : float
        Of the Tweedie loss: the variance grows as this power of the mean.
    function : callable
        Of a custom loss.
    """

    name: str
    n_outputs: int = 1
    link: Link = "identity"
    n_classes: int = 0
    levels: tuple[float, ...] = ()
    alpha: float = 0.9
    power: float = 1.5
    function: CustomLoss | None = field(default=None, repr=False)

    @property
    def native(self) -> LossOptions | NativeCustomLoss:
        """The loss as the engine takes it."""
        if self.function is not None:
            return NativeCustomLoss(self.function, self.n_outputs)
        return LossOptions(
            self.name,
            n_classes=self.n_classes,
            levels=list(self.levels),
            alpha=self.alpha,
            power=self.power,
        )

    def predictions(self, raw: Floats) -> Floats:
        """Turn raw scores (n, n_outputs) into means, or into the probabilities of all classes.

        Quantiles are put in order within each row, so that none crosses another: rearrangement,
        Chernozhukov, Fernandez-Val and Galichon (2010).
        """
        if self.link == "certain":  # there is only one class
            return np.ones_like(raw)
        if self.link == "softmax":
            shares: Floats = softmax(raw, axis=1)
            return shares
        if self.link in {"logit", "half_logit"}:
            positive = expit(raw[:, 0] if self.link == "logit" else 2.0 * raw[:, 0])
            return np.column_stack([1.0 - positive, positive])
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
        """Raw scores (n, n_outputs) of an initial model's predictions.

        Probabilities are taken no nearer to 0 and 1 than float64 tells them apart.
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


def classification_loss(loss: str | CustomLoss, n_classes: int) -> Loss:
    """Return the loss of a classifier.

    Raises
    ------
    ValueError
        If the exponential loss is asked for more classes than two.
    """
    if n_classes == 1:
        return Loss("log_loss", 1, "certain", 1)
    n_outputs = 1 if n_classes == 2 else n_classes
    if loss == "exponential":
        if n_classes > 2:
            raise ValueError(
                "loss='exponential' is only suitable for a binary classification problem, you have "
                f"n_classes={n_classes}. Please use loss='log_loss' instead"
            )
        return Loss("exponential", 1, "half_logit", n_classes)
    link: Link = "logit" if n_outputs == 1 else "softmax"
    if isinstance(loss, str):
        return Loss("log_loss", n_outputs, link, n_classes)
    return Loss("custom", n_outputs, link, n_classes, function=loss)


def regression_loss(
    loss: str | CustomLoss, levels: tuple[float, ...], alpha: float, power: float
) -> Loss:
    """Return the loss of a regressor; ``levels`` are the quantiles, ``alpha`` is Huber's."""
    if not isinstance(loss, str):
        return Loss("custom", function=loss)
    if loss == "quantile":
        return Loss("quantile", len(levels), levels=levels)
    return Loss(loss, link=_LINKS.get(loss, "identity"), alpha=alpha, power=power)


class LossField:
    """How a model file holds a loss: what predictions need of it."""

    def encode(self, name: str, value: Loss, sections: Sections) -> Any:
        """Return its name, its number of scores, and the levels of quantiles."""
        levels = list(value.levels)
        return {"name": value.name, "n_outputs": value.n_outputs, "link": value.link} | (
            {"levels": levels} if levels else {}
        )

    def decode(self, name: str, stored: Any, sections: Sections) -> Loss:
        """Return the loss, checked."""
        match stored:
            case {"name": str(loss), "n_outputs": int(n), "link": str(link), **rest}:
                levels: Any = rest.pop("levels", [])
                known = loss in CLASSIFICATION | REGRESSION | {"custom"} and link in get_args(Link)
                fits = isinstance(levels, list) and len(levels) in {0, n} and n > 0 and not rest
                if known and fits and all(type(level) is float for level in levels):
                    return Loss(loss, n, cast("Link", link), levels=tuple(levels))
        raise ModelFormatError(f"{name} is no loss of boosting")


def read_levels(quantile: Any, name: str) -> tuple[float, ...]:
    """Levels of the quantile loss: one, or several different ones.

    Raises
    ------
    ValueError
        If one is no number between 0 and 1, or there are none, or two are the same.
    """
    levels = np.empty(0)
    if quantile is not None:
        with suppress(TypeError, ValueError):
            levels = np.atleast_1d(np.asarray(quantile, dtype=np.float64))
    if levels.ndim != 1 or not levels.size:
        raise ValueError(
            f"loss='quantile' needs {name}: a level between 0 and 1, such as 0.5 for the median, "
            f"or a list of them; it is {quantile!r}"
        )
    wrong = levels[~((levels > 0.0) & (levels < 1.0))]
    if wrong.size:
        raise ValueError(f"{name} holds {wrong[0]:g}: levels of quantiles lie between 0 and 1")
    if len(set(levels.tolist())) != levels.size:
        raise ValueError(f"{name}={quantile!r} holds a level twice: give each once")
    return tuple(levels.tolist())


def check_amounts(loss: Loss, rows: Rows) -> None:
    """Refuse targets that a loss has no value for.

    Raises
    ------
    ValueError
        If one is negative (Poisson, Tweedie) or not positive (gamma), or all are 0. The message
        names the row.
    """
    if loss.name not in {"poisson", "gamma", "tweedie"}:
        return
    found = rows.targets
    wrong = np.flatnonzero(found <= 0.0 if loss.name == "gamma" else found < 0.0)
    if wrong.size:
        row = rows.numbers[wrong[0]]
        raise ValueError(
            f"{_requirement(loss)}, but y is {rows.target[row]} in row {row}; leave such rows out "
            "or choose another loss"
        )
    if not found.any():
        raise ValueError(f"{_requirement(loss)}, but y is 0 in every row; choose another loss")


def _requirement(loss: Loss) -> str:
    """Describe the targets of a loss in scikit-learn's words."""
    if loss.name == "gamma":
        return "loss='gamma' requires strictly positive y"
    return f"loss={loss.name!r} requires non-negative y and sum(y) > 0"
