"""Families of distributions: their parameters, their scipy.stats objects, and closed forms of CRPS.

CRPS: Gneiting and Raftery (2007), "Strictly proper scoring rules, prediction, and estimation",
https://doi.org/10.1198/016214506000001437; closed forms: Jordan, Krüger and Lerch (2019),
"Evaluating probabilistic forecasts with scoringRules", https://doi.org/10.18637/jss.v090.i12.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special, stats
from scipy.special import expit

__all__ = ["FAMILIES", "Family", "Support"]

Floats = npt.NDArray[np.float64]
Support = Literal["real", "positive", "count"]


class Parameter(NamedTuple):
    """A parameter, and the scale on which it is boosted; scores count within the bounds."""

    name: str
    scale: Literal["identity", "log", "logit"]
    low: float = -300.0
    high: float = 300.0

    def from_score(self, score: Floats) -> Floats:
        """Return the parameter of raw scores."""
        if self.scale == "identity":
            return score
        bounded = np.clip(score, self.low, self.high)
        values: Floats = np.exp(bounded) if self.scale == "log" else expit(bounded)
        return values


class Family(ABC):
    """A family of distributions; parameters and y are arrays that broadcast."""

    parameters: ClassVar[tuple[Parameter, ...]]
    support: ClassVar[Support] = "real"
    has_crps_loss: ClassVar[bool] = False  # boosting can minimize CRPS

    @property
    def is_discrete(self) -> bool:
        """Whether values are counts."""
        return self.support == "count"

    def supports(self, y: Floats) -> npt.NDArray[np.bool_]:
        """Return which values are in the support."""
        if self.support == "real":
            return np.ones(y.shape, dtype=np.bool_)
        return y > 0.0 if self.support == "positive" else (y >= 0.0) & (y == np.floor(y))

    @abstractmethod
    def freeze(self, *parameters: Floats) -> Any:
        """Return the scipy.stats object."""

    @abstractmethod
    def mean(self, *parameters: Floats) -> Floats:
        """Return the means."""

    @abstractmethod
    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        """Return the continuous ranked probability score of each y."""


class Normal(Family):
    """Normal distribution: mean ``loc``, standard deviation ``scale``."""

    parameters = (Parameter("loc", "identity"), Parameter("scale", "log"))
    has_crps_loss = True

    def freeze(self, *parameters: Floats) -> Any:
        return stats.norm(*parameters)

    def mean(self, *parameters: Floats) -> Floats:
        return parameters[0]

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        loc, scale = parameters
        z = (y - loc) / scale
        spread = z * special.erf(z / np.sqrt(2.0)) + 2.0 * stats.norm.pdf(z) - 1.0 / np.sqrt(np.pi)
        scores: Floats = scale * spread
        return scores


class LogNormal(Family):
    """Lognormal distribution: ``loc`` and ``scale`` are those of the normal one of log y."""

    parameters = Normal.parameters
    support = "positive"
    has_crps_loss = True

    def freeze(self, *parameters: Floats) -> Any:
        with np.errstate(over="ignore"):
            return stats.lognorm(parameters[1], scale=np.exp(parameters[0]))

    def mean(self, *parameters: Floats) -> Floats:
        with np.errstate(over="ignore"):
            means: Floats = np.exp(parameters[0] + 0.5 * parameters[1] ** 2)
        return means

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        loc, scale = parameters
        z = (np.log(y) - loc) / scale
        outer = special.ndtr(z - scale) + special.ndtr(scale / np.sqrt(2.0)) - 1.0
        scores: Floats = y * (2.0 * special.ndtr(z) - 1.0) - 2.0 * self.mean(loc, scale) * outer
        return scores


class Laplace(Family):
    """Laplace distribution: median ``loc``, mean absolute deviation ``scale``."""

    parameters = Normal.parameters
    has_crps_loss = True

    def freeze(self, *parameters: Floats) -> Any:
        return stats.laplace(*parameters)

    def mean(self, *parameters: Floats) -> Floats:
        return parameters[0]

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        loc, scale = parameters
        z = np.abs(y - loc) / scale
        scores: Floats = scale * (z + np.exp(-z) - 0.75)
        return scores


class StudentT(Family):
    """Student's t distribution: ``loc``, ``scale`` and ``df`` degrees of freedom above 1."""

    parameters = (*Normal.parameters, Parameter("df", "log", 0.1, 7.0))

    def freeze(self, *parameters: Floats) -> Any:
        loc, scale, df = parameters
        return stats.t(df, loc, scale)

    def mean(self, *parameters: Floats) -> Floats:
        return parameters[0]

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        loc, scale, df = parameters
        z = (y - loc) / scale
        log_ratio = special.betaln(0.5, df - 0.5) - 2.0 * special.betaln(0.5, df / 2.0)
        spread = (
            z * (2.0 * stats.t.cdf(z, df) - 1.0)
            + 2.0 * stats.t.pdf(z, df) * (df + z**2) / (df - 1.0)
            - 2.0 * np.sqrt(df) / (df - 1.0) * np.exp(log_ratio)
        )
        scores: Floats = scale * spread
        return scores


