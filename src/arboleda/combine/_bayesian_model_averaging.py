"""Bayesian model averaging: members weighted by how probable each is, given the rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._learned import Given
from arboleda.combine._members import Named
from arboleda.combine._n_parameters import n_parameters_of
from arboleda.combine._posterior import (
    bic,
    class_log_likelihood,
    gaussian_log_likelihood,
    posterior,
    spread,
)
from arboleda.combine._weighted_mean import (
    WeightedMean,
    WeightedMeanClassifier,
    WeightedMeanRegressor,
)
from arboleda.persist import Array as SavedArray
from arboleda.persist import Field, Maybe

__all__ = ["BayesianModelAveragingClassifier", "BayesianModelAveragingRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Criterion = Literal["held_out", "bic"]
Prior = Sequence[float] | Mapping[str, float] | None


class BayesianModelAveraging(WeightedMean):
    """What both kinds share: evidence of the rows for each member, and a prior."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **WeightedMean._fitted_attributes,
        "bic_": Maybe(SavedArray(np.float64)),
        "log_likelihood_": SavedArray(np.float64),
        "variances_": Maybe(SavedArray(np.float64)),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WeightedMean._parameter_constraints,
        "criterion": [StrOptions({"held_out", "bic"})],
        "prior": [None, "array-like", Mapping],
        "n_parameters": [None, Mapping],
    }

    criterion: Criterion
    prior: Prior
    n_parameters: Mapping[str, float] | None
    log_likelihood_: Floats
    bic_: Floats

    def _defect(self) -> str | None:
        defect = super()._defect()
        if defect is not None:
            return defect
        if not hasattr(self, "weights_") or is_regressor(self) != hasattr(self, "variances_"):
            return "there are no weights, or variances that are none"
        for name in ("bic_", "log_likelihood_", "variances_"):
            found = getattr(self, name, self.weights_)
            if found.shape != self.weights_.shape or not np.isfinite(found).all():
                return f"{name} is not one number for each member"
        if (getattr(self, "variances_", self.weights_) < 0).any():
            return "a variance is negative"
        return None

    @abstractmethod
    def _log_likelihood(self, outputs: Floats, target: Array, weight: Floats) -> Floats:
        """Log-likelihood of each member."""

    def _learn(self, given: Given) -> None:
        self.__dict__.pop("bic_", None)
        found = self._held_out(given)  # of all rows, which were learned from, for "bic"
        weight = given.weight[found.rows]
        evidence = self._log_likelihood(found.outputs, given.training.y[found.rows], weight)
        self.log_likelihood_ = evidence
        if self.criterion == "bic":
            self.bic_ = bic(evidence, self._counts(given.training.classes), float(weight.sum()))
            evidence = -self.bic_ / 2
        self.weights_ = posterior(evidence, self._prior())

    @property
    def _asks_out_of_fold(self) -> bool:
        return self.criterion == "held_out"

    def _counts(self, classes: Array | None) -> Floats:
        told = dict(self.n_parameters or {})
        self._check_known(told, "n_parameters")
        n_classes = None if classes is None else len(classes)
        counts = [
            told[name] if name in told else n_parameters_of(name, member, n_classes)
            for name, member in zip(self._names, self.estimators_, strict=True)
        ]
        return np.asarray(counts, dtype=np.float64)

    def _prior(self) -> Floats:
        if self.prior is None:
            return np.full(len(self._names), 1 / len(self._names))
        given = self.prior
        if isinstance(given, Mapping):
            self._check_known(given, "prior")
            given = [given.get(name, 0.0) for name in self._names]
        prior = np.asarray(given, dtype=np.float64)
        if prior.shape != (len(self._names),):
            raise ValueError(
                f"prior has the shape {prior.shape}, but there are {len(self._names)} members: "
                f"{', '.join(self._names)}"
            )
        if not np.isfinite(prior).all() or (prior < 0).any() or not prior.any():
            raise ValueError(
                f"prior={prior.tolist()} is none: probabilities, or numbers in proportion to "
                "them, are not negative, and not all zero"
            )
        return np.asarray(prior / prior.sum())

    def _check_known(self, given: Mapping[str, Any], parameter: str) -> None:
        for name in given:
            if name not in self._names:
                raise ValueError(
                    f"{parameter} speaks of {name!r}, which is no member: there are "
                    f"{', '.join(self._names)}"
                )


