"""Base classes of combinations of named members."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.ensemble._base import _BaseHeterogeneousEnsemble
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch, indexable
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import NamesOtherParameters
from arboleda._engine.target import check_total_weight
from arboleda._utils.sparse import check_sparse
from arboleda.combine._fits import Folds, MemberTraining, fit_members, folds_of
from arboleda.combine._members import (
    Named,
    are_classifiers,
    check_members,
    check_routing,
    get_known_classes,
    params_of_members,
)
from arboleda.combine._outputs import (
    MemberOutputs,
    compute_encoded_outputs,
    compute_out_of_fold,
    outputs_of,
    with_encoded_class_weights,
)
from arboleda.combine._saved_members import FROZEN, MembersPart, TemplatesPart
from arboleda.combine._target import (
    check_held_out_weights,
    check_squares,
    read_classes,
    read_values,
    read_weights,
)
from arboleda.persist import Field, SavedModel

__all__ = [
    "Array",
    "ClassCombination",
    "Combination",
    "FitInputs",
    "LearnedCombination",
    "SavedCombination",
    "ValueCombination",
]

Array = npt.NDArray[Any]


class Combination(NamesOtherParameters, _BaseHeterogeneousEnsemble):  # type: ignore[misc]
    """Base class of an ensemble of named members; "drop" in place of one leaves it out."""

    _names: list[str]
    estimators: list[Named]
    cv: Any
    n_jobs: int | None
    estimators_: list[Any]
    named_estimators_: Bunch

    def _keep_members(self, fitted: list[Any]) -> None:
        """Store the fitted members, in the order of those that are not dropped."""
        self.estimators_ = fitted
        self._names = [name for name, given in self.estimators if not isinstance(given, str)]
        left = iter(fitted)
        self.named_estimators_ = Bunch()
        self.__dict__.pop("feature_names_in_", None)
        for name, given in self.estimators:
            member = given if isinstance(given, str) else next(left)
            self.named_estimators_[name] = member
            if hasattr(member, "feature_names_in_"):
                self.feature_names_in_: Any = member.feature_names_in_

    def _fitted_members(self) -> list[Named]:
        check_is_fitted(self)
        named = self.named_estimators_.items()
        return [(name, member) for name, member in named if not isinstance(member, str)]

    @property
    def n_features_in_(self) -> int:
        """Number of features seen by `fit`, if the members have it."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(
                f"{type(self).__name__} object has no attribute n_features_in_"
            ) from error
        return int(self.estimators_[0].n_features_in_)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to members.

        Returns
        -------
        routing : MetadataRouter
            Of the members' ``fit``, and of the ``split`` of a splitter given as ``cv``.
        """
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        for name, member in self.estimators:
            if not isinstance(member, str):
                router.add(**{name: member}, method_mapping=to_fit)
        if hasattr(self.cv, "get_metadata_routing"):
            to_split = MethodMapping().add(caller="fit", callee="split")
            # No member has such a name: "__" is refused.
            router.add(cv__splitter=self.cv, method_mapping=to_split)
        return router


class SavedCombination(SavedModel, Combination):
    """A combination that can be saved to a model file if its members can."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {"named_estimators_": MembersPart()}
    _saved_parameters: ClassVar[dict[str, Field]] = {"estimators": TemplatesPart()}
    _has_columns: ClassVar[bool] = False

    def _defect(self) -> str | None:
        named = dict(self.named_estimators_)
        if list(named) != [name for name, _ in self.estimators]:
            return "the fitted members and the estimators have different names"
        fitted = [member for member in named.values() if not isinstance(member, str)]
        if any(isinstance(named[name], str) != (e == "drop") for name, e in self.estimators):
            return "the dropped members differ from those dropped in the estimators"
        is_prefit = isinstance(self.cv, str)
        self.estimators: list[Named] = [
            (name, named[name] if is_prefit or given == FROZEN else given)
            for name, given in self.estimators
        ]
        try:
            members = check_members(self.estimators)
            are_classifiers(list(zip((n for n, _ in members), fitted, strict=True)))
        except ValueError as error:
            return str(error)
        self._keep_members(fitted)
        if len({member.n_features_in_ for member in fitted}) != 1:
            return "the members have different numbers of features"
        return self._find_unknown_classes(is_prefit)

    def _find_unknown_classes(self, is_prefit: bool) -> str | None:
        """Describe a member with classes that the combination does not have, if there is one."""
        classes = getattr(self, "classes_", None)
        for name, member in self._fitted_members():
            if classes is None or not is_classifier(member):
                continue
            known = classes if is_prefit else get_known_classes(member, classes)
            if isinstance(member.classes_, list):
                return f"the member {name!r} has several targets"
            if not np.isin(member.classes_, known).all():
                return f"the member {name!r} has classes that the combination does not have"
        return None


Floats = npt.NDArray[np.float64]


