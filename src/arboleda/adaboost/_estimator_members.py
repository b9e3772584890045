"""Members of any kind: fitted one after the other, and kept as they are."""

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
from arboleda.bagging._tables import checked_table, n_rows_of, rows_of

Round = tuple[Any, ...]  # its members


@dataclass(frozen=True)
class MemberFitter:
    """Fits clones of an estimator to lessons: on weighted rows, or on rows drawn by their weights.

    Parameters
    ----------
    template : estimator
    X : array, frame or sparse matrix
        The rows to learn from.
    trimming : float or None
        Share of the weight that the lightest rows, which are left out, may have.
    random : RandomState
        Seeds of the members, and draws.
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
        n_rows = n_rows_of(self.X)
        drawn = self.random.choice(n_rows, size=n_rows, p=weight / weight.sum())
        try:
            return member.fit(rows_of(self.X, drawn), target[drawn])
        except ValueError as error:
            if len(np.unique(target[drawn])) == 1 and len(np.unique(target)) > 1:
                raise ValueError(
                    f"rows drawn by their weights were of one class alone, which "
                    f"{type(member).__name__} refuses ({error}): it takes no sample_weight, so it "
                    "learns from drawn rows. Give members that take weights, or that can learn one "
                    "class, such as trees"
                ) from error
            raise


@dataclass(frozen=True, eq=False)
class EstimatorMembers:
    """Fitted members of each round, and how they vote.

    ``max_votes`` holds the largest vote of each round for a training row, times the size of its weight.
    """

    algorithm: Algorithm
    labels: npt.NDArray[Any]
    members: Sequence[Round]
    rounds: RoundRecords
    max_votes: Floats

    def __len__(self) -> int:
        return len(self.members)

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Check a table as the members take it."""
        return checked_table(ensemble, X, reset=False)

    def estimators(self, algorithm: Algorithm) -> Any:
        """Return the members as they were fitted; a row for each round that has several."""
        if all(len(members) == 1 for members in self.members):
            return [members[0] for members in self.members]
        return np.array(self.members, dtype=object)

    def sums(self, X: Any, n_threads: int) -> Floats:
        """Sums of the weighted votes for rows; the members have threads of their own."""
        sums = np.zeros((n_rows_of(X), 1))
        for so_far in self.staged_sums(X, n_threads):
            sums = so_far
        return sums

    def staged_sums(self, X: Any, n_threads: int) -> Iterator[Floats]:
        """Sums of the votes of the first 1, 2, .. rounds."""
        sums: Any = 0.0
        for members, weight in zip(self.members, self.rounds.weight, strict=True):
            sums = sums + weight * self.algorithm.compute_votes(members, X, self.labels)
            yield sums

    def first(self, n_rounds: int) -> EstimatorMembers:
        """Return the first rounds alone."""
        kept = self.rounds.first(n_rounds)
        members, max_votes = self.members[:n_rounds], self.max_votes[:n_rounds]
        return EstimatorMembers(self.algorithm, self.labels, members, kept, max_votes)

    @property
    def importances(self) -> Floats:
        """Mean of the members' importances of the columns, weighted as their votes."""
        shares = np.array(
            [
                np.mean([member.feature_importances_ for member in members], axis=0)
                for members in self.members
            ]
        )
        # "MH" gives negative weights to answers that are wrong more than right.
        weight = np.abs(self.rounds.weight)
        if not weight.any():
            return np.zeros(shares.shape[1])
        found: Floats = weight @ shares / weight.sum()
        return found
