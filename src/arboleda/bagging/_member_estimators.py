"""Base classes of ensembles of classifiers and regressors of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, column_or_1d, get_tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_y

from arboleda._base.targets import encode_classes
from arboleda._engine.target import check_class_weights, check_sums, read_target
from arboleda.bagging._ensemble import Array, Floats, Indices, MemberEnsemble, members_have
from arboleda.bagging._sampling import RowsToDraw
from arboleda.bagging._tree_members import TreeMembers
from arboleda.bagging._votes import PredictOptions, Voting, choose_vote_method
from arboleda.persist import Field, Labels
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor


class MemberClassifier(ClassifierMixin, MemberEnsemble):  # type: ignore[misc]
    """Ensemble of classifiers, which are fitted on class indices."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MemberEnsemble._parameter_constraints,
        "voting": [StrOptions({"soft", "hard"})],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **MemberEnsemble._fitted_attributes,
        "classes_": Labels(),
    }

    voting: Voting
    classes_: Array

    @property
    def n_classes_(self) -> int:
        """Number of classes."""
        return len(self.classes_)

    def _widths(self, members: TreeMembers) -> tuple[int, ...]:
        return (self.n_classes_,)

    def _make_default_estimator(self) -> Any:
        return DecisionTreeClassifier()

    def _encode_target(self, y: Any) -> Indices:
        classes, numbers = encode_classes(read_target(y, numeric=False), self)
        before = getattr(self, "classes_", None) if self._get_kept_members() else None
        if before is not None and not np.array_equal(before, classes):
            raise ValueError(
                f"y has the classes {_format_classes(classes)}, but the existing members were "
                f"fitted on {_format_classes(before)}: with warm_start=True, y must hold the same "
                "classes."
            )
        self.classes_ = classes
        return numbers

    def _template(self) -> Any:
        """Return the estimator of members, with class weights by class index."""
        template = clone(self.estimator_)
        if hasattr(template, "__sklearn_tags__") and is_regressor(template):
            raise ValueError(
                f"the members of {type(self).__name__} must be classifiers, but estimator is a "
                f"{type(template).__name__}, which predicts numbers: use a classifier."
            )
        return with_numbered_weights(template, self.classes_)

    def _get_member_method(self, caller: str) -> str:
        if caller == "decision_function":
            return caller
        return choose_vote_method(self._resolve_estimator(), self.voting)

    def _predict_options(self, params: dict[str, Any] | None = None) -> PredictOptions:
        return PredictOptions(self.n_classes_, self.voting, self.n_jobs, self.verbose, params or {})

    def _decode_predictions(self, raw: Floats) -> Array:
        labels: Array = self.classes_[raw.argmax(axis=1)]
        return labels

    def _decode_probabilities(self, raw: Floats) -> Floats:
        return raw

    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Predict class probabilities: the mean of the members' probabilities or votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            Passed to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. With ``voting="hard"``, or if members have no
            probabilities, the share of members that vote for a class.
        """
        table = self._checked(X)
        routed = self._route_params("predict_proba", params)
        return self._members.average_outputs(table, self._predict_options(routed))

    def predict(self, X: Any, **params: Any) -> Array:
        """Predict the class with the most votes; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            Passed to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        table = self._checked(X)
        routed = self._route_params("predict", params)
        return self._decode_predictions(
            self._members.average_outputs(table, self._predict_options(routed))
        )

    def staged_predict(self, X: Any, **params: Any) -> Iterator[Array]:
        """Yield `predict` of the first member, the first two, ..., all members.

        Every member predicts once, and one stage at a time is held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            As in `predict`.

        Yields
        ------
        y : ndarray of shape (n_samples,)
        """
        table = self._checked(X)
        routed = self._route_params("predict", params)
        return map(
            self._decode_predictions,
            self._members.iter_output_stages(table, self._predict_options(routed)),
        )

    def staged_predict_proba(self, X: Any, **params: Any) -> Iterator[Floats]:
        """Yield `predict_proba` of the first member, the first two, ..., all members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            As in `predict_proba`.

        Yields
        ------
        p : ndarray of shape (n_samples, n_classes)
        """
        table = self._checked(X)
        routed = self._route_params("predict_proba", params)
        return self._members.iter_output_stages(table, self._predict_options(routed))

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def predict_log_proba(self, X: Any, **params: Any) -> Floats:
        """Predict the logarithm of `predict_proba`; minus infinity for a probability of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            Passed to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes)
        """
        table = self._checked(X)
        routed = self._route_params("predict_log_proba", params)
        with np.errstate(divide="ignore"):
            return np.log(self._members.average_outputs(table, self._predict_options(routed)))

    @members_have("decision_function")
    def decision_function(self, X: Any, **params: Any) -> Floats:
        """Compute the mean of the decision functions of the members, if they have one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            Passed to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        table = self._checked(X)
        routed = self._route_params("decision_function", params)
        return self._members.average_decisions(table, self._predict_options(routed))

    @members_have("decision_function")
    def staged_decision_function(self, X: Any, **params: Any) -> Iterator[Floats]:
        """Yield `decision_function` of the first member, the first two, ..., all members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            As in `decision_function`.

        Yields
        ------
        score : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        table = self._checked(X)
        routed = self._route_params("decision_function", params)
        return self._members.iter_decision_stages(table, self._predict_options(routed))


