"""Tables of metrics for classification and regression; the values are scikit-learn's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn import metrics as sk
from sklearn.utils import check_consistent_length

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.numbers import clip, plain
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped
from arboleda.metrics import counts
from arboleda.metrics._read import encode_labels, read_score_matrix, sort_distinct_labels

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "ClassificationTable",
    "RegressionTable",
    "classification_table",
    "compute_areas",
    "regression_table",
]


def compute_areas(
    hit: npt.NDArray[np.bool_], score: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """Return the area under the ROC curve, and the average precision.

    The area is computed by the trapezoidal rule, with ties in one step (Fawcett 2006, algorithm 2).
    The average precision is the mean of the precision over the steps of recall. Both classes must
    occur.
    """
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(score[order])), len(order) - 1)
    hits = np.cumsum(hit[order])[ends]
    others = ends + 1 - hits
    steps = np.diff(hits, prepend=0)
    middle = hits - steps / 2  # hits above the middle of a step
    roc = float(np.sum(np.diff(others, prepend=0) * middle) / (hits[-1] * others[-1]))
    return roc, float(np.sum(steps * (hits / (ends + 1))) / hits[-1])


_MOST_COUNTED_CLASSES = 20  # more counts would overlap in the plot

_CLASS_METRICS = {
    "precision": counts.precision,
    "recall": counts.recall,
    "specificity": counts.specificity,
    "f1": counts.f1,
}
# Probabilities are clipped by this value in the log-loss, as in scikit-learn.
_SMALLEST = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class ClassificationTable(Result):
    """Result of `classification_table`.

    Attributes
    ----------
    labels : tuple
        The classes, in the order of the rows and columns of ``confusion``.
    confusion : ndarray of int, shape (n_classes, n_classes)
        Counts; row: true class, column: predicted class.
    per_class : tuple of dict
        ``precision``, ``recall``, ``specificity``, ``f1`` and ``support`` of each class.
    macro, weighted : dict
        Unweighted mean over the classes, and mean weighted by support.
    metrics : dict
        ``accuracy``, ``error``, ``balanced_accuracy``, ``f1_macro``, ``mcc``, ``roc_auc``,
        ``average_precision``, ``log_loss``, ``brier``; None if a metric is not defined or needs
        scores that were not given.
    """

    labels: tuple[Any, ...]
    confusion: npt.NDArray[np.int64]
    per_class: tuple[dict[str, float], ...]
    macro: dict[str, float]
    weighted: dict[str, float]
    metrics: dict[str, float | None]

    def _summarize(self) -> dict[str, Any]:
        known = {name: value for name, value in self.metrics.items() if value is not None}
        shown = ("accuracy", "balanced_accuracy", "f1_macro", "roc_auc", "log_loss")
        return {
            "classes": self.labels,
            "n_rows": int(self.confusion.sum()),
            **{name: known[name] for name in shown if name in known},
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas data frame with a row per class, and ``macro`` and ``weighted``."""
        rows = [*self.per_class, self.macro, self.weighted]
        index = [*self.labels, "macro", "weighted"]
        return new_frame(rows, index=index)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the confusion matrix: counts, coloured by their share of the true class.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        support = np.maximum(self.confusion.sum(axis=1, keepdims=True), 1)
        share = self.confusion / support
        ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
        if len(self.labels) <= _MOST_COUNTED_CLASSES:
            for (i, j), count in np.ndenumerate(self.confusion):
                colour = "white" if share[i, j] > 0.5 else "black"
                ax.text(j, i, f"{count:,}", ha="center", va="center", color=colour)
        names = [plot_escaped(clip(str(label), 16)) for label in self.labels]
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(len(names)), names)
        ax.set_xlabel("predicted class")
        ax.set_ylabel("true class")
        return ax


