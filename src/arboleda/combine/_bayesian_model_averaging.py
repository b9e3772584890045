"""Bayesian model averaging: members weighted by their posterior probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._combination import FitInputs
from arboleda.combine._members import Named
from arboleda.combine._posterior import (
    bic,
    class_log_likelihood,
    count_parameters,
    gaussian_log_likelihood,
    posterior,
    spread,
)
from arboleda.combine._weighted_mean import (
    WeightedMean,
    WeightedMeanClassifier,
    WeightedMeanRegressor,
)
from arboleda.persist import Field, Maybe, SavedArray

__all__ = ["BayesianModelAveragingClassifier", "BayesianModelAveragingRegressor"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Criterion = Literal["held_out", "bic"]
Prior = Sequence[float] | Mapping[str, float] | None


class BayesianModelAveraging(WeightedMean):
    """Base class of the classifier and the regressor: evidence for each member, and a prior."""

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
            return "weights are missing, or the variances do not go with the kind of model"
        for name in ("bic_", "log_likelihood_", "variances_"):
            values = getattr(self, name, self.weights_)
            if values.shape != self.weights_.shape or not np.isfinite(values).all():
                return f"{name} does not hold one finite number for each member"
        if (getattr(self, "variances_", self.weights_) < 0).any():
            return "a variance is negative"
        return None

    @abstractmethod
    def _log_likelihood(self, outputs: Floats, target: Array, weight: Floats) -> Floats:
        """Return the log-likelihood of each member."""

    def _learn(self, inputs: FitInputs) -> None:
        self.__dict__.pop("bic_", None)
        held_out = self._held_out(inputs)  # for "bic": all rows, which the members were fitted on
        weight = inputs.weight[held_out.rows]
        evidence = self._log_likelihood(held_out.outputs, inputs.training.y[held_out.rows], weight)
        self.log_likelihood_ = evidence
        if self.criterion == "bic":
            self.bic_ = bic(
                evidence, self._count_parameters(inputs.training.classes), float(weight.sum())
            )
            evidence = -self.bic_ / 2
        self.weights_: Floats = posterior(evidence, self._prior())

    @property
    def _needs_out_of_fold(self) -> bool:
        return self.criterion == "held_out"

    def _count_parameters(self, classes: Array | None) -> Floats:
        known = dict(self.n_parameters or {})
        self._check_member_names(known, "n_parameters")
        n_classes = None if classes is None else len(classes)
        counts = [
            known[name] if name in known else count_parameters(name, member, n_classes)
            for name, member in zip(self._names, self.estimators_, strict=True)
        ]
        return np.asarray(counts, dtype=np.float64)

    def _prior(self) -> Floats:
        if self.prior is None:
            return np.full(len(self._names), 1 / len(self._names))
        values = self.prior
        if isinstance(values, Mapping):
            self._check_member_names(values, "prior")
            values = [values.get(name, 0.0) for name in self._names]
        prior = np.asarray(values, dtype=np.float64)
        if prior.shape != (len(self._names),):
            raise ValueError(
                f"prior must hold one number for each of the {len(self._names)} members "
                f"({', '.join(self._names)}), got the shape {prior.shape}"
            )
        if not np.isfinite(prior).all() or (prior < 0).any() or not prior.any():
            raise ValueError(
                "prior must hold finite numbers that are non-negative and not all zero, got "
                f"{prior.tolist()}"
            )
        return np.asarray(prior / prior.sum())

    def _check_member_names(self, values: Mapping[str, Any], parameter: str) -> None:
        for name in values:
            if name not in self._names:
                raise ValueError(
                    f"{parameter} names {name!r}, which is not a member: the members are "
                    f"{', '.join(self._names)}"
                )


class BayesianModelAveragingClassifier(BayesianModelAveraging, WeightedMeanClassifier):
    """Bayesian model averaging: classifiers weighted by their posterior probability.

    P(y|x, S) = sum_l P(y|x, h_l) P(h_l|S), where P(h_l|S) is proportional to the prior P(h_l) times
    the evidence of the rows S for the member h_l. The evidence is the likelihood of held-out rows,
    or exp(-BIC/2) on the rows that the member was fitted on.

    The method assumes that one of the members is the true model. With more rows, the weights
    concentrate on the most likely member. Stacking estimates the best mixture instead, and usually
    predicts better where no member is true.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out. Members without ``predict_proba`` have probabilities of
        0 and 1, and a single wrong prediction makes them practically impossible.
    criterion : {"held_out", "bic"}, default="held_out"
        "held_out": the out-of-fold log-likelihood. "bic": the Bayesian information criterion of
        members that are fitted by maximum likelihood on all rows; of ``cv``, only "prefit" then has
        an effect.
    prior : array-like or dict of str to float, default=None
        Prior probability of each member, or numbers proportional to it, in the order of the members
        or by name (members that are not named get 0). None: a uniform prior.
    n_parameters : dict of str to int, default=None
        For ``criterion="bic"``: the number of free parameters of a member. It need not be given for
        linear models, Gaussian naive Bayes and trees.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5, stratified. "prefit": the members are already fitted; `fit` takes rows that
        they have not seen.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Posterior probabilities of the members.
    log_likelihood_ : ndarray of shape (n_members,)
        Sum over the rows of log P(y|x, h_l).
    bic_ : ndarray of shape (n_members,)
        Only with ``criterion="bic"``.
    estimators_ : list of estimators
        The members, fitted on all rows with the classes as numbers.
    named_estimators_ : Bunch
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

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
        self.criterion: Criterion = criterion
        self.prior = prior
        self.n_parameters = n_parameters
        self.cv = cv
        self.n_jobs = n_jobs

    def _log_likelihood(self, outputs: Floats, target: Array, weight: Floats) -> Floats:
        return class_log_likelihood(outputs, target, weight)


