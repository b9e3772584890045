"""How metrics are computed: their values, their values on resampled rows, and each row's influence.

A bootstrap draws many times, so a metric is computed from what a draw changes: the multiplicity of
each row. Everything else, such as the order of the scores, is prepared once. The influence of row i
on a metric T of the rows' distribution P is

    I_i = d/de T((1 - e) P + e delta_i) at e = 0

(Efron 1982, chapter 6); `arboleda.scoring.intervals` makes standard errors of it.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from arboleda.metrics import counts
from arboleda.scoring import areas, row_losses
from arboleda.scoring.user_function import MetricFunction

__all__ = [
    "BlockMeasure",
    "CountMetric",
    "ExplainedShare",
    "FunctionMetric",
    "RankMetric",
    "RowMean",
    "ScoreMeasure",
    "ScoredOutputs",
    "make_measure",
]

Floats = npt.NDArray[np.float64]
Table = npt.NDArray[Any]
# A metric of rows with these multiplicities; None where it is undefined.
Weighted = Callable[[Floats], float | None]
# Blocks of rows that are left out in turn for influences without a formula.
BLOCKS = 100


@dataclass(frozen=True)
class ScoredOutputs:
    """The targets of some rows and a model's outputs for them.

    Attributes
    ----------
    y, predicted : ndarray of shape (n,)
        Numbers of classes, or values; or times and risks, or relevance and scores of ranks.
    score : ndarray of shape (n, n_classes) or None
        Probabilities or decision values; survival curves of shape (n, n_times).
    n_classes : int
        0 unless in a classification.
    """

    y: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    score: Floats | None
    n_classes: int

    @property
    def has_scores(self) -> bool:
        """Whether there are scores, all of them numbers."""
        return self.score is not None and not np.isnan(self.score).any()


class ScoreMeasure(ABC):
    """A metric as a function of rows."""

    @abstractmethod
    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the metric as a function of the multiplicities of the rows."""

    @abstractmethod
    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return each row's influence on the metric's ``value``, up to a common constant."""

    def compute(self, outputs: ScoredOutputs) -> float | None:
        """Return the metric; None if it is undefined."""
        return self.prepare(outputs)(np.ones(len(outputs.y)))


def make_average(losses: Floats) -> Callable[[Floats], float]:
    """Return the mean of losses as a function of multiplicities."""
    return lambda times: float(np.sum(times * losses) / np.sum(times))


@dataclass(frozen=True)
class RowMean(ScoreMeasure):
    """The mean of a loss of each row, or its square root.

    ``losses`` takes the targets with the predictions or the scores, or whole `ScoredOutputs`; it
    returns None where the loss is undefined.
    """

    losses: Callable[..., Floats | None]
    takes: Literal["predictions", "scores", "outputs"] = "predictions"
    root: bool = False

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the mean as a function of the multiplicities of the rows."""
        losses = self._compute_losses(outputs)
        if losses is None:
            return _skip_metric
        average = make_average(losses)
        return (lambda times: float(np.sqrt(average(times)))) if self.root else average

    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return the losses; those of a root are divided by its derivative."""
        losses = self._compute_losses(outputs)
        assert losses is not None  # the value is known
        if not self.root:
            return losses
        return np.asarray(losses / (2 * value)) if value > 0 else np.zeros(len(losses))

    def _compute_losses(self, outputs: ScoredOutputs) -> Floats | None:
        if self.takes == "outputs":
            return self.losses(outputs)
        if self.takes == "predictions":
            return self.losses(outputs.y, outputs.predicted)
        return self.losses(outputs.y, outputs.score) if outputs.has_scores else None


@dataclass(frozen=True)
class CountMetric(ScoreMeasure):
    """A function of the table of true (rows) and predicted (columns) classes.

    ``gradient`` returns its derivatives by the cells of a table of shares; None: they are computed
    as differences.
    """

    function: Callable[[Table], float]
    gradient: Callable[[Floats], Floats] | None = None

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the function of the counted rows."""
        n = outputs.n_classes
        cell = outputs.y * n + outputs.predicted

        def of_cells(times: Floats) -> float:
            table = np.bincount(cell, weights=times, minlength=n**2)
            return self.function(table.reshape(n, n))

        return of_cells

    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return the derivative by the cell of each row."""
        n = outputs.n_classes
        table = np.bincount(outputs.y * n + outputs.predicted, minlength=n**2).reshape(n, n)
        shares = table / len(outputs.y)
        gradient = self.gradient or self._compute_differences
        return np.asarray(gradient(shares)[outputs.y, outputs.predicted])

    def _compute_differences(self, shares: Floats) -> Floats:
        """Return central differences at the occupied cells."""
        slopes = np.zeros_like(shares)
        step = 1e-4 * shares[shares > 0].min()
        for cell in np.argwhere(shares > 0):
            at = tuple(cell)
            sides = []
            for sign in (1.0, -1.0):
                moved = shares.copy()
                moved[at] += sign * step
                sides.append(self.function(moved))
            slopes[at] = (sides[0] - sides[1]) / (2 * step)
        return slopes


@dataclass(frozen=True)
class RankMetric(ScoreMeasure):
    """An area under a curve of the second of two classes, or its mean over more classes.

    ``prepare_class`` and ``influence_class`` take whether each row is of the class, and its scores.
    """

    prepare_class: Callable[[npt.NDArray[np.bool_], Floats], Weighted]
    influence_class: Callable[[npt.NDArray[np.bool_], Floats], Floats]

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the mean area as a function of the multiplicities of the rows."""
        score = outputs.score
        if score is None or not outputs.has_scores:
            return _skip_metric
        each = [self.prepare_class(outputs.y == k, score[:, k]) for k in _list_shown(score)]

        def mean(times: Floats) -> float | None:
            found = [value for area in each if (value := area(times)) is not None]
            return float(np.mean(found)) if len(found) == len(each) else None

        return mean

    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return the mean of the influences over the classes."""
        score = outputs.score
        assert score is not None  # the value is known
        shown = _list_shown(score)
        parts = [self.influence_class(outputs.y == k, score[:, k]) for k in shown]
        return np.asarray(np.sum(parts, axis=0) / len(shown))


def _list_shown(score: Floats) -> range:
    return range(1, 2) if score.shape[1] == 2 else range(score.shape[1])


@dataclass(frozen=True)
class ExplainedShare(ScoreMeasure):
    """The explained share of the variance, or with ``lost`` the share that is not explained."""

    lost: bool = False

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the share as a function of the multiplicities of the rows."""
        y = outputs.y
        mse = make_average(row_losses.compute_squared_errors(y, outputs.predicted))

        def share(times: Floats) -> float | None:
            some = y[times > 0]
            if some.min() == some.max():
                return None
            variance = make_average((y - make_average(y)(times)) ** 2)(times)
            if variance <= 0:
                return None
            return mse(times) / variance if self.lost else 1 - mse(times) / variance

        return share

    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return the derivative of a ratio of means."""
        y, error = outputs.y, outputs.y - outputs.predicted
        away = (y - y.mean()) ** 2
        if self.lost:
            return np.asarray((error**2 - value * away) / away.mean())
        return np.asarray(((1 - value) * away - error**2) / away.mean())


class BlockMeasure(ScoreMeasure):
    """A metric whose influences come from leaving out blocks of rows (the block jackknife)."""

    def compute_influence(self, outputs: ScoredOutputs, value: float) -> Floats:
        """Return influences by leaving out blocks of rows in turn.

        The d rows of a block share the mean of their influences, whose variance is d times smaller
        than that of a single one.
        """
        n = len(outputs.y)
        of_times = self.prepare(outputs)
        block = np.arange(n) % min(n, BLOCKS)
        influence = np.zeros(n)
        for k in range(min(n, BLOCKS)):
            is_left = block != k
            n_left = int(is_left.sum())
            d = n - n_left
            without = of_times(is_left.astype(np.float64))
            if without is not None:
                influence[~is_left] = np.sqrt(d) * (n_left / d) * (value - without)
        return influence


@dataclass(frozen=True)
class FunctionMetric(BlockMeasure):
    """A function of the user, with the classes' labels; it takes rows, not multiplicities."""

    function: MetricFunction
    labels: tuple[str, ...]

    def prepare(self, outputs: ScoredOutputs) -> Weighted:
        """Return the function of the rows, each repeated by its multiplicity."""

        def of_rows(times: Floats) -> float | None:
            rows = np.repeat(np.arange(len(outputs.y)), times.astype(np.int64))
            return self._call_safely(outputs, rows)

        return of_rows

    def call(self, outputs: ScoredOutputs, rows: npt.NDArray[np.int64]) -> float | None:
        """Call the function for some of the rows; its errors are raised."""
        score = outputs.score
        if self.function.needs_probabilities and not outputs.has_scores:
            return None
        score = None if score is None else score[rows]
        return self.function(outputs.y[rows], outputs.predicted[rows], score, self.labels)

    def _call_safely(self, outputs: ScoredOutputs, rows: npt.NDArray[np.int64]) -> float | None:
        """Call the function for some of the rows; None if it raises an error, as for one class."""
        if not len(rows):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return self.call(outputs, rows)
        except Exception:  # noqa: BLE001 - code of the user, which may raise anything
            return None


