"""What all combinations share: named members, each fitted on all rows."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from sklearn.ensemble._base import _BaseHeterogeneousEnsemble
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from arboleda.combine._members import Named

__all__ = ["Array", "Combination"]

Array = npt.NDArray[Any]


class Combination(_BaseHeterogeneousEnsemble):  # type: ignore[misc]
    """Named members; "drop" in the place of one leaves it out."""

    estimators: list[Named]
    cv: Any
    n_jobs: int | None
    estimators_: list[Any]
    named_estimators_: Bunch

    def _keep_members(self, fitted: list[Any]) -> None:
        """Take the fitted members, which stand in the order of those that are not dropped."""
        self.estimators_ = fitted
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
        """Number of columns seen by `fit`, where the members tell."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(
                f"{type(self).__name__} object has no attribute n_features_in_"
            ) from error
        return int(self.estimators_[0].n_features_in_)

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn which metadata goes to which member.

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
