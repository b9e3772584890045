"""Naive Bayes for columns of different kinds."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._base.mixins import restore_on_failure
from arboleda._engine.table import check_table
from arboleda.learners._bayes_rule import (
    Array,
    BayesRuleClassifier,
    Floats,
    compute_class_priors,
    compute_log_priors,
)
from arboleda.learners._class_rows import (
    ClassRows,
    as_floats,
    dense_table,
    read_class_rows,
    sums_by_class,
)
from arboleda.learners._columns import ColumnKind, check_binary, column_kinds

# Distances are clipped to this number of standard deviations, to keep squares from overflowing.
_FARTHEST = 1e140


class MixedNaiveBayes(BayesRuleClassifier):
    """Naive Bayes classifier for tables with columns of different kinds.

    Columns are assumed to be independent given the class: P(k | x) is proportional to
    P(k) prod_j p(x_j | k). A numeric column is Gaussian with a mean and a variance in each class; a
    binary one is Bernoulli; a categorical one has category c with the probability

        P(c | k) = (N_kc + alpha) / (N_k + alpha C),

    where N_kc is the weight of the rows of class k with category c, N_k the weight of those with
    any category, and C the number of categories in the training data. With ``alpha=0`` this is the
    maximum-likelihood estimate; otherwise the posterior mean under a symmetric Dirichlet prior with
    parameter alpha, which is the posterior mode (MAP) under parameter alpha + 1. Missing values are
    left out of the product, in `fit` as in `predict`.

    Parameters
    ----------
    categorical_features : "from_dtype", None, or array-like of bool, int or str, \
