"""Bayes' rule with a kernel density for each class."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda.learners._bandwidths import judged_bandwidth, rule_bandwidth, within_range
from arboleda.learners._bayes_rule import Floats, log_priors
from arboleda.learners._kernels import Kernel, log_density
from arboleda.learners._numbers_classifier import NumbersClassifier
from arboleda.learners._units import divided, within_scale
from arboleda.tree._restore_on_failure import restore_on_failure


class KernelDensityClassifier(NumbersClassifier):
    """Bayes' rule with the density of each class estimated by kernels on its rows.

    The density of class k at x is

        p(x | k) = 1 / (W_k h_k^d) sum_i w_i K(r_i / h_k)

    over the class's rows, with distances r_i from x and weights w_i that sum to W_k, in d columns.
    It follows classes of any shape, of several lumps for example, where columns are few; with many,
    nothing is near anything. All is computed in logarithms, so that rows far from all others have
    an answer too.

    Parameters
    ----------
    bandwidth : {"cv", "scott", "silverman"} or float, default="cv"
        The width h. "cv": of each class the one, of 17, under which its rows are most likely, each
        judged by the others. "scott", "silverman": by those rules, as in scikit-learn's
        `KernelDensity`. A number is in standard deviations of the columns, or, with
        ``standardize=False``, in their units.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, \
default="gaussian"
        The function K, as in scikit-learn's `KernelDensity`.
    standardize : bool, default=True
        Whether columns are divided by their standard deviations pooled within the classes, so that
        units have no influence and one width serves all columns.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes, sorted by label. None: their shares of the weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    bandwidth_ : ndarray of shape (n_classes,)
        Width of each class, as ``bandwidth`` counts it; NaN of a class without weight.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema

    See Also
    --------
    sklearn.neighbors.KernelDensity
        The density alone. With ``standardize=False`` and the same width, this class is Bayes' rule
        with it.

    Notes
    -----
    "cv" leaves out of the density that judges a row all rows that equal it: rows written twice, or
    columns of few values, would otherwise ask for a width of 0. Widths are tried from 0.02 to 4
    standard deviations of the kernel over that of the columns. In a class of more than 500 rows,
    500, evenly spaced, are judged by all.

    The rules count a row of weight 2 as two; they are made for Gaussian kernels and columns of
    standard deviation 1, which ``standardize=True`` provides.

    Where no kernel of any class reaches a row, which only happens to kernels that end, its
    probabilities are the priors.

    The model keeps its training rows, and a prediction compares each row with all of them.

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
        """Keep the rows of each class, and choose its bandwidth.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none of them missing or infinite.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite weights, not negative; rows of weight 0 take no part.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has a missing or infinite value or text, or y or the
            weights are not as described. The estimator stays as it was.
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
        """Bandwidth of a class, in the units of its rows here; NaN where it has none."""
        Z, weight = self._rows[k], self._weights[k]
        if not len(Z):
            return np.nan
        if self.bandwidth == "cv":
            return within_range(judged_bandwidth(Z, weight, self.kernel, deviation))
        width: float = (
            rule_bandwidth(self.bandwidth, self._class_weight[k], Z.shape[1])
            if isinstance(self.bandwidth, str)
            else self.bandwidth
        )
        with np.errstate(over="ignore"):
            own = width if self.standardize else float(np.ldexp(width, -self._units.exponent[0]))
        return within_range(own)

    def _log_joint(self, X: Any) -> Floats:
        entered = self._entered(X)
        Z = divided(entered, self._scale)
        log_prior = log_priors(self.class_prior_, self._class_weight)
        joint = np.tile(log_prior, (len(Z), 1))
        for k, (known, weight) in enumerate(zip(self._rows, self._weights, strict=True)):
            if len(known):
                joint[:, k] += log_density(Z, known, weight, self._widths[k], self.kernel)
        joint[np.isneginf(joint).all(axis=1)] = log_prior
        return joint