def _skip_metric(times: Floats) -> float | None:
    """Return the value of an undefined metric."""
    return None


def _mean_of(per_class: Callable[[Table], Floats], table: Table) -> float:
    return float(np.mean(per_class(table)))


def _weighted_mean_of(per_class: Callable[[Table], Floats], table: Table) -> float:
    return float(np.average(per_class(table), weights=table.sum(axis=1)))


def _second_of(per_class: Callable[[Table], Floats], table: Table) -> float:
    return float(per_class(table)[1])


def _compute_error_rate(table: Table) -> float:
    return 1.0 - counts.accuracy(table)


def _make_count_metrics() -> dict[str, ScoreMeasure]:
    found: dict[str, ScoreMeasure] = {
        "accuracy": CountMetric(counts.accuracy, counts.compute_accuracy_gradient),
        "error": CountMetric(_compute_error_rate),
        "balanced_accuracy": CountMetric(
            counts.balanced_accuracy, counts.compute_balanced_accuracy_gradient
        ),
        "mcc": CountMetric(counts.matthews, counts.compute_matthews_gradient),
        "kappa": CountMetric(counts.kappa),
    }
    per_class = {
        "precision": counts.precision,
        "recall": counts.recall,
        "specificity": counts.specificity,
        "f1": counts.f1,
    }
    for name, function in per_class.items():
        found[name] = CountMetric(partial(_second_of, function))
        found[f"{name}_macro"] = CountMetric(partial(_mean_of, function))
        if name != "specificity":
            found[f"{name}_weighted"] = CountMetric(partial(_weighted_mean_of, function))
    mean_f1 = partial(_mean_of, counts.f1)
    found["f1_macro"] = CountMetric(mean_f1, counts.compute_mean_f1_gradient)
    return found


