"""Bayes classifier with a kernel density estimate for each class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._base.mixins import restore_on_failure
from arboleda.learners._bayes_rule import NumbersClassifier, compute_log_priors
from arboleda.learners._class_rows import divided, within_scale

Floats = npt.NDArray[np.float64]
Kernel = Literal["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]

# Maximum number of distances in memory at a time: 32 MB.
_MOST_DISTANCES = 4_000_000


def _within(values: Floats, square: Floats) -> Floats:
    """Return the logarithms of values where the squared distance is below 1, otherwise -inf."""
    found = np.full(values.shape, -np.inf)
    np.log(values, out=found, where=(square < 1.0) & (values > 0.0))
    return found


# Logarithm of each kernel as a function of the squared distance in bandwidths, without constants,
# which are the same for all classes.
_LOG_KERNELS: dict[Kernel, Callable[[Floats], Floats]] = {
    "gaussian": lambda square: -0.5 * square,
    "tophat": lambda square: _within(np.ones_like(square), square),
    "epanechnikov": lambda square: _within(1.0 - square, square),
    "exponential": lambda square: -np.sqrt(square),
    "linear": lambda square: _within(1.0 - np.sqrt(square), square),
    "cosine": lambda square: _within(
        np.cos(0.5 * np.pi * np.minimum(np.sqrt(square), 1.0)), square
    ),
}


def bandwidth_of_unit_variance(kernel: Kernel, n_columns: int) -> float:
    """Return the bandwidth for which a kernel has variance 1 in each dimension.

    The variance is E[r^2] / d under the density of the radius, r^(d - 1) K(r). The cosine kernel is
    approximated by the Epanechnikov kernel.
    """
    d = n_columns
    squares = {
        "gaussian": 1.0,
        "tophat": d + 2.0,
        "epanechnikov": d + 4.0,
        "exponential": 1.0 / (d + 1.0),
        "linear": (d + 2.0) * (d + 3.0) / (d + 1.0),
        "cosine": d + 4.0,
    }
    return math.sqrt(squares[kernel])


def squared_distances(new: Floats, known: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield the squared distances of batches of new rows from all known rows."""
    step = max(1, _MOST_DISTANCES // len(known))
    for start in range(0, len(new), step):
        rows = slice(start, min(start + step, len(new)))
        yield rows, cdist(new[rows], known, "sqeuclidean")


def log_sums(distance: Floats, weight: Floats, bandwidth: float, kernel: Kernel) -> Floats:
    """Return the logarithms of sum_i w_i K(distance_i / h) over the columns of a matrix.

    Parameters
    ----------
    distance : ndarray of shape (n, m)
        Squared distances; infinite ones contribute 0.
    weight : ndarray of shape (m,)
    bandwidth : float
    kernel : str

    Returns
    -------
    sums : ndarray of shape (n,)
        Minus infinity for rows that no kernel reaches.
    """
    with np.errstate(over="ignore"):
        log_terms = _LOG_KERNELS[kernel](distance / bandwidth / bandwidth)
    top = log_terms.max(axis=1, keepdims=True)
    reached = np.isfinite(top)
    terms = np.exp(log_terms - np.where(reached, top, 0.0))
    sums = terms @ weight
    found = np.full(len(sums), -np.inf)
    np.log(sums, out=found, where=sums > 0.0)
    shifted: Floats = found + np.where(reached, top, 0.0).ravel()
    return shifted


def log_density(
    new: Floats, known: Floats, weight: Floats, bandwidth: float, kernel: Kernel
) -> Floats:
    """Return the logarithms of 1 / (W h^d) sum_i w_i K((x - x_i) / h), up to a constant.

    Parameters
    ----------
    new : ndarray of shape (n, d)
    known : ndarray of shape (m, d)
    weight : ndarray of shape (m,)
    bandwidth : float
    kernel : str

    Returns
    -------
    log_p : ndarray of shape (n,)
    """
    found = np.empty(len(new))
    for rows, distance in squared_distances(new, known):
        found[rows] = log_sums(distance, weight, bandwidth, kernel)
    found -= math.log(weight.sum()) + new.shape[1] * math.log(bandwidth)
    return found


# Candidate bandwidths, as the standard deviation of the kernel over that of a column.
_WIDTHS = np.geomspace(0.02, 4.0, 17)
# Maximum number of rows of a class that are scored, evenly spaced; the density uses all rows.
_MAX_SCORED_ROWS = 500
# Limits within which logarithms and squares of bandwidths are finite.
_LEAST, _MOST = 1e-140, 1e140


def compute_rule_bandwidth(
    rule: Literal["scott", "silverman"], n_rows: float, n_columns: int
) -> float:
    """Return n^(-1 / (d + 4)), or for Silverman's rule (n (d + 2) / 4)^(-1 / (d + 4)).

    Scott (1992), "Multivariate Density Estimation", and Silverman (1986), "Density Estimation for
    Statistics and Data Analysis", section 4.3.2, for a Gaussian kernel and columns of variance 1.
    """
    count = n_rows if rule == "scott" else n_rows * (n_columns + 2.0) / 4.0
    return float(count ** (-1.0 / (n_columns + 4.0)))


def cross_validated_bandwidth(Z: Floats, weight: Floats, kernel: Kernel, scale: float) -> float:
    """Return the bandwidth with the largest leave-one-out likelihood.

    The density at each row is computed from all rows that differ from it, which excludes
    duplicates. If all rows are equal, or no kernel reaches another row, the standard deviation of
    the kernel is set to that of the columns.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows of one class.
    weight : ndarray of shape (n,)
    kernel : str
    scale : float
        Standard deviation of the columns.
    """
    unit = scale * bandwidth_of_unit_variance(kernel, Z.shape[1])
    bandwidths = unit * _WIDTHS
    scored = np.unique(np.linspace(0, len(Z) - 1, _MAX_SCORED_ROWS).round().astype(np.intp))
    likelihood = np.zeros(bandwidths.size)
    for rows, distance in squared_distances(Z[scored], Z):
        distance[distance == 0.0] = np.inf
        others = np.isfinite(distance) @ weight
        alone = others == 0.0
        scored_weight = np.where(alone, 0.0, weight[scored[rows]])
        for h, bandwidth in enumerate(bandwidths):
            log_p = log_sums(distance, weight, bandwidth, kernel)
            log_p -= np.log(np.where(alone, 1.0, others)) + Z.shape[1] * math.log(bandwidth)
            likelihood[h] += scored_weight @ np.where(alone, 0.0, log_p)
    if not likelihood.any() or np.isneginf(likelihood).all():
        return unit
    return float(bandwidths[int(likelihood.argmax())])


def clip_bandwidth(bandwidth: float) -> float:
    """Clip a bandwidth to the range in which the arithmetic is finite."""
    return min(max(bandwidth, _LEAST), _MOST)


class KernelDensityClassifier(NumbersClassifier):
    """Bayes classifier with a kernel density estimate for each class.

    The density of class k at x is

        p(x | k) = 1 / (W_k h_k^d) sum_i w_i K(r_i / h_k)

    over the rows of the class, with distances r_i from x and weights w_i that sum to W_k, in d
    columns. It models classes of any shape, such as several clusters, if there are few columns;
    distances are uninformative with many. Computations are in logarithms, which gives predictions
    for rows that are far from all others too.

    Parameters
    ----------
    bandwidth : {"cv", "scott", "silverman"} or float, default="cv"
        The bandwidth h. "cv": for each class the one of 17 with the largest leave-one-out
        likelihood. "scott", "silverman": by these rules, as in scikit-learn's `KernelDensity`. A
        number is in standard deviations of the columns or, with ``standardize=False``, in their
        units.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, \
default="gaussian"
        The function K, as in scikit-learn's `KernelDensity`.
    standardize : bool, default=True
        Whether columns are divided by their pooled within-class standard deviations, which makes
        the model independent of units.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the sorted classes. None: their shares of the weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    bandwidth_ : ndarray of shape (n_classes,)
        Bandwidth of each class, in the unit of ``bandwidth``; NaN for a class without weight.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema

    See Also
    --------
    sklearn.neighbors.KernelDensity
        The density estimate. With ``standardize=False`` and the same bandwidth, this class applies
        Bayes' rule to it.

    Notes
    -----
    "cv" excludes rows equal to the scored row from its density: duplicates, or columns of few
    values, would otherwise lead to a bandwidth of 0. Candidates range from 0.02 to 4 standard
    deviations of the kernel over that of the columns. In a class of more than 500 rows, 500 evenly
    spaced rows are scored, with the density of all rows.

    The rules count a row of weight 2 as two rows; they are derived for Gaussian kernels and columns
    of standard deviation 1, which ``standardize=True`` provides.

    If no kernel of any class reaches a row, which is possible for kernels of bounded support only,
    its probabilities are the priors.

    The model stores its training rows, and a prediction compares each row with all of them.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman (2009), "The Elements of Statistical Learning", sections
    6.6.1 and 6.6.2. R. P. W. Duin (1976), "On the choice of smoothing parameters for Parzen
    estimators of probability density functions", IEEE Transactions on Computers C-25(11).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import KernelDensityClassifier
    >>> X = np.array([[0.0], [0.2], [2.0], [2.1], [0.9], [1.0], [1.1]])
    >>> y = ["outside"] * 4 + ["inside"] * 3
    >>> model = KernelDensityClassifier().fit(X, y)
    >>> model.predict([[0.1], [1.05], [2.2], [1e9]]).tolist()
    ['outside', 'inside', 'outside', 'outside']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "bandwidth": [
            Interval(Real, 0.0, None, closed="neither"),
            StrOptions({"cv", "scott", "silverman"}),
        ],
        "kernel": [
            StrOptions({"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"})
        ],
        "standardize": ["boolean"],
        "priors": ["array-like", None],
    }

    def __init__(
        self,
        *,
        bandwidth: float | Literal["cv", "scott", "silverman"] = "cv",
        kernel: Kernel = "gaussian",
        standardize: bool = True,
        priors: Any = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.standardize = standardize
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Store the rows of each class, and choose its bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, without missing values.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has missing values, infinite values or text, or y or
            the weights are invalid. The estimator is left unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            rows, table = self._enter_rows(X, y, sample_weight, common=not self.standardize)
            weight, labels = rows.unit_weight, rows.labels
            spread = within_scale(table, labels, weight, common=not self.standardize)
            self._scale = spread if self.standardize else np.ones_like(spread)
            Z = divided(table, self._scale)
            self._rows = [Z[labels == k] for k in range(rows.classes.size)]
            self._weights = [weight[labels == k] for k in range(rows.classes.size)]
            deviation = 1.0 if self.standardize else float(spread[0])
            self._widths = [self._width(k, deviation) for k in range(rows.classes.size)]
            self.bandwidth_: Floats = np.array(self._widths)
            if not self.standardize:
                self.bandwidth_ = np.ldexp(self.bandwidth_, self._units.exponent[0])
        return self

    def _width(self, k: int, deviation: float) -> float:
        """Return the bandwidth of a class in internal units; NaN for a class without rows."""
        Z, weight = self._rows[k], self._weights[k]
        if not len(Z):
            return np.nan
        if self.bandwidth == "cv":
            return clip_bandwidth(cross_validated_bandwidth(Z, weight, self.kernel, deviation))
        width: float = (
            compute_rule_bandwidth(self.bandwidth, self._class_weight[k], Z.shape[1])
            if isinstance(self.bandwidth, str)
            else self.bandwidth
        )
        with np.errstate(over="ignore"):
            own = width if self.standardize else float(np.ldexp(width, -self._units.exponent[0]))
        return clip_bandwidth(own)

    def _log_joint(self, X: Any) -> Floats:
        entered = self._enter_new_rows(X)
        Z = divided(entered, self._scale)
        log_prior = compute_log_priors(self.class_prior_, self._class_weight)
        joint = np.tile(log_prior, (len(Z), 1))
        for k, (known, weight) in enumerate(zip(self._rows, self._weights, strict=True)):
            if len(known):
                joint[:, k] += log_density(Z, known, weight, self._widths[k], self.kernel)
        joint[np.isneginf(joint).all(axis=1)] = log_prior
        return joint
