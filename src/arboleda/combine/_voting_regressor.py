"""Voting of regressors by any of the combination rules."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda.combine._fusion_rules import Array, Floats, FusionRule, InverseErrorMean
from arboleda.combine._members import Named, are_classifiers, check_members
from arboleda.combine._outputs import outputs_of
from arboleda.combine._target import read_values
from arboleda.combine._voting import VALUE_RULES, ValueRule, Voting, are_weights, make_rule
from arboleda.persist import Field, Maybe, SavedArray


class VotingRegressor(RegressorMixin, Voting):  # type: ignore[misc]
    """Combination of regressors, by default by the mean of their predictions, as in scikit-learn.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; "drop" leaves one out. A prefitted member, in scikit-learn's
        ``FrozenEstimator``, is not fitted again; the others are cloned and fitted.
    weights : array-like of shape (n_members,), default=None
        Weights of the mean. A member of weight 0 is left out; other rules support only this weight.
    rule : {"mean", "weighted", "median", "min", "max", "trimmed"}, default=None
        "weighted": a mean with weights 1 / (out-of-fold mean squared error), which are optimal if
        the members' errors are uncorrelated. "trimmed": the mean without the smallest and the
        largest values. None: "mean".
    trim : float, default=0.2
        Share of the members that "trimmed" removes at each end, rounded down.
    cv : int, splitter or iterable, default=None
        Folds for the out-of-fold predictions that "weighted" learns from. None: 5 folds, without
        splitting groups.
    n_jobs : int, default=None
        Members fitted in parallel. None: one at a time; members of this library use all cores.
    verbose : bool, default=False
        Whether to print a line for each fitted member.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The fitted members by name; "drop" for a dropped member.
    vote_weights_ : ndarray of shape (n_members,)
        With "weighted": weights of sum 1.
    n_features_in_ : int
    feature_names_in_ : ndarray

    References
    ----------
    Bates, J. M., Granger, C. W. J. (1969), "The combination of forecasts", Operational Research
    Quarterly 20.

    Examples
    --------
    >>> from arboleda import DecisionTreeRegressor, VotingRegressor
    >>> from sklearn.linear_model import Ridge
    >>> members = [("tree", DecisionTreeRegressor()), ("ridge", Ridge(alpha=0))]
    >>> vote = VotingRegressor(members).fit([[0], [1], [2], [3]], [0.0, 1.0, 4.0, 9.0])
    >>> vote.predict([[3]])
    array([8.5])
    """

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **Voting._fitted_attributes,
        "vote_weights_": Maybe(SavedArray(np.float64)),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Voting._parameter_constraints,
        "rule": [StrOptions(set(VALUE_RULES)), None],
    }

    def __init__(
        self,
        estimators: list[Named],
        *,
        weights: Any = None,
        rule: ValueRule | None = None,
        trim: float = 0.2,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.rule = rule
        self.trim = trim
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the members on all rows, and learn the parameters of the rule.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            In a form that the members accept; frames stay frames.
        y : array-like of shape (n_samples,)
            Finite numbers.
        **fit_params : dict
            ``sample_weight``, for the members and the rule; ``groups``, for ``cv``; others are
            passed to the members by scikit-learn's metadata routing, if it is enabled.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is invalid or incompatible with another, or a member refuses the data.
            The estimator stays unchanged.
        TypeError
            If there are weights and a member does not support them.
        """
        with restore_on_failure(self):
            self._validate_params()
            self._fit(X, read_values(y), None, dict(fit_params))
            self.__dict__.pop("vote_weights_", None)
            if isinstance(self._rule, InverseErrorMean):
                self.vote_weights_: Floats | None = self._rule.weights
        return self

    def _restore_rule(self) -> str | None:
        learned = getattr(self, "vote_weights_", None)
        if (learned is not None) != (self.rule == "weighted"):
            return "the learned parameters do not belong to the rule"
        self._rule = self._make_rule(self._select_weights())
        if learned is not None:
            if not are_weights(learned, len(self.estimators_)):
                return "there is not one finite weight for each member"
            self._rule = InverseErrorMean(learned)
        return None

    def _members(self) -> list[Named]:
        members = check_members(self.estimators, self.get_params(deep=False))
        if are_classifiers(members):
            raise ValueError(f"The estimator {type(members[0][1]).__name__} should be a regressor.")
        return members

    def _make_rule(self, weights: Any) -> FusionRule:
        return make_rule(self.rule or "mean", weights, self.trim, classes=False)

    def _compute_outputs(self, X: Any) -> Floats:
        return outputs_of(self._fitted_members(), X, n_jobs=self.n_jobs).outputs

    def predict(self, X: Any) -> Floats:
        """Predict values by the rule.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        outputs = self._compute_outputs(X)
        values = self._rule.scores(outputs, 1, self._n_threads)
        if np.isfinite(values).all():
            return values
        # Scaling by a power of 2 avoids the overflow of sums of the largest numbers.
        return np.ldexp(self._rule.scores(np.ldexp(outputs, -32), 1, self._n_threads), 32)

    def transform(self, X: Any) -> Floats:
        """Return the predictions of the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        outputs : ndarray of shape (n_samples, n_members)
        """
        check_is_fitted(self)
        return self._compute_outputs(X).T

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used.

        Returns
        -------
        names : ndarray of str
        """
        return np.asarray(self._make_feature_names(input_features), dtype=object)
