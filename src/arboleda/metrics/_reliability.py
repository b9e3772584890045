"""Reliability tables: in each bin of probabilities, what was said and what happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from arboleda._figures import axes_or_new
from arboleda._frames import new_frame
from arboleda.metrics._bins import Bins, binned, event_of, sums_by_bin
from arboleda.metrics._read import read_probabilities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ReliabilityTable", "reliability_table"]

Floats = npt.NDArray[np.float64]
Interval = Literal["wilson", "exact"]


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """What `reliability_table` returns: a row for each bin that holds rows.

    Attributes
    ----------
    event : str
        What the probabilities are of, as axes name it.
    lower, upper : ndarray of shape (n_bins,)
        Edges of the bins.
    counts : ndarray of int, shape (n_bins,)
        Rows in each.
    mean_probability : ndarray of shape (n_bins,)
        Mean of the probabilities said of these rows.
    frequency : ndarray of shape (n_bins,)
        Share of these rows for which the event happened.
    low, high : ndarray of shape (n_bins,)
        Limits of the interval of each frequency.
    confidence_level : float
        Of these intervals.
    brier : float
        Mean over all rows of (probability - 1)^2 where the event happened and of probability^2
        where it did not.
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
        """Frequency less mean probability: below 0 where the model is too sure."""
        return self.frequency - self.mean_probability

    @property
    def expected_calibration_error(self) -> float:
        """Mean of the sizes of the gaps, weighted by the rows of each bin."""
        return float(np.average(np.abs(self.gaps), weights=self.counts))

    @property
    def maximum_calibration_error(self) -> float:
        """Size of the largest gap; bins of few rows make it large by chance."""
        return float(np.abs(self.gaps).max())

    def brier_decomposition(self) -> dict[str, float]:
        """Split the Brier score into what calibration and what resolution account for.

        With n_b rows in bin b, mean probability p_b, frequency o_b, and frequency o of all rows
        (Murphy 1973): reliability = sum n_b (p_b - o_b)^2 / n, which is 0 for a calibrated model;
        resolution = sum n_b (o_b - o)^2 / n, which is 0 for a model that tells no rows apart;
        uncertainty = o (1 - o). The bins make a small remainder (Stephenson, Coelho and Jolliffe
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

    def to_frame(self) -> pd.DataFrame:
        """One row per bin, as a pandas frame.

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
        """Draw the reliability diagram: frequency over mean probability, with intervals.

        A calibrated model lies on the diagonal. Pale bars tell the share of the rows in each bin.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None: on axes of a new figure.
        label : str, default=None
            Name of the curve; None: the expected calibration error is written there.

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
        ax.set_xlabel(f"mean probability of {self.event}")
        ax.set_ylabel("how often it happened")
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
    """Put rows in bins by the probability said of them, and count how often it came true.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities in the order of ``labels``; with two classes, those of the second will do.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes that occur.
    pos_label : label, default=None
        The class whose probability is judged. None: in each row the most probable one, as to
        whether it is right, which is the usual choice for many classes (Guo et al. 2017).
    n_bins : int, default=10
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about as many rows each.
    interval : {"wilson", "exact"}, default="wilson"
        For the frequency in each bin: Wilson's (1927), or that of Clopper and Pearson (1934),
        which is never too narrow and often too wide.
    confidence_level : float, default=0.95

    Returns
    -------
    table : ReliabilityTable
        With ``expected_calibration_error``, ``brier_decomposition()``, ``to_frame()`` and
        ``plot()``.

    Raises
    ------
    ValueError
        If a row holds no probabilities, a class is not among the labels, or there is no such
        choice.

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
        found = [k for k, name in enumerate(names.tolist()) if name == pos_label]
        if not found:
            raise ValueError(f"pos_label={pos_label!r} is none of the classes {names.tolist()}")
        number, event = found[0], str(pos_label)
    judged = event_of(probabilities, number)
    happened = judged.happened(codes)
    bins = binned(judged.said, n_bins, strategy)
    counts = np.bincount(bins.places, minlength=bins.n_bins)
    kept = counts > 0
    hits = sums_by_bin(bins, happened)[kept]
    counts = counts[kept]
    low, high = _limits(hits, counts, interval, confidence_level)
    return ReliabilityTable(
        event=event,
        lower=bins.edges[:-1][kept],
        upper=bins.edges[1:][kept],
        counts=counts,
        mean_probability=sums_by_bin(bins, judged.said)[kept] / counts,
        frequency=hits / counts,
        low=low,
        high=high,
        confidence_level=confidence_level,
        brier=float(np.mean((judged.said - happened) ** 2)),
    )


def _limits(
    hits: Floats, counts: npt.NDArray[np.int64], interval: Interval, level: float
) -> tuple[Floats, Floats]:
    """Confidence limits of shares: hits of counts."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"confidence_level={level!r} must lie between 0 and 1")
    tail = (1.0 - level) / 2.0
    if interval == "exact":
        low = betaincinv(np.maximum(hits, 0.5), counts - hits + 1.0, tail)
        high = betaincinv(hits + 1.0, np.maximum(counts - hits, 0.5), 1.0 - tail)
        return np.where(hits > 0, low, 0.0), np.where(hits < counts, high, 1.0)
    if interval != "wilson":
        raise ValueError(f"interval={interval!r}: choose 'wilson' or 'exact'")
    z = float(ndtri(1.0 - tail))
    share = hits / counts
    centre = (share + z**2 / (2 * counts)) / (1 + z**2 / counts)
    spread = np.sqrt(share * (1 - share) / counts + z**2 / (4 * counts**2)) / (1 + z**2 / counts)
    return (
        np.where(hits > 0, centre - z * spread, 0.0),
        np.where(hits < counts, centre + z * spread, 1.0),
    )
