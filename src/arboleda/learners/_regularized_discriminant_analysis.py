"""Regularised discriminant analysis: Friedman (1989)."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from arboleda.learners._bayes_rule import Floats, class_priors, log_priors
from arboleda.learners._class_rows import ClassRows
from arboleda.learners._folds import error_rates, row_splits
from arboleda.learners._gaussian_classes import ClassMoments, log_densities
from arboleda.learners._leave_one_out import LeftOut
from arboleda.learners._numbers_classifier import NumbersClassifier
from arboleda.learners._regularization_plane import RegularizationPlane
from arboleda.learners._units import divided, within_scale
from arboleda.tree._restore_on_failure import restore_on_failure

# Tried where nothing else is asked for; another gamma costs next to nothing, another alpha does.
_ALPHAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
_GAMMAS = (0.0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)


class RegularizedDiscriminantAnalysis(NumbersClassifier):
    """Discriminant analysis between quadratic, linear and nearest-mean, chosen by cross-validation.

    Each class is Gaussian. Its covariance is a compromise, after Friedman (1989), of its own
    scatter S_k, the sum S of those of all classes, with weights W_k and W, and a sphere:

        Sigma_k(alpha)        = ((1 - alpha) S_k + alpha S) / ((1 - alpha) W_k + alpha W)
        Sigma_k(alpha, gamma) = (1 - gamma) Sigma_k(alpha) + gamma tr(Sigma_k(alpha)) / p I

    =====  =====  ================================================================================
    alpha  gamma  is
    =====  =====  ================================================================================
    0      0      quadratic discriminant analysis (QDA)
    1      0      linear discriminant analysis (LDA)
    1      1      diagonal LDA (`DiagonalLDA`) with standardised columns; the nearest class mean,
                  corrected by the priors, with ``standardize=False``
    0      1      a sphere around each mean, with a radius of its own
    =====  =====  ================================================================================

    Between them it has an answer where QDA and LDA have none: for more columns than rows.

    Parameters
    ----------
    alpha : "cv", float or array-like of float, default="cv"
        Share of the common covariance, 0 to 1 (Friedman's lambda; in Hastie et al. (2009), equation
        (4.13), it is 1 - alpha). Several are judged by cross-validation; "cv" stands for
        0, 0.1, 0.25, 0.5, 0.75, 1.
    gamma : "cv", float or array-like of float, default="cv"
        Share of the sphere, 0 to 1; "cv" stands for 0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1.
    cv : int, "loo", splitter or iterable, default=5
        Folds in which pairs are judged, where there are several. An int deals the rows out at
        random, of each class as many to every fold; "loo" leaves out each row by itself.
    standardize : bool, default=True
        Whether the sphere is one of columns divided by their pooled standard deviation within the
        classes, which makes the answers independent of units; False: of the columns as they are.
        Without a sphere (``gamma=0``) it has no influence.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes, sorted by label. None: their shares of the weight.
    random_state : int, RandomState or None, default=None
        Deals rows to folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    alpha_, gamma_ : float
        The pair in use.
    plane_ : RegularizationPlane or None
        Cross-validated errors of all pairs, for plotting; None where there was one only.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema

    See Also
    --------
    DiagonalLDA
    sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis

    Notes
    -----
    Covariances are maximum-likelihood estimates, divided by W_k and W, as those of scikit-learn's
    solver "eigen"; its solver "svd" divides by n_k - 1 (QDA) or n - K (LDA). Weights of rows thus
    count as rows do, and their common factor has no influence.

    Of pairs with the same error the one with the largest alpha is taken, and of these the one with
    the largest gamma: the simplest model.

    Each fold decomposes K covariances for each alpha; all gammas share these. Where there are more
    columns than rows, all is done in the space that the rows span, exactly: outside of it every
    covariance is a sphere. A fold standardises columns by its own rows.

    ``cv="loo"`` decomposes the covariances of all rows only, and takes each row off their inverses
    and determinants (Friedman 1989); where that leaves a singular covariance, as with hardly more
    rows of a class than columns and ``gamma=0``, it is decomposed anew. Columns are then
    standardised once, by all rows.

    No variance in any direction is taken to be less than 1e-10 of the mean pooled variance of a
    column, so singular covariances (a constant column, a class of one row, more columns than rows
    with ``gamma=0``) have the limit of a gamma that falls to 0.

    References
    ----------
    J. H. Friedman (1989), "Regularized discriminant analysis", Journal of the American Statistical
    Association 84(405).

    Examples
    --------
    >>> from arboleda import RegularizedDiscriminantAnalysis
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RegularizedDiscriminantAnalysis(random_state=0).fit(X, y)
    >>> model.alpha_, model.gamma_
    (0.1, 0.1)
    >>> print(f"{model.plane_.mean_error[model.plane_.best_index]:.3f}")
    0.000
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0.0, 1.0, closed="both"), StrOptions({"cv"}), "array-like"],
        "gamma": [Interval(Real, 0.0, 1.0, closed="both"), StrOptions({"cv"}), "array-like"],
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"loo"}),
            HasMethods(["split", "get_n_splits"]),
            HasMethods("__iter__"),
        ],
        "standardize": ["boolean"],
        "priors": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha: Any = "cv",
        gamma: Any = "cv",
        *,
        cv: Any = 5,
        standardize: bool = True,
        priors: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.cv = cv
        self.standardize = standardize
        self.priors = priors
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the pair, where there are several, and estimate the classes' Gaussians.

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
            If a parameter is out of range, X has a missing or infinite value or text, y or the
            weights are not as described, or there are fewer rows than folds. The estimator stays as
            it was.
        """
        with restore_on_failure(self):
            self._validate_params()
            alphas = _candidates(self.alpha, _ALPHAS, "alpha")
            gammas = _candidates(self.gamma, _GAMMAS, "gamma")
            rows, table = self._enter_rows(X, y, sample_weight, common=not self.standardize)
            self.plane_ = None
            self.alpha_, self.gamma_ = alphas[0], gammas[0]
            if len(alphas) * len(gammas) > 1:
                judge = self._leave_one_out if isinstance(self.cv, str) else self._cross_validate
                self.plane_ = _plane(alphas, gammas, *judge(table, rows, alphas, gammas))
                i, j = self.plane_.best_index
                self.alpha_, self.gamma_ = alphas[i], gammas[j]
            self._scale, self._moments = self._learned(table, rows.labels, rows.unit_weight)
            self._spectra = self._moments.spectra(self.alpha_)
            self.means_ = self._own_means()
        return self

    def _learned(
        self, table: Floats, labels: npt.NDArray[np.intp], weight: Floats
    ) -> tuple[Floats, ClassMoments]:
        """Scales of the columns, and the moments of the classes in these."""
        scale = within_scale(table, labels, weight, common=not self.standardize)
        moments = ClassMoments.of(divided(table, scale), labels, weight, self.classes_.size)
        return scale, moments

    def _own_means(self) -> Floats:
        """Means of the classes in the columns' own units."""
        means = self._moments.mean
        if self._moments.basis is not None:
            means = self._moments.center + means @ self._moments.basis.T
        return self._units.leave(means * self._scale)

    def _cross_validate(
        self, table: Floats, rows: ClassRows, alphas: list[float], gammas: list[float]
    ) -> tuple[list[Floats], list[float]]:
        """Weight misclassified by each pair, and weight held out, fold by fold."""
        weight, labels = rows.unit_weight, rows.labels
        sums, held_out = [], []
        for train, test in row_splits(self.cv, rows, self.random_state):
            scale, moments = self._learned(table[train], labels[train], weight[train])
            prior = class_priors(self.priors, moments.weight, self.classes_)
            log_prior = log_priors(prior, moments.weight)
            inside, outside = moments.project(divided(table[test], scale))
            errors = np.empty((len(alphas), len(gammas)))
            for i, alpha in enumerate(alphas):
                spectra = moments.spectra(alpha)
                log_p = log_densities(moments, spectra, inside, outside, gammas)
                wrong = (log_p + log_prior).argmax(axis=2) != labels[test]
                errors[i] = wrong @ weight[test]
            sums.append(errors)
            held_out.append(float(weight[test].sum()))
        return sums, held_out

    def _leave_one_out(
        self, table: Floats, rows: ClassRows, alphas: list[float], gammas: list[float]
    ) -> tuple[list[Floats], list[float]]:
        """Do the same with each row as a fold."""
        weight, labels = rows.unit_weight, rows.labels
        if labels.size < 2:
            raise ValueError(
                "cv='loo' needs two rows of positive weight, but there are n_samples=1: give more "
                "rows, or one alpha and one gamma"
            )
        scale = within_scale(table, labels, weight, common=not self.standardize)
        Z = divided(table.copy(), scale)
        moments = ClassMoments.of(Z, labels, weight, self.classes_.size)
        left_out = LeftOut(moments, moments.project(Z)[0], labels, weight)
        log_prior = np.array(
            [
                log_priors(class_priors(self.priors, rest, self.classes_), rest)
                for rest in left_out.class_weights()
            ]
        )
        wrong = np.empty((labels.size, len(alphas), len(gammas)))
        for i, alpha in enumerate(alphas):
            log_p = left_out.log_densities(alpha, gammas) + log_prior
            wrong[:, i] = (log_p.argmax(axis=2) != labels).T
        return list(wrong * weight[:, np.newaxis, np.newaxis]), weight.tolist()

    def _log_joint(self, X: Any) -> Floats:
        entered = self._entered(X)
        inside, outside = self._moments.project(divided(entered, self._scale))
        found = log_densities(self._moments, self._spectra, inside, outside, [self.gamma_])
        joint: Floats = found[0] + log_priors(self.class_prior_, self._class_weight)
        return joint


def _plane(
    alphas: list[float], gammas: list[float], sums: list[Floats], held_out: list[float]
) -> RegularizationPlane:
    """Errors of all pairs; of the best ones the simplest is chosen."""
    mean, error = error_rates(sums, held_out)
    ties = np.argwhere(mean == mean.min())
    i, j = (int(place) for place in ties[-1])  # the largest alpha, of these the largest gamma
    return RegularizationPlane(np.array(alphas), np.array(gammas), mean, error, (i, j))


def _candidates(given: Any, default: tuple[float, ...], name: str) -> list[float]:
    """Values of a parameter to try, ascending.

    Raises
    ------
    ValueError
        If there is none, or one is no number from 0 to 1.
    """
    if isinstance(given, str):
        return list(default)
    values = np.unique(np.asarray(given, dtype=np.float64))
    if values.size == 0:
        raise ValueError(f"{name} is empty: give at least one number from 0 to 1")
    for value in values.tolist():
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} holds {value}: give numbers from 0 to 1")
    return [float(value) for value in values]
