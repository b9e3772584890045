"""Stacked generalisation: a second model learns from what the first ones say out of fold."""

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
from arboleda._sparse import check_sparse
from arboleda.combine._constrained_weights import Constraint, constrained_weights
from arboleda.combine._fits import predictions_by_fold
from arboleda.combine._learned import Given, LearnedCombination
from arboleda.combine._members import Named, answer_of, classes_known_to, places_of
from arboleda.combine._multilabel import explain_failure
from arboleda.combine._saved_members import FinalPart, TemplatePart, Texts, Whole
from arboleda.combine._weighted_mean import WeightedMean
from arboleda.persist import Field, Maybe

__all__ = ["StackMethod", "Stacking", "final_has"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
StackMethod = Literal["auto", "predict_proba", "decision_function", "predict"]
_METHODS: list[str] = ["predict_proba", "decision_function", "predict"]
_FINAL = "final__estimator"  # no member has such a name: "__" is refused


class Stacking(TransformerMixin, WeightedMean):  # type: ignore[misc]
    """What both kinds share: columns of what members say, and what learns from them."""

    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **WeightedMean._fitted_attributes,
        "_n_columns": Whole(),
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
        """Return what members are asked for."""

    @abstractmethod
    def _default_final(self) -> Any:
        """Return a new final estimator of the kind taken if none is given."""

    def _defect(self) -> str | None:
        defect = super()._defect()
        if defect is not None:
            return defect
        if (self.weights is None) != hasattr(self, "final_estimator_"):
            return "there is a final estimator where weights are, or neither"
        if (self.weights is None) == hasattr(self, "weights_"):
            return "there are weights where a final estimator is, or neither"
        n_members = len(self.estimators_)
        if len(self._n_columns) != n_members or len(self.stack_method_) != n_members:
            return "the header does not say of each member what it is asked for"
        for name, method in zip(self._names, self.stack_method_, strict=True):
            if method not in _METHODS or not hasattr(self.named_estimators_[name], method):
                return f"the member {name!r} is asked for what it does not have"
        return self._defect_of_final()

    def _defect_of_final(self) -> str | None:
        final = getattr(self, "final_estimator_", None)
        if final is None:
            return None
        n_columns = sum(self._n_columns) + (self.n_features_in_ if self.passthrough else 0)
        if final.n_features_in_ != n_columns:
            return "the final estimator knows another number of columns than the members answer"
        if is_classifier(self) != is_classifier(final):
            return "the final estimator is of another kind than the stack"
        if is_classifier(final) and (
            isinstance(final.classes_, list)
            or not np.isin(final.classes_, np.arange(len(self.classes_))).all()
        ):
            return "the final estimator knows classes that the stack does not know"
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

    def _learn(self, given: Given) -> None:
        self.__dict__.pop("final_estimator_", None)
        self.__dict__.pop("weights_", None)
        self.stack_method_ = [
            _method_of(name, member, self._wanted_method())
            for name, member in zip(self._names, self.estimators_, strict=True)
        ]
        if self.weights is None:
            self._fit_final(given)
        else:
            self._weigh(given, self.weights)

    def _check_members(self, members: list[Named]) -> None:
        """Refuse what cannot be stacked before any member is fitted.

        A final classifier may learn from regressors too; a mean of probabilities is of classifiers.
        """
        if self.weights is None:
            self._new_final()
            return
        if self.final_estimator is not None or self.passthrough:
            raise ValueError(
                f"weights={self.weights!r} takes the place of a final estimator and of the columns "
                "of X: leave final_estimator=None and passthrough=False, or set weights=None"
            )
        super()._check_members(members)

    def _weigh(self, given: Given, constraint: Constraint) -> None:
        found = self._held_out(given)
        width = 1 if found.classes is None or len(found.classes) == 2 else len(found.classes)
        self._n_columns = [1 if m == "predict" else width for m in self.stack_method_]
        weight = given.weight[found.rows] if given.is_weighted else None
        self.weights_ = constrained_weights(
            found.outputs, given.training.y[found.rows], constraint, weight
        )

    def _fit_final(self, given: Given) -> None:
        final = self._new_final()
        training, folds = given.training, given.folds
        if folds is None:
            rows: npt.NDArray[np.intp] = np.arange(len(training.y))
            blocks = self._blocks(training.X)
        else:
            rows = folds.rows
            blocks = _blocks_by_fold(given, self._ask_by_method())
        self._n_columns = [block.shape[1] for block in blocks]
        whole = not self.passthrough or len(rows) == len(training.y)
        seen = training.X if whole else take_rows(training.X, rows)
        params: dict[str, Any] = {}
        if given.is_weighted:
            params["sample_weight"] = given.weight[rows]
        if given.groups is not None and has_fit_parameter(final, "groups"):
            params["groups"] = np.asarray(given.groups)[rows]
        columns = self._joined(blocks, seen)
        if not columns.shape[1]:
            raise ValueError(
                "y has a single label in every output, so the members' probabilities hold nothing "
                "to learn from: give rows with other labels"
            )
        _fit_or_tell(final, columns, training.y[rows], params, training.classes)
        self.final_estimator_ = final

    def _ask_by_method(self) -> Callable[[Named, Any, Array | None], Floats]:
        return partial(_columns, methods=dict(zip(self._names, self.stack_method_, strict=True)))

    def _blocks(self, X: Any) -> list[Floats]:
        """What the fitted members say of rows, as columns."""
        check_sparse(X)
        ask = self._ask_by_method()
        classes = getattr(self, "classes_", None)
        blocks = []
        for named in zip(self._names, self.estimators_, strict=True):
            known = None if isinstance(classes, list) else classes
            if known is not None and not self._is_prefit:
                known = classes_known_to(named[1], known)
            blocks.append(ask(named, X, known))
        return blocks

    def _joined(self, blocks: Sequence[Floats], X: Any) -> Any:
        if not self.passthrough:
            return np.hstack(blocks)
        if scipy.sparse.issparse(X):
            return scipy.sparse.hstack([*blocks, X], format=X.format)
        return np.hstack([*blocks, np.asarray(X)])

    def _for_final(self, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters for the final estimator's ``predict``."""
        if not params or not get_config()["enable_metadata_routing"]:
            return params
        return dict(process_routing(self, "predict", **params)[_FINAL]["predict"])

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell scikit-learn which metadata goes to which member.

        Returns
        -------
        routing : MetadataRouter
            Of the members' ``fit``, of the ``split`` of a splitter given as ``cv``, and of the
            final estimator's ``predict``.
        """
        router = super().get_metadata_routing()
        if self.final_estimator is not None:
            mapping = MethodMapping().add(caller="predict", callee="predict")
            router.add(**{_FINAL: self.final_estimator}, method_mapping=mapping)
        return router

    def transform(self, X: Any) -> Any:
        """What the members say of rows, side by side: what the final estimator sees.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        columns : ndarray or sparse matrix of shape (n_samples, n_columns)
            The members in their order, the columns of X after them with ``passthrough=True``.
        """
        check_is_fitted(self)
        return self._joined(self._blocks(X), X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the columns of X, for ``passthrough=True``.

        Returns
        -------
        names : ndarray of str
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features, generate_names=self.passthrough)
        kind = type(self).__name__.lower()
        names: list[str] = []
        for name, n_columns in zip(self._names, self._n_columns, strict=True):
            one = n_columns == 1
            names += [f"{kind}_{name}{'' if one else number}" for number in range(n_columns)]
        return np.asarray([*names, *given] if self.passthrough else names, dtype=object)


def final_has(method: str) -> Callable[[Stacking], bool]:
    """Whether a stack has a method that its final estimator has, for ``available_if``."""

    def check(stack: Stacking) -> bool:
        if stack.weights is not None:
            return method != "decision_function"
        given = stack.final_estimator
        known = stack._default_final() if given is None else given
        getattr(getattr(stack, "final_estimator_", known), method)
        return True

    return check


def _fit_or_tell(
    final: Any, columns: Any, y: Array, params: dict[str, Any], classes: Array | None
) -> None:
    """Fit a final estimator; what it refuses is told with the remedy."""
    kind = type(final).__name__
    try:
        final.fit(columns, y, **params)
    except TypeError as error:
        if "unexpected keyword argument 'sample_weight'" not in str(error):
            raise
        raise TypeError(
            f"the final estimator {kind} does not support sample weights: take another, or give no "
            "sample_weight"
        ) from error
    except ValueError as error:
        if y.ndim == 2:
            cause = explain_failure("the final estimator", final, y, "the rows that it learns from")
            if cause is not None:
                raise ValueError(f"{cause} ({error})") from error
        if classes is None or np.ptp(y):
            raise
        raise ValueError(
            "all rows that the final estimator is to learn from are of class "
            f"{classes.tolist()[y[0]]!r}, which {kind} refuses ({error}): give rows of other "
            "classes, or a final estimator that can learn one class, such as a tree"
        ) from error


def _blocks_by_fold(
    given: Given, ask: Callable[[Named, Any, Array | None], Floats]
) -> list[Floats]:
    """What members say of rows that they did not learn from, in the order of the rows."""
    folds = given.folds
    assert folds is not None
    blocks: dict[int, Floats] = {}
    for number, split, said in predictions_by_fold(given.members, given.training, folds, ask):
        if number not in blocks:
            blocks[number] = np.zeros((len(folds.rows), said.shape[1]))
        blocks[number][folds.places(split)] += said
    return [blocks[number] / folds.times[:, None] for number in range(len(given.members))]


def _method_of(name: str, member: Any, wanted: StackMethod) -> str:
    try:
        method = _check_response_method(member, _METHODS if wanted == "auto" else wanted)
    except AttributeError as error:
        raise ValueError(
            f"Underlying estimator {name} does not implement the method {wanted}: leave "
            "stack_method='auto', or replace the member"
        ) from error
    return str(method.__name__)


def _columns(named: Named, X: Any, classes: Array | None, *, methods: dict[str, str]) -> Floats:
    """What a fitted member says of rows by the method wanted of it, as columns."""
    name, member = named
    method = methods[name]
    if method == "predict_proba" and classes is not None:
        shares = answer_of(named, X, classes, votes=False)
        return shares[:, 1:] if len(classes) == 2 else shares
    if method == "decision_function" and classes is not None:
        return _decisions(named, X, classes)
    said = np.asarray(member.predict(X))
    if classes is not None and said.dtype.kind not in "fiub":
        said = places_of(name, said, classes)  # labels of a member that was fitted before
    if said.ndim != 1:
        raise ValueError(
            f"the member {name!r} predicts an array of shape {said.shape}: members of one target "
            "are needed"
        )
    return said.astype(np.float64)[:, None]


def _decisions(named: Named, X: Any, classes: Array) -> Floats:
    """Decision values; a class that the member does not know is as unlikely as anything it says."""
    name, member = named
    said = np.asarray(member.decision_function(X), dtype=np.float64)
    known = np.asarray(getattr(member, "classes_", classes))
    if len(known) == len(classes) or len(classes) == 2:
        return said[:, None] if said.ndim == 1 else said
    if said.ndim == 1:
        said = np.column_stack([-said, said])
    if said.shape[1] != len(known):
        raise ValueError(
            f"the member {name!r} has not seen all classes in a fold and decides between pairs of "
            "them: use fewer folds, or stack_method='predict'"
        )
    full = np.full((len(said), len(classes)), said.min(initial=0.0))
    full[:, np.searchsorted(classes, known)] = said
    return full
