"""The expected calibration error, with a confidence interval and its value by chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.number_types import is_integer
from arboleda._utils.results import Result
from arboleda.metrics._read import read_probabilities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "Binned",
    "Bins",
    "CalibrationError",
    "Event",
    "bin_probabilities",
    "calibration_error",
    "expected_calibration_error",
    "make_event",
    "sums_by_bin",
]

Floats = npt.NDArray[np.float64]
Bins = Literal["uniform", "quantile"]


@dataclass(frozen=True)
class Event:
    """The event that each row is of a certain class.

    Attributes
    ----------
    probability : ndarray of shape (n,)
        Predicted probability of the event.
    number : int or ndarray of shape (n,)
        Class index, one for all rows or one per row.
    """

    probability: Floats
    number: int | npt.NDArray[np.intp]

    def has_occurred(self, codes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return whether the event occurred, given the true class indices."""
        occurred: npt.NDArray[np.bool_] = codes == self.number
        return occurred


@dataclass(frozen=True)
class Binned:
    """Rows binned by their predicted probability.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Distinct edges, ascending; a bin includes its upper edge, and the first one its lower edge.
    places : ndarray of shape (n,)
        Bin index of each row.
    """

    edges: Floats
    places: npt.NDArray[np.intp]

    @property
    def n_bins(self) -> int:
        """Number of bins, including empty ones."""
        return len(self.edges) - 1


def make_event(probabilities: Floats, number: int | None = None) -> Event:
    """Return the event that a row is of one class or, with None, of its most probable class."""
    if number is not None:
        return Event(probabilities[:, number], number)
    best = probabilities.argmax(axis=1)
    return Event(probabilities[np.arange(len(best)), best], best)


def bin_probabilities(probability: Floats, n_bins: int, strategy: Bins) -> Binned:
    """Bin probabilities into bins of equal width, or of about equal numbers of rows.

    The bins are those of scikit-learn's ``calibration_curve``, with equal quantiles merged.

    Raises
    ------
    ValueError
        If the strategy is unknown or the number of bins is not positive.
    """
    if not is_integer(n_bins) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} must be an integer of at least 1")
    inner = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.unique(np.quantile(probability, inner))
        if len(edges) == 1:  # all probabilities are equal
            edges = np.repeat(edges, 2)
    elif strategy == "uniform":
        edges = inner
    else:
        raise ValueError(f"strategy={strategy!r} must be 'uniform' or 'quantile'")
    return Binned(edges, np.searchsorted(edges[1:-1], probability))


def sums_by_bin(bins: Binned, values: npt.NDArray[Any]) -> Floats:
    """Sum the values of the rows of each bin."""
    sums = np.bincount(bins.places, weights=values, minlength=bins.n_bins)
    return np.asarray(sums, dtype=np.float64)


Of = Literal["top", "classes"]


@dataclass(frozen=True, repr=False)
class CalibrationError(Result):
    """Result of `calibration_error`.

    Attributes
    ----------
    value : float
        The result of `expected_calibration_error`.
    low, high : float
        Limits of the bias-corrected confidence interval; both may be below ``value``.
    expected_by_chance : float
        Mean value of a calibrated model with the same probabilities and number of rows.
    largest_by_chance : float
        Value that such a model exceeds only with probability 1 - ``confidence_level``.
    confidence_level : float
    """

    value: float
    low: float
    high: float
    expected_by_chance: float
    largest_by_chance: float
    confidence_level: float

    def _summarize(self) -> dict[str, Any]:
        shown = ("value", "low", "high", "expected_by_chance", "largest_by_chance")
        return {name: getattr(self, name) for name in shown}

    def to_frame(self) -> pd.DataFrame:
        """Return the attributes as a pandas data frame with one row."""
        return new_frame([dict(vars(self))])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the error with its interval, beside the range of a calibrated model.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        level = f"{self.confidence_level:.0%}"
        ax.barh(1, self.largest_by_chance, 0.5, color="0.88", ec="0.7", lw=0.5)
        ax.plot(self.expected_by_chance, 1, "D", ms=5, color="0.4")
        # The interval may lie beside the value, because it is corrected for the bias.
        ax.plot([self.low, self.high], [0, 0], "|-", ms=9, lw=1.2, color="C0")
        ax.plot(self.value, 0, "o", ms=6, color="C0")
        ax.set_yticks([0, 1], [f"the model, {level} interval", f"calibrated, {level} by chance"])
        ax.set_ylim(1.6, -0.6)
        ax.set_xlim(left=0.0)
        ax.set_xlabel("expected calibration error")
        return ax


