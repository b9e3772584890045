"""Bayes classifier with a kernel density estimate for each class."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda.learners._bandwidths import (
    clip_bandwidth,
    compute_rule_bandwidth,
    cross_validated_bandwidth,
)
from arboleda.learners._bayes_rule import Floats, compute_log_priors
from arboleda.learners._kernels import Kernel, log_density
from arboleda.learners._numbers_classifier import NumbersClassifier
from arboleda.learners._units import divided, within_scale
from arboleda.tree._restore_on_failure import restore_on_failure


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
            self.bandwidth_ = np.array(self._widths)
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
