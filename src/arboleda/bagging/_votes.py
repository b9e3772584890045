"""Votes and predictions of members, and weights by the quality of members."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._base.held_out import (
    OobCurve,
    ScaledError,
    inverse_error_weights,
    log_odds,
    mean_squared_error,
)
from arboleda._base.members import rows_of
from arboleda.bagging._members import Member, each

__all__ = [
    "Floats",
    "Indices",
    "MemberOutput",
    "OutOfBag",
    "PredictOptions",
    "Voting",
    "aggregate_out_of_bag",
    "average_decisions",
    "average_outputs",
    "choose_vote_method",
    "compute_quality_weights",
    "compute_running_totals",
    "iter_decision_stages",
    "iter_output_stages",
    "iter_outputs_on_rows",
]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Voting = Literal["soft", "hard"]
MemberOutput = tuple[Indices, Floats]  # rows, and votes or values of a member for these


class PredictOptions(NamedTuple):
    """Options of predictions by members; ``n_classes`` is 0 for regression."""

    n_classes: int
    voting: Voting
    n_jobs: int | None
    verbose: int
    params: dict[str, Any]

    @property
    def voting_of_trees(self) -> Voting:
        """Voting of the engine's trees, which average values."""
        return self.voting if self.n_classes else "soft"


class OutOfBag(NamedTuple):
    """Sums and counts of the outputs of members that left out each row, and the error curve.

    With weights, these are weighted sums and sums of weights.
    """

    sums: Floats
    counts: npt.NDArray[np.int64] | Floats
    curve: OobCurve


def choose_vote_method(estimator: Any, voting: Voting) -> Literal["predict_proba", "predict"]:
    """Return the name of the method that provides the votes of a classifier."""
    soft = voting == "soft" and hasattr(estimator, "predict_proba")
    return "predict_proba" if soft else "predict"


def average_outputs(
    members: Sequence[Member], X: Any, options: PredictOptions, weights: Floats | None = None
) -> Floats:
    """Average the class probabilities or values of the members.

    ``weights``, which sum to 1, give a weighted mean; members of weight 0 are not called.
    """
    kept, weights = _select_voters(len(members), weights)
    return _average(_iter_outputs([members[i] for i in kept], X, options), len(kept), weights)


def iter_output_stages(
    members: Sequence[Member], X: Any, options: PredictOptions, weights: Floats | None = None
) -> Iterator[Floats]:
    """Yield `average_outputs` of the first member, the first two, ..., all members."""
    return _iter_running_means(_iter_outputs(members, X, options), weights)


def average_decisions(
    members: Sequence[Member], X: Any, options: PredictOptions, weights: Floats | None = None
) -> Floats:
    """Average the decision functions of the members, with weights as in `average_outputs`.

    Raises
    ------
    ValueError
        If a member was not fitted on all classes, so its decision function has another shape.
    """
    kept, weights = _select_voters(len(members), weights)
    voters = [members[i] for i in kept]
    return _average(_iter_decisions(voters, X, options, kept), len(kept), weights)


def iter_decision_stages(
    members: Sequence[Member], X: Any, options: PredictOptions, weights: Floats | None = None
) -> Iterator[Floats]:
    """Yield `average_decisions` of the first member, the first two, ..., all members."""
    return _iter_running_means(_iter_decisions(members, X, options, range(len(members))), weights)


def compute_running_totals(weights: Floats) -> list[float]:
    """Compute the sums of the first weight, the first two, ..., all of them, which is 1."""
    totals: list[float] = np.cumsum(weights).tolist()
    return [*totals[:-1], 1.0]


def _select_voters(n_members: int, weights: Floats | None) -> tuple[Sequence[int], Floats | None]:
    """Return the indices and weights of the members of positive weight."""
    if weights is None:
        return range(n_members), None
    voting = np.flatnonzero(weights)
    return voting.tolist(), weights[voting]


def _iter_outputs(members: Sequence[Member], X: Any, options: PredictOptions) -> Iterator[Floats]:
    return each(
        partial(_predict_member, X=X, options=options), members, options.n_jobs, options.verbose
    )


