"""Nearest shrunken centroids: Tibshirani, Hastie, Narasimhan, Chu (2002)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Interval

from arboleda._base.mixins import restore_on_failure
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.numbers import integer
from arboleda._utils.results import Result
from arboleda.learners._bayes_rule import (
    NumbersClassifier,
    compute_class_priors,
    compute_log_priors,
)
from arboleda.learners._class_rows import ClassRows, class_means, divided, squares_within
from arboleda.learners._folds import error_rates, row_splits

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

# Minimum scale of a column, in standard deviations of all rows.
_LEAST_SCALE = 1e-5


@dataclass(frozen=True)
class StandardizedCentroids:
    """Statistics from which shrunken centroids of any threshold are computed.

    Parameters
    ----------
    count : ndarray of shape (n_classes,)
        Number of rows of each class; the differences of a class without rows are 0.
    center : ndarray of shape (p,)
        Mean of all rows.
    within : ndarray of shape (p,)
        Pooled standard deviations s_j within the classes.
    scale : ndarray of shape (p,)
        s_j + s_0, with s_0 the median of the s_j.
    spread : ndarray of shape (n_classes,)
        m_k = sqrt(1 / n_k - 1 / n).
    difference : ndarray of shape (n_classes, p)
        d_kj = (mean_kj - mean_j) / (m_k (s_j + s_0)).
    """

    count: Floats
    center: Floats
    within: Floats
    scale: Floats
    spread: Floats
    difference: Floats

    @classmethod
    def of(cls, X: Floats, labels: npt.NDArray[np.intp], n_classes: int) -> Self:
        """Compute the statistics from unweighted rows."""
        n_rows = len(X)
        count = np.bincount(labels, minlength=n_classes).astype(np.float64)
        center = X.mean(axis=0)
        means = class_means(X, labels, np.ones(n_rows), n_classes)
        means[count == 0.0] = center
        freedom = max(1, n_rows - int(np.count_nonzero(count)))
        within = np.sqrt(squares_within(X, labels, np.ones(n_rows), means) / freedom)
        scale = np.maximum(within + np.median(within), _LEAST_SCALE * X.std(axis=0))
        scale[scale == 0.0] = 1.0
        with np.errstate(divide="ignore"):
            spread = np.where(
                count > 0.0, np.sqrt(np.maximum(1.0 / count - 1.0 / n_rows, 0.0)), 1.0
            )
        # A class with all rows is at the centre; this avoids dividing by m_k = 0.
        standard = np.where(spread > 0.0, spread, 1.0)[:, np.newaxis] * scale
        return cls(count, center, within, scale, spread, (means - center) / standard)

    def shrunken(self, threshold: float) -> Floats:
        """Return sign(d) (abs(d) - threshold)+, the shrunken differences."""
        left = np.maximum(np.abs(self.difference) - threshold, 0.0)
        shrunken: Floats = np.copysign(left, self.difference)
        return shrunken

    def log_likelihood(self, X: Floats, threshold: float) -> Floats:
        """Return -1/2 sum_j ((x_j - centroid_kj) / scale_j)^2 up to a constant of the row.

        Only the selected columns are used.
        """
        shift = self.spread[:, np.newaxis] * self.shrunken(threshold)
        columns = np.flatnonzero(shift.any(axis=0))
        shift = shift[:, columns]
        Z = divided(X[:, columns] - self.center[columns], self.scale[columns])
        found: Floats = Z @ shift.T - 0.5 * (shift**2).sum(axis=1)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class ShrinkagePath(Result):
    """Error of shrunken centroids on held-out rows, over the thresholds.

    Each array has one entry per threshold. It is the ``path_`` of `NearestShrunkenCentroids`.

    Attributes
    ----------
    threshold : ndarray
        Ascending from 0.
    n_features : ndarray of int
        Number of columns that the model of all rows selects.
    mean_error : ndarray
        Misclassified share of the held-out rows.
    standard_error : ndarray
        Standard error of ``mean_error`` over the folds; NaN for a single fold.
    best_index : int
        Index of the chosen threshold.
    """

    threshold: Floats
    n_features: npt.NDArray[np.int64]
    mean_error: Floats
    standard_error: Floats
    best_index: int

    def _summarize(self) -> dict[str, Any]:
        return {
            "n_thresholds": len(self.threshold),
            "threshold": float(self.threshold[self.best_index]),
            "n_features": int(self.n_features[self.best_index]),
            "error": float(self.mean_error[self.best_index]),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the path as a pandas data frame with one row per threshold.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``threshold``, ``n_features``, ``mean_error``, ``standard_error``.
        """
        names = ("threshold", "n_features", "mean_error", "standard_error")
        return new_frame({name: getattr(self, name) for name in names})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot error against threshold, with bars of one standard error, and the chosen threshold.

        The upper axis shows the number of selected columns (as figure 1 of Tibshirani et al. 2002).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        best = self.best_index
        ax.errorbar(
            self.threshold, self.mean_error, self.standard_error, fmt="o-", color="C0", lw=1, ms=3,
            elinewidth=0.6, capsize=1.5, label="held-out rows, one standard error",
        )  # fmt: skip
        ax.plot(
            self.threshold[best], self.mean_error[best], "o", ms=10, mfc="none", color="C3",
            zorder=3, label=f"chosen: {integer(int(self.n_features[best]))} columns",
        )  # fmt: skip
        above = ax.secondary_xaxis("top")
        shown = np.unique(np.linspace(0, self.threshold.size - 1, 7).round().astype(int))
        counts = [integer(int(count)) for count in self.n_features[shown]]
        above.set_xticks(self.threshold[shown], counts)
        above.set_xlabel("columns left")
        ax.set_xlabel("threshold")
        ax.set_ylabel("error")
        ax.legend(frameon=False)
        return ax


