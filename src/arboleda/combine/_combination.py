"""Base classes of all combinations: named members, each fitted on all rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.ensemble._base import _BaseHeterogeneousEnsemble
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._members import Named, are_classifiers, check_members, get_known_classes
from arboleda.combine._saved_members import FROZEN, MembersPart, TemplatesPart
from arboleda.persist import Field, SavedModel

__all__ = ["Array", "Combination", "SavedCombination"]

Array = npt.NDArray[Any]


class Combination(_BaseHeterogeneousEnsemble):  # type: ignore[misc]
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
                self.feature_names_in_ = member.feature_names_in_

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
        self.estimators = [
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
