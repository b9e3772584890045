"""Diagonal linear discriminant analysis: Dudoit, Fridlyand, Speed (2002)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from arboleda._base.mixins import restore_on_failure
from arboleda.learners._bayes_rule import Floats, NumbersClassifier, compute_log_priors
from arboleda.learners._class_rows import class_means, divided, within_scale


class DiagonalLDA(NumbersClassifier):
    """Linear discriminant analysis with a common diagonal covariance.

    Each class is Gaussian with means m_kj and pooled within-class variances s_j^2; covariances are
    taken to be 0. The predicted class has the largest

        log P(k) - 1/2 sum_j (x_j - m_kj)^2 / s_j^2.

    It performs well with few rows and many columns, where LDA has too many covariances to estimate
    (Dudoit et al. 2002). Its decision boundaries are linear.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the sorted classes. None: their shares of the weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    scale_ : ndarray of shape (n_features,)
        The within-class standard deviations s_j.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema

    See Also
    --------
    RegularizedDiscriminantAnalysis : Equivalent with ``alpha=1, gamma=1``.
    NearestShrunkenCentroids : A similar classifier that selects columns.

    Notes
    -----
    s_j^2 is the maximum-likelihood estimate, divided by the weight of all rows. If it is 0 up to
    rounding and the class means differ, s_j is set to 1e-5 times the standard deviation of all
    rows; a constant column has no influence.

    References
    ----------
    S. Dudoit, J. Fridlyand, T. P. Speed (2002), "Comparison of discrimination methods for the
    classification of tumors using gene expression data", Journal of the American Statistical
    Association 97(457).

    Examples
    --------
    >>> from arboleda import DiagonalLDA
    >>> model = DiagonalLDA().fit([[1.0, 5.0], [2.0, 4.0], [5.0, 5.0], [6.0, 4.0]], list("aabb"))
    >>> model.means_, model.scale_
    (array([[1.5, 4.5],
           [5.5, 4.5]]), array([0.5, 0.5]))
    >>> model.predict([[3.0, 100.0], [4.0, -100.0]]).tolist()
    ['a', 'b']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"priors": ["array-like", None]}

    def __init__(self, *, priors: Any = None) -> None:
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the means and the pooled variances.

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
            If X has missing values, infinite values or text, or y, the weights or priors are
            invalid. The estimator is left unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            rows, table = self._enter_rows(X, y, sample_weight, common=False)
            weight = rows.unit_weight
            self._scale = within_scale(table, rows.labels, weight, common=False)
            means = class_means(table, rows.labels, weight, rows.classes.size)
            self._centroids = means / self._scale
            self.means_: Floats = self._units.leave(means)
            self.scale_: Floats = np.ldexp(self._scale, self._units.exponent)
        return self

    def _log_joint(self, X: Any) -> Floats:
        entered = self._enter_new_rows(X)
        Z = divided(entered, self._scale)
        joint = np.tile(compute_log_priors(self.class_prior_, self._class_weight), (len(Z), 1))
        for k, centroid in enumerate(self._centroids):
            apart = Z - centroid
            joint[:, k] -= 0.5 * np.einsum("ij,ij->i", apart, apart)
        return joint
