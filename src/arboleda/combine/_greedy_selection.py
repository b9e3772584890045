"""Greedy choice of an ensemble from a library of members.

References
----------
R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004), "Ensemble selection from libraries of
models", ICML.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda.combine._judges import Judge

__all__ = ["Selection", "select_greedily"]


class Selection(NamedTuple):
    """Members in the order in which they were chosen, up to the best round, and all scores."""

    chosen: list[int]
    scores: list[float]

    def shares(self, n_members: int) -> npt.NDArray[np.float64]:
        """Weight of each member in the mean of the chosen ones."""
        return np.asarray(np.bincount(self.chosen, minlength=n_members) / len(self.chosen))


def select_greedily(
    judge: Judge, library: Sequence[int], n_initial: int | None, n_rounds: int
) -> Selection:
    """Add the member with which the mean of the chosen ones is best, again and again.

    The best members alone come first; then, for so many rounds, whichever helps most (or harms
    least), those chosen already too. What was best of all rounds stays, the smallest of equals.

    Parameters
    ----------
    judge : Judge
    library : sequence of int
        Numbers of the members to choose from.
    n_initial : int or None
        How many of the best members come first; None: as many as have the best mean.
    n_rounds : int
        Members that are added to them.
    """
    judge.clear()
    alone = np.array([judge.score_with(member) for member in library])
    # Sorted, so that of members with equal gains the one that is better alone is taken.
    ranked = [library[place] for place in np.argsort(-alone, kind="stable")]
    scores = []
    for member in ranked if n_initial is None else ranked[:n_initial]:
        scores.append(judge.score_with(member))
        judge.add(member)
    n_first = len(scores) if n_initial is not None else _first_best(scores) + 1
    chosen, scores = ranked[:n_first], scores[:n_first]
    judge.clear()
    for member in chosen:
        judge.add(member)
    for _ in range(n_rounds):
        gains = [judge.score_with(member) for member in ranked]
        best = _first_best(gains)
        chosen.append(ranked[best])
        scores.append(gains[best])
        judge.add(ranked[best])
    first = 0 if n_initial is None else n_first - 1
    n_kept = first + _first_best(scores[first:]) + 1
    return Selection(chosen[:n_kept], scores)


def _first_best(scores: Sequence[float]) -> int:
    """Place of the greatest, the first of those that differ by no more than rounding."""
    values = np.asarray(scores)
    greatest = values.max()
    return int(np.argmax(values >= greatest - 1e-12 * max(1.0, abs(greatest))))