def _iter_decisions(
    members: Sequence[Member], X: Any, options: PredictOptions, numbers: Iterable[int]
) -> Iterator[Floats]:
    for number, member in zip(numbers, members, strict=True):
        n_seen = len(member.estimator.classes_)
        if n_seen != options.n_classes:
            raise ValueError(
                f"The bag of member {number} holds {n_seen} of the {options.n_classes} classes, so "
                "the decision functions of the members cannot be averaged: use predict_proba, or "
                "draw more rows (max_samples)."
            )
    call = partial(_predict_decision, X=X, params=options.params)
    return each(call, members, options.n_jobs, options.verbose)


def _average(outputs: Iterator[Floats], n_members: int, weights: Floats | None) -> Floats:
    total: Any = 0.0
    if weights is not None:
        for weight, output in zip(weights.tolist(), outputs, strict=True):
            total = total + weight * output
        weighted: Floats = total
        return weighted
    for output in outputs:  # in the order of the members: the result does not depend on n_jobs
        total = total + output
    mean: Floats = total / n_members
    return mean


def _iter_running_means(outputs: Iterator[Floats], weights: Floats | None) -> Iterator[Floats]:
    total: Any = 0.0
    if weights is None:
        for number, output in enumerate(outputs, start=1):
            total = total + output
            yield total / number
        return
    unweighted: Any = 0.0  # sum of the first members while all of them have weight 0
    parts = zip(weights.tolist(), compute_running_totals(weights), outputs, strict=True)
    for number, (weight, so_far, output) in enumerate(parts, start=1):
        if weight > 0.0:
            total = total + weight * output
        elif so_far == 0.0:
            unweighted = unweighted + output
            yield unweighted / number
            continue
        yield total / so_far


def iter_outputs_on_rows(
    members: Sequence[Member], rows_of_members: Iterable[Indices], X: Any, options: PredictOptions
) -> Iterator[MemberOutput]:
    """Yield for each member its rows of ``rows_of_members`` and its outputs for these."""
    items = list(zip(members, rows_of_members, strict=True))
    call = partial(_predict_member_on_rows, X=X, options=options)
    outputs = each(call, items, options.n_jobs, options.verbose)
    for (_, rows), output in zip(items, outputs, strict=True):
        yield rows, output


def aggregate_out_of_bag(
    outputs: Iterator[MemberOutput],
    n_members: int,
    target: npt.NDArray[Any],
    is_scored: npt.NDArray[np.bool_],
    n_classes: int,
    weights: Floats | None = None,
) -> OutOfBag:
    """Aggregate the outputs of the members for the rows that they left out.

    Parameters
    ----------
    outputs : iterator of (rows, outputs)
        For each member, the left-out rows and its outputs for these.
    n_members : int
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class indices, or values.
    is_scored : ndarray of bool of shape (n_rows,)
        Whether the error of a row counts.
    n_classes : int
        0 for regression.
    weights : ndarray of shape (n_members,), or None
        Weights of the members; rows that only members of weight 0 left out have no prediction.
    """
    n_rows = len(target)
    width = n_classes or (target.shape[1] if target.ndim == 2 else 1)
    sums = np.zeros((n_rows, width))
    counts: Any = np.zeros(n_rows, dtype=np.int64 if weights is None else np.float64)
    error, n_scored = np.full(n_members, np.nan), np.zeros(n_members, dtype=np.int64)
    for number, (rows, output) in enumerate(outputs):
        outputs_of_rows = output.reshape(len(rows), width)
        if weights is None:
            sums[rows] += outputs_of_rows
            counts[rows] += 1
        elif weights[number] > 0.0:
            sums[rows] += weights[number] * outputs_of_rows
            counts[rows] += weights[number]
        known = is_scored & (counts > 0)
        n_scored[number] = np.count_nonzero(known)
        if n_scored[number]:
            error[number] = _compute_error(sums[known], counts[known], target[known], n_classes)
    return OutOfBag(sums, counts, OobCurve(np.arange(1, n_members + 1), error, n_scored))


def _compute_error(
    sums: Floats, counts: npt.NDArray[Any], target: npt.NDArray[Any], n_classes: int
) -> float:
    means = sums / counts[:, np.newaxis]
    if n_classes:  # compare means, as the score does: equal means may have different sums
        return float(np.mean(means.argmax(axis=1) != target))
    return float(np.mean((means - target.reshape(means.shape)) ** 2))