class NearestShrunkenCentroids(NumbersClassifier):
    """Diagonal LDA with class means shrunken to the overall mean, which selects columns.

    In column j the mean of class k differs from the overall mean by this number of standard errors:

        d_kj = (mean_kj - mean_j) / (m_k (s_j + s_0)),    m_k = sqrt(1 / n_k - 1 / n),

    with s_j the pooled within-class standard deviation (divided by n - K) and s_0 the median of the
    s_j, which keeps columns of low variance from looking important. Differences are shrunken by a
    threshold, d'_kj = sign(d_kj) (abs(d_kj) - threshold)+, and give the shrunken centroids
    mean_j + m_k (s_j + s_0) d'_kj. The predicted class has the largest

        log P(k) - 1/2 sum_j (x_j - centroid_kj)^2 / (s_j + s_0)^2.

    A column whose differences are 0 in all classes has no influence. The method was developed for
    the diagnosis of tumours from tens of rows and thousands of genes.

    Parameters
    ----------
    shrink_threshold : float, default=None
        Threshold in standard errors; 0: no shrinkage. None: chosen by cross-validation.
    n_thresholds : int, default=30
        Number of candidate thresholds, equally spaced from 0 to the one that removes all columns.
    cv : int, splitter or iterable, default=5
        Folds of the cross-validation. An int gives shuffled, stratified folds.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the sorted classes. None: their shares of the rows.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    shrink_threshold_ : float
        The threshold in use.
    path_ : ShrinkagePath or None
        Cross-validated error and number of columns over the thresholds, for plotting; None if
        ``shrink_threshold`` was given.
    selected_features_ : ndarray of int
        Indices of the selected columns.
    deviations_ : ndarray of shape (n_classes, n_features)
        The shrunken differences d'.
    centroids_ : ndarray of shape (n_classes, n_features)
        The shrunken centroids.
    within_class_std_dev_ : ndarray of shape (n_features,)
        The standard deviations s_j.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema

    See Also
    --------
    DiagonalLDA : Without shrinkage and s_0.
    sklearn.neighbors.NearestCentroid

    Notes
    -----
    ``deviations_`` and ``centroids_`` equal those of scikit-learn's
    ``NearestCentroid(shrink_threshold=...)``. Its predictions differ: with uniform priors, its
    default, it chooses the nearest centroid in the original units, where columns of large variance
    dominate, and with other priors it divides by s_j instead of s_j + s_0. Its `fit` requires two
    classes, and a column that is not constant.

    Of thresholds with equal errors the largest is chosen, which has the fewest columns. Each fold
    is fitted once for all thresholds. s_0 depends on the units of all columns: standardise columns
    of different units first. s_j + s_0 is at least 1e-5 times the standard deviation of the column.

    ``sample_weight`` is not supported, since m_k and s_j depend on the number of rows.

    References
    ----------
    R. Tibshirani, T. Hastie, B. Narasimhan, G. Chu (2002), "Diagnosis of multiple cancer types by
    shrunken centroids of gene expression", PNAS 99(10); with the m_k of T. Hastie, R. Tibshirani,
    J. Friedman (2009), "The Elements of Statistical Learning", equation (18.4).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import NearestShrunkenCentroids
    >>> random = np.random.default_rng(0)
    >>> X, y = random.normal(size=(40, 500)), np.repeat([0, 1], 20)
    >>> X[y == 1, :5] += 3
    >>> model = NearestShrunkenCentroids(random_state=0).fit(X, y)
    >>> model.selected_features_.tolist(), round(model.shrink_threshold_, 1)
    ([0, 1, 2, 3, 4], 3.5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "shrink_threshold": [Interval(Real, 0.0, None, closed="left"), None],
        "n_thresholds": [Interval(Integral, 2, None, closed="left")],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            HasMethods("__iter__"),
        ],
        "priors": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        shrink_threshold: float | None = None,
        n_thresholds: int = 30,
        cv: Any = 5,
        priors: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.shrink_threshold = shrink_threshold
        self.n_thresholds = n_thresholds
        self.cv = cv
        self.priors = priors
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the threshold, unless it is given, and shrink the centroids.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, without missing values.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has missing values, infinite values or text, y is
            invalid, or there are fewer rows than folds. The estimator is left unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            rows, table = self._enter_rows(X, y, None, common=True)
            self._centroids = StandardizedCentroids.of(table, rows.labels, rows.classes.size)
            self.path_: ShrinkagePath | None = None
            if self.shrink_threshold is None:
                self.path_ = self._cross_validate(table, rows)
                self.shrink_threshold_: float = float(self.path_.threshold[self.path_.best_index])
            else:
                self.shrink_threshold_ = float(self.shrink_threshold)
            self._set_attributes()
        return self

    def _set_attributes(self) -> None:
        """Set the fitted attributes, in the units of the columns."""
        centroids = self._centroids
        self.deviations_: Floats = centroids.shrunken(self.shrink_threshold_)
        self.selected_features_: npt.NDArray[np.intp] = np.flatnonzero(self.deviations_.any(axis=0))
        shift = centroids.spread[:, np.newaxis] * centroids.scale * self.deviations_
        self.centroids_: Floats = self._units.leave(centroids.center + shift)
        self.within_class_std_dev_: Floats = np.ldexp(centroids.within, self._units.exponent)

    def _cross_validate(self, table: Floats, rows: ClassRows) -> ShrinkagePath:
        """Cross-validate all thresholds."""
        sizes = np.abs(self._centroids.difference).max(axis=0)
        thresholds = np.linspace(0.0, sizes.max(), self.n_thresholds)
        labels = rows.labels
        sums, held_out = [], []
        for train, test in row_splits(self.cv, rows, self.random_state):
            fold = StandardizedCentroids.of(table[train], labels[train], self.classes_.size)
            prior = compute_class_priors(self.priors, fold.count, self.classes_)
            log_prior = compute_log_priors(prior, fold.count)
            sums.append(self._errors(fold, table[test], labels[test], log_prior, thresholds))
            held_out.append(float(test.size))
        mean, error = error_rates(sums, held_out)
        best = int(np.flatnonzero(mean == mean.min())[-1])
        left = (sizes > thresholds[:, np.newaxis]).sum(axis=1)
        return ShrinkagePath(thresholds, left.astype(np.int64), mean, error, best)

    @staticmethod
    def _errors(
        fold: StandardizedCentroids,
        X: Floats,
        labels: npt.NDArray[np.intp],
        log_prior: Floats,
        thresholds: Floats,
    ) -> Floats:
        """Return the number of misclassified rows for each threshold."""
        chosen = [(fold.log_likelihood(X, t) + log_prior).argmax(axis=1) for t in thresholds]
        wrong: Floats = np.array([(one != labels).sum() for one in chosen], dtype=np.float64)
        return wrong

    def _log_joint(self, X: Any) -> Floats:
        entered = self._enter_new_rows(X)
        joint = self._centroids.log_likelihood(entered, self.shrink_threshold_)
        return joint + compute_log_priors(self.class_prior_, self._centroids.count)
