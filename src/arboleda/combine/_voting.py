"""Base class of voting classifiers and regressors, and the combination rules by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
)

from arboleda._engine.parallel import resolve_n_jobs
from arboleda._engine.target import check_total_weight
from arboleda._utils.sparse import check_sparse
from arboleda.combine._combination import Array, SavedCombination
from arboleda.combine._fits import MemberTraining, fit_members, folds_of
from arboleda.combine._fusion_rules import (
    AccuracyWeights,
    Floats,
    FusionRule,
    GeometricMean,
    InverseErrorMean,
    Majority,
    Mean,
    NaiveBayes,
    OrderStatistic,
)
from arboleda.combine._members import Named, check_routing, params_of_members
from arboleda.combine._outputs import MemberOutputs, compute_out_of_fold, with_encoded_class_weights
from arboleda.combine._target import check_held_out_weights, read_values, read_weights

__all__ = [
    "CLASS_RULES",
    "VALUE_RULES",
    "ClassRule",
    "ValueRule",
    "Voting",
    "are_weights",
    "combine_outputs",
    "labels_with_reject",
    "make_rule",
]


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


ClassRule = Literal[
    "majority", "weighted", "mean", "geometric", "median", "min", "max", "trimmed", "naive_bayes"
]
ValueRule = Literal["weighted", "mean", "median", "min", "max", "trimmed"]
_Maker = Callable[[Floats | None, float], FusionRule]

_LARGEST_WEIGHT = 1e300  # the sum of many such weights is still finite

_OF_BOTH: dict[str, _Maker] = {
    "mean": lambda weights, _: Mean(weights),
    "median": lambda weights, _: OrderStatistic(weights, "median"),
    "min": lambda weights, _: OrderStatistic(weights, "min"),
    "max": lambda weights, _: OrderStatistic(weights, "max"),
    "trimmed": lambda weights, trim: OrderStatistic(weights, "trimmed", trim),
}
CLASS_RULES: dict[str, _Maker] = {
    **_OF_BOTH,
    "majority": lambda weights, _: Majority(weights),
    "weighted": lambda weights, _: AccuracyWeights(weights),
    "geometric": lambda weights, _: GeometricMean(weights),
    "naive_bayes": lambda weights, _: NaiveBayes(weights),
}
VALUE_RULES: dict[str, _Maker] = {
    **_OF_BOTH,
    "weighted": lambda weights, _: InverseErrorMean(weights),
}


def make_rule(name: str, weights: Any, trim: float, *, classes: bool) -> FusionRule:
    """Make a rule.

    Parameters
    ----------
    name : str
    weights : array-like of shape (n_members,) or None
        Must be None for "weighted", which learns them.
    trim : float
        Share of the members that "trimmed" removes at each end.
    classes : bool
        Whether the members are classifiers.

    Raises
    ------
    ValueError
        If there is no such rule, or a weight is not finite.
    """
    makers = CLASS_RULES if classes else VALUE_RULES
    if name not in makers:
        kind = "classes" if classes else "values"
        raise ValueError(f"rule must be one of {sorted(makers)} to combine {kind}, got {name!r}")
    if weights is None:
        return makers[name](None, trim)
    if name == "weighted":
        raise ValueError(
            "rule='weighted' learns the weights of the members: set weights=None, or use "
            f"rule={'majority' if classes else 'mean'!r} with these weights"
        )
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError(f"weights must hold one finite number for each member, got {weights!r}")
    if np.abs(numbers).max(initial=0.0) > _LARGEST_WEIGHT:
        raise ValueError(
            f"weights={weights!r} have no finite sum: divide all of them by the same number"
        )
    return makers[name](numbers, trim)


def combine_outputs(
    outputs: MemberOutputs,
    rule: ClassRule = "mean",
    *,
    weights: Any = None,
    trim: float = 0.2,
    seen: MemberOutputs | None = None,
    y: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Floats:
    """Combine the outputs of members for each row.

    Parameters
    ----------
    outputs : MemberOutputs
        Outputs of the members; the array is not copied.
    rule : str, default="mean"
        For classifiers "majority", "weighted", "mean", "geometric", "median", "min", "max",
        "trimmed" or "naive_bayes"; for regressors all but "majority", "geometric" and
        "naive_bayes". See `VotingClassifier` and `VotingRegressor`.
    weights : array-like of shape (n_members,), default=None
        For "majority", "mean" and "geometric"; other rules support only 0, to leave a member out.
    trim : float, default=0.2
        Share of the members that "trimmed" removes at each end.
    seen : MemberOutputs, default=None
        Out-of-fold outputs of the same members, from which "weighted" and "naive_bayes" learn.
    y : array-like of shape (n_samples,), default=None
        Target of the whole table of ``seen``.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows of that table.
    n_jobs : int, default=None
        Number of threads; None: all cores. It does not change the result.

    Returns
    -------
    combined : ndarray of shape (n_rows, n_classes) or (n_rows,)
        Class probabilities, or values.

    Raises
    ------
    ValueError
        If there is no such rule, or ``seen`` or ``y`` is missing for a rule that learns.

    Examples
    --------
    >>> from arboleda.combine import combine_outputs, out_of_fold_outputs
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("near", KNeighborsClassifier())]
    >>> outputs = out_of_fold_outputs(members, X, y)
    >>> shares = combine_outputs(outputs, "geometric")
    >>> float((outputs.classes[shares.argmax(axis=1)] == y).mean().round(2))
    0.96
    """
    classes = outputs.classes
    combiner = make_rule(rule, weights, trim, classes=classes is not None)
    if combiner.learns:
        if seen is None or y is None:
            raise ValueError(
                f"rule={rule!r} learns from out-of-fold outputs: pass them as seen, and the "
                "target of their table as y"
            )
        combiner = _learn_rule(combiner, seen, y, sample_weight)
    n_classes = 1 if classes is None else len(classes)
    return combiner.shares(outputs.outputs, n_classes, resolve_n_jobs(n_jobs))


def _learn_rule(rule: FusionRule, seen: MemberOutputs, y: Any, sample_weight: Any) -> FusionRule:
    """Return the rule, learned from the rows that were predicted out of fold."""
    if len(y) != seen.n_table_rows:
        raise ValueError(f"y has {len(y)} rows, but the table of seen has {seen.n_table_rows}")
    check_consistent_length(y, sample_weight)
    if seen.classes is None:
        target: Array = read_values(y)
    else:
        labels = np.asarray(y)
        target = np.searchsorted(seen.classes, labels)
        target = np.minimum(target, len(seen.classes) - 1)
        unknown = seen.classes[target] != labels
        if unknown.any():
            raise ValueError(
                f"y holds {labels[unknown].tolist()[0]!r}, which is not a class of the members"
            )
    weight = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, target, dtype=np.float64)[seen.rows]
    return rule.learned(seen, target[seen.rows], weight)
