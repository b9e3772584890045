"""Members that are clones of any estimator, fitted one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from arboleda.adaboost._algorithms import Algorithm, Floats, MemberTask
from arboleda.adaboost._rounds import RoundRecords
from arboleda.adaboost._trimming import trim_weights
from arboleda.bagging._members import set_random_states
from arboleda.bagging._routing import takes_weight
from arboleda.bagging._tables import checked_table, resolve_row_count, rows_of

Round = tuple[Any, ...]  # members of the round


@dataclass(frozen=True)
class MemberFitter:
    """Fitter of clones of an estimator, on weighted rows or on rows drawn by weight.

    Parameters
    ----------
    template : estimator
    X : array, frame or sparse matrix
        Training rows.
    trimming : float or None
        Share of the total weight that the left-out rows of least weight may have.
    random : RandomState
        Source of the random seeds of the members and of the drawn rows.
    """

    template: Any
    X: Any
    trimming: float | None
    random: np.random.RandomState

    def fit_round(self, tasks: Sequence[MemberTask]) -> Round:
        """Fit the members of one round."""
        return tuple(self._fit_member(task) for task in tasks)

    def _fit_member(self, task: MemberTask) -> Any:
        member = clone(self.template)
        set_random_states(member, self.random)
        weight = task.weight
        if self.trimming:
            weight = trim_weights(weight, self.trimming)
        target = task.target
        if takes_weight(self.template):
            return member.fit(self.X, target, sample_weight=weight)
        n_rows = resolve_row_count(self.X)
        drawn = self.random.choice(n_rows, size=n_rows, p=weight / weight.sum())
        try:
            return member.fit(rows_of(self.X, drawn), target[drawn])
        except ValueError as error:
            if len(np.unique(target[drawn])) == 1 and len(np.unique(target)) > 1:
                raise ValueError(
                    f"{type(member).__name__} failed on rows of a single class ({error}): its fit "
                    "takes no sample_weight, so rows are drawn by weight. Use an estimator that "
                    "takes sample_weight, or that accepts a single class, such as a tree."
                ) from error
            raise


@dataclass(frozen=True, eq=False)
class EstimatorMembers:
    """Fitted members of each round, with their votes.

    ``max_votes`` holds the largest vote of each round for a training row, multiplied by the
    absolute weight of the round.
    """

    algorithm: Algorithm
    labels: npt.NDArray[Any]
    members: Sequence[Round]
    rounds: RoundRecords
    max_votes: Floats

    def __len__(self) -> int:
        return len(self.members)

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Validate a table for the members."""
        return checked_table(ensemble, X, reset=False)

    def estimators(self, algorithm: Algorithm) -> Any:
        """Return the fitted members, as an array if rounds have several members."""
        if all(len(members) == 1 for members in self.members):
            return [members[0] for members in self.members]
        return np.array(self.members, dtype=object)

    def sums(self, X: Any, n_threads: int) -> Floats:
        """Compute the sums of the weighted votes; members use their own threads."""
        sums = np.zeros((resolve_row_count(X), 1))
        for so_far in self.staged_sums(X, n_threads):
            sums = so_far
        return sums

    def staged_sums(self, X: Any, n_threads: int) -> Iterator[Floats]:
        """Yield the sums of the weighted votes after each round."""
        sums: Any = 0.0
        for members, weight in zip(self.members, self.rounds.weight, strict=True):
            sums = sums + weight * self.algorithm.compute_votes(members, X, self.labels)
            yield sums

    def first(self, n_rounds: int) -> EstimatorMembers:
        """Return the members of the first rounds."""
        kept = self.rounds.first(n_rounds)
        members, max_votes = self.members[:n_rounds], self.max_votes[:n_rounds]
        return EstimatorMembers(self.algorithm, self.labels, members, kept, max_votes)

    @property
    def importances(self) -> Floats:
        """Mean feature importances of the members, weighted as their votes."""
        shares = np.array(
            [
                np.mean([member.feature_importances_ for member in members], axis=0)
                for members in self.members
            ]
        )
        # "MH" gives negative weights to members that are wrong more often than right.
        weight = np.abs(self.rounds.weight)
        if not weight.any():
            return np.zeros(shares.shape[1])
        importances: Floats = weight @ shares / weight.sum()
        return importances
