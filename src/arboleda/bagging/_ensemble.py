"""Base class of ensembles of members of any kind, each fitted on its own random sample."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.members import checked_table, route_params, takes_weight
from arboleda._base.mixins import StagedScores, copy_input_tags, restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._base.predictor import RowPredictorMixin
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.target import read_weight
from arboleda.bagging._bagged_estimators import BaggedEstimators
from arboleda.bagging._members import BaggingData
from arboleda.bagging._sampling import RowsToDraw, SamplingPlan
from arboleda.bagging._saved_members import SavedMembers, complete
from arboleda.bagging._tree_members import TreeMembers, engine_can, grow_trees
from arboleda.bagging._votes import PredictOptions
from arboleda.persist import Field, SavedModel
from arboleda.tree import DecisionTree

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_KIND_CHANGED = (
    "warm_start=True can only add members of the same kind, but the existing members are of "
    "another kind: set warm_start=False to refit all members."
)


def members_have(method: str) -> Callable[..., Any]:
    """Decorate a method that is available if the members have the method of this name."""

    def check(ensemble: MemberEnsemble) -> bool:
        return hasattr(getattr(ensemble, "estimator_", ensemble._resolve_estimator()), method)

    return available_if(check)  # type: ignore[no-any-return]


class MemberEnsemble(
    NamesOtherParameters,
    SavedModel,
    StagedScores,
    RowPredictorMixin,
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    metaclass=ABCMeta,
):
    """Ensemble of clones of one estimator, each fitted on its own random sample."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {"_members": SavedMembers()}

    estimator: Any
    n_estimators: int
    warm_start: bool
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    verbose: int
    estimator_: Any
    n_features_in_: int
    _members: BaggedEstimators | TreeMembers

    @abstractmethod
    def _widths(self, members: TreeMembers) -> tuple[int, ...]:
        """Return the numbers of values that leaves should have for each output."""

    def _defect(self) -> str | None:
        members = self._members
        assert isinstance(members, TreeMembers)  # a file holds no others
        self.estimator_ = self._resolve_estimator()
        return complete(members, self, self._widths(members))

    @abstractmethod
    def _make_default_estimator(self) -> Any:
        """Create the estimator of members if the user gives none."""

    @abstractmethod
    def _encode_target(self, y: Any) -> Array:
        """Validate y, store what predictions need, and return the target of the members."""

    @abstractmethod
    def _make_plan(self, target: Array, rows: RowsToDraw) -> SamplingPlan:
        """Return the sampling plan of the members."""

    @abstractmethod
    def _get_member_method(self, caller: str) -> str:
        """Return the name of the member method that a method of the ensemble calls."""

    @abstractmethod
    def _predict_options(self, params: dict[str, Any] | None = None) -> PredictOptions:
        """Return the options of predictions by the members."""

    def _check_size(self, target: Array, rows: RowsToDraw) -> None:
        """Check that sums of predictions cannot overflow float64."""

    def _after_fit(self, X: Any, target: Array, rows: RowsToDraw) -> None:
        """Evaluate the members after fitting, if requested."""

    def _choose_held_out_rows(
        self, target: Array, weight: Floats | None, before: BaggedEstimators | TreeMembers | None
    ) -> Indices | None:
        """Return rows of positive weight that no member is trained on; None if there are none."""
        return None

    def _choose_rows(
        self,
        target: Array,
        weight: Floats | None,
        before: BaggedEstimators | TreeMembers | None,
        *,
        by_chance: bool,
    ) -> tuple[RowsToDraw, Floats | None]:
        """Return the rows that members draw from, and the training weights."""
        held_out = self._choose_held_out_rows(target, weight, before)
        if held_out is not None:
            weight = np.ones(len(target)) if weight is None else weight.copy()
            weight[held_out] = 0.0
        rows = RowsToDraw.weighing(len(target), weight, by_chance=by_chance)
        return rows._replace(held_out=held_out), weight

    def _needs_array(self) -> bool:
        """Return whether members may draw a column twice, which data frames do not support."""
        return bool(getattr(self, "bootstrap_features", False))

    def _resolve_estimator(self) -> Any:
        return self._make_default_estimator() if self.estimator is None else self.estimator

    def _template(self) -> Any:
        """Return the estimator that the members are clones of."""
        return self.estimator_

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Any table that the members accept; data frames are passed on as data frames.
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. Members whose ``fit`` takes
            weights are fitted with them; for others, rows are drawn in proportion to their weight.
        **fit_params : dict
            Passed to the members' ``fit`` by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, the lengths differ, y has missing or infinite values, or
            fitting a member fails. The ensemble stays unchanged.
        """
        self._validate_params()
        with restore_on_failure(self):
            self._fit(X, y, sample_weight, fit_params)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, fit_params: dict[str, Any]) -> None:
        before = self._check_kept_members()
        target = self._encode_target(y)
        self.estimator_ = self._resolve_estimator()
        template = self._template()
        params = route_params(self, "fit", "fit", fit_params)
        weighs = takes_weight(template)
        if (
            engine_can(template, self._make_default_estimator())
            and not params
            and (weighs or sample_weight is None)
            and not self._has_bags_larger_than(len(target))
        ):
            self._fit_trees(template, X, target, sample_weight, before)
        else:
            self._fit_estimators(template, X, target, sample_weight, before, params, weighs)

    def _fit_estimators(
        self,
        template: Any,
        X: Any,
        target: Array,
        sample_weight: Any,
        before: BaggedEstimators | TreeMembers | None,
        params: dict[str, Any],
        weighs: bool,
    ) -> None:
        """Fit clones of an estimator of any kind."""
        if before is None:
            self.__dict__.pop("schema_", None)
            before = BaggedEstimators([], [])
        elif not isinstance(before, BaggedEstimators):
            raise ValueError(_KIND_CHANGED)
        X = checked_table(self, X, reset=not before, as_array=self._needs_array())
        check_consistent_length(X, target)
        weight = read_weight(sample_weight, X)
        earlier = before if len(before) else None
        rows, weight = self._choose_rows(target, weight, earlier, by_chance=not weighs)
        self._check_size(target, rows)
        plan = self._make_plan(target, rows)
        training = BaggingData(X, target, weight, plan, rows, weighs, params)
        seeds = self._draw_seeds(len(before))
        self._members = before
        if len(seeds):
            self._members = before.extended(template, training, seeds, self._predict_options())
        self._after_fit(X, target, rows)

    def _fit_trees(
        self,
        template: DecisionTree,
        X: Any,
        target: Array,
        sample_weight: Any,
        before: BaggedEstimators | TreeMembers | None,
    ) -> None:
        """Grow arboleda trees with the engine, all from one binned table."""
        if isinstance(before, BaggedEstimators):
            raise ValueError(_KIND_CHANGED)  # noqa: TRY004 - a matter of state
        example: DecisionTree = clone(template)
        training = example._training(X, target, sample_weight, reset=before is None, reader=self)
        rows, weight = self._choose_rows(target, training.weight, before, by_chance=False)
        training = replace(training, weight=weight)
        self._check_size(target, rows)
        plan = self._make_plan(target, rows)
        n_more = self.n_estimators - (0 if before is None else len(before))
        if before is None:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            self._members = grow_trees(example, training, plan, rows, n_more, seed, self.n_jobs)
        else:
            self._members = before
            if n_more:
                self._members = before.extended(example, training, plan, rows, n_more, self.n_jobs)
        self._after_fit(training.X, target, rows)

    def _has_bags_larger_than(self, n_rows: int) -> bool:
        """Return whether a bag draws more rows than the table has."""
        return False

    def _get_kept_members(self) -> BaggedEstimators | TreeMembers | None:
        """Return the members that a warm start keeps."""
        return getattr(self, "_members", None) if self.warm_start else None

    def _check_kept_members(self) -> BaggedEstimators | TreeMembers | None:
        """Return the members that a warm start keeps, after a check of ``n_estimators``."""
        before = self._get_kept_members()
        if before is None:
            return None
        if self.n_estimators < len(before):
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(before)} when warm_start==True: raise it, or set "
                "warm_start=False to refit all members."
            )
        if self.n_estimators == len(before):
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new members.",
                stacklevel=4,
            )
        return before

    def _draw_seeds(self, n_before: int) -> npt.NDArray[Any]:
        """Draw the seeds of the new members, after those of the existing ones."""
        random = check_random_state(self.random_state)
        seeds: npt.NDArray[Any] = random.randint(np.iinfo(np.int32).max, size=self.n_estimators)
        return seeds[n_before:]

    def _row_predictor(self) -> RowPredictor:
        if not isinstance(self._members, TreeMembers):
            raise ValueError(  # noqa: TRY004 - a matter of state
                f"The members of this {type(self).__name__} are not arboleda trees, so it has no "
                "row predictor: call predict."
            )
        return self._members.row_predictor(self._predict_options())

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._members.checked(self, X, as_array=self._needs_array())

    @property
    def estimators_(self) -> Sequence[Any]:
        """Fitted members."""
        return self._fitted_members().estimators

    @property
    def estimators_features_(self) -> Sequence[Indices]:
        """Column indices of each member."""
        return self._fitted_members().columns

    @property
    def estimators_samples_(self) -> Sequence[Indices]:
        """Row indices of each member, with repeats.

        They are not stored but drawn again on access.
        """
        return self._fitted_members().samples

    def _fitted_members(self) -> BaggedEstimators | TreeMembers:
        if not hasattr(self, "_members"):
            raise AttributeError(f"{type(self).__name__} is not fitted yet: call fit first.")
        return self._members

    def __len__(self) -> int:
        """Return the number of fitted members."""
        return len(self._fitted_members())

    def __getitem__(self, number: int) -> Any:
        """Return a fitted member."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fitted members."""
        return iter(self.estimators_)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to the methods of the members.

        Returns
        -------
        routing : MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            if caller == "predict" or hasattr(self, caller):
                mapping.add(caller=caller, callee=self._get_member_method(caller))
        return MetadataRouter(owner=self).add(
            estimator=self._resolve_estimator(), method_mapping=mapping
        )

    def _route_params(self, caller: str, params: dict[str, Any]) -> dict[str, Any]:
        return route_params(self, caller, self._get_member_method(caller), params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, self._resolve_estimator())
        return tags
