"""Base class of voting classifiers and regressors, and the label of rejected rows."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_consistent_length,
    check_is_fitted,
)

from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.target import check_total_weight
from arboleda._utils.sparse import check_sparse
from arboleda.combine._combination import Array, SavedCombination
from arboleda.combine._fits import MemberTraining, fit_members, folds_of
from arboleda.combine._fusion_rules import FusionRule
from arboleda.combine._members import Named
from arboleda.combine._outputs import compute_out_of_fold, with_encoded_class_weights
from arboleda.combine._routing import check_routing, params_of_members
from arboleda.combine._target import check_held_out_weights, read_weights

__all__ = ["Voting", "are_weights", "labels_with_reject"]


class Voting(TransformerMixin, SavedCombination):  # type: ignore[misc]
    """Base class: named members fitted on all rows, combined by a rule."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list],
        "weights": ["array-like", None],
        "trim": [Interval(Real, 0.0, 0.5, closed="left")],
        "cv": ["cv_object"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    rule: str | None
    weights: Any
    trim: float
    verbose: bool
    _rule: FusionRule

    @abstractmethod
    def _members(self) -> list[Named]:
        """Return the members that are not dropped, checked to be of the right kind."""

    @abstractmethod
    def _make_rule(self, weights: Any) -> FusionRule:
        """Make the rule, before it learns."""

    @abstractmethod
    def _restore_rule(self) -> str | None:
        """Restore the rule of a loaded model, or return the reason why it is invalid."""

    def _defect(self) -> str | None:
        defect = super()._defect()
        if defect is not None:
            return defect
        try:
            return self._restore_rule()
        except (TypeError, ValueError) as error:
            return f"the parameters do not fit the members: {error}"

    def _fit(self, X: Any, target: Array, classes: Array | None, params: dict[str, Any]) -> None:
        check_routing(self, params)
        check_sparse(X)
        members = self._members()
        groups = params.get("groups")
        check_consistent_length(X, target, groups)
        rule = self._make_rule(self._select_weights())
        weight = params.get("sample_weight")
        if weight is not None:
            weight = params["sample_weight"] = read_weights(weight, target)
            check_total_weight(weight)
        of_members = params_of_members(self, members, params)
        training = MemberTraining(X, target, classes, of_members, self.n_jobs, self.verbose)
        members = with_encoded_class_weights(members, classes)
        if rule.learns:
            folds = folds_of(self.cv, X, target, groups, classes=classes is not None)
            seen = compute_out_of_fold(members, training, folds, votes=rule.of_choices)
            if weight is not None:
                weight = weight[seen.rows]
                check_held_out_weights(weight)
            rule = rule.learned(seen, target[seen.rows], weight)
        self._rule = rule
        self._keep_members(fit_members(members, training))

    def _select_weights(self) -> Any:
        """Return the weights of the members that are not dropped."""
        if self.weights is None:
            return None
        if len(self.weights) != len(self.estimators):
            raise ValueError(
                "Number of `estimators` and weights must be equal; got "
                f"{len(self.weights)} weights, {len(self.estimators)} estimators"
            )
        pairs = zip(self.estimators, self.weights, strict=True)
        return [weight for (_, member), weight in pairs if not isinstance(member, str)]

    @property
    def _n_threads(self) -> int:
        return resolve_n_jobs(self.n_jobs)

    def _make_feature_names(self, input_features: Any) -> list[str]:
        """Return a column name of `transform` for each member."""
        check_is_fitted(self, "estimators_")
        _check_feature_names_in(self, input_features, generate_names=False)
        own = type(self).__name__.lower()
        return [f"{own}_{name}" for name, _ in self._fitted_members()]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def are_weights(values: Array, n_members: int) -> bool:
    """Return whether an array holds a finite number for each member."""
    return values.shape == (n_members,) and bool(np.isfinite(values).all())


def labels_with_reject(classes: npt.NDArray[Any], label: Any) -> npt.NDArray[Any]:
    """Append the reject label to the classes, in a type that holds all labels.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    label : label or None
        None: -1 where the classes are numbers, else "reject".

    Raises
    ------
    ValueError
        If the label is one of the classes.
    """
    numeric = classes.dtype.kind in "biuf"
    if label is None:
        label = -1 if numeric else "reject"
    if any(label == known for known in classes.tolist()):
        raise ValueError(
            f"reject_label={label!r} is one of the classes: choose a label that is not a class"
        )
    added = np.asarray([label])
    is_same_kind = added.dtype.kind in "biuf" if numeric else added.dtype.kind == classes.dtype.kind
    if is_same_kind:
        return np.concatenate([classes, added])
    labels = np.empty(len(classes) + 1, dtype=object)
    labels[:] = [*classes.tolist(), label]
    return labels