def _predict_member_on_rows(
    item: tuple[Member, Indices], X: Any, options: PredictOptions
) -> Floats:
    member, rows = item
    if len(rows) == 0:
        return np.zeros((0, 1))
    return _predict_member(member, rows_of(X, rows), options)


def _predict_member(member: Member, X: Any, options: PredictOptions) -> Floats:
    if options.n_classes == 0:
        return np.asarray(member.call("predict", X, options.params), dtype=np.float64)
    method = choose_vote_method(member.estimator, options.voting)
    predicted = np.asarray(member.call(method, X, options.params))
    if method == "predict":
        votes = np.zeros((len(predicted), options.n_classes))
        votes[np.arange(len(predicted)), predicted.astype(np.intp)] = 1.0
        return votes
    if predicted.shape[1] == options.n_classes:
        return predicted
    shares = np.zeros((len(predicted), options.n_classes))
    shares[:, np.asarray(member.estimator.classes_, dtype=np.intp)] = predicted
    return shares


def _predict_decision(member: Member, X: Any, params: dict[str, Any]) -> Floats:
    return np.asarray(member.call("decision_function", X, params), dtype=np.float64)


def compute_quality_weights(
    outputs: Iterator[MemberOutput], target: npt.NDArray[Any], n_classes: int
) -> Floats | None:
    """Compute weights of the members, which sum to 1.

    The weight of a classifier is max(0, log(p / (1 - p)) + log(K - 1)), where p is the accuracy and
    K the number of classes; that of a regressor is 1 / mean squared error. Both are normalized. A
    member without evaluation rows gets the mean weight of the others.

    Parameters
    ----------
    outputs : iterator of (rows, outputs)
        For each member, rows it was not trained on, and its votes or values for these.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class indices, or values.
    n_classes : int
        0 for regression.

    Returns
    -------
    weights : ndarray of shape (n_members,), or None
        None if the members cannot be ranked and have the same weight.

    Warns
    -----
    UserWarning
        If no member has evaluation rows, or none is better than random guessing.
    """
    raw = (
        _weigh_classifiers(outputs, target, n_classes)
        if n_classes
        else _weigh_regressors(outputs, target)
    )
    is_measured = ~np.isnan(raw)
    if not is_measured.any():
        warnings.warn(
            "No member left a row out, so their quality is unknown and all have the same weight: "
            "use more rows or more members.",
            stacklevel=2,
        )
        return None
    if not raw[is_measured].any():
        warnings.warn(
            "No member is better than random guessing on rows it was not trained on, so all "
            "weights would be 0: the members get the same weight.",
            stacklevel=2,
        )
        return None
    filled = np.where(is_measured, raw, raw[is_measured].mean())
    weights: Floats = filled / filled.sum()
    return weights


def _weigh_classifiers(
    outputs: Iterator[MemberOutput], target: npt.NDArray[Any], n_classes: int
) -> Floats:
    """Compute log-odds of the accuracies, NaN for members without rows."""
    n_right, n_rows = [], []
    for rows, votes in outputs:
        n_rows.append(len(rows))
        n_right.append(np.count_nonzero(votes.argmax(axis=1) == target[rows]) if len(rows) else 0)
    sizes = np.array(n_rows)
    weights = np.full(len(sizes), np.nan)
    measured = np.flatnonzero(sizes)
    accuracy = np.array(n_right)[measured] / sizes[measured]
    odds = log_odds(accuracy, sizes[measured]) + math.log(max(1, n_classes - 1))
    weights[measured] = np.maximum(odds, 0.0)
    return weights


def _weigh_regressors(outputs: Iterator[MemberOutput], target: npt.NDArray[Any]) -> Floats:
    """Compute inverse mean squared errors up to a factor, NaN for members without rows."""
    errors: list[ScaledError] = []
    measured = []
    n_members = 0
    for number, (rows, values) in enumerate(outputs):
        n_members = number + 1
        if not len(rows):
            continue
        if not np.isfinite(values).all():
            raise ValueError(
                f"Member {number} predicts an infinite value or NaN for a row it was not trained "
                "on, so its error is undefined: set weights='uniform', or use another estimator."
            )
        errors.append(mean_squared_error(values, target[rows].reshape(values.shape), None))
        measured.append(number)
    weights = np.full(n_members, np.nan)
    if measured:
        weights[measured] = inverse_error_weights(errors)
    return weights
