"""Accuracy-coverage curves: accuracy on the most confident predictions over their share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda.metrics import read_probabilities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["AccuracyCoverageCurve", "accuracy_coverage_curve", "make_curve"]

Floats = npt.NDArray[np.float64]

# Tolerance for shares whose weights are summed in a different order.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class AccuracyCoverageCurve(Result):
    """Result of `accuracy_coverage_curve`: one point per distinct threshold.

    Attributes
    ----------
    threshold : ndarray of shape (n_points,)
        Descending: a row is accepted if the probability of its most probable class is at least
        this.
    coverage : ndarray of shape (n_points,)
        Share of the rows that are accepted; ascending to 1.
    accuracy : ndarray of shape (n_points,)
        Share of the accepted rows whose prediction is correct.
    """

    threshold: Floats
    coverage: Floats
    accuracy: Floats

    @property
    def risk(self) -> Floats:
        """Share of the accepted rows whose prediction is wrong, 1 - accuracy."""
        return 1.0 - self.accuracy

    @property
    def area(self) -> float:
        """Area under the risk-coverage curve (AURC), the mean risk over all coverages.

        Ties in the probability are averaged over all orders of the rows. Lower is better; with
        uninformative probabilities the area equals the error rate (Geifman, Uziel and El-Yaniv
        2019).
        """
        errors = self.risk * self.coverage
        before = np.append(0.0, self.coverage[:-1])
        step = self.coverage - before
        wrong = np.diff(errors, prepend=0.0)
        # Errors are linear within a step: risk(c) = (e + (c - b) w / s) / c, from b to b + s.
        rate = np.divide(wrong, step, out=np.zeros_like(step), where=step > 0)
        start = errors - wrong - before * rate
        grown = np.log(np.divide(self.coverage, before, out=np.ones_like(step), where=before > 0))
        return float(np.sum(rate * step + start * grown))

    @property
    def excess_area(self) -> float:
        """Difference of `area` to the area of an optimal ranking of the predictions.

        An optimal ranking puts all correct predictions before the wrong ones. Its area is
        e + (1 - e) log(1 - e), where e is the error rate on all rows.
        """
        error = float(self.risk[-1])
        best = error + (1.0 - error) * np.log1p(-error) if error < 1.0 else 1.0
        return self.area - float(best)

    def threshold_for(
        self, *, coverage: float | None = None, accuracy: float | None = None
    ) -> float:
        """Find the threshold for a required coverage or accuracy.

        Parameters
        ----------
        coverage : float, default=None
            The largest threshold that accepts at least this share of rows.
        accuracy : float, default=None
            The threshold that accepts the most rows with at least this accuracy. The choice is
            optimistic: expect a slightly lower accuracy on new rows.

        Returns
        -------
        threshold : float

        Raises
        ------
        ValueError
            If not exactly one of the two is given, it is not between 0 and 1, or no threshold
            reaches the accuracy.
        """
        if (coverage is None) == (accuracy is None):
            raise ValueError("give exactly one of the two arguments coverage and accuracy")
        name, share = ("accuracy", accuracy) if coverage is None else ("coverage", coverage)
        if share is None or not 0.0 <= share <= 1.0:
            raise ValueError(f"{name}={share!r} must lie between 0 and 1")
        if coverage is not None:
            # The tolerance keeps rounding from requiring one more row.
            sufficient = np.flatnonzero(self.coverage >= coverage - _ROUNDING)
            return float(self.threshold[sufficient[0]])
        sufficient = np.flatnonzero(self.accuracy >= share - _ROUNDING)
        if not sufficient.size:
            best = int(self.accuracy.argmax())
            raise ValueError(
                f"accuracy={share} is not reached at any coverage: the maximum is "
                f"{self.accuracy[best]:.4f}, at coverage {self.coverage[best]:.4f}; lower accuracy"
            )
        return float(self.threshold[sufficient[-1]])

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_thresholds": len(self.threshold),
            "accuracy": float(self.accuracy[-1]),
            "area": self.area,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per threshold.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``threshold``, ``coverage``, ``accuracy`` and ``risk``.
        """
        return new_frame(
            {
                "threshold": self.threshold,
                "coverage": self.coverage,
                "accuracy": self.accuracy,
                "risk": self.risk,
            }
        )

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Plot accuracy over coverage.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure. Several curves may share axes.
        label : str, default=None
            Label of the curve in the legend; None: its area.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        name = f"area under the risk {self.area:.4f}" if label is None else label
        ax.plot(self.coverage, self.accuracy, lw=1.5, label=name)
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("coverage: share of rows decided")
        ax.set_ylabel("accuracy on these rows")
        ax.legend(frameon=False)
        return ax


def accuracy_coverage_curve(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
) -> AccuracyCoverageCurve:
    """Compute the accuracy on the most confident predictions over their share of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of rows that are not in the training data.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities in the order of ``labels``; with two classes, optionally only those of the
        second one.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes of ``y_true``.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    curve : AccuracyCoverageCurve
        With ``area``, ``threshold_for()``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a row does not hold probabilities, a class is not among the labels, or all weights are 0.

    References
    ----------
    Chow, C. K. (1970), "On optimum recognition error and reject tradeoff", IEEE Transactions on
    Information Theory 16. El-Yaniv, R., Wiener, Y. (2010), "On the foundations of noise-free
    selective classification", JMLR 11. Geifman, Y., Uziel, G., El-Yaniv, R. (2019), "Bias-reduced
    uncertainty estimation for deep neural classifiers", ICLR.

    Examples
    --------
    >>> from arboleda.decide import accuracy_coverage_curve
    >>> curve = accuracy_coverage_curve([0, 1, 1, 1], [0.1, 0.95, 0.7, 0.4])
    >>> curve.threshold.tolist(), curve.coverage.tolist(), curve.accuracy.tolist()
    ([0.95, 0.9, 0.7, 0.6], [0.25, 0.5, 0.75, 1.0], [1.0, 1.0, 1.0, 0.75])
    >>> curve.threshold_for(accuracy=1.0)
    0.7
    """
    _, codes, probabilities = read_probabilities(y_true, y_prob, labels)
    weight = _check_sample_weight(
        sample_weight, probabilities, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise ValueError("sample_weight is 0 for all rows: at least one must be positive")
    return make_curve(probabilities.max(axis=1), probabilities.argmax(axis=1) == codes, weight)


def make_curve(
    confidence: Floats, is_correct: npt.NDArray[np.bool_], weight: Floats
) -> AccuracyCoverageCurve:
    """Compute the curve from the confidence of each row; at least one weight must be positive."""
    weight = weight / weight.max()
    used = weight > 0  # excludes weights that underflow relative to the largest one
    order = np.argsort(-confidence[used], kind="stable")
    thresholds, weight = confidence[used][order], weight[used][order]
    ends = np.flatnonzero(np.append(np.diff(thresholds) < 0, True))
    accepted = np.cumsum(weight)[ends]
    hits = np.cumsum(weight * is_correct[used][order])[ends]
    return AccuracyCoverageCurve(
        threshold=thresholds[ends],
        coverage=accepted / accepted[-1],
        accuracy=np.minimum(hits / accepted, 1.0),
    )