MEASURES: dict[str, ScoreMeasure] = {
    **_make_count_metrics(),
    "roc_auc": RankMetric(areas.prepare_roc_area, areas.compute_roc_influence),
    "average_precision": RankMetric(
        areas.prepare_average_precision, areas.compute_average_precision_influence
    ),
    "log_loss": RowMean(row_losses.compute_log_losses, takes="scores"),
    "brier": RowMean(row_losses.compute_brier_losses, takes="scores"),
    "rmse": RowMean(row_losses.compute_squared_errors, root=True),
    "mae": RowMean(row_losses.compute_absolute_errors),
    "r2": ExplainedShare(),
    "mse": RowMean(row_losses.compute_squared_errors),
    "nmse": ExplainedShare(lost=True),
    "mape": RowMean(row_losses.compute_relative_errors),
    "msle": RowMean(row_losses.compute_squared_log_errors),
    "rmsle": RowMean(row_losses.compute_squared_log_errors, root=True),
    "poisson": RowMean(row_losses.compute_poisson_deviances),
    "gamma": RowMean(row_losses.compute_gamma_deviances),
}


def make_measure(key: str, parameter: float | None) -> ScoreMeasure:
    """Return how the metric of a key, other than the cost, is computed."""
    if key == "top_k":
        assert parameter is not None
        return RowMean(partial(row_losses.compute_top_k_hits, k=int(parameter)), takes="scores")
    if key == "pinball":
        assert parameter is not None
        return RowMean(partial(row_losses.compute_pinball_losses, quantile=parameter))
    return MEASURES[key]
