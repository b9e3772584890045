"""Greedy selection of an ensemble from a library of members.

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

from arboleda.combine._ensemble_scorers import EnsembleScorer

__all__ = ["Selection", "select_greedily"]


class Selection(NamedTuple):
    """Members in order of selection, up to the best round, and the scores of all rounds."""

    chosen: list[int]
    scores: list[float]

    def shares(self, n_members: int) -> npt.NDArray[np.float64]:
        """Return the weight of each member in the mean of the selected ones."""
        return np.asarray(np.bincount(self.chosen, minlength=n_members) / len(self.chosen))


def select_greedily(
    scorer: EnsembleScorer, library: Sequence[int], n_initial: int | None, n_rounds: int
) -> Selection:
    """Add the member that improves the mean of the selected members most, repeatedly.

    The selection starts with the best single members. Then each round adds the member that helps
    most (or harms least), possibly again. The best round is kept; ties go to the smallest ensemble.

    Parameters
    ----------
    scorer : EnsembleScorer
    library : sequence of int
        Indices of the members to choose from.
    n_initial : int or None
        Number of best members to start with; None: the number with the best mean.
    n_rounds : int
        Number of rounds, each of which adds a member.
    """
    scorer.clear()
    alone = np.array([scorer.score_with(member) for member in library])
    # Sorted, because of members with equal gains the better single member is selected.
    ranked = [library[place] for place in np.argsort(-alone, kind="stable")]
    scores = []
    for member in ranked if n_initial is None else ranked[:n_initial]:
        scores.append(scorer.score_with(member))
        scorer.add(member)
    n_first = len(scores) if n_initial is not None else _first_best(scores) + 1
    chosen, scores = ranked[:n_first], scores[:n_first]
    scorer.clear()
    for member in chosen:
        scorer.add(member)
    for _ in range(n_rounds):
        gains = [scorer.score_with(member) for member in ranked]
        best = _first_best(gains)
        chosen.append(ranked[best])
        scores.append(gains[best])
        scorer.add(ranked[best])
    first = 0 if n_initial is None else n_first - 1
    n_kept = first + _first_best(scores[first:]) + 1
    return Selection(chosen[:n_kept], scores)


def _first_best(scores: Sequence[float]) -> int:
    """Return the position of the largest score; ties within rounding go to the first."""
    values = np.asarray(scores)
    greatest = values.max()
    return int(np.argmax(values >= greatest - 1e-12 * max(1.0, abs(greatest))))