default="from_dtype"
        Categorical columns: a mask, indices or names; "from_dtype": columns of a categorical,
        enumeration or text type. As for the trees of this library.
    binary_features : "from_dtype", None, or array-like of bool, int or str, default="from_dtype"
        Bernoulli columns, with values 0 and 1 only; "from_dtype": those of a boolean type. All
        other columns are Gaussian.
    alpha : float, default=1.0
        Parameter of the Dirichlet prior of categorical and binary columns (1 is Laplace smoothing,
        0.5 the Krichevsky-Trofimov estimator); 0: maximum likelihood.
    var_smoothing : float, default=1e-9
        Share of the largest variance of the Gaussian columns that is added to every variance.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the sorted classes. None: their shares of the weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    column_kinds_ : list of {"gaussian", "bernoulli", "categorical"}
        Kind of each column.
    theta_ : ndarray of shape (n_classes, n_features)
        Means of Gaussian columns; NaN for other columns and for columns without any value.
    var_ : ndarray of shape (n_classes, n_features)
        Variances of Gaussian columns, including ``epsilon_``.
    epsilon_ : float
        Value added to the variances.
    feature_log_prob_ : list of (ndarray of shape (n_classes, n_categories) or None)
        log P(c | k) of each column, with categories in the order of ``schema_.levels``, or 0 and 1
        for a binary column; None for a Gaussian column.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    See Also
    --------
    sklearn.naive_bayes.GaussianNB, sklearn.naive_bayes.CategoricalNB
        For columns of one kind, with the same predictions.

    Notes
    -----
    An unseen category has N_kc = 0 and therefore the probability alpha / (N_k + alpha C), which
    favours classes with few rows.

    With ``alpha=0`` a category that does not occur in a class makes the class impossible. If this
    holds for all classes of a row, Bayes' rule gives 0 / 0, and the limit for alpha towards 0 is
    used: only the classes with the fewest impossible values are possible, and each of these values
    counts 1 / N_k.

    A class without any value of a column uses the values of all classes (for a discrete column only
    with ``alpha=0``, since otherwise the prior is used). A class whose rows all have weight 0 has
    probability 0.

    ``epsilon_`` is computed with weights, such that a row of weight 2 is equivalent to two rows;
    scikit-learn's `GaussianNB` computes it without weights.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman (2009), "The Elements of Statistical Learning", section
    6.6.3. K. P. Murphy (2012), "Machine Learning: A Probabilistic Perspective", section 3.5.

    Examples
    --------
    >>> import pandas as pd
    >>> from arboleda import MixedNaiveBayes
    >>> X = pd.DataFrame({
    ...     "size": [1.0, 1.2, 3.1, 2.9, None],
    ...     "colour": ["red", "red", "green", "green", "red"],
    ...     "ripe": [False, False, True, True, True],
    ... })
    >>> model = MixedNaiveBayes().fit(X, ["cherry", "cherry", "apple", "apple", "apple"])
    >>> model.column_kinds_
    ['gaussian', 'categorical', 'bernoulli']
    >>> model.predict_proba(pd.DataFrame({
    ...     "size": [None], "colour": ["green"], "ripe": [True],
    ... })).round(3)
    array([[0.92, 0.08]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
        "binary_features": ["array-like", StrOptions({"from_dtype"}), None],
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "var_smoothing": [Interval(Real, 0.0, None, closed="left")],
        "priors": ["array-like", None],
    }

    theta_: Floats
    var_: Floats

    def __init__(
        self,
        *,
        categorical_features: Any = "from_dtype",
        binary_features: Any = "from_dtype",
        alpha: float = 1.0,
        var_smoothing: float = 1e-9,
        priors: Any = None,
    ) -> None:
        self.categorical_features = categorical_features
        self.binary_features = binary_features
        self.alpha = alpha
        self.var_smoothing = var_smoothing
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the distribution of every column in every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table. Missing values are left out; infinite values raise an error.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. Weights are counts: their
            scale relative to alpha matters.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has infinite values, text in a numeric column, values
            other than 0 and 1 in a binary one, or values whose variance is outside float64, or y or
            the weights are invalid. The estimator is left unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            rows = read_class_rows(
                self, X, y, sample_weight, categorical_features=self.categorical_features
            )
            self.column_kinds_: list[ColumnKind] = column_kinds(
                X, rows.table, self.schema_, self.binary_features
            )
            self.classes_: Array = rows.classes
            self.class_count_: Floats = rows.class_weight
            self.class_prior_: Floats = compute_class_priors(
                self.priors, rows.class_weight, rows.classes
            )
            self._fit_gaussians(rows)
            self._fit_categories(rows)
        return self

    def _columns(self, *kinds: ColumnKind) -> list[int]:
        return [j for j, kind in enumerate(self.column_kinds_) if kind in kinds]

    def _fit_gaussians(self, rows: ClassRows) -> None:
        shape = (rows.classes.size, rows.table.n_columns)
        self.theta_, self.var_ = np.full(shape, np.nan), np.full(shape, np.nan)
        widest = 0.0
        for j in self._columns("gaussian"):
            mean, variance, overall = _moments(rows, as_floats(rows.table.columns[j]))
            if np.isinf(variance).any():
                raise ValueError(
                    f"column {self.schema_.describe(j)} of X has values whose variance is "
                    "outside float64: divide the column by a constant, such as its largest "
                    "absolute value"
                )
            self.theta_[:, j], self.var_[:, j] = mean, variance
            widest = max(widest, overall)
        self.epsilon_: float = float(self.var_smoothing * widest)
        self.var_ += self.epsilon_
        for j in self._columns("gaussian"):
            varies = np.ptp(self.theta_[:, j]) > 0.0 or (self.var_[:, j] > 0.0).any()
            if varies and not (self.var_[:, j] > 0.0).all():
                k = int(np.flatnonzero(self.var_[:, j] <= 0.0)[0])
                raise ValueError(
                    f"column {self.schema_.describe(j)} of X is constant in class "
                    f"{rows.classes[k].item()!r}, and var_smoothing={self.var_smoothing} leaves "
                    "its variance 0: raise var_smoothing"
                )

    def _fit_categories(self, rows: ClassRows) -> None:
        self.feature_log_prob_: list[Floats | None] = [None] * rows.table.n_columns
        self._looked_up: dict[int, tuple[Floats, Array]] = {}
        for j in self._columns("bernoulli", "categorical"):
            n_levels = 2 if self.column_kinds_[j] == "bernoulli" else self.schema_.n_levels[j]
            codes = self._codes(rows.table.columns[j], j, n_levels)
            n_classes = rows.classes.size
            cells = sums_by_class(
                codes * n_classes + rows.labels, rows.weight, (n_levels + 2) * n_classes
            )
            counts = cells.reshape(-1, n_classes)[:n_levels]
            log_p, impossible = self._look_up_table(counts, self.column_kinds_[j])
            self._looked_up[j] = log_p, impossible
            self.feature_log_prob_[j] = np.where(impossible, -np.inf, log_p)[:n_levels].T

    def _codes(self, column: Array, j: int, n_levels: int) -> Array:
        """Return the category of each row; n_levels if unseen, n_levels + 1 if missing."""
        if self.column_kinds_[j] == "bernoulli":
            check_binary(column, self.schema_.describe(j))
            return np.where(np.isnan(column), n_levels + 1, column).astype(np.intp)
        return np.minimum(column, n_levels + 1).astype(np.intp)

    def _look_up_table(self, counts: Floats, kind: ColumnKind) -> tuple[Floats, Array]:
        """Return the log probabilities by code and class, and a mask of impossible categories.

        The last two rows are for unseen values, and for missing values, which have a factor of 1.
        An impossible category has the logarithm of 1 / N_k (see the notes of the class).
        """
        n_levels, n_classes = counts.shape
        n_seen = n_levels if kind == "bernoulli" else np.count_nonzero(counts.sum(axis=1))
        log_p = np.zeros((n_levels + 2, n_classes))
        impossible = np.zeros(log_p.shape, dtype=bool)
        if not counts.any():
            return log_p, impossible
        padded = np.vstack([counts, np.zeros(n_classes)])
        if self.alpha == 0.0:
            padded[:, padded.sum(axis=0) == 0.0] = padded.sum(axis=1, keepdims=True)
        total = padded.sum(axis=0)
        impossible[:-1] = padded + self.alpha == 0.0
        share = np.where(impossible[:-1], 1.0, padded + self.alpha)
        log_p[:-1] = np.log(share) - np.log(total + self.alpha * n_seen)
        return log_p, impossible

    def _log_joint(self, X: Any) -> Floats:
        table = dense_table(self, check_table(self, X, reset=False, separate_unseen=True))
        log_prior = compute_log_priors(self.class_prior_, self.class_count_)
        joint = np.tile(log_prior, (table.n_rows, 1))
        for j in self._columns("gaussian"):
            joint += self._log_gaussian(as_floats(table.columns[j]), j)
        n_impossible = np.zeros(joint.shape, dtype=np.intp)
        for j, (log_p, impossible) in self._looked_up.items():
            codes = self._codes(table.columns[j], j, len(log_p) - 2)
            joint += log_p[codes]
            n_impossible += impossible[codes]
        n_impossible[:, np.isneginf(log_prior)] = table.n_columns + 1
        joint[n_impossible > n_impossible.min(axis=1, keepdims=True)] = -np.inf
        return joint

    def _log_gaussian(self, values: Floats, j: int) -> Floats:
        """Return log densities by row and class, up to a constant; 0 for missing values."""
        variance = self.var_[:, j]
        if not (variance > 0.0).all():  # a column without values, or constant, has no influence
            return np.zeros((values.size, variance.size))
        with np.errstate(over="ignore"):
            distance = (values[:, np.newaxis] - self.theta_[:, j]) / np.sqrt(variance)
        distance = np.clip(distance, -_FARTHEST, _FARTHEST)
        log_p: Floats = -0.5 * (distance**2 + np.log(variance))
        log_p[np.isnan(values)] = 0.0
        return log_p

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _moments(rows: ClassRows, values: Floats) -> tuple[Floats, Floats, float]:
    """Return the means and variances of a column in each class, and its overall variance.

    Missing values are left out; a class without values uses those of all classes. For a column
    without values the moments are NaN; variances outside float64, too small or too large, are
    infinite.
    """
    n_classes = rows.classes.size
    present = ~np.isnan(values)
    if not present.any():
        return np.full(n_classes, np.nan), np.full(n_classes, np.nan), 0.0
    weight = np.where(present, rows.unit_weight, 0.0)
    # Relative to one of the values, those of a constant column are exactly 0 for any weights.
    origin = values[present][0]
    with np.errstate(over="ignore", invalid="ignore"):
        from_origin = np.where(present, values - origin, 0.0)
        total = rows.sums(weight)
        empty = total == 0.0
        mean_of_all = weight @ from_origin / weight.sum()
        mean = rows.sums(weight * from_origin) / np.where(empty, 1.0, total)
        mean[empty] = mean_of_all
        overall = float(weight @ (from_origin - mean_of_all) ** 2 / weight.sum())
        variance = rows.sums(weight * (from_origin - mean[rows.labels]) ** 2)
        variance /= np.where(empty, 1.0, total)
        variance[empty] = overall
        mean += origin
    vanishes = overall < np.finfo(np.float64).tiny and bool(from_origin[weight > 0.0].any())
    if vanishes or not np.isfinite(variance).all() or not np.isfinite(overall):
        variance[:] = np.inf
    return mean, variance, overall
