"""What all ensembles of this part share: members of any kind, each fitted on a draw of its own."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._bridge.target import read_weight
from arboleda.bagging._draws import Draw, RowsToDraw, draw
from arboleda.bagging._members import Member, Training, fit_members
from arboleda.bagging._plan import Plan
from arboleda.bagging._routing import routed, takes_weight
from arboleda.bagging._tables import checked_table, n_rows_of
from arboleda.bagging._votes import Asking
from arboleda.tree._refit import as_before_if_it_fails

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


class Batch(NamedTuple):
    """Members that one call of `fit` made: what their draws are repeated from."""

    plan: Plan
    rows: RowsToDraw
    seeds: npt.NDArray[Any]

    def draws(self) -> list[Draw]:
        """Draw what every member was given again."""
        return [draw(self.plan, self.rows, int(seed)) for seed in self.seeds]


def members_have(method: str) -> Callable[..., Any]:
    """Decorate a method that exists where the members have one of that name."""

    def check(ensemble: MemberEnsemble) -> bool:
        members = getattr(ensemble, "_members", None)
        member = members[0].estimator if members else ensemble._member_to_fit()
        return hasattr(member, method)

    return available_if(check)  # type: ignore[no-any-return]


class MemberEnsemble(MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta):  # type: ignore[misc]
    """Members of any kind, each a clone of one estimator, each fitted on a draw of its own."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    estimator: Any
    n_estimators: int
    warm_start: bool
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    verbose: int
    estimator_: Any
    n_features_in_: int
    _members: list[Member]
    _batches: list[Batch]

    @abstractmethod
    def _default_member(self) -> Any:
        """Member where the user names none."""

    @abstractmethod
    def _encode_target(self, y: Any) -> Array:
        """Check y, remember what predictions need of it, and return what the members learn."""

    @abstractmethod
    def _plan(self, target: Array, rows: RowsToDraw) -> Plan:
        """What each member is given."""

    @abstractmethod
    def _votes_by(self, caller: str) -> str:
        """Name of the members' method that answers for a method of the ensemble."""

    @abstractmethod
    def _asking(self, params: dict[str, Any] | None = None) -> Asking:
        """How members are asked."""

    def _after_fit(self, X: Any, target: Array, rows: RowsToDraw) -> None:
        """Judge what was fitted, where asked for."""

    def _needs_array(self) -> bool:
        """Whether a member may be given a column twice, which frames cannot hold."""
        return bool(getattr(self, "bootstrap_features", False))

    def _member_to_fit(self) -> Any:
        return self._default_member() if self.estimator is None else self.estimator

    def _template(self) -> Any:
        """Estimator that the members are clones of."""
        return self.estimator_

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            What the members can learn from; frames stay frames.
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite weights, not negative; rows of weight 0 take no part. Members whose ``fit`` takes
            weights weigh their rows by them; for others a row is drawn in proportion to its weight.
        **fit_params : dict
            Passed to the members' ``fit`` by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, the lengths differ, y has missing or infinite values, or
            a member refuses its rows. The ensemble stays as it was.
        """
        self._validate_params()
        with as_before_if_it_fails(self):
            self._fit(X, y, sample_weight, fit_params)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]) -> None:
        before = self._members_before()
        X = checked_table(self, X, reset=not before, as_array=self._needs_array())
        target = self._encode_target(y)
        check_consistent_length(X, target)
        weight = read_weight(sample_weight, X)
        self.estimator_ = self._member_to_fit()
        params = routed(self, "fit", "fit", fit_params)
        weighs = takes_weight(self.estimator_)
        rows = RowsToDraw.weighing(n_rows_of(X), weight, by_chance=not weighs)
        plan = self._plan(target, rows)
        seeds = self._seeds(len(before))
        if len(seeds):
            training = Training(X, target, weight, plan, rows, weighs, params)
            new = fit_members(self._template(), training, seeds, self.n_jobs, self.verbose)
            self._members = before + new
            self._batches = [*(self._batches if before else []), Batch(plan, rows, seeds)]
        self._after_fit(X, target, rows)

    def _kept_members(self) -> list[Member]:
        """Members that a warm start keeps."""
        return getattr(self, "_members", []) if self.warm_start else []

    def _members_before(self) -> list[Member]:
        """Members that a warm start keeps; the number wanted is checked."""
        before = self._kept_members()
        if not before:
            return []
        if self.n_estimators < len(before):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(before)} when warm_start==True: raise it, or set "
                "warm_start=False to begin anew"
            )
        if self.n_estimators == len(before):
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                stacklevel=4,
            )
        return before

    def _seeds(self, n_before: int) -> npt.NDArray[Any]:
        """Seeds of the members to be made; those made before took the first ones."""
        random = check_random_state(self.random_state)
        seeds: npt.NDArray[Any] = random.randint(np.iinfo(np.int32).max, size=self.n_estimators)
        return seeds[n_before:]

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return checked_table(self, X, reset=False, as_array=self._needs_array())

    @property
    def estimators_(self) -> list[Any]:
        """The fitted members."""
        return [member.estimator for member in self._fitted_members()]

    @property
    def estimators_features_(self) -> list[Indices]:
        """Numbers of the columns that each member learned from."""
        return [member.columns for member in self._fitted_members()]

    @property
    def estimators_samples_(self) -> list[Indices]:
        """Numbers of the rows that each member learned from, those drawn twice twice.

        They are not stored, but drawn again.
        """
        self._fitted_members()
        return [rows for batch in self._batches for rows in _rows_of_members(batch)]

    def _fitted_members(self) -> list[Member]:
        if not hasattr(self, "_members"):
            raise AttributeError(f"{type(self).__name__} has no members before it is fitted")
        return self._members

    def __len__(self) -> int:
        """Return the number of fitted members."""
        return len(self._fitted_members())

    def __getitem__(self, number: int) -> Any:
        """Return a fitted member."""
        return self.estimators_[number]

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn which metadata goes to which method of the members.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            if caller == "predict" or hasattr(self, caller):
                mapping.add(caller=caller, callee=self._votes_by(caller))
        return MetadataRouter(owner=self).add(
            estimator=self._member_to_fit(), method_mapping=mapping
        )

    def _params_for(self, caller: str, params: dict[str, Any]) -> dict[str, Any]:
        return routed(self, caller, self._votes_by(caller), params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        member = get_tags(self._member_to_fit())
        tags.input_tags.sparse = member.input_tags.sparse
        tags.input_tags.allow_nan = member.input_tags.allow_nan
        return tags


def _rows_of_members(batch: Batch) -> list[Indices]:
    every = np.arange(batch.rows.n_rows) if batch.rows.able is None else batch.rows.able
    return [every if drawn.rows is None else drawn.rows for drawn in batch.draws()]
