"""The combination rules by name, and their application to member outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from arboleda._engine.parallel import resolve_n_jobs
from arboleda.combine._fusion_rules import (
    AccuracyWeights,
    Array,
    Floats,
    FusionRule,
    GeometricMean,
    InverseErrorMean,
    Majority,
    Mean,
    NaiveBayes,
    OrderStatistic,
)
from arboleda.combine._outputs import MemberOutputs
from arboleda.combine._target import read_values

__all__ = ["CLASS_RULES", "VALUE_RULES", "ClassRule", "ValueRule", "combine_outputs", "make_rule"]

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
