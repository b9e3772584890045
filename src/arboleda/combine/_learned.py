"""What combinations share that learn from their members' answers to rows not seen before."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import indexable
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from arboleda._engine.target import check_total_weight
from arboleda._sparse import check_sparse
from arboleda.combine._combination import Array, Combination
from arboleda.combine._fits import Training, fit_members
from arboleda.combine._folds import Folds, folds_of
from arboleda.combine._members import Named, are_classifiers, kept_members
from arboleda.combine._outputs import (
    MemberOutputs,
    learned_by,
    out_of_fold,
    outputs_of,
    outputs_of_numbered,
)
from arboleda.combine._routing import check_routing, params_of_members
from arboleda.combine._target import (
    check_held_out_weights,
    check_squares,
    read_classes,
    read_values,
    read_weights,
)
from arboleda.tree._restore_on_failure import restore_on_failure

__all__ = ["ClassCombination", "Given", "LearnedCombination", "ValueCombination"]

Floats = npt.NDArray[np.float64]


class Given(NamedTuple):
    """What a combination learns from.

    Parameters
    ----------
    members : list of (str, estimator)
        To be fitted in each fold; the fitted ones if there are no folds.
    training : Training
        All rows.
    folds : Folds or None
        None: the members have not seen the rows, or nothing is asked of them out of fold.
    weight : ndarray of shape (n_samples,)
        All one if none were given.
    is_weighted : bool
        Whether weights were given.
    groups : array-like or None
    """

    members: list[Named]
    training: Training
    folds: Folds | None
    weight: Floats
    is_weighted: bool
    groups: Any


class LearnedCombination(Combination):
    """Members fitted on all rows, and what was learned from their answers to rows held out.

    With ``cv="prefit"`` the members are taken as they are, and the rows given to `fit` should be
    ones that they have not seen.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list],
        "cv": ["cv_object", StrOptions({"prefit"})],
        "n_jobs": [None, Integral],
    }

    # They are of use to the combination itself: others need not ask whether it wants them.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"groups": UNUSED, "sample_weight": UNUSED}

    @abstractmethod
    def _read_target(self, y: Any) -> tuple[Array | None, Array]:
        """Return the classes, or None, and numbers of classes, or values."""

    @abstractmethod
    def _learn(self, given: Given) -> None:
        """Learn how to combine the members, which are fitted by now."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, and learn from their answers to rows held out how to combine them.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            What the members can learn from; frames stay frames.
        y : array-like of shape (n_samples,)
            Labels of any type, or numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            For the members and for the combination.
        groups : array-like of shape (n_samples,), default=None
            Rows of a group are never in both parts of a split.
        **fit_params : dict
            For the members, by scikit-learn's metadata routing, if that is enabled: then weights
            too reach only the members that ask for them.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, the members or the data cannot be used; the message says which. The
            estimator stays as it was.
        TypeError
            If weights are given and a member takes none.
        """
        with restore_on_failure(self):
            own = {"sample_weight": sample_weight, "groups": groups}
            self._fit(X, y, fit_params | own)
        return self

    def _fit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        self._validate_params()
        check_routing(self, params)
        members = kept_members(self.estimators, self.get_params(deep=False))
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
        training = Training(
            X, target, classes, of_members, self.n_jobs, getattr(self, "verbose", False)
        )
        folds = None
        if self._is_prefit:
            for _, member in members:
                check_is_fitted(member)
            fitted = [member for _, member in members]
        else:
            members = learned_by(members, classes)
            if self._asks_out_of_fold:
                folds = folds_of(self.cv, X, target, groups, classes=classes is not None)
            fitted = fit_members(members, training)
        self._keep_members(fitted)
        self._learn(Given(members, training, folds, weight, is_weighted, groups))

    @property
    def _asks_out_of_fold(self) -> bool:
        """Whether members that are fitted here are judged by rows out of fold."""
        return True

    @property
    def _is_prefit(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "prefit"

    def _held_out(self, given: Given) -> MemberOutputs:
        """What the members say of rows that they have not seen."""
        if given.folds is None:
            return self._ask(given.training.X, range(len(given.members)))
        check_held_out_weights(given.weight[given.folds.rows])
        return out_of_fold(given.members, given.training, given.folds)

    def _ask(self, X: Any, chosen: Any) -> MemberOutputs:
        """What some of the fitted members say of rows."""
        fitted = [(self._names[number], self.estimators_[number]) for number in chosen]
        classes = getattr(self, "classes_", None)
        if classes is None or self._is_prefit:
            return outputs_of(fitted, X, classes, n_jobs=self.n_jobs)
        return outputs_of_numbered(fitted, X, classes, n_jobs=self.n_jobs)

    def _check_members(self, members: list[Named]) -> None:
        """Refuse members of another kind before any is fitted."""
        wanted = isinstance(self, ClassifierMixin)
        if are_classifiers(members) != wanted:
            raise ValueError(
                f"{type(self).__name__} combines {'classifiers' if wanted else 'regressors'}, but "
                f"the member {members[0][0]!r} is a {type(members[0][1]).__name__}"
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

    def _held_out(self, given: Given) -> MemberOutputs:
        found = super()._held_out(given)
        for name, values in zip(found.names, found.outputs, strict=True):
            check_squares(values, f"the member {name!r} predicts")
        return found
