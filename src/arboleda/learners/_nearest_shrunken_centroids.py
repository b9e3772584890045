"""Nearest shrunken centroids: Tibshirani, Hastie, Narasimhan, Chu (2002)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Interval

from arboleda.learners._bayes_rule import Floats, class_priors, log_priors
from arboleda.learners._class_rows import ClassRows
from arboleda.learners._folds import error_rates, row_splits
from arboleda.learners._numbers_classifier import NumbersClassifier
from arboleda.learners._shrinkage_path import ShrinkagePath
from arboleda.learners._standardized_centroids import StandardizedCentroids
from arboleda.tree._restore_on_failure import restore_on_failure


class NearestShrunkenCentroids(NumbersClassifier):
    """Diagonal LDA with class means shrunken to the overall mean, so that few columns decide.

    In column j the mean of class k differs from the overall mean by so many standard errors:

        d_kj = (mean_kj - mean_j) / (m_k (s_j + s_0)),    m_k = sqrt(1 / n_k - 1 / n),

    with s_j the standard deviation pooled within the classes (divided by n - K) and s_0 the median
    of the s_j, which keeps columns that hardly vary from looking important. Differences are moved
    to 0 by a threshold, d'_kj = sign(d_kj) (abs(d_kj) - threshold)+, and make the shrunken
    centroids mean_j + m_k (s_j + s_0) d'_kj. A row goes to the class with the largest

        log P(k) - 1/2 sum_j (x_j - centroid_kj)^2 / (s_j + s_0)^2.

    A column whose differences are 0 in all classes has no influence. Made for the diagnosis of
    tumours from tens of rows and thousands of genes.

    Parameters
    ----------
    shrink_threshold : float, default=None
        How many standard errors are taken off; 0: none. None: chosen by cross-validation.
    n_thresholds : int, default=30
        Thresholds that are judged, equally spaced from 0 to the one that leaves no column.
    cv : int, splitter or iterable, default=5
        Folds in which they are judged. An int deals the rows out at random, of each class as many
        to every fold.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes, sorted by label. None: their shares of the rows.
    random_state : int, RandomState or None, default=None
        Deals rows to folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    shrink_threshold_ : float
        The threshold in use.
    path_ : ShrinkagePath or None
        Cross-validated error and number of columns over the thresholds, for plotting; None where
        the threshold was given.
    selected_features_ : ndarray of int
        Numbers of the columns that are left.
    deviations_ : ndarray of shape (n_classes, n_features)
        The shrunken differences d'.
    centroids_ : ndarray of shape (n_classes, n_features)
        The shrunken centroids.
    within_class_std_dev_ : ndarray of shape (n_features,)
        The standard deviations s_j.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema

    See Also
    --------
    DiagonalLDA : Without shrinkage and s_0.
    sklearn.neighbors.NearestCentroid

    Notes
    -----
    ``deviations_`` and ``centroids_`` are those of scikit-learn's
    ``NearestCentroid(shrink_threshold=...)``. Its predictions are others: with uniform priors, its
    default, it takes the centroid that is nearest in the columns' own units, so that the widest
    columns decide, and with other priors it divides by s_j instead of s_j + s_0. Its `fit` needs
    two classes, and a column that varies.

    Of thresholds with the same error the largest is taken: the fewest columns. A fold is learned
    once for all thresholds. s_0 depends on the units of all columns: where these differ,
    standardise them first. No s_j + s_0 is less than a hundred-thousandth of the column's standard
    deviation.

    There is no ``sample_weight``: m_k and s_j count rows.

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
    ([0, 1, 2, 3, 4], 3.4)
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
            Numbers, none of them missing or infinite.
        y : array-like of shape (n_samples,)
            Labels of any type, without missing values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has a missing or infinite value or text, y is not as
            described, or there are fewer rows than folds. The estimator stays as it was.
        """
        with restore_on_failure(self):
            self._validate_params()
            rows, table = self._enter_rows(X, y, None, common=True)
            self._centroids = StandardizedCentroids.of(table, rows.labels, rows.classes.size)
            self.path_ = None
            if self.shrink_threshold is None:
                self.path_ = self._judge(table, rows)
                self.shrink_threshold_ = float(self.path_.threshold[self.path_.best_index])
            else:
                self.shrink_threshold_ = float(self.shrink_threshold)
            self._tell()
        return self

    def _tell(self) -> None:
        """Keep what the model looks like in the columns' own units."""
        found = self._centroids
        self.deviations_ = found.shrunken(self.shrink_threshold_)
        self.selected_features_ = np.flatnonzero(self.deviations_.any(axis=0))
        shift = found.spread[:, np.newaxis] * found.scale * self.deviations_
        self.centroids_ = self._units.leave(found.center + shift)
        self.within_class_std_dev_ = np.ldexp(found.within, self._units.exponent)

    def _judge(self, table: Floats, rows: ClassRows) -> ShrinkagePath:
        """Cross-validate all thresholds."""
        sizes = np.abs(self._centroids.difference).max(axis=0)
        thresholds = np.linspace(0.0, sizes.max(), self.n_thresholds)
        labels = rows.labels
        sums, held_out = [], []
        for train, test in row_splits(self.cv, rows, self.random_state):
            fold = StandardizedCentroids.of(table[train], labels[train], self.classes_.size)
            prior = class_priors(self.priors, fold.count, self.classes_)
            log_prior = log_priors(prior, fold.count)
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
        """Rows misclassified, by threshold."""
        chosen = [(fold.log_likelihood(X, t) + log_prior).argmax(axis=1) for t in thresholds]
        wrong: Floats = np.array([(one != labels).sum() for one in chosen], dtype=np.float64)
        return wrong

    def _log_joint(self, X: Any) -> Floats:
        entered = self._entered(X)
        joint = self._centroids.log_likelihood(entered, self.shrink_threshold_)
        return joint + log_priors(self.class_prior_, self._centroids.count)
