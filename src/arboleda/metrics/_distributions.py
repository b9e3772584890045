"""Metrics of predicted distributions: calibration, sharpness and proper scoring rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arboleda._utils.coverage import check_coverage
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.predicted_distribution import PredictedDistribution
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["DistributionTable", "distribution_table"]

Floats = npt.NDArray[np.float64]

_N_BINS = 10


@dataclass(frozen=True, repr=False)
class DistributionTable(Result):
    """Result of `distribution_table`.

    Attributes
    ----------
    metrics : dict of str to float
        Means over rows: ``nll``, ``crps``, and for each coverage c ``coverage@c`` (the share of
        targets in the central interval) and ``width@c`` (its mean width, the sharpness); and
        ``calibration_error``, the mean distance between the distribution function of the
        probability integral transforms and that of uniform ones.
    standard_errors : dict of str to float
        Standard errors of the means; NaN with fewer than two rows, and for ``calibration_error``.
    pit : ndarray of shape (10,)
        Shares of the probability integral transforms in ten bins of equal width from 0 to 1; all
        are 0.1 for calibrated distributions, up to chance.
    n_rows : int
        Number of rows.
    """

    metrics: dict[str, float]
    standard_errors: dict[str, float]
    pit: Floats
    n_rows: int

    def _summarize(self) -> dict[str, Any]:
        return {"n_rows": self.n_rows, **self.metrics}

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with a row per metric: its value and standard error."""
        return new_frame({"value": self.metrics, "standard_error": self.standard_errors})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the histogram of the probability integral transforms.

        The band holds the height of each bar with a probability of about 95 % if distributions are
        calibrated. A U shape means predictions that are too narrow, a hump too wide ones, a slope a
        bias.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        share = 1.0 / _N_BINS
        places = share * (np.arange(_N_BINS) + 0.5)
        ax.bar(places, self.pit, 0.9 * share, color="C0")
        half = 1.96 * math.sqrt(share * (1.0 - share) / self.n_rows)
        ax.axhspan(max(share - half, 0.0), share + half, color="0.5", alpha=0.3, lw=0)
        ax.axhline(share, color="0.3", lw=1)
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("probability integral transform")
        ax.set_ylabel("share of rows")
        return ax


def distribution_table(
    y: npt.ArrayLike, dist: PredictedDistribution, *, coverages: Sequence[float] = (0.5, 0.9)
) -> DistributionTable:
    """Compute metrics of predicted distributions on held-out rows.

    Distributions should be as sharp as possible while they are calibrated (Gneiting, Balabdaoui
    and Raftery 2007). Proper scoring rules measure both at once: the negative log-likelihood and
    the continuous ranked probability score, which is in the unit of y and equals the absolute error
    for a point. The probability integral transform F(y) is uniform for calibrated distributions; of
    counts it is spread evenly over the step of F at y (Czado, Gneiting and Held 2009).

    Parameters
    ----------
    y : array-like of shape (n,)
        Targets.
    dist : PredictedDistribution
        Distribution of each row, from `DistributionalBoostingRegressor.predict_dist`, or made from
        the parameters that another model predicts.
    coverages : sequence of float, default=(0.5, 0.9)
        Probabilities of central intervals.

    Returns
    -------
    DistributionTable

    Raises
    ------
    ValueError
        If there is no row, lengths differ, a target is not finite or outside the support, or a
        coverage is not between 0 and 1.
    TypeError
        If ``dist`` is not a `PredictedDistribution`.

    References
    ----------
    T. Gneiting, F. Balabdaoui, A. Raftery (2007), "Probabilistic forecasts, calibration and
    sharpness", JRSS B 69(2).

    C. Czado, T. Gneiting, L. Held (2009), "Predictive model assessment for count data", Biometrics
    65(4).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.boosting import PredictedDistribution
    >>> from arboleda.metrics import distribution_table
    >>> y = np.random.default_rng(0).normal(size=1000)
    >>> narrow = PredictedDistribution("normal", loc=np.zeros(1000), scale=np.full(1000, 0.5))
    >>> table = distribution_table(y, narrow)
    >>> table.metrics["coverage@0.9"] < 0.65
    True
    >>> float(table.pit[0]) > 0.2  # too narrow: many targets are below the first decile
    True
    """
    targets = _read_targets(y, dist)
    for coverage in coverages:
        check_coverage(coverage)
    by_row = {"nll": dist.nll(targets), "crps": dist.crps(targets)}
    for coverage in coverages:
        lower, upper = dist.interval(coverage)
        inside = (lower <= targets) & (targets <= upper)
        by_row[f"coverage@{coverage:g}"] = inside.astype(np.float64)
        by_row[f"width@{coverage:g}"] = upper - lower
    low, high = _transform(targets, dist)
    metrics = {name: float(values.mean()) for name, values in by_row.items()}
    errors = {name: _standard_error(values) for name, values in by_row.items()}
    metrics["calibration_error"] = _measure_calibration(low, high)
    errors["calibration_error"] = math.nan
    edges = np.linspace(0.0, 1.0, _N_BINS + 1)
    return DistributionTable(metrics, errors, np.diff(_mean_cdf(edges, low, high)), len(targets))


def _read_targets(y: npt.ArrayLike, dist: PredictedDistribution) -> Floats:
    if not isinstance(dist, PredictedDistribution):
        raise TypeError(
            f"dist must be a PredictedDistribution, got {type(dist).__name__}: give predict_dist(X)"
        )
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim != 1 or not targets.size:
        raise ValueError(f"y has the shape {targets.shape}: one number for each row is needed")
    if len(targets) != len(dist):
        raise ValueError(f"y has {len(targets)} rows and dist {len(dist)}: give as many")
    wrong = np.flatnonzero(~(np.isfinite(targets) & dist.supports(targets)))
    if wrong.size:
        raise ValueError(
            f"y is {targets[wrong[0]]} in row {wrong[0]}, which the {dist.distribution} "
            "distribution excludes: drop such rows, or choose another distribution"
        )
    return targets


def _transform(y: Floats, dist: PredictedDistribution) -> tuple[Floats, Floats]:
    """Return the ends of the intervals over which the probability integral transforms spread."""
    high = dist.cdf(y)
    return (dist.cdf(y - 1.0), high) if dist.is_discrete else (high, high)


def _mean_cdf(levels: Floats, low: Floats, high: Floats) -> Floats:
    """Return the mean distribution function of the transforms at ascending levels."""
    shares = np.empty(len(levels))
    with np.errstate(invalid="ignore", divide="ignore"):
        for k, level in enumerate(levels):
            part = np.clip((level - low) / (high - low), 0.0, 1.0)
            shares[k] = np.where(high > low, part, high <= level).mean()
    shares[levels <= 0.0] = 0.0  # with transforms that round to 0
    return shares


def _measure_calibration(low: Floats, high: Floats) -> float:
    levels = (np.arange(100) + 0.5) / 100
    return float(np.abs(_mean_cdf(levels, low, high) - levels).mean())


def _standard_error(values: Floats) -> float:
    if len(values) < 2:
        return math.nan
    return float(values.std(ddof=1) / math.sqrt(len(values)))