def expected_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    of: Of = "top",
    n_bins: int = 10,
    strategy: Bins = "uniform",
) -> float:
    """Compute the mean gap between predicted probabilities and frequencies, over bins.

    Rows are binned by the predicted probability p_i of an event, with y_i = 1 if it occurred:
    ``ECE = (1 / n) sum_b |sum_{i in B_b} (y_i - p_i)|``.

    The estimate is biased upwards, more so with few rows per bin: it is above 0 for a calibrated
    model (about 0.03 for 1,000 rows in 10 bins). `calibration_error` estimates this bias.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes of rows that are not in the training data.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities in the order of ``labels``; with two classes, optionally only those of the
        second one.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes of ``y_true``.
    of : {"top", "classes"}, default="top"
        "top": the event that the most probable class of a row is correct (Guo et al. 2017).
        "classes": the mean over the classes (Kull et al. 2019); with two classes and bins of equal
        width this is the error of the probability of the second class.
    n_bins : int, default=10
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about equal numbers of rows.

    Returns
    -------
    ece : float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If a row does not hold probabilities, a class is not among the labels, or an option is
        invalid.

    References
    ----------
    Naeini, M. P., Cooper, G. F., Hauskrecht, M. (2015), "Obtaining well calibrated probabilities
    using Bayesian binning", AAAI. Guo, C., Pleiss, G., Sun, Y., Weinberger, K. Q. (2017), "On
    calibration of modern neural networks", ICML. Kull, M., et al. (2019), "Beyond temperature
    scaling", NeurIPS. Roelofs, R., et al. (2022), "Mitigating bias in calibration error
    estimation", AISTATS.

    Examples
    --------
    >>> from arboleda.metrics import expected_calibration_error
    >>> y = ["no", "no", "no", "yes", "yes"]
    >>> round(expected_calibration_error(y, [0.2, 0.2, 0.2, 0.2, 1.0], of="classes"), 3)
    0.04
    """
    _, codes, probabilities = read_probabilities(y_true, y_prob, labels)
    return _compute_error(_make_events(probabilities, of, n_bins, strategy), codes)


def calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    of: Of = "top",
    n_bins: int = 10,
    strategy: Bins = "uniform",
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    random_state: Any = None,
) -> CalibrationError:
    """Compute the expected calibration error with an interval and its value by chance.

    The interval is a basic bootstrap interval: rows are resampled with fixed bins, and the
    deviations from ``value`` are subtracted from it. This removes the bias, which a percentile
    interval would double. Labels drawn from the predicted probabilities give the distribution for a
    calibrated model of the same size (Bröcker and Smith 2007); if ``value`` is within it, the lower
    limit is 0.

    Parameters
    ----------
    y_true, y_prob, labels, of, n_bins, strategy
        As for `expected_calibration_error`.
    n_resamples : int, default=1000
        Number of resamples of rows and of labels.
    confidence_level : float, default=0.95
    random_state : int, RandomState or None, default=None

    Returns
    -------
    error : CalibrationError

    Raises
    ------
    ValueError
        If a row does not hold probabilities, a class is not among the labels, or an option is
        invalid.

    References
    ----------
    Bröcker, J., Smith, L. A. (2007), "Increasing the reliability of reliability diagrams", Weather
    and Forecasting 22. Davison, A. C., Hinkley, D. V. (1997), "Bootstrap methods and their
    application", section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import calibration_error
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.random(500)
    >>> true = rng.random(500) < probability  # a calibrated model
    >>> error = calibration_error(true, probability, of="classes", random_state=0)
    >>> error.low, error.value < error.largest_by_chance
    (0.0, True)
    """
    if not is_integer(n_resamples) or n_resamples < 1:
        raise ValueError(f"n_resamples={n_resamples!r} must be an integer of at least 1")
    if not 0.0 < confidence_level < 1.0:
        raise ValueError(f"confidence_level={confidence_level!r} must lie between 0 and 1")
    _, codes, probabilities = read_probabilities(y_true, y_prob, labels)
    events = _make_events(probabilities, of, n_bins, strategy)
    value = _compute_error(events, codes)
    # A generator that draws integers and fractions two to five times as fast.
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    n = len(codes)
    resampled = np.empty(n_resamples)
    chance = np.empty(n_resamples)
    gaps = [(event.has_occurred(codes) - event.probability, bins) for event, bins in events]
    cumulative = np.ascontiguousarray(probabilities.cumsum(axis=1).T)
    drawn = np.empty(n, dtype=np.int64)
    for number in range(n_resamples):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        resampled[number] = _compute_mean_gap((gap * times, bins) for gap, bins in gaps)
        places = rng.random(n) * cumulative[-1]
        drawn[:] = 0
        for limits in cumulative[:-1]:
            drawn += places >= limits
        chance[number] = _compute_error(events, drawn)
    tail = (1.0 - confidence_level) / 2.0
    smallest, largest = np.quantile(resampled, [tail, 1.0 - tail])
    limit = float(np.quantile(chance, confidence_level))
    return CalibrationError(
        value=value,
        low=max(0.0, 2.0 * value - float(largest)) if value > limit else 0.0,
        high=max(0.0, 2.0 * value - float(smallest)),
        expected_by_chance=float(chance.mean()),
        largest_by_chance=limit,
        confidence_level=confidence_level,
    )


def _make_events(
    probabilities: Floats, of: Of, n_bins: int, strategy: Bins
) -> list[tuple[Event, Binned]]:
    """Return the events whose calibration is measured, with their bins."""
    if of == "top":
        events = [make_event(probabilities)]
    elif of == "classes":
        events = [make_event(probabilities, number) for number in range(probabilities.shape[1])]
    else:
        raise ValueError(f"of={of!r} must be 'top' or 'classes'")
    return [(event, bin_probabilities(event.probability, n_bins, strategy)) for event in events]


def _compute_error(events: list[tuple[Event, Binned]], codes: npt.NDArray[np.int64]) -> float:
    """Return the mean error of the events."""
    return _compute_mean_gap(
        (event.has_occurred(codes) - event.probability, bins) for event, bins in events
    )


def _compute_mean_gap(gaps: Iterable[tuple[Floats, Binned]]) -> float:
    """Return the mean, over events, of the sums of gaps by bin, per row."""
    return float(np.mean([np.abs(sums_by_bin(bins, gap)).sum() / len(gap) for gap, bins in gaps]))