class BayesianModelAveragingClassifier(BayesianModelAveraging, WeightedMeanClassifier):
    """Bayesian model averaging: classifiers weighted by their posterior probability.

    P(y|x, S) = sum_l P(y|x, h_l) P(h_l|S), where P(h_l|S) is in proportion to the prior P(h_l)
    times the evidence of the rows S for the member h_l. The evidence is the likelihood of rows that
    the member did not learn from, or exp(-BIC/2) of those that it did.

    One of the members is taken to be the true model, and the more rows there are, the surer it is
    which: the weights tend to one member, the likeliest. Stacking asks instead which mixture
    answers best, and usually predicts better where no member is true.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. Those without ``predict_proba`` answer with 0 and 1, so
        that one wrong answer makes them all but impossible.
    criterion : {"held_out", "bic"}, default="held_out"
        "held_out": the log-likelihood of rows out of fold. "bic": the Bayesian information
        criterion of members that were fitted by maximum likelihood on all rows; ``cv`` then has no
        meaning but "prefit".
    prior : array-like or dict of str to float, default=None
        Prior probability of each member, or numbers in proportion to it; in the order of the
        members, or by name (those not named have none). None: all the same.
    n_parameters : dict of str to int, default=None
        For ``criterion="bic"``: how many numbers a member learned. Known without it: linear models,
        Gaussian naive Bayes and trees.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5, stratified. "prefit": the members are fitted, and `fit` is given rows that
        they have not seen.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Posterior probabilities of the members.
    log_likelihood_ : ndarray of shape (n_members,)
        Sum over the rows of log P(y|x, h_l).
    bic_ : ndarray of shape (n_members,)
        Only with ``criterion="bic"``.
    estimators_ : list of estimators
        The members, fitted on all rows. They know the classes by their numbers.
    named_estimators_ : Bunch
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    References
    ----------
    J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky (1999), "Bayesian model averaging: a
    tutorial", Statistical Science 14.

    Examples
    --------
    >>> from arboleda import BayesianModelAveragingClassifier, DecisionTreeClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("tree", DecisionTreeClassifier(max_depth=2)), ("bayes", GaussianNB())]
    >>> average = BayesianModelAveragingClassifier(members).fit(X, y)
    >>> average.weights_.round(3)
    array([0., 1.])
    """

    def __init__(
        self,
        estimators: list[Named],
        *,
        criterion: Criterion = "held_out",
        prior: Prior = None,
        n_parameters: Mapping[str, float] | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.criterion = criterion
        self.prior = prior
        self.n_parameters = n_parameters
        self.cv = cv
        self.n_jobs = n_jobs

    def _log_likelihood(self, outputs: Floats, target: Array, weight: Floats) -> Floats:
        return class_log_likelihood(outputs, target, weight)


class BayesianModelAveragingRegressor(BayesianModelAveraging, WeightedMeanRegressor):
    """Bayesian model averaging: regressors weighted by their posterior probability.

    As `BayesianModelAveragingClassifier`; a member's errors are taken to be normal with one
    variance, the one under which they are likeliest. The mixture of the members' normal
    distributions has a spread of its own: ``predict(X, return_std=True)``.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    criterion : {"held_out", "bic"}, default="held_out"
        "held_out": the log-likelihood of rows out of fold. "bic": the Bayesian information
        criterion of members that were fitted by maximum likelihood (least squares) on all rows;
        ``cv`` then has no meaning but "prefit".
    prior : array-like or dict of str to float, default=None
        Prior probability of each member, or numbers in proportion to it; in the order of the
        members, or by name (those not named have none). None: all the same.
    n_parameters : dict of str to int, default=None
        For ``criterion="bic"``: how many numbers a member learned. Known without it: linear models
        and trees.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5. "prefit": the members are fitted, and `fit` is given rows that they have
        not seen.
    n_jobs : int, default=None
        Members that are fitted at the same time. None: one, and those of this library on all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Posterior probabilities of the members.
    variances_ : ndarray of shape (n_members,)
        Mean squared error of each member on the rows it is judged by.
    log_likelihood_ : ndarray of shape (n_members,)
    bic_ : ndarray of shape (n_members,)
        Only with ``criterion="bic"``.
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if a member has it.

    References
    ----------
    J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky (1999), "Bayesian model averaging: a
    tutorial", Statistical Science 14.

    Examples
    --------
    >>> from arboleda import BayesianModelAveragingRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso, LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("all", LinearRegression()), ("few", Lasso(0.5))]
    >>> average = BayesianModelAveragingRegressor(members).fit(X, y)
    >>> mean, std = average.predict(X, return_std=True)
    >>> bool((std > 50).all())
    True
    """

    variances_: Floats

    def __init__(
        self,
        estimators: list[Named],
        *,
        criterion: Criterion = "held_out",
        prior: Prior = None,
        n_parameters: Mapping[str, float] | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.criterion = criterion
        self.prior = prior
        self.n_parameters = n_parameters
        self.cv = cv
        self.n_jobs = n_jobs

    def _log_likelihood(self, outputs: Floats, target: Array, weight: Floats) -> Floats:
        self.variances_ = spread(outputs, target, weight)
        return gaussian_log_likelihood(self.variances_, float(weight.sum()))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean, and the standard deviation about it.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to return sqrt(sum_l P(h_l|S) (v_l + f_l(x)^2) - mean^2) too: the variance
            within the members and that between them (Hoeting et al. 1999, section 1).

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std=True``.
        """
        check_is_fitted(self)
        if not return_std:
            return super().predict(X)
        chosen = np.flatnonzero(self.weights_)
        weights, values = self.weights_[chosen], self._ask(X, chosen).outputs
        mean = np.einsum("l,lr->r", weights, values)
        between = np.einsum("l,lr->r", weights, (values - mean) ** 2)
        return mean, np.sqrt(between + weights @ self.variances_[chosen])