class Gamma(Family):
    """Gamma distribution: ``mean`` and ``shape``; the variance is mean² / shape."""

    parameters = (Parameter("mean", "log"), Parameter("shape", "log", -14.0, 14.0))
    support = "positive"

    def freeze(self, *parameters: Floats) -> Any:
        mean, shape = parameters
        return stats.gamma(shape, scale=mean / shape)

    def mean(self, *parameters: Floats) -> Floats:
        return parameters[0]

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        mean, shape = parameters
        x = y * shape / mean
        inner = special.gammainc(shape, x), special.gammainc(shape + 1.0, x)
        gap = np.exp(-special.betaln(0.5, shape)) / shape
        scores: Floats = y * (2.0 * inner[0] - 1.0) - mean * (2.0 * inner[1] - 1.0 + gap)
        return scores


class Poisson(Family):
    """Poisson distribution of a ``mean``."""

    parameters = (Parameter("mean", "log"),)
    support = "count"

    def freeze(self, *parameters: Floats) -> Any:
        return stats.poisson(*parameters)

    def mean(self, *parameters: Floats) -> Floats:
        return parameters[0]

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        (mean,) = parameters
        return self.distance(y, mean) - self.half_gap(mean)

    @staticmethod
    def distance(y: Floats, mean: Floats) -> Floats:
        """Return E|X - y|."""
        law = stats.poisson(mean)
        distances: Floats = (y - mean) * (2.0 * law.cdf(y) - 1.0) + 2.0 * mean * law.pmf(y)
        return distances

    @staticmethod
    def half_gap(mean: Floats) -> Floats:
        """Return half of E|X - X'| for independent X and X'."""
        gaps: Floats = mean * (special.ive(0, 2.0 * mean) + special.ive(1, 2.0 * mean))
        return gaps