def with_numbered_weights(template: Any, classes: Array) -> Any:
    """Convert class weights by label to weights by class index, also in nested estimators.

    Raises
    ------
    ValueError
        If a label is not a class while a class has no weight, or a weight is not a finite,
        non-negative number.
    """
    translated = {
        name: _number_weights(name, value, classes.tolist())
        for name, value in template.get_params(deep=True).items()
        if name.rpartition("__")[2] == "class_weight" and isinstance(value, dict)
    }
    return template.set_params(**translated) if translated else template


def _number_weights(name: str, weights: dict[Any, Any], labels: list[Any]) -> dict[int, Any]:
    """Return weights by class index, including classes that a bag may not contain."""
    check_class_weights(weights, f"{name} of the member")
    unknown = [label for label in weights if label not in labels]
    unnamed = [label for label in labels if label not in weights]
    if unknown and unnamed:  # probably a misspelled class
        raise ValueError(
            f"{name} of the member has a weight for {unknown[0]!r}, which is not a class of y, but "
            f"none for the class {unnamed[0]!r}: use the labels of y."
        )
    return {number: weights.get(label, 1) for number, label in enumerate(labels)}


def _format_classes(classes: Array) -> str:
    shown = ", ".join(map(repr, classes[:10].tolist()))
    return f"{shown} and {len(classes) - 10} more" if len(classes) > 10 else shown


class MemberRegressor(RegressorMixin, MemberEnsemble):  # type: ignore[misc]
    """Ensemble of regressors, which averages their predictions."""

    def _widths(self, members: TreeMembers) -> tuple[int, ...]:
        return (1,) * members.forest.n_outputs

    def _make_default_estimator(self) -> Any:
        return DecisionTreeRegressor()

    def _encode_target(self, y: Any) -> Floats:
        y = read_target(y, numeric=True)
        shape: tuple[int, ...] = getattr(y, "shape", ())
        several = len(shape) == 2 and shape[1] > 1
        with np.errstate(over="ignore", invalid="ignore"):  # sums of huge values may overflow
            y = _check_y(y, multi_output=several, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers first."
            )
        target: Floats = (y if several else column_or_1d(y, warn=True)).astype(np.float64)
        return target

    def _check_size(self, target: Array, rows: RowsToDraw) -> None:
        check_sums(target, self.n_estimators, rows.is_able)

    def _get_member_method(self, caller: str) -> str:
        return "predict"

    def _predict_options(self, params: dict[str, Any] | None = None) -> PredictOptions:
        return PredictOptions(0, "hard", self.n_jobs, self.verbose, params or {})

    def _decode_predictions(self, raw: Floats) -> Floats:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict(self, X: Any, **params: Any) -> Floats:
        """Predict the mean of the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            Passed to the members by scikit-learn's metadata routing, if that is enabled.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        table = self._checked(X)
        routed = self._route_params("predict", params)
        return self._members.average_outputs(table, self._predict_options(routed))

    def staged_predict(self, X: Any, **params: Any) -> Iterator[Floats]:
        """Yield `predict` of the first member, the first two, ..., all members.

        Every member predicts once, and one stage at a time is held in memory.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **params : dict
            As in `predict`.

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        table = self._checked(X)
        routed = self._route_params("predict", params)
        return self._members.iter_output_stages(table, self._predict_options(routed))

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        member = get_tags(self._resolve_estimator())
        tags.target_tags.multi_output = member.target_tags.multi_output
        return tags