class BayesianModelAveragingRegressor(BayesianModelAveraging, WeightedMeanRegressor):
    """Bayesian model averaging: regressors weighted by their posterior probability.

    See `BayesianModelAveragingClassifier`. The errors of a member are assumed to be normal, with
    the variance of maximum likelihood. ``predict(X, return_std=True)`` also returns the standard
    deviation of the mixture of the members' normal distributions.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members; "drop" leaves one out.
    criterion : {"held_out", "bic"}, default="held_out"
        "held_out": the out-of-fold log-likelihood. "bic": the Bayesian information criterion of
        members that are fitted by maximum likelihood (least squares) on all rows; of ``cv``, only
        "prefit" then has an effect.
    prior : array-like or dict of str to float, default=None
        Prior probability of each member, or numbers proportional to it, in the order of the members
        or by name (members that are not named get 0). None: a uniform prior.
    n_parameters : dict of str to int, default=None
        For ``criterion="bic"``: the number of free parameters of a member. It need not be given for
        linear models and trees.
    cv : int, splitter, iterable or "prefit", default=None
        Folds; None: 5. "prefit": the members are already fitted; `fit` takes rows that they have
        not seen.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Posterior probabilities of the members.
    variances_ : ndarray of shape (n_members,)
        Mean squared error of each member on the rows that score it.
    log_likelihood_ : ndarray of shape (n_members,)
    bic_ : ndarray of shape (n_members,)
        Only with ``criterion="bic"``.
    estimators_ : list of estimators
        The members, fitted on all rows.
    named_estimators_ : Bunch
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Defined only if a member has it.

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
        self.criterion: Criterion = criterion
        self.prior = prior
        self.n_parameters = n_parameters
        self.cv = cv
        self.n_jobs = n_jobs

    def _log_likelihood(self, outputs: Floats, target: Array, weight: Floats) -> Floats:
        self.variances_ = spread(outputs, target, weight)
        return gaussian_log_likelihood(self.variances_, float(weight.sum()))

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the posterior mean and, if requested, the standard deviation.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to also return sqrt(sum_l P(h_l|S) (v_l + f_l(x)^2) - mean^2), from the variance
            within the members and between them (Hoeting et al. 1999, section 1).

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
        weights, values = self.weights_[chosen], self._predict_members(X, chosen).outputs
        mean = np.einsum("l,lr->r", weights, values)
        between = np.einsum("l,lr->r", weights, (values - mean) ** 2)
        return mean, np.sqrt(between + weights @ self.variances_[chosen])
