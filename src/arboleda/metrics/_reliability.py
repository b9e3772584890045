"""Reliability tables: predicted probabilities and observed frequencies in bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result
from arboleda._utils.text import plot_escaped
from arboleda.metrics._calibration_error import Bins, bin_probabilities, make_event, sums_by_bin
from arboleda.metrics._read import read_probabilities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ReliabilityTable", "reliability_table"]

Floats = npt.NDArray[np.float64]
Interval = Literal["wilson", "exact"]


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityTable(Result):
    """Result of `reliability_table`: one row per nonempty bin.

    Attributes
    ----------
    event : str
        Name of the event of the probabilities, for axis labels.
    lower, upper : ndarray of shape (n_bins,)
        Edges of the bins.
    counts : ndarray of int, shape (n_bins,)
        Number of rows of each bin.
    mean_probability : ndarray of shape (n_bins,)
        Mean predicted probability of these rows.
    frequency : ndarray of shape (n_bins,)
        Share of these rows in which the event occurred.
    low, high : ndarray of shape (n_bins,)
        Limits of the confidence interval of each frequency.
    confidence_level : float
        Confidence level of the intervals.
    brier : float
        Mean over all rows of (probability - 1)^2 if the event occurred and of probability^2
        otherwise.
    """

    event: str
    lower: Floats
    upper: Floats
    counts: npt.NDArray[np.int64]
    mean_probability: Floats
    frequency: Floats
    low: Floats
    high: Floats
    confidence_level: float
    brier: float

    @property
    def gaps(self) -> Floats:
        """Frequency minus mean probability; negative where the model is overconfident."""
        return self.frequency - self.mean_probability

    @property
    def expected_calibration_error(self) -> float:
        """Mean absolute gap, weighted by the rows of each bin."""
        return float(np.average(np.abs(self.gaps), weights=self.counts))

    @property
    def maximum_calibration_error(self) -> float:
        """Largest absolute gap; it may be large by chance in bins of few rows."""
        return float(np.abs(self.gaps).max())

    def brier_decomposition(self) -> dict[str, float]:
        """Decompose the Brier score into reliability, resolution and uncertainty.

        With n_b rows in bin b, mean probability p_b, frequency o_b, and frequency o of all rows
        (Murphy 1973): reliability = sum n_b (p_b - o_b)^2 / n, which is 0 for a calibrated model;
        resolution = sum n_b (o_b - o)^2 / n, which is 0 for a model that does not discriminate;
        uncertainty = o (1 - o). Binning adds a small remainder (Stephenson, Coelho and Jolliffe
        2008).

        Returns
        -------
        parts : dict
            ``brier`` = ``reliability`` - ``resolution`` + ``uncertainty`` + ``within_bins``.
        """
        share = self.counts / self.counts.sum()
        overall = float(share @ self.frequency)
        reliability = float(share @ self.gaps**2)
        resolution = float(share @ (self.frequency - overall) ** 2)
        uncertainty = overall * (1.0 - overall)
        return {
            "brier": self.brier,
            "reliability": reliability,
            "resolution": resolution,
            "uncertainty": uncertainty,
            "within_bins": self.brier - (reliability - resolution + uncertainty),
        }

    def _summarize(self) -> dict[str, Any]:
        return {
            "event": self.event,
            "n_rows": int(self.counts.sum()),
            "n_bins": len(self.counts),
            "expected_calibration_error": self.expected_calibration_error,
            "brier": self.brier,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with one row per bin.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``lower``, ``upper``, ``count``, ``mean_probability``, ``frequency``, ``low``
            and ``high``.
        """
        return new_frame(
            {
                "lower": self.lower,
                "upper": self.upper,
                "count": self.counts,
                "mean_probability": self.mean_probability,
                "frequency": self.frequency,
                "low": self.low,
                "high": self.high,
            }
        )

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Plot the reliability diagram: frequency over mean probability, with intervals.

        The curve of a calibrated model is the diagonal. Pale bars show the share of the rows in
        each bin.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.
        label : str, default=None
            Label of the curve in the legend; None: its expected calibration error.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        share = self.counts / self.counts.sum()
        width = self.upper - self.lower
        ax.bar(
            self.lower,
            share,
            width,
            align="edge",
            color="0.9",
            ec="0.75",
            lw=0.5,
            label="share of rows",
            zorder=0,
        )
        ax.plot([0, 1], [0, 1], ls="--", lw=0.8, color="0.5", label="calibrated", zorder=1)
        if label is None:
            label = f"ECE {self.expected_calibration_error:.3f}"
        reach = np.maximum([self.frequency - self.low, self.high - self.frequency], 0.0)
        ax.errorbar(
            self.mean_probability,
            self.frequency,
            yerr=reach,
            fmt="o-",
            ms=4,
            lw=1.2,
            elinewidth=0.8,
            capsize=2,
            color="C0",
            label=label,
            zorder=3,
        )
        ax.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
        ax.set_xlabel(f"mean probability of {plot_escaped(self.event)}")
        ax.set_ylabel("observed frequency")
        ax.legend(
            frameon=False,
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=3,
            columnspacing=1.0,
            handlelength=1.5,
        )
        return ax