@dataclass(frozen=True, repr=False)
class RegressionTable(Result):
    """Result of `regression_table`: ``metrics``, and the number of rows as ``support``."""

    metrics: dict[str, float | None]
    support: int

    def _summarize(self) -> dict[str, Any]:
        known = {name: value for name, value in self.metrics.items() if value is not None}
        return {
            "n_rows": self.support,
            **{name: known[name] for name in ("rmse", "mae", "r2") if name in known},
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas data frame with one row per metric."""
        return new_frame({"value": self.metrics}, dtype=float)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot the errors in the unit of the target as bars, with R2 above them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        titles = {"rmse": "root mean squared error", "mae": "mean absolute error"}
        bars = ax.barh(list(titles.values()), [self.metrics[name] or 0.0 for name in titles], 0.6)
        ax.bar_label(bars, [plain(self.metrics[name]) for name in titles], padding=3)
        ax.margins(x=0.2)
        ax.invert_yaxis()
        ax.set_xlabel("error, in the unit of the target")
        if self.metrics["r2"] is not None:
            ax.set_title(f"R2 {self.metrics['r2']:.3f}")
        return ax


def classification_table(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    y_score: npt.ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
) -> ClassificationTable:
    """Compute metrics of predicted classes per class, averaged, and over all rows.

    Precision is TP / (TP + FP), recall TP / (TP + FN), specificity TN / (TN + FP), F1 the harmonic
    mean of precision and recall; each is 0 if its denominator is 0. The Matthews coefficient is
    that for K classes (Gorodkin 2004). ROC AUC and average precision are those of the second class
    if there are two, otherwise the mean over the classes, each against the rest. The Brier score is
    the mean squared error of the probability of the second class; with more classes it is the sum
    over the classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted classes.
    y_score : array-like of shape (n,) or (n, n_classes), optional
        Scores that increase with the confidence in a class, in the order of ``labels``; with two
        classes, optionally only those of the second one. Log-loss and Brier score are computed if
        they are probabilities: values in [0, 1], rows that sum to 1.
    labels : sequence, optional
        All classes in their order; by default the sorted classes that occur.

    Returns
    -------
    ClassificationTable

    Raises
    ------
    ValueError
        If lengths differ, there is no row, or a class is not among ``labels``.

    Examples
    --------
    >>> table = classification_table([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])
    >>> round(table.metrics["accuracy"], 3), round(table.macro["recall"], 3)
    (0.6, 0.583)
    """
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    check_consistent_length(true, predicted)
    if not len(true):
        raise ValueError("there are no rows to compare: give at least one")
    names = (
        sort_distinct_labels(np.concatenate([true, predicted]))
        if labels is None
        else np.asarray(labels)
    )
    codes_true, codes_predicted = encode_labels(true, names), encode_labels(predicted, names)
    confusion = np.bincount(codes_true * len(names) + codes_predicted, minlength=len(names) ** 2)
    confusion = confusion.reshape(len(names), len(names))
    support = confusion.sum(axis=1)
    class_metrics = {name: measure(confusion) for name, measure in _CLASS_METRICS.items()}
    accuracy = counts.accuracy(confusion)
    values: dict[str, float | None] = {
        "accuracy": accuracy,
        "error": 1.0 - accuracy,
        "balanced_accuracy": counts.balanced_accuracy(confusion),
        "f1_macro": float(np.mean(class_metrics["f1"])),
        "mcc": counts.matthews(confusion),
        "roc_auc": None,
        "average_precision": None,
        "log_loss": None,
        "brier": None,
    }
    if y_score is not None:
        values |= _compute_score_metrics(
            codes_true, read_score_matrix(y_score, len(true), len(names))
        )
    return ClassificationTable(
        labels=tuple(names.tolist()),
        confusion=confusion,
        per_class=tuple(
            {
                name: float(values_of_classes[k])
                for name, values_of_classes in {**class_metrics, "support": support}.items()
            }
            for k in range(len(names))
        ),
        macro=_average_over_classes(class_metrics, np.ones(len(names)), support),
        weighted=_average_over_classes(class_metrics, support, support),
        metrics=values,
    )


def _average_over_classes(
    class_metrics: Mapping[str, npt.NDArray[np.float64]],
    weight: npt.NDArray[Any],
    support: npt.NDArray[np.int64],
) -> dict[str, float]:
    means = {
        name: float(np.average(values, weights=weight)) for name, values in class_metrics.items()
    }
    return {**means, "support": float(support.sum())}


def _compute_score_metrics(
    true: npt.NDArray[np.int64], score: npt.NDArray[np.float64]
) -> Mapping[str, float | None]:
    n_classes = score.shape[1]
    support = np.bincount(true, minlength=n_classes)
    shown = [1] if n_classes == 2 else range(n_classes)
    values: dict[str, float | None] = {}
    if np.all((support > 0) & (support < len(true))) and np.all(np.isfinite(score)):
        means = np.mean([compute_areas(true == k, score[:, k]) for k in shown], axis=0)
        values["roc_auc"], values["average_precision"] = map(float, means)
    inside = np.all((score >= 0) & (score <= 1))
    if inside and np.allclose(score.sum(axis=1), 1.0, atol=1e-6):
        true_probability = np.clip(score[np.arange(len(true)), true], _SMALLEST, 1 - _SMALLEST)
        values["log_loss"] = float(np.mean(-np.log(true_probability)))
        values["brier"] = float(sum(np.mean((score[:, k] - (true == k)) ** 2) for k in shown))
    return values


def regression_table(y_true: npt.ArrayLike, y_pred: npt.ArrayLike) -> RegressionTable:
    """Compute metrics of predicted numbers.

    ``mse`` is the mean squared error, ``rmse`` its root, ``mae`` the mean absolute error, ``r2``
    the explained share of the variance, ``nmse`` = MSE / Var(y) with the variance over the given
    rows (r2 = 1 - nmse), ``mape`` the mean of ``|error| / |y|``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted values, in the same unit.

    Returns
    -------
    RegressionTable
        ``metrics`` holds the six values; None if a metric is not defined: ``r2`` and ``nmse`` of a
        constant ``y_true``, ``mape`` if a true value is 0, ``mse`` if values are beyond 1e150.

    Raises
    ------
    ValueError
        If lengths differ or a value is not finite.

    Examples
    --------
    >>> table = regression_table([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    >>> round(table.metrics["nmse"], 6)
    0.5
    """
    true = np.asarray(y_true, dtype=np.float64)
    predicted = np.asarray(y_pred, dtype=np.float64)
    # Squares of larger values would overflow; a power of two changes no digit.
    unit = _find_unit(true, predicted)
    scaled, guess = true / unit, predicted / unit
    mse = float(sk.mean_squared_error(scaled, guess))
    variance = float(np.var(scaled))
    mape = None if np.any(true == 0) else float(sk.mean_absolute_percentage_error(true, predicted))
    values: dict[str, float | None] = {
        "rmse": float(np.sqrt(mse)) * unit,
        "mae": float(sk.mean_absolute_error(scaled, guess)) * unit,
        "r2": float(sk.r2_score(scaled, guess)) if variance > 0 else None,
        "mse": mse if unit == 1.0 else None,
        "nmse": mse / variance if variance > 0 else None,
        "mape": mape,
    }
    return RegressionTable(values, len(true))


def _find_unit(true: npt.NDArray[np.float64], predicted: npt.NDArray[np.float64]) -> float:
    """Return the power of two to divide by before squaring: 1 for ordinary values."""
    largest = max(float(np.abs(values).max(initial=0.0)) for values in (true, predicted))
    if not 1e150 < largest < np.inf:
        return 1.0
    return float(np.ldexp(1.0, int(np.frexp(largest)[1])))
