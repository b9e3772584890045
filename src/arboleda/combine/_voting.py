"""What votes of classifiers and of regressors share: named members, all fitted on all rows."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import MetaEstimatorMixin, TransformerMixin
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, Tags, get_tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_consistent_length,
    check_is_fitted,
)

from arboleda._bridge.threads import resolve_n_jobs
from arboleda.combine._fits import Training, fit_members
from arboleda.combine._folds import folds_of
from arboleda.combine._members import Named
from arboleda.combine._outputs import learned_by, out_of_fold
from arboleda.combine._routing import params_of_members
from arboleda.combine._rule import Array, Rule
from arboleda.combine._target import check_held_out_weights, read_weights

__all__ = ["Voting"]


class Voting(TransformerMixin, MetaEstimatorMixin, _BaseComposition, metaclass=ABCMeta):  # type: ignore[misc]
    """Named members, each fitted on all rows, whose answers a rule makes one of."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list],
        "weights": ["array-like", None],
        "trim": [Interval(Real, 0.0, 0.5, closed="left")],
        "cv": ["cv_object"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    estimators: list[Named]
    rule: str | None
    weights: Any
    trim: float
    cv: Any
    n_jobs: int | None
    verbose: bool
    estimators_: list[Any]
    named_estimators_: Bunch
    _rule: Rule

    @abstractmethod
    def _members(self) -> list[Named]:
        """Members that are not dropped, checked to be of the right kind."""

    @abstractmethod
    def _made_rule(self, weights: Any) -> Rule:
        """Make the rule, not yet learned."""

    @property
    def named_estimators(self) -> Bunch:
        """The members by name, as given."""
        return Bunch(**dict(self.estimators))

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen in ``fit``, where the members tell."""
        if not hasattr(self, "estimators_"):
            raise AttributeError(f"{type(self).__name__} object has no n_features_in_ attribute.")
        return int(self.estimators_[0].n_features_in_)

    def _fit(self, X: Any, target: Array, classes: Array | None, params: dict[str, Any]) -> None:
        members = self._members()
        groups = params.pop("groups", None)
        check_consistent_length(X, target, groups)
        rule = self._made_rule(self._weights_of_kept())
        of_members = params_of_members(self, members, params)
        training = Training(X, target, classes, of_members, self.n_jobs, self.verbose)
        members = learned_by(members, classes)
        if rule.learns:
            folds = folds_of(self.cv, X, target, groups, classes=classes is not None)
            seen = out_of_fold(members, training, folds, votes=rule.of_choices)
            weight = params.get("sample_weight")
            if weight is not None:
                weight = read_weights(weight, target)[seen.rows]
                check_held_out_weights(weight)
            rule = rule.learned(seen, target[seen.rows], weight)
        self._rule = rule
        self.estimators_ = fit_members(members, training)
        self._name_members()

    def _name_members(self) -> None:
        fitted = iter(self.estimators_)
        self.named_estimators_ = Bunch()
        self.__dict__.pop("feature_names_in_", None)
        for name, given in self.estimators:
            dropped = isinstance(given, str)
            self.named_estimators_[name] = given if dropped else next(fitted)
            if hasattr(self.named_estimators_[name], "feature_names_in_"):
                self.feature_names_in_ = self.named_estimators_[name].feature_names_in_

    def _weights_of_kept(self) -> Any:
        """Weights of the members that are not dropped."""
        if self.weights is None:
            return None
        if len(self.weights) != len(self.estimators):
            raise ValueError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(self.weights)} weights, {len(self.estimators)} estimators"
            )
        pairs = zip(self.estimators, self.weights, strict=True)
        return [weight for (_, member), weight in pairs if not isinstance(member, str)]

    def _fitted_members(self) -> list[Named]:
        check_is_fitted(self)
        named = self.named_estimators_.items()
        return [(name, member) for name, member in named if not isinstance(member, str)]

    @property
    def _n_threads(self) -> int:
        return resolve_n_jobs(self.n_jobs)

    def _names_out(self, input_features: Any) -> list[str]:
        """Name each member as the columns of `transform` are named."""
        check_is_fitted(self, "estimators_")
        _check_feature_names_in(self, input_features, generate_names=False)
        own = type(self).__name__.lower()
        return [f"{own}_{name}" for name, _ in self._fitted_members()]

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, of its members, or the members themselves by name.

        Parameters
        ----------
        **params : dict
            ``name=estimator`` puts another member in the place of one, "drop" leaves it out, and
            ``name__parameter=value`` sets a member's parameter.

        Returns
        -------
        self
        """
        super()._set_params("estimators", **params)
        return self

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of this estimator, and with ``deep`` the members and theirs by name.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        params: dict[str, Any] = super()._get_params("estimators", deep=deep)
        return params

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn which metadata goes to which member.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=self)
        for name, member in self.estimators:
            if not isinstance(member, str):
                mapping = MethodMapping().add(caller="fit", callee="fit")
                router.add(**{name: member}, method_mapping=mapping)
        splitter = check_cv(self.cv)
        if hasattr(splitter, "get_metadata_routing"):
            mapping = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=splitter, method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        members = [member for _, member in self.estimators if not isinstance(member, str)]
        inputs = [get_tags(member).input_tags for member in members]
        tags.input_tags.allow_nan = all(member.allow_nan for member in inputs)
        tags.input_tags.sparse = all(member.sparse for member in inputs)
        tags.transformer_tags.preserves_dtype = []
        return tags