def reliability_table(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    pos_label: Any = None,
    n_bins: int = 10,
    strategy: Bins = "uniform",
    interval: Interval = "wilson",
    confidence_level: float = 0.95,
) -> ReliabilityTable:
    """Bin rows by their predicted probability, and compute the frequency of the event per bin.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of rows that are not in the training data.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities in the order of ``labels``; with two classes, optionally only those of the
        second one.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes of ``y_true``.
    pos_label : label, default=None
        The class whose probability is checked. None: the event that the most probable class of a
        row is correct, which is the usual choice for many classes (Guo et al. 2017).
    n_bins : int, default=10
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equal numbers of rows.
    interval : {"wilson", "exact"}, default="wilson"
        Confidence interval of the frequency in each bin: Wilson (1927), or Clopper and Pearson
        (1934), which is conservative.
    confidence_level : float, default=0.95

    Returns
    -------
    table : ReliabilityTable
        With ``expected_calibration_error``, ``brier_decomposition()``, ``to_frame()`` and
        ``plot()``.

    Raises
    ------
    ValueError
        If a row does not hold probabilities, a class is not among the labels, or an option is
        invalid.

    References
    ----------
    Murphy, A. H. (1973), "A new vector partition of the probability score", Journal of Applied
    Meteorology 12. DeGroot, M. H., Fienberg, S. E. (1983), "The comparison and evaluation of
    forecasters", The Statistician 32. Stephenson, D. B., Coelho, C. A. S., Jolliffe, I. T. (2008),
    "Two extra components in the Brier score decomposition", Weather and Forecasting 23.

    Examples
    --------
    >>> from arboleda.metrics import reliability_table
    >>> table = reliability_table([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9, 0.9], pos_label=1)
    >>> table.counts.tolist(), table.frequency.round(2).tolist()
    ([1, 2, 1, 2], [0.0, 0.5, 0.0, 1.0])
    >>> round(table.expected_calibration_error, 3)
    0.283
    """
    names, codes, probabilities = read_probabilities(y_true, y_prob, labels)
    number = None
    event = "the predicted class"
    if pos_label is not None:
        matches = [k for k, name in enumerate(names.tolist()) if name == pos_label]
        if not matches:
            raise ValueError(f"pos_label={pos_label!r} is not one of the classes {names.tolist()}")
        number, event = matches[0], str(pos_label)
    predicted = make_event(probabilities, number)
    occurred = predicted.has_occurred(codes)
    bins = bin_probabilities(predicted.probability, n_bins, strategy)
    counts = np.bincount(bins.places, minlength=bins.n_bins)
    kept = counts > 0
    hits = sums_by_bin(bins, occurred)[kept]
    counts = counts[kept]
    low, high = _compute_limits(hits, counts, interval, confidence_level)
    return ReliabilityTable(
        event=event,
        lower=bins.edges[:-1][kept],
        upper=bins.edges[1:][kept],
        counts=counts,
        mean_probability=sums_by_bin(bins, predicted.probability)[kept] / counts,
        frequency=hits / counts,
        low=low,
        high=high,
        confidence_level=confidence_level,
        brier=float(np.mean((predicted.probability - occurred) ** 2)),
    )


def _compute_limits(
    hits: Floats, counts: npt.NDArray[np.int64], interval: Interval, level: float
) -> tuple[Floats, Floats]:
    """Return the confidence limits of the shares hits / counts."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"confidence_level={level!r} must lie between 0 and 1")
    tail = (1.0 - level) / 2.0
    if interval == "exact":
        low = betaincinv(np.maximum(hits, 0.5), counts - hits + 1.0, tail)
        high = betaincinv(hits + 1.0, np.maximum(counts - hits, 0.5), 1.0 - tail)
        return np.where(hits > 0, low, 0.0), np.where(hits < counts, high, 1.0)
    if interval != "wilson":
        raise ValueError(f"interval={interval!r} must be 'wilson' or 'exact'")
    z = float(ndtri(1.0 - tail))
    share = hits / counts
    centre = (share + z**2 / (2 * counts)) / (1 + z**2 / counts)
    spread = np.sqrt(share * (1 - share) / counts + z**2 / (4 * counts**2)) / (1 + z**2 / counts)
    return (
        np.where(hits > 0, centre - z * spread, 0.0),
        np.where(hits < counts, centre + z * spread, 1.0),
    )
