"""Votes of regressors: one value by any of the rules."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._members import Named, are_classifiers, kept_members
from arboleda.combine._outputs import outputs_of
from arboleda.combine._rule import Array, Floats, Rule
from arboleda.combine._rules import VALUE_RULES, ValueRule, rule_named
from arboleda.combine._share_rules import InverseErrorMean
from arboleda.combine._target import read_values
from arboleda.combine._voting import Voting, are_weights
from arboleda.persist import Array as SavedArray
from arboleda.persist import Field, Maybe
from arboleda.tree._restore_on_failure import restore_on_failure


class VotingRegressor(RegressorMixin, Voting):  # type: ignore[misc]
    """Regressors of any kind whose values become one: by default their mean, as scikit-learn's.

    Parameters
    ----------
    estimators : list of (str, estimator)
        Members by name; "drop" leaves one out. One in scikit-learn's ``FrozenEstimator`` is used as
        it is, the others are cloned and fitted.
    weights : array-like of shape (n_members,), default=None
        Of a weighted mean. A member of weight 0 takes no part; other rules know no other weights.
    rule : {"mean", "weighted", "median", "min", "max", "trimmed"}, default=None
        "weighted": a mean by weights 1 / (mean squared error on rows that the member did not learn
        from), the best ones where the members' errors do not correlate. "trimmed": the mean without
        the smallest and the largest. None: "mean".
    trim : float, default=0.2
        Share of the members that "trimmed" leaves out at each end, rounded down.
    cv : int, splitter or iterable, default=None
        Rows that "weighted" learns from: each is predicted by members that did not see it. None: 5
        folds, without cutting groups.
    n_jobs : int, default=None
        Members that are fitted at the same time; None: one, and those of this library on all cores.
    verbose : bool, default=False
        Whether to print a line for each member fitted.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    named_estimators_ : Bunch
        The same by name, "drop" where one was dropped.
    vote_weights_ : ndarray of shape (n_members,)
        With "weighted": of sum 1.
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
        """Fit the members on all rows, and learn what the rule has to know of them.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            What the members can learn from; frames stay frames.
        y : array-like of shape (n_samples,)
            Finite numbers.
        **fit_params : dict
            ``sample_weight``, for every member and for what the rule learns; ``groups``, for
            ``cv``; others go to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range or does not go with another, or a member refuses its
            rows. The estimator stays as it was.
        TypeError
            If weights are given and a member takes none.
        """
        with restore_on_failure(self):
            self._validate_params()
            self._fit(X, read_values(y), None, dict(fit_params))
            self.__dict__.pop("vote_weights_", None)
            if isinstance(self._rule, InverseErrorMean):
                self.vote_weights_ = self._rule.weights
        return self

    def _restore_rule(self) -> str | None:
        learned = getattr(self, "vote_weights_", None)
        if (learned is not None) != (self.rule == "weighted"):
            return "the rule and what was learned for it are not of one kind"
        self._rule = self._made_rule(self._weights_of_kept())
        if learned is not None:
            if not are_weights(learned, len(self.estimators_)):
                return "the weights are not one number for each member"
            self._rule = InverseErrorMean(learned)
        return None

    def _members(self) -> list[Named]:
        members = kept_members(self.estimators, self.get_params(deep=False))
        if are_classifiers(members):
            raise ValueError(f"The estimator {type(members[0][1]).__name__} should be a regressor.")
        return members

    def _made_rule(self, weights: Any) -> Rule:
        return rule_named(self.rule or "mean", weights, self.trim, classes=False)

    def _said(self, X: Any) -> Floats:
        return outputs_of(self._fitted_members(), X, n_jobs=self.n_jobs).outputs

    def predict(self, X: Any) -> Floats:
        """Value that the rule makes of the members'.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        said = self._said(X)
        values = self._rule.scores(said, 1, self._n_threads)
        if np.isfinite(values).all():
            return values
        # The sum of the greatest numbers is none; that of small parts of them is.
        return np.ldexp(self._rule.scores(np.ldexp(said, -32), 1, self._n_threads), 32)

    def transform(self, X: Any) -> Floats:
        """What the members predict.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        said : ndarray of shape (n_samples, n_members)
        """
        check_is_fitted(self)
        return self._said(X).T

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used.

        Returns
        -------
        names : ndarray of str
        """
        return np.asarray(self._names_out(input_features), dtype=object)
