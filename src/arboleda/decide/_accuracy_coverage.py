"""How right a model is on the rows that it is sure of, over the share of rows that these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda.metrics._read import read_probabilities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["AccuracyCoverageCurve", "accuracy_coverage_curve", "curve_of"]

Floats = npt.NDArray[np.float64]

# Shares that should be equal differ by so much when weights are summed in another order.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class AccuracyCoverageCurve:
    """What `accuracy_coverage_curve` returns: one point for each threshold that changes anything.

    Attributes
    ----------
    threshold : ndarray of shape (n_points,)
        Descending: a row is accepted if the probability of its most probable class is at least
        this.
    coverage : ndarray of shape (n_points,)
        Share of the rows that are accepted; ascending to 1.
    accuracy : ndarray of shape (n_points,)
        Share of the accepted rows whose prediction is right.
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
        """Area under risk over coverage (AURC), the mean risk over all coverages.

        Rows of equal probability are taken as if they came in all orders. The lower the better;
        a model whose probabilities tell nothing has its error here (Geifman, Uziel and El-Yaniv
        2019).
        """
        errors = self.risk * self.coverage
        before = np.append(0.0, self.coverage[:-1])
        step = self.coverage - before
        wrong = np.diff(errors, prepend=0.0)
        # Inside a step errors grow evenly: risk(c) = (e + (c - b) w / s) / c, from b to b + s.
        rate = np.divide(wrong, step, out=np.zeros_like(step), where=step > 0)
        start = errors - wrong - before * rate
        grown = np.log(np.divide(self.coverage, before, out=np.ones_like(step), where=before > 0))
        return float(np.sum(rate * step + start * grown))

    @property
    def excess_area(self) -> float:
        """The area beyond that of probabilities that put every right prediction before the wrong.

        With error e of all rows the best area is e + (1 - e) log(1 - e).
        """
        error = float(self.risk[-1])
        best = error + (1.0 - error) * np.log1p(-error) if error < 1.0 else 1.0
        return self.area - float(best)

    def threshold_for(
        self, *, coverage: float | None = None, accuracy: float | None = None
    ) -> float:
        """Find the threshold that accepts enough rows, or enough of them rightly.

        Parameters
        ----------
        coverage : float, default=None
            The largest threshold that accepts at least this share of rows.
        accuracy : float, default=None
            The threshold that accepts most rows with at least this accuracy. It was chosen because
            it looks good on these rows: on others expect a little less.

        Returns
        -------
        threshold : float

        Raises
        ------
        ValueError
            If not one of the two is given, it is no share, or no threshold has the accuracy.
        """
        if (coverage is None) == (accuracy is None):
            raise ValueError("give coverage= or accuracy=, one of the two")
        name, share = ("accuracy", accuracy) if coverage is None else ("coverage", coverage)
        if share is None or not 0.0 <= share <= 1.0:
            raise ValueError(f"{name}={share!r} must lie between 0 and 1")
        if coverage is not None:
            # Rounding must not ask for one row more.
            enough = np.flatnonzero(self.coverage >= coverage - _ROUNDING)
            return float(self.threshold[enough[0]])
        right = np.flatnonzero(self.accuracy >= share - _ROUNDING)
        if not right.size:
            best = int(self.accuracy.argmax())
            raise ValueError(
                f"accuracy={share} is reached on no share of the rows: the most is "
                f"{self.accuracy[best]:.4f}, at coverage {self.coverage[best]:.4f}; ask for less"
            )
        return float(self.threshold[right[-1]])

    def to_frame(self) -> pd.DataFrame:
        """One row per threshold, as a pandas frame.

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
        """Draw accuracy over coverage.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure. Several curves may share axes.
        label : str, default=None
            Name of the curve; None: its area is written there.

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
    """Accuracy on the rows whose most probable class has at least some probability.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities in the order of ``labels``; with two classes, those of the second will do.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes that occur.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    curve : AccuracyCoverageCurve
        With ``area``, ``threshold_for()``, ``to_frame()`` and ``plot()``.

    Raises
    ------
    ValueError
        If a row holds no probabilities, a class is not among the labels, or no row has weight.

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
        raise ValueError("sample_weight is 0 for all rows: give some of them weight")
    return curve_of(probabilities.max(axis=1), probabilities.argmax(axis=1) == codes, weight)


def curve_of(
    confidence: Floats, right: npt.NDArray[np.bool_], weight: Floats
) -> AccuracyCoverageCurve:
    """Make the curve of rows by how sure the model is of each; some row has weight."""
    weight = weight / weight.max()
    used = weight > 0  # not of those that vanish beside the largest either
    order = np.argsort(-confidence[used], kind="stable")
    sure, weight = confidence[used][order], weight[used][order]
    ends = np.flatnonzero(np.append(np.diff(sure) < 0, True))
    accepted = np.cumsum(weight)[ends]
    hits = np.cumsum(weight * right[used][order])[ends]
    return AccuracyCoverageCurve(
        threshold=sure[ends],
        coverage=accepted / accepted[-1],
        accuracy=np.minimum(hits / accepted, 1.0),
    )
