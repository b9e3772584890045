"""Distributions of the rows of a table, with the methods of scipy.stats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from arboleda._utils.coverage import check_coverage
from arboleda._utils.distribution_families import FAMILIES, Family
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.results import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["PredictedDistribution"]

Floats = npt.NDArray[np.float64]

_MOST_PLOTTED = 200


class PredictedDistribution(Result):
    """A distribution for each row, with the names of scipy.stats.

    `DistributionalBoostingRegressor.predict_dist` returns it; predictions of other models can be
    given by their parameters. Methods take one number for all rows, an array with one for each, or
    one that broadcasts with (n_rows,), such as a column of levels.

    Parameters
    ----------
    distribution : str
        Name of the family. It has the parameters

        - "normal", "lognormal" (of log y), "laplace": ``loc``, ``scale``
        - "student_t": ``loc``, ``scale``, ``df``
        - "gamma": ``mean``, ``shape``
        - "poisson": ``mean``
        - "negative_binomial": ``mean``, ``size``
        - "zero_inflated_poisson": ``rate``, ``zero_probability``
    **parameters : array-like of shape (n_rows,), or float
        All parameters of the family.

    Attributes
    ----------
    distribution : str
        Name of the family.
    parameters : dict of str to ndarray of shape (n_rows,)
        Parameters of each row.

    Raises
    ------
    ValueError
        If the family is unknown, parameters are missing or unknown, are not finite, or a parameter
        that must be positive is not.

    Examples
    --------
    >>> from arboleda.boosting import PredictedDistribution
    >>> dist = PredictedDistribution("normal", loc=[0.0, 10.0], scale=[1.0, 2.0])
    >>> dist.ppf(0.975).round(2).tolist()
    [1.96, 13.92]
    >>> dist.cdf([0.0, 8.0]).round(3).tolist()
    [0.5, 0.159]
    """

    def __init__(self, distribution: str, **parameters: npt.ArrayLike) -> None:
        if distribution not in FAMILIES:
            raise ValueError(
                f"distribution={distribution!r} is unknown: choose one of {', '.join(FAMILIES)}"
            )
        family = FAMILIES[distribution]
        names = [parameter.name for parameter in family.parameters]
        if sorted(parameters) != sorted(names):
            raise ValueError(
                f"the {distribution} distribution has the parameters {', '.join(names)}, got "
                f"{', '.join(parameters) or 'none'}"
            )
        given = [np.atleast_1d(np.asarray(parameters[name], dtype=np.float64)) for name in names]
        values = np.broadcast_arrays(*given)
        for parameter, of_rows in zip(family.parameters, values, strict=True):
            _check_parameter(parameter.name, parameter.scale, of_rows)
        self.distribution = distribution
        self.parameters: dict[str, Floats] = dict(zip(names, values, strict=True))

    @property
    def _family(self) -> Family:
        return FAMILIES[self.distribution]

    @property
    def _values(self) -> tuple[Floats, ...]:
        return tuple(self.parameters.values())

    @property
    def _frozen(self) -> Any:
        return self._family.freeze(*self._values)

    @property
    def is_discrete(self) -> bool:
        """Whether values are counts, which have probabilities and no densities."""
        return self._family.is_discrete

    def supports(self, y: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return which values the family allows: all numbers, positive ones, or counts."""
        return self._family.supports(np.asarray(y, dtype=np.float64))

    def __len__(self) -> int:
        return len(self._values[0])

    def __getitem__(self, rows: Any) -> PredictedDistribution:
        """Return the distributions of some rows, given by a slice, numbers or a mask."""
        parameters = {name: values[rows] for name, values in self.parameters.items()}
        return PredictedDistribution(self.distribution, **parameters)

    def mean(self) -> Floats:
        """Return the means."""
        return self._family.mean(*self._values)

    def var(self) -> Floats:
        """Return the variances; infinite for Student's t with at most 2 degrees of freedom."""
        return np.asarray(self._frozen.var(), dtype=np.float64)

    def std(self) -> Floats:
        """Return the standard deviations."""
        return np.sqrt(self.var())

    def median(self) -> Floats:
        """Return the medians."""
        return self.ppf(0.5)

    def cdf(self, y: npt.ArrayLike) -> Floats:
        """Return the probability of values up to y."""
        return np.asarray(self._frozen.cdf(np.asarray(y, dtype=np.float64)))

    def ppf(self, q: npt.ArrayLike) -> Floats:
        """Return the quantiles of levels q, the inverse of `cdf`."""
        return np.asarray(self._frozen.ppf(np.asarray(q, dtype=np.float64)))

    def logpdf(self, y: npt.ArrayLike) -> Floats:
        """Return the logarithm of the density at y; of counts see `logpmf`."""
        if self.is_discrete:
            raise AttributeError(
                f"the {self.distribution} distribution has probabilities and no density: use "
                "logpmf and pmf"
            )
        return np.asarray(self._frozen.logpdf(np.asarray(y, dtype=np.float64)))

    def pdf(self, y: npt.ArrayLike) -> Floats:
        """Return the density at y; of counts see `pmf`."""
        return np.exp(self.logpdf(y))

    def logpmf(self, y: npt.ArrayLike) -> Floats:
        """Return the logarithm of the probability of the count y."""
        if not self.is_discrete:
            raise AttributeError(
                f"the {self.distribution} distribution has a density and no probabilities of "
                "single values: use logpdf and pdf"
            )
        return np.asarray(self._frozen.logpmf(np.asarray(y, dtype=np.float64)))

    def pmf(self, y: npt.ArrayLike) -> Floats:
        """Return the probability of the count y."""
        return np.exp(self.logpmf(y))

    def interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Return the bounds of the central intervals with a given probability.

        Parameters
        ----------
        confidence : float
            Strictly between 0 and 1. Intervals of counts have at least this probability.

        Returns
        -------
        lower, upper : ndarray of shape (n_rows,)
        """
        check_coverage(confidence)
        return self.ppf((1.0 - confidence) / 2.0), self.ppf((1.0 + confidence) / 2.0)

    def rvs(self, size: int | None = None, random_state: Any = None) -> npt.NDArray[Any]:
        """Draw random values.

        Parameters
        ----------
        size : int or None, default=None
            Number of draws for each row; None: one.
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        draws : ndarray of shape (n_rows,) or (size, n_rows)
        """
        shape = (len(self),) if size is None else (size, len(self))
        draws: npt.NDArray[Any] = self._frozen.rvs(
            size=shape, random_state=check_random_state(random_state)
        )
        return draws

    def nll(self, y: npt.ArrayLike) -> Floats:
        """Return the negative log-likelihood of each y, the logarithmic score."""
        return -(self.logpmf(y) if self.is_discrete else self.logpdf(y))

    def crps(self, y: npt.ArrayLike) -> Floats:
        """Return the continuous ranked probability score of each y, in the unit of y.

        It is the integral of (F(x) - [x >= y])² over x, and generalizes the absolute error of a
        point prediction: Gneiting and Raftery (2007), equation (21).
        """
        return self._family.crps(np.asarray(y, dtype=np.float64), *self._values)

    def _summarize(self) -> Mapping[str, Any]:
        return {"distribution": self.distribution, "n_rows": len(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the parameters as a pandas data frame with a row for each row."""
        return new_frame(self.parameters)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot means, and central intervals of 50 and 90 %, in the order of the means.

        At most 200 rows are shown, evenly spaced in this order.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        order = np.argsort(self.mean(), kind="stable")
        if len(order) > _MOST_PLOTTED:
            order = order[np.linspace(0, len(order) - 1, _MOST_PLOTTED).astype(np.intp)]
        shown, place = self[order], np.arange(len(order))
        for confidence, alpha in ((0.9, 0.25), (0.5, 0.45)):
            lower, upper = shown.interval(confidence)
            label = f"central {confidence:.0%}"
            ax.fill_between(place, lower, upper, alpha=alpha, color="C0", lw=0, label=label)
        ax.plot(place, shown.mean(), color="C0", label="mean")
        ax.set_xlabel("rows in the order of their means")
        ax.legend()
        return ax


def _check_parameter(name: str, scale: str, values: Floats) -> None:
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}: one number for each row is needed")
    wrong = ~np.isfinite(values)
    if scale == "log":
        wrong |= values <= 0.0
    elif scale == "logit":
        wrong |= (values < 0.0) | (values >= 1.0)
    rows = np.flatnonzero(wrong)
    if rows.size:
        needs = {"log": "positive", "logit": "at least 0 and below 1"}.get(scale, "finite")
        raise ValueError(f"{name} must be {needs}, got {values[rows[0]]} in row {rows[0]}")
