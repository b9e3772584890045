"""Regularised discriminant analysis: Friedman (1989)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from arboleda._base.mixins import restore_on_failure
from arboleda._utils.frames import axes_or_new, new_frame
from arboleda._utils.numbers import plain
from arboleda._utils.results import Result
from arboleda.learners._bayes_rule import (
    NumbersClassifier,
    compute_class_priors,
    compute_log_priors,
)
from arboleda.learners._class_rows import ClassRows, divided, within_scale
from arboleda.learners._folds import error_rates, row_splits
from arboleda.learners._gaussian_classes import ClassMoments, LeaveOneOutDensities, log_densities

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class RegularizationPlane(Result):
    """Error of regularised discriminant analysis on held-out rows, over its two parameters.

    It is the ``plane_`` of `RegularizedDiscriminantAnalysis`.

    Attributes
    ----------
    alpha : ndarray of shape (n_alphas,)
        Shares of the pooled covariance, ascending.
    gamma : ndarray of shape (n_gammas,)
        Shares of the sphere, ascending.
    mean_error : ndarray of shape (n_alphas, n_gammas)
        Misclassified share of the held-out weight.
    standard_error : ndarray of shape (n_alphas, n_gammas)
        Standard error of ``mean_error`` over the folds; NaN for a single fold.
    best_index : tuple of int
        Indices of the chosen pair.
    """

    alpha: Floats
    gamma: Floats
    mean_error: Floats
    standard_error: Floats
    best_index: tuple[int, int]

    def _summarize(self) -> dict[str, Any]:
        i, j = self.best_index
        return {
            "n_pairs": self.mean_error.size,
            "alpha": float(self.alpha[i]),
            "gamma": float(self.gamma[j]),
            "error": float(self.mean_error[i, j]),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the plane as a pandas data frame with one row per pair.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``alpha``, ``gamma``, ``mean_error``, ``standard_error``.
        """
        alpha, gamma = np.meshgrid(self.alpha, self.gamma, indexing="ij")
        return new_frame(
            {
                "alpha": alpha.ravel(),
                "gamma": gamma.ravel(),
                "mean_error": self.mean_error.ravel(),
                "standard_error": self.standard_error.ravel(),
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the errors as a heat map, with the chosen pair marked.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to plot on; None: axes of a new figure.

        Returns
        -------
        ax : matplotlib.axes.Axes
        """
        ax = axes_or_new(ax)
        ax.imshow(self.mean_error, cmap="Blues", origin="lower", aspect="auto")
        dark = (self.mean_error.min() + self.mean_error.max()) / 2
        for (i, j), error in np.ndenumerate(self.mean_error):
            colour = "white" if error > dark else "black"
            ax.text(j, i, f"{error:.3f}", ha="center", va="center", color=colour, fontsize=8)
        i, j = self.best_index
        frame_x, frame_y = np.array([0, 1, 1, 0, 0]) - 0.5, np.array([0, 0, 1, 1, 0]) - 0.5
        ax.plot(j + frame_x, i + frame_y, color="C3", lw=2)
        ax.set_xticks(range(self.gamma.size), [plain(value) for value in self.gamma])
        ax.set_yticks(range(self.alpha.size), [plain(value) for value in self.alpha])
        ax.set_xlabel("gamma: share of the sphere")
        ax.set_ylabel("alpha: share of the pooled covariance")
        return ax


# Candidates of "cv"; additional gammas are cheap, additional alphas are not.
_ALPHAS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
_GAMMAS = (0.0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)


class RegularizedDiscriminantAnalysis(NumbersClassifier):
    """Discriminant analysis between quadratic, linear and nearest-mean classification.

    Each class is Gaussian. Its covariance is a compromise (Friedman 1989) between the scatter S_k
    of the class, the total within-class scatter S, with weights W_k and W, and a sphere. The
    parameters can be chosen by cross-validation:

        Sigma_k(alpha)        = ((1 - alpha) S_k + alpha S) / ((1 - alpha) W_k + alpha W)
        Sigma_k(alpha, gamma) = (1 - gamma) Sigma_k(alpha) + gamma tr(Sigma_k(alpha)) / p I

    =====  =====  ================================================================================
    alpha  gamma  equivalent model
    =====  =====  ================================================================================
    0      0      quadratic discriminant analysis (QDA)
    1      0      linear discriminant analysis (LDA)
    1      1      diagonal LDA (`DiagonalLDA`) with standardised columns; the nearest class mean,
                  corrected by the priors, with ``standardize=False``
    0      1      a sphere around each mean, with a radius of its own
    =====  =====  ================================================================================

    Unlike QDA and LDA, it is defined for more columns than rows.

    Parameters
    ----------
    alpha : "cv", float or array-like of float, default="cv"
        Share of the pooled covariance, 0 to 1 (Friedman's lambda; in Hastie et al. (2009), equation
        (4.13), it is 1 - alpha). One of several values is chosen by cross-validation; "cv" stands
        for 0, 0.1, 0.25, 0.5, 0.75, 1.
    gamma : "cv", float or array-like of float, default="cv"
        Share of the sphere, 0 to 1; "cv" stands for 0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1.
    cv : int, "loo", splitter or iterable, default=5
        Folds of the cross-validation if there are several pairs. An int gives shuffled, stratified
        folds; "loo" is leave-one-out.
    standardize : bool, default=True
        Whether columns are divided by their pooled within-class standard deviations, which makes
        the predictions independent of units. It has no influence with ``gamma=0``.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the sorted classes. None: their shares of the weight.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)
    alpha_, gamma_ : float
        The chosen pair.
    plane_ : RegularizationPlane or None
        Cross-validated errors of all pairs, for plotting; None for a single pair.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if the columns have names.
    schema_ : Schema

    See Also
    --------
    DiagonalLDA
    sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis

    Notes
    -----
    Covariances are maximum-likelihood estimates, divided by W_k and W, like those of scikit-learn's
    solver "eigen"; its solver "svd" divides by n_k - 1 (QDA) or n - K (LDA). A row of weight 2 is
    therefore equivalent to two rows, and a common factor of the weights has no influence.

    Of pairs with equal errors the one with the largest alpha is chosen, and of these the one with
    the largest gamma: the simplest model.

    Each fold decomposes K covariances for each alpha; all gammas share these. With more columns
    than rows, the computation is done in the space that the rows span. This is exact, since every
    covariance is a sphere outside of it. Each fold standardises columns by its training rows.

    ``cv="loo"`` decomposes the covariances of all rows only, and removes each row from their
    inverses and determinants (Friedman 1989). Nearly singular covariances, as for a class of
    hardly more rows than columns with ``gamma=0``, are decomposed again. Columns are standardised
    once, by all rows.

    Variances in all directions are at least 1e-10 of the mean pooled variance of a column. Singular
    covariances (a constant column, a class of one row, more columns than rows with ``gamma=0``) are
    therefore treated as the limit of gamma towards 0.

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
    (0.25, 0.1)
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

    alpha_: float
    gamma_: float

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
        """Choose alpha and gamma, and estimate the Gaussians of the classes.

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
            If a parameter is out of range, X has missing values, infinite values or text, y or the
            weights are invalid, or there are fewer rows than folds. The estimator is left
            unchanged.
        """
        with restore_on_failure(self):
            self._validate_params()
            alphas = _read_candidates(self.alpha, _ALPHAS, "alpha")
            gammas = _read_candidates(self.gamma, _GAMMAS, "gamma")
            rows, table = self._enter_rows(X, y, sample_weight, common=not self.standardize)
            self.plane_: RegularizationPlane | None = None
            self.alpha_, self.gamma_ = alphas[0], gammas[0]
            if len(alphas) * len(gammas) > 1:
                validate = self._leave_one_out if isinstance(self.cv, str) else self._cross_validate
                self.plane_ = _make_plane(alphas, gammas, *validate(table, rows, alphas, gammas))
                i, j = self.plane_.best_index
                self.alpha_, self.gamma_ = alphas[i], gammas[j]
            self._scale, self._moments = self._compute_moments(table, rows.labels, rows.unit_weight)
            self._spectra = self._moments.spectra(self.alpha_)
            self.means_: Floats = self._compute_means()
        return self

    def _compute_moments(
        self, table: Floats, labels: npt.NDArray[np.intp], weight: Floats
    ) -> tuple[Floats, ClassMoments]:
        """Return the scales of the columns, and the moments of the classes in these units."""
        scale = within_scale(table, labels, weight, common=not self.standardize)
        moments = ClassMoments.of(divided(table, scale), labels, weight, self.classes_.size)
        return scale, moments

    def _compute_means(self) -> Floats:
        """Return the means of the classes in the units of the columns."""
        means = self._moments.mean
        if self._moments.basis is not None:
            means = self._moments.center + means @ self._moments.basis.T
        return self._units.leave(means * self._scale)

    def _cross_validate(
        self, table: Floats, rows: ClassRows, alphas: list[float], gammas: list[float]
    ) -> tuple[list[Floats], list[float]]:
        """Return the misclassified weight of each pair, and the held-out weight, for each fold."""
        weight, labels = rows.unit_weight, rows.labels
        sums, held_out = [], []
        for train, test in row_splits(self.cv, rows, self.random_state):
            scale, moments = self._compute_moments(table[train], labels[train], weight[train])
            prior = compute_class_priors(self.priors, moments.weight, self.classes_)
            log_prior = compute_log_priors(prior, moments.weight)
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
        """Return the same as `_cross_validate` with each row as a fold."""
        weight, labels = rows.unit_weight, rows.labels
        if labels.size < 2:
            raise ValueError(
                "cv='loo' needs two rows of positive weight, but there are n_samples=1: give more "
                "rows, or one alpha and one gamma"
            )
        scale = within_scale(table, labels, weight, common=not self.standardize)
        Z = divided(table.copy(), scale)
        moments = ClassMoments.of(Z, labels, weight, self.classes_.size)
        leave_one_out = LeaveOneOutDensities(moments, moments.project(Z)[0], labels, weight)
        log_prior = np.array(
            [
                compute_log_priors(compute_class_priors(self.priors, rest, self.classes_), rest)
                for rest in leave_one_out.class_weights()
            ]
        )
        wrong = np.empty((labels.size, len(alphas), len(gammas)))
        for i, alpha in enumerate(alphas):
            log_p = leave_one_out.log_densities(alpha, gammas) + log_prior
            wrong[:, i] = (log_p.argmax(axis=2) != labels).T
        return list(wrong * weight[:, np.newaxis, np.newaxis]), weight.tolist()

    def _log_joint(self, X: Any) -> Floats:
        entered = self._enter_new_rows(X)
        inside, outside = self._moments.project(divided(entered, self._scale))
        found = log_densities(self._moments, self._spectra, inside, outside, [self.gamma_])
        joint: Floats = found[0] + compute_log_priors(self.class_prior_, self._class_weight)
        return joint


def _make_plane(
    alphas: list[float], gammas: list[float], sums: list[Floats], held_out: list[float]
) -> RegularizationPlane:
    """Return the errors of all pairs; ties go to the simplest model."""
    mean, error = error_rates(sums, held_out)
    ties = np.argwhere(mean == mean.min())
    i, j = (int(place) for place in ties[-1])  # the largest alpha, of these the largest gamma
    return RegularizationPlane(np.array(alphas), np.array(gammas), mean, error, (i, j))


def _read_candidates(given: Any, default: tuple[float, ...], name: str) -> list[float]:
    """Return the candidate values of a parameter, ascending.

    Raises
    ------
    ValueError
        If there are no values, or a value is not between 0 and 1.
    """
    if isinstance(given, str):
        return list(default)
    values = np.unique(np.asarray(given, dtype=np.float64))
    if values.size == 0:
        raise ValueError(f"{name} is empty: give at least one number from 0 to 1")
    for value in values.tolist():
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name} must hold numbers from 0 to 1, got {value}")
    return [float(value) for value in values]
