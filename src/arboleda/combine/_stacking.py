"""Stacked generalisation: a final model is fitted on out-of-fold predictions of the members."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn import get_config
from sklearn.base import TransformerMixin, clone, is_classifier, is_regressor
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_response_method,
    check_is_fitted,
    has_fit_parameter,
)

from arboleda._engine.shared_binning import take_rows
from arboleda._utils.sparse import check_sparse
from arboleda.combine._combination import FitInputs, LearnedCombination
from arboleda.combine._fits import predictions_by_fold
from arboleda.combine._members import Named, get_known_classes, places_of, predict_member
from arboleda.combine._saved_members import FinalPart, TemplatePart, Texts, WholeNumber
from arboleda.combine._target import explain_failure
from arboleda.combine._weighted_mean import Constraint, WeightedMean, constrained_weights
from arboleda.persist import Field, Maybe

__all__ = ["StackMethod", "Stacking", "final_has"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
StackMethod = Literal["auto", "predict_proba", "decision_function", "predict"]
_METHODS: list[str] = ["predict_proba", "decision_function", "predict"]
_FINAL = "final__estimator"  # cannot be the name of a member, because "__" is not allowed


class Stacking(TransformerMixin, WeightedMean):  # type: ignore[misc]
    """Base class of stacks: columns of member outputs, and a final estimator or weights."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **WeightedMean._fitted_attributes,
        "_n_columns": WholeNumber(),
        "final_estimator_": Maybe(FinalPart()),
        "stack_method_": Texts(),
    }
    _saved_parameters: ClassVar[dict[str, Field]] = {
        **WeightedMean._saved_parameters,
        "final_estimator": TemplatePart(),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LearnedCombination._parameter_constraints,
        "final_estimator": [None, HasMethods("fit")],
        "passthrough": ["boolean"],
        "verbose": ["verbose"],
        "weights": [None, StrOptions({"simplex", "nonnegative"})],
    }

    final_estimator: Any
    passthrough: bool
    verbose: int
    weights: Constraint | None
    final_estimator_: Any
    stack_method_: list[str]

    @abstractmethod
    def _wanted_method(self) -> StackMethod:
        """Return the method of the members that makes their columns."""

    @abstractmethod
    def _default_final(self) -> Any:
        """Return a new default final estimator."""

    def _defect(self) -> str | None:
        defect = super()._defect()
        if defect is not None:
            return defect
        if (self.weights is None) != hasattr(self, "final_estimator_"):
            return "there must be either a final estimator or the parameter weights"
        if (self.weights is None) == hasattr(self, "weights_"):
            return "there must be either a final estimator or learned weights"
        n_members = len(self.estimators_)
        if len(self._n_columns) != n_members or len(self.stack_method_) != n_members:
            return "the header does not list a method and columns for each member"
        for name, method in zip(self._names, self.stack_method_, strict=True):
            if method not in _METHODS or not hasattr(self.named_estimators_[name], method):
                return f"the member {name!r} does not have its method {method[:60]!r}"
        return self._defect_of_final()

    def _defect_of_final(self) -> str | None:
        final = getattr(self, "final_estimator_", None)
        if final is None:
            return None
        n_columns = sum(self._n_columns) + (self.n_features_in_ if self.passthrough else 0)
        if final.n_features_in_ != n_columns:
            return "the final estimator was fitted on a different number of columns"
        if is_classifier(self) != is_classifier(final):
            return "the final estimator and the stack are of different kinds"
        if is_classifier(final) and (
            isinstance(final.classes_, list)
            or not np.isin(final.classes_, np.arange(len(self.classes_))).all()
        ):
            return "the final estimator has classes that the stack does not have"
        return None

    def _new_final(self) -> Any:
        """Return a new final estimator, checked."""
        final = self._default_final()
        if self.final_estimator is None:
            return final
        kind, is_kind = (
            ("classifier", is_classifier) if is_classifier(final) else ("regressor", is_regressor)
        )
        if not is_kind(self.final_estimator):
            raise ValueError(
                f"'final_estimator' parameter should be a {kind}. Got {self.final_estimator}"
            )
        return clone(self.final_estimator)

    def _learn(self, inputs: FitInputs) -> None:
        self.__dict__.pop("final_estimator_", None)
        self.__dict__.pop("weights_", None)
        self.stack_method_ = [
            _find_method(name, member, self._wanted_method())
            for name, member in zip(self._names, self.estimators_, strict=True)
        ]
        if self.weights is None:
            self._fit_final(inputs)
        else:
            self._fit_weights(inputs, self.weights)

    def _check_members(self, members: list[Named]) -> None:
        """Refuse members that cannot be stacked before any of them is fitted.

        A final classifier can also learn from regressors; a mean of probabilities needs
        classifiers.
        """
        if self.weights is None:
            self._new_final()
            return
        if self.final_estimator is not None or self.passthrough:
            raise ValueError(
                f"weights={self.weights!r} takes the place of a final estimator and of passthrough "
                "columns: set final_estimator=None and passthrough=False, or weights=None"
            )
        super()._check_members(members)

    def _fit_weights(self, inputs: FitInputs, constraint: Constraint) -> None:
        held_out = self._held_out(inputs)
        width = (
            1 if held_out.classes is None or len(held_out.classes) == 2 else len(held_out.classes)
        )
        self._n_columns = [1 if m == "predict" else width for m in self.stack_method_]
        weight = inputs.weight[held_out.rows] if inputs.is_weighted else None
        self.weights_: Floats = constrained_weights(
            held_out.outputs, inputs.training.y[held_out.rows], constraint, weight
        )

    def _fit_final(self, inputs: FitInputs) -> None:
        final = self._new_final()
        training, folds = inputs.training, inputs.folds
        if folds is None:
            rows: npt.NDArray[np.intp] = np.arange(len(training.y))
            blocks = self._compute_blocks(training.X)
        else:
            rows = folds.rows
            blocks = _compute_out_of_fold_blocks(inputs, self._make_column_function())
        self._n_columns = [block.shape[1] for block in blocks]
        uses_all = not self.passthrough or len(rows) == len(training.y)
        seen = training.X if uses_all else take_rows(training.X, rows)
        params: dict[str, Any] = {}
        if inputs.is_weighted:
            params["sample_weight"] = inputs.weight[rows]
        if inputs.groups is not None and has_fit_parameter(final, "groups"):
            params["groups"] = np.asarray(inputs.groups)[rows]
        columns = self._join_blocks(blocks, seen)
        if not columns.shape[1]:
            raise ValueError(
                "y has a single label in every output, so the members' probabilities have no "
                "columns to learn from: use rows with other labels"
            )
        _fit_final_estimator(final, columns, training.y[rows], params, training.classes)
        self.final_estimator_ = final

    def _make_column_function(self) -> Callable[[Named, Any, Array | None], Floats]:
        return partial(
            _compute_columns, methods=dict(zip(self._names, self.stack_method_, strict=True))
        )

    def _compute_blocks(self, X: Any) -> list[Floats]:
        """Compute the columns of the fitted members."""
        check_sparse(X)
        compute_columns = self._make_column_function()
        classes = getattr(self, "classes_", None)
        blocks = []
        for named in zip(self._names, self.estimators_, strict=True):
            known = None if isinstance(classes, list) else classes
            if known is not None and not self._is_prefit:
                known = get_known_classes(named[1], known)
            blocks.append(compute_columns(named, X, known))
        return blocks

    def _join_blocks(self, blocks: Sequence[Floats], X: Any) -> Any:
        if not self.passthrough:
            return np.hstack(blocks)
        if scipy.sparse.issparse(X):
            return scipy.sparse.hstack([*blocks, X], format=X.format)
        return np.hstack([*blocks, np.asarray(X)])

    def _route_predict_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of the final estimator's ``predict``."""
        if not params or not get_config()["enable_metadata_routing"]:
            return params
        return dict(process_routing(self, "predict", **params)[_FINAL]["predict"])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata to members and the final estimator.

        Returns
        -------
        routing : MetadataRouter
            For ``fit`` of the members, ``split`` of a splitter passed as ``cv``, and ``predict`` of
            the final estimator.
        """
        router = super().get_metadata_routing()
        if self.final_estimator is not None:
            mapping = MethodMapping().add(caller="predict", callee="predict")
            router.add(**{_FINAL: self.final_estimator}, method_mapping=mapping)
        return router

    def transform(self, X: Any) -> Any:
        """Compute the columns that the final estimator learns from.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        columns : ndarray or sparse matrix of shape (n_samples, n_columns)
            Outputs of the members in their order, followed by the columns of X if
            ``passthrough=True``.
        """
        check_is_fitted(self)
        return self._join_blocks(self._compute_blocks(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of `transform`.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X, used if ``passthrough=True``.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        columns = _check_feature_names_in(self, input_features, generate_names=self.passthrough)
        kind = type(self).__name__.lower()
        names: list[str] = []
        for name, n_columns in zip(self._names, self._n_columns, strict=True):
            is_single = n_columns == 1
            names += [f"{kind}_{name}{'' if is_single else k}" for k in range(n_columns)]
        return np.asarray([*names, *columns] if self.passthrough else names, dtype=object)


def final_has(method: str) -> Callable[[Stacking], bool]:
    """Return a check for ``available_if``: whether the final estimator has a method."""

    def check(stack: Stacking) -> bool:
        if stack.weights is not None:
            return method != "decision_function"
        template = stack.final_estimator
        template = stack._default_final() if template is None else template
        getattr(getattr(stack, "final_estimator_", template), method)
        return True

    return check


def _fit_final_estimator(
    final: Any, columns: Any, y: Array, params: dict[str, Any], classes: Array | None
) -> None:
    """Fit a final estimator, adding the remedy to its error messages."""
    kind = type(final).__name__
    try:
        final.fit(columns, y, **params)
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" not in str(error):
            raise
        raise TypeError(
            f"the final estimator {kind} does not support sample weights: use another, or fit "
            "without sample_weight"
        ) from error
    except ValueError as error:
        if y.ndim == 2:
            cause = explain_failure("the final estimator", final, y, "the rows that it learns from")
            if cause is not None:
                raise ValueError(f"{cause} ({error})") from error
        if classes is None or np.ptp(y):
            raise
        raise ValueError(
            "all rows that the final estimator learns from are of class "
            f"{classes.tolist()[y[0]]!r}, which {kind} refuses ({error}): use rows of other "
            "classes, or a final estimator that can learn one class, such as a tree"
        ) from error


def _compute_out_of_fold_blocks(
    inputs: FitInputs, compute_columns: Callable[[Named, Any, Array | None], Floats]
) -> list[Floats]:
    """Compute the out-of-fold columns of the members, in the order of the rows."""
    folds = inputs.folds
    assert folds is not None
    blocks: dict[int, Floats] = {}
    for number, split, predicted in predictions_by_fold(
        inputs.members, inputs.training, folds, compute_columns
    ):
        if number not in blocks:
            blocks[number] = np.zeros((len(folds.rows), predicted.shape[1]))
        blocks[number][folds.places(split)] += predicted
    return [blocks[number] / folds.times[:, None] for number in range(len(inputs.members))]


def _find_method(name: str, member: Any, requested: StackMethod) -> str:
    try:
        method = _check_response_method(member, _METHODS if requested == "auto" else requested)
    except AttributeError as error:
        raise ValueError(
            f"Underlying estimator {name} does not implement the method {requested}: set "
            "stack_method='auto', or replace the member"
        ) from error
    return str(method.__name__)


def _compute_columns(
    named: Named, X: Any, classes: Array | None, *, methods: dict[str, str]
) -> Floats:
    """Compute the columns of a fitted member by its method."""
    name, member = named
    method = methods[name]
    if method == "predict_proba" and classes is not None:
        shares = predict_member(named, X, classes, votes=False)
        return shares[:, 1:] if len(classes) == 2 else shares
    if method == "decision_function" and classes is not None:
        return _compute_decisions(named, X, classes)
    predicted = np.asarray(member.predict(X))
    if classes is not None and predicted.dtype.kind not in "fiub":
        predicted = places_of(name, predicted, classes)  # labels of a prefitted member
    if predicted.ndim != 1:
        raise ValueError(
            f"the member {name!r} predicts an array of shape {predicted.shape}: use members with a "
            "single target"
        )
    return predicted.astype(np.float64)[:, None]


def _compute_decisions(named: Named, X: Any, classes: Array) -> Floats:
    """Compute decision values; a class that the member does not have gets its smallest value."""
    name, member = named
    decisions = np.asarray(member.decision_function(X), dtype=np.float64)
    known = np.asarray(getattr(member, "classes_", classes))
    if len(known) == len(classes) or len(classes) == 2:
        return decisions[:, None] if decisions.ndim == 1 else decisions
    if decisions.ndim == 1:
        decisions = np.column_stack([-decisions, decisions])
    if decisions.shape[1] != len(known):
        raise ValueError(
            f"the member {name!r} has not seen all classes in a fold, and its decision function is "
            "for pairs of classes: use fewer folds, or stack_method='predict'"
        )
    full = np.full((len(decisions), len(classes)), decisions.min(initial=0.0))
    full[:, np.searchsorted(classes, known)] = decisions
    return full