class NegativeBinomial(Family):
    """Negative binomial distribution: ``mean`` and ``size``; variance mean + mean² / size."""

    parameters = (Parameter("mean", "log"), Parameter("size", "log", -10.0, 10.0))
    support = "count"

    def freeze(self, *parameters: Floats) -> Any:
        mean, size = parameters
        return stats.nbinom(size, size / (size + mean))

    def mean(self, *parameters: Floats) -> Floats:
        return parameters[0]

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        mean, size = parameters
        p = size / (size + mean)
        low, high = stats.nbinom.cdf(y, size, p), stats.nbinom.cdf(y - 1.0, size + 1.0, p)
        distance = y * (2.0 * low - 1.0) - mean * (2.0 * high - 1.0)
        scores: Floats = distance - self.half_gap(mean, size)
        return scores

    @staticmethod
    def half_gap(mean: Floats, size: Floats) -> Floats:
        """Return half of E|X - X'| for independent X and X'.

        With the characteristic function f, E|X - X'| is the integral of (1 - |f(2s)|²) / sin² s
        over s from 0 to pi / 2, divided by pi, and |f(2s)|² = (1 + 4 v / size sin² s)^-size for the
        variance v. Gauss-Legendre quadrature in log s; below its range the integrand is 4 v. The
        closed form by a hypergeometric function loses all digits for a large mean or size.
        """
        variance = mean * (1.0 + mean / size)
        nodes, weights = np.polynomial.legendre.leggauss(160)
        first = np.log(1e-6) - 0.5 * np.log1p(variance)
        half_range = 0.5 * (np.log(0.5 * np.pi) - first)
        total = 4.0 * variance * np.exp(first)
        for node, weight in zip(nodes, weights, strict=True):
            s = np.exp(first + half_range * (node + 1.0))
            square = np.sin(s) ** 2
            decay = -np.expm1(-size * np.log1p(4.0 * variance / size * square))
            total = total + weight * half_range * s * decay / square
        gaps: Floats = 0.5 * total / np.pi
        return gaps


class _ZeroInflated:
    """The methods of scipy.stats for a Poisson distribution with more zeros."""

    def __init__(self, rate: Floats, extra: Floats) -> None:
        self._poisson, self._rate, self._extra = stats.poisson(rate), rate, extra

    def pmf(self, y: Any) -> Floats:
        return np.exp(self.logpmf(y))

    def logpmf(self, y: Any) -> Floats:
        positive = np.log1p(-self._extra) + self._poisson.logpmf(y)
        zero = np.log(self._extra + (1.0 - self._extra) * np.exp(-self._rate))
        return np.where(np.asarray(y) == 0, zero, positive)

    def cdf(self, y: Any) -> Floats:
        shares: Floats = (1.0 - self._extra) * self._poisson.cdf(y)
        return np.where(np.asarray(y) < 0, 0.0, self._extra + shares)

    def ppf(self, q: Any) -> Floats:
        share = (np.asarray(q) - self._extra) / (1.0 - self._extra)
        values: Floats = self._poisson.ppf(np.maximum(share, np.where(np.asarray(q) < 0, -1, 0)))
        return np.maximum(values, 0.0)

    def var(self) -> Floats:
        mean = (1.0 - self._extra) * self._rate
        variances: Floats = mean * (1.0 + self._extra * self._rate)
        return variances

    def rvs(self, size: Any, random_state: Any) -> npt.NDArray[Any]:
        draws = self._poisson.rvs(size=size, random_state=random_state)
        keep = stats.uniform.rvs(size=size, random_state=random_state) >= self._extra
        return np.where(keep, draws, 0)


class ZeroInflatedPoisson(Family):
    """0 with probability ``zero_probability``, else a Poisson count of mean ``rate``."""

    parameters = (Parameter("rate", "log"), Parameter("zero_probability", "logit", -15.0, 15.0))
    support = "count"

    def freeze(self, *parameters: Floats) -> Any:
        return _ZeroInflated(*parameters)

    def mean(self, *parameters: Floats) -> Floats:
        rate, extra = parameters
        return (1.0 - extra) * rate

    def crps(self, y: Floats, *parameters: Floats) -> Floats:
        rate, extra = parameters
        share = 1.0 - extra
        distance = extra * y + share * Poisson.distance(y, rate)
        return distance - share * (extra * rate + share * Poisson.half_gap(rate))


FAMILIES: dict[str, Family] = {
    "normal": Normal(),
    "lognormal": LogNormal(),
    "laplace": Laplace(),
    "student_t": StudentT(),
    "gamma": Gamma(),
    "poisson": Poisson(),
    "negative_binomial": NegativeBinomial(),
    "zero_inflated_poisson": ZeroInflatedPoisson(),
}
