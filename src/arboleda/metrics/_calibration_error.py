"""The expected calibration error, and how much of it is chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda.metrics._bins import Binned, Bins, Event, binned, event_of, sums_by_bin
from arboleda.metrics._read import read_probabilities

__all__ = ["CalibrationError", "calibration_error", "expected_calibration_error"]

Floats = npt.NDArray[np.float64]
Of = Literal["top", "classes"]


@dataclass(frozen=True)
class CalibrationError:
    """What `calibration_error` returns.

    Attributes
    ----------
    value : float
        The expected calibration error of the rows, as `expected_calibration_error` gives it.
    low, high : float
        Limits of its confidence interval, which the bias of ``value`` is taken out of: they may
        both lie below it.
    expected_by_chance : float
        The mean value of a model that is calibrated, with these probabilities for so many rows.
    largest_by_chance : float
        A value that such a model exceeds only with probability 1 - ``confidence_level``.
    confidence_level : float
    """

    value: float
    low: float
    high: float
    expected_by_chance: float
    largest_by_chance: float
    confidence_level: float


def expected_calibration_error(
    y_true: npt.ArrayLike,
    y_prob: npt.ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    of: Of = "top",
    n_bins: int = 10,
    strategy: Bins = "uniform",
) -> float:
    """Mean gap between the probabilities said and the frequencies seen, over bins of probability.

    With the rows in bins B_b by the probability p_i said of an event and y_i = 1 where it happened,
    ``ECE = (1 / n) sum_b |sum_{i in B_b} (y_i - p_i)|``.

    It is larger than the true error, the more so the fewer rows fall in a bin: a calibrated model
    has more than 0 (about 0.03 for 1,000 rows in 10 bins). `calibration_error` tells how much.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True classes, of rows that the model did not learn from.
    y_prob : array-like of shape (n, n_classes) or (n,)
        Probabilities in the order of ``labels``; with two classes, those of the second will do.
    labels : sequence, default=None
        The classes in the order of the columns; None: the sorted classes that occur.
    of : {"top", "classes"}, default="top"
        "top": of each row's most probable class, as to whether it is right (Guo et al. 2017).
        "classes": of each class, the mean of these (Kull et al. 2019); with two classes and bins
        of equal width that is the error of the second one's probability.
    n_bins : int, default=10
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of about as many rows each.

    Returns
    -------
    ece : float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If a row holds no probabilities, a class is not among the labels, or there is no such
        choice.

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
    return _error(_events(probabilities, of, n_bins, strategy), codes)


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
    """Expected calibration error with an interval, beside what chance alone would make of it.

    The interval is the basic bootstrap's: rows are drawn again, in the same bins, and the
    differences of the values found from ``value`` are taken from it, which removes the bias that
    limits read off the drawn values would double. Labels drawn by the probabilities themselves
    tell what a calibrated model of as many rows would show (Bröcker and Smith 2007); if ``value``
    is not beyond that, the lower limit is 0.

    Parameters
    ----------
    y_true, y_prob, labels, of, n_bins, strategy
        As for `expected_calibration_error`.
    n_resamples : int, default=1000
        How often rows and labels are drawn.
    confidence_level : float, default=0.95
    random_state : int, RandomState or None, default=None

    Returns
    -------
    error : CalibrationError

    Raises
    ------
    ValueError
        If a row holds no probabilities, a class is not among the labels, or there is no such
        choice.

    References
    ----------
    Bröcker, J., Smith, L. A. (2007), "Increasing the reliability of reliability diagrams", Weather
    and Forecasting 22. Davison, A. C., Hinkley, D. V. (1997), "Bootstrap methods and their
    application", section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda.metrics import calibration_error
    >>> draw = np.random.default_rng(0)
    >>> said = draw.random(500)
    >>> true = draw.random(500) < said  # a calibrated model
    >>> error = calibration_error(true, said, of="classes", random_state=0)
    >>> error.low, error.value < error.largest_by_chance
    (0.0, True)
    """
    if not isinstance(n_resamples, Integral) or n_resamples < 1:
        raise ValueError(f"n_resamples={n_resamples!r}: give a number of draws, 1 or more")
    if not 0.0 < confidence_level < 1.0:
        raise ValueError(f"confidence_level={confidence_level!r} must lie between 0 and 1")
    _, codes, probabilities = read_probabilities(y_true, y_prob, labels)
    events = _events(probabilities, of, n_bins, strategy)
    value = _error(events, codes)
    draw = check_random_state(random_state)
    n = len(codes)
    again = np.empty(n_resamples)
    chance = np.empty(n_resamples)
    cumulative = probabilities.cumsum(axis=1)
    for number in range(n_resamples):
        again[number] = _error(events, codes, np.bincount(draw.randint(n, size=n), minlength=n))
        places = draw.random_sample((n, 1)) * cumulative[:, -1:]
        chance[number] = _error(events, (places >= cumulative).sum(axis=1))
    tail = (1.0 - confidence_level) / 2.0
    smallest, largest = np.quantile(again, [tail, 1.0 - tail])
    limit = float(np.quantile(chance, confidence_level))
    return CalibrationError(
        value=value,
        low=max(0.0, 2.0 * value - float(largest)) if value > limit else 0.0,
        high=max(0.0, 2.0 * value - float(smallest)),
        expected_by_chance=float(chance.mean()),
        largest_by_chance=limit,
        confidence_level=confidence_level,
    )


def _events(
    probabilities: Floats, of: Of, n_bins: int, strategy: Bins
) -> list[tuple[Event, Binned]]:
    """What is judged, with its bins."""
    if of == "top":
        events = [event_of(probabilities)]
    elif of == "classes":
        events = [event_of(probabilities, number) for number in range(probabilities.shape[1])]
    else:
        raise ValueError(f"of={of!r}: choose 'top' or 'classes'")
    return [(event, binned(event.said, n_bins, strategy)) for event in events]


def _error(
    events: list[tuple[Event, Binned]],
    codes: npt.NDArray[np.int64],
    times: npt.NDArray[np.int64] | None = None,
) -> float:
    """Mean error of the events, each row taken so many times."""
    errors = []
    for event, bins in events:
        gap = event.happened(codes) - event.said
        sums = sums_by_bin(bins, gap if times is None else gap * times)
        errors.append(np.abs(sums).sum() / len(codes))
    return float(np.mean(errors))