class FitInputs(NamedTuple):
    """Inputs from which a combination is learned.

    Parameters
    ----------
    members : list of (str, estimator)
        The members to fit in each fold, or the fitted members if there are no folds.
    training : MemberTraining
        All rows.
    folds : Folds or None
        None: the members have not seen the rows, or no out-of-fold predictions are needed.
    weight : ndarray of shape (n_samples,)
        All one if there are no weights.
    is_weighted : bool
        Whether weights were passed to `fit`.
    groups : array-like or None
    """

    members: list[Named]
    training: MemberTraining
    folds: Folds | None
    weight: Floats
    is_weighted: bool
    groups: Any


class LearnedCombination(Combination):
    """Base class of a combination learned from its members' predictions of held-out rows.

    With ``cv="prefit"`` the members are already fitted, and the rows passed to `fit` should be rows
    that they have not seen.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list],
        "cv": ["cv_object", StrOptions({"prefit"})],
        "n_jobs": [None, Integral],
    }

    # The combination itself uses them, so enclosing meta-estimators need not route them.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED, "sample_weight": UNUSED}

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[Array | None, Array]:
        """Return the classes and class numbers, or None and values."""

    @abstractmethod
    def _learn(self, inputs: FitInputs) -> None:
        """Learn how to combine the members, which are already fitted."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, and learn how to combine them from their held-out predictions.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            In a form that the members accept; frames stay frames.
        y : array-like of shape (n_samples,)
            Labels of any type, or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to the members and used by the combination.
        groups : array-like of shape (n_samples,), default=None
            Rows of a group are never both in the training and in the test rows of a split.
        **fit_params : dict
            Passed to the members by scikit-learn's metadata routing, if it is enabled; weights then
            also reach only the members that request them.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, a member or the data are invalid. The estimator stays unchanged.
        TypeError
            If there are weights and a member does not support them.
        """
        with restore_on_failure(self):
            own = {"sample_weight": sample_weight, "groups": groups}
            self._fit(X, y, fit_params | own)
        return self

    def _fit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        self._validate_params()
        check_routing(self, params)
        members = check_members(self.estimators, self.get_params(deep=False))
        self._check_members(members)
        sample_weight, groups = params["sample_weight"], params["groups"]
        check_sparse(X)
        check_consistent_length(X, y, groups, sample_weight)
        (X,) = indexable(X)
        classes, target = self._read_target(y)
        weight = read_weights(sample_weight, target)
        check_total_weight(weight)
        is_weighted = sample_weight is not None
        if is_weighted:
            params["sample_weight"] = weight
        of_members = params_of_members(self, members, params)
        training = MemberTraining(
            X, target, classes, of_members, self.n_jobs, getattr(self, "verbose", False)
        )
        folds = None
        if self._is_prefit:
            for _, member in members:
                check_is_fitted(member)
            fitted = [member for _, member in members]
        else:
            members = with_encoded_class_weights(members, classes)
            if self._needs_out_of_fold:
                folds = folds_of(self.cv, X, target, groups, classes=classes is not None)
            fitted = fit_members(members, training)
        self._keep_members(fitted)
        self._learn(FitInputs(members, training, folds, weight, is_weighted, groups))

    @property
    def _needs_out_of_fold(self) -> bool:
        """Whether the combination learns from out-of-fold predictions."""
        return True

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _held_out(self, inputs: FitInputs) -> MemberOutputs:
        """Predict rows that the members have not seen."""
        if inputs.folds is None:
            return self._predict_members(inputs.training.X, range(len(inputs.members)))
        check_held_out_weights(inputs.weight[inputs.folds.rows])
        return compute_out_of_fold(inputs.members, inputs.training, inputs.folds)

    def _predict_members(self, X: Any, chosen: Any) -> MemberOutputs:
        """Predict rows by some of the fitted members."""
        fitted = [(self._names[number], self.estimators_[number]) for number in chosen]
        classes = getattr(self, "classes_", None)
        if classes is None or self._is_prefit:
            return outputs_of(fitted, X, classes, n_jobs=self.n_jobs)
        return compute_encoded_outputs(fitted, X, classes, n_jobs=self.n_jobs)

    def _check_members(self, members: list[Named]) -> None:
        """Refuse members of the wrong kind before any of them is fitted."""
        is_own_kind = isinstance(self, ClassifierMixin)
        if are_classifiers(members) != is_own_kind:
            kind = "classifiers" if is_own_kind else "regressors"
            raise ValueError(
                f"{type(self).__name__} combines {kind}, but the member {members[0][0]!r} is a "
                f"{type(members[0][1]).__name__}"
            )


class ClassCombination(ClassifierMixin, LearnedCombination):  # type: ignore[misc]
    """A combination that predicts classes."""

    classes_: Array

    def _read_target(self, y: Any) -> tuple[Array | None, Array]:
        self.classes_, numbers = read_classes(y)
        return self.classes_, numbers


class ValueCombination(RegressorMixin, LearnedCombination):  # type: ignore[misc]
    """A combination that predicts numbers."""

    def _read_target(self, y: Any) -> tuple[Array | None, Array]:
        values = read_values(y)
        check_squares(values, "y holds")
        return None, values

    def _held_out(self, inputs: FitInputs) -> MemberOutputs:
        held_out = super()._held_out(inputs)
        for name, values in zip(held_out.names, held_out.outputs, strict=True):
            check_squares(values, f"the member {name!r} predicts")
        return held_out
