"""Outputs of members as votes, put together in the order of the members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._out_of_bag import OobCurve
from arboleda.bagging._members import Member, each
from arboleda.bagging._tables import n_rows_of, rows_of

__all__ = [
    "Asking",
    "Floats",
    "Indices",
    "OutOfBag",
    "Voting",
    "mean_decision",
    "mean_output",
    "out_of_bag",
    "staged_decision",
    "staged_output",
    "votes_with",
]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Voting = Literal["soft", "hard"]


class Asking(NamedTuple):
    """How members are asked: ``n_classes`` is 0 for values."""

    n_classes: int
    voting: Voting
    n_jobs: int | None
    verbose: int
    params: dict[str, Any]

    @property
    def voting_of_trees(self) -> Voting:
        """How the engine's trees vote: values are averaged."""
        return self.voting if self.n_classes else "soft"


class OutOfBag(NamedTuple):
    """Sum of the outputs of the members that left a row out, their number, and the error so far."""

    sums: Floats
    counts: npt.NDArray[np.int64]
    curve: OobCurve


def votes_with(estimator: Any, voting: Voting) -> Literal["predict_proba", "predict"]:
    """Name of the method whose answer a classifier votes with."""
    soft = voting == "soft" and hasattr(estimator, "predict_proba")
    return "predict_proba" if soft else "predict"


def mean_output(members: Sequence[Member], X: Any, asking: Asking) -> Floats:
    """Mean over the members of their class shares, or of their values."""
    return _mean(_outputs(members, X, asking), len(members))


def staged_output(members: Sequence[Member], X: Any, asking: Asking) -> Iterator[Floats]:
    """Yield `mean_output` of the first member, the first two, ..., all members."""
    return _running_means(_outputs(members, X, asking))


def mean_decision(members: Sequence[Member], X: Any, asking: Asking) -> Floats:
    """Mean of the members' decision functions.

    Raises
    ------
    ValueError
        If a member did not see all classes, so that its decision function has another shape.
    """
    return _mean(_decisions(members, X, asking), len(members))


def staged_decision(members: Sequence[Member], X: Any, asking: Asking) -> Iterator[Floats]:
    """Yield `mean_decision` of the first member, the first two, ..., all members."""
    return _running_means(_decisions(members, X, asking))


def _outputs(members: Sequence[Member], X: Any, asking: Asking) -> Iterator[Floats]:
    return each(partial(_output, X=X, asking=asking), members, asking.n_jobs, asking.verbose)


def _decisions(members: Sequence[Member], X: Any, asking: Asking) -> Iterator[Floats]:
    for number, member in enumerate(members):
        seen = len(member.estimator.classes_)
        if seen != asking.n_classes:
            raise ValueError(
                f"the bag of member {number} held {seen} of the {asking.n_classes} classes, so the "
                "members' decision functions cannot be averaged: use predict_proba, or draw more "
                "rows (max_samples)"
            )
    ask = partial(_decision, X=X, params=asking.params)
    return each(ask, members, asking.n_jobs, asking.verbose)


def _mean(outputs: Iterator[Floats], n_members: int) -> Floats:
    total: Any = 0.0
    for output in outputs:  # in the order of the members: the same bits whatever n_jobs
        total = total + output
    mean: Floats = total / n_members
    return mean


def _running_means(outputs: Iterator[Floats]) -> Iterator[Floats]:
    total: Any = 0.0
    for number, output in enumerate(outputs, start=1):
        total = total + output
        yield total / number


def out_of_bag(
    members: Sequence[Member],
    left_out: Iterator[Indices],
    X: Any,
    target: npt.NDArray[Any],
    judged: npt.NDArray[np.bool_],
    asking: Asking,
) -> OutOfBag:
    """Ask every member for the rows that it left out.

    Parameters
    ----------
    left_out : iterator of ndarray of int
        For each member the numbers of these rows.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Numbers of classes, or values.
    judged : ndarray of bool of shape (n_rows,)
        The rows whose error counts.
    """
    n_rows = n_rows_of(X)
    width = asking.n_classes or (target.shape[1] if target.ndim == 2 else 1)
    sums, counts = np.zeros((n_rows, width)), np.zeros(n_rows, dtype=np.int64)
    error, n_judged = np.full(len(members), np.nan), np.zeros(len(members), dtype=np.int64)
    items = list(zip(members, left_out, strict=True))
    ask = partial(_left_out_output, X=X, asking=asking)
    outputs = each(ask, items, asking.n_jobs, asking.verbose)
    for number, ((_, rows), output) in enumerate(zip(items, outputs, strict=True)):
        sums[rows] += output.reshape(len(rows), width)
        counts[rows] += 1
        known = judged & (counts > 0)
        n_judged[number] = np.count_nonzero(known)
        if n_judged[number]:
            error[number] = _error(sums[known], counts[known], target[known], asking.n_classes)
    return OutOfBag(sums, counts, OobCurve(np.arange(1, len(members) + 1), error, n_judged))


def _error(
    sums: Floats, counts: npt.NDArray[np.int64], target: npt.NDArray[Any], n_classes: int
) -> float:
    means = sums / counts[:, np.newaxis]
    if n_classes:  # of the means, as in the score: sums may differ where these are equal
        return float(np.mean(means.argmax(axis=1) != target))
    return float(np.mean((means - target.reshape(means.shape)) ** 2))


def _left_out_output(item: tuple[Member, Indices], X: Any, asking: Asking) -> Floats:
    member, rows = item
    if len(rows) == 0:
        return np.zeros((0, 1))
    return _output(member, rows_of(X, rows), asking)


def _output(member: Member, X: Any, asking: Asking) -> Floats:
    if asking.n_classes == 0:
        return np.asarray(member.ask("predict", X, asking.params), dtype=np.float64)
    method = votes_with(member.estimator, asking.voting)
    answer = np.asarray(member.ask(method, X, asking.params))
    if method == "predict":
        votes = np.zeros((len(answer), asking.n_classes))
        votes[np.arange(len(answer)), answer.astype(np.intp)] = 1.0
        return votes
    if answer.shape[1] == asking.n_classes:
        return answer
    shares = np.zeros((len(answer), asking.n_classes))
    shares[:, np.asarray(member.estimator.classes_, dtype=np.intp)] = answer
    return shares


def _decision(member: Member, X: Any, params: dict[str, Any]) -> Floats:
    return np.asarray(member.ask("decision_function", X, params), dtype=np.float64)
