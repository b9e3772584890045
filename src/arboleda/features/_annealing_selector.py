"""Wrapper selection of columns by simulated annealing: Kirkpatrick, Gelatt, Vecchi (1983)."""

from __future__ import annotations

from math import exp, log
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from arboleda.features._wrapper_selector import (
    History,
    Mask,
    Rank,
    SubsetScores,
    WrapperSelector,
    draw_subset,
    ensure_non_empty,
    swap_column,
)

__all__ = ["AnnealingSelector"]

Random = np.random.RandomState
# Moves from the first subset whose worsening sets the first temperature, and the probability with
# which their mean is accepted there.
_N_PROBES = 10
_ACCEPTED_AT_FIRST = 0.5


class AnnealingSelector(WrapperSelector):
    """Select the columns with which an estimator scores best, by simulated annealing.

    In every step one column drawn at random is added, dropped, or exchanged for another one where
    the number is fixed. A change that raises the cross-validated score is kept, one that lowers it
    by d with probability exp(-d / T): at first the search wanders, and as the temperature T falls,
    it settles. So it leaves local optima, in which a search column by column ends.

    Parameters
    ----------
    estimator : estimator
        What the columns are selected for; cloned for every fit. Give it a ``random_state`` if it
        draws, or scores of different subsets differ by chance, too.
    n_features_to_select : int, float or None, default=None
        Number of columns, or share of all, rounded up. None: any number; the search then begins
        with all columns, so that the result never scores lower than they do. Of subsets with the
        same score the smaller one is better.
    n_iter : int, default=200
        Steps.
    initial_temperature : float or None, default=None
        In units of the score. None: the mean loss of ten random changes of the first subset is
        accepted with probability 1/2.
    cooling : float, default=0.97
        By what the temperature is multiplied after every step.
    scoring : str, callable or None, default=None
        scikit-learn's name of a score, or a scorer; None: the estimator's ``score``.
    cv : int, splitter or iterable, default=5
        Folds, the same for all subsets.
    random_state : int, RandomState or None, default=None
        Seed of the search.
    verbose : int, default=0
        1 reports every step.
    n_jobs : int, default=None
        Folds that are fitted at the same time, by joblib. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Whether a column is selected: the best subset seen, not the last one.
    score_ : float
        Mean cross-validated score with these columns. It is the best of many, so it flatters: judge
        the selection by rows that the search has not seen.
    n_features_ : int
        Number of selected columns.
    n_evaluations_ : int
        Different subsets that were scored.
    history_ : dict of ndarray of shape (n_iter + 1,)
        ``score`` and ``n_features`` of the subset that the search stands at, ``best_score`` so far
        and ``temperature``; ``pandas.DataFrame(selector.history_)`` plots it.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the columns have names.
    schema_ : Schema
        Names, kinds and categories of the columns.

    See Also
    --------
    GeneticSelector : The same search by a genetic algorithm, many subsets at a time.

    References
    ----------
    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi (1983), "Optimization by simulated annealing",
    Science 220.

    Examples
    --------
    >>> from arboleda import AnnealingSelector, DecisionTreeClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> search = AnnealingSelector(tree, n_iter=30, cv=3, random_state=0).fit(X, y)
    >>> bool(search.score_ >= search.history_["score"][0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WrapperSelector._parameter_constraints,
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "initial_temperature": [None, Interval(Real, 0.0, None, closed="left")],
        "cooling": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | float | None = None,
        n_iter: int = 200,
        initial_temperature: float | None = None,
        cooling: float = 0.97,
        scoring: Any = None,
        cv: Any = 5,
        random_state: int | Random | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.n_iter = n_iter
        self.initial_temperature = initial_temperature
        self.cooling = cooling
        self.scoring = scoring
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _search(
        self, scores: SubsetScores, n_columns: int, n_wanted: int | None, random: Random
    ) -> tuple[Mask, Rank, History]:
        here = (
            np.ones(n_columns, dtype=bool)
            if n_wanted is None
            else draw_subset(n_columns, n_wanted, random)
        )
        (rank,) = scores.compute_ranks([here])
        best, best_rank = here, rank
        temperature = self._compute_first_temperature(scores, here, rank, n_wanted, random)
        rows = [(rank[0], -rank[1], rank[0], temperature)]
        for step in range(self.n_iter):
            other = neighbor(here, n_wanted, random)
            (other_rank,) = scores.compute_ranks([other])
            chance = random.random_sample()  # drawn in every step: the next ones do not shift
            if other_rank >= rank or is_accepted(rank[0] - other_rank[0], temperature, chance):
                here, rank = other, other_rank
            if rank > best_rank:
                best, best_rank = here, rank
            temperature *= self.cooling
            rows.append((rank[0], -rank[1], best_rank[0], temperature))
            self._report(
                f"step {step + 1} of {self.n_iter}: score {rank[0]:.4g} with {-rank[1]} of "
                f"{n_columns} columns, best {best_rank[0]:.4g}"
            )
        names = ("score", "n_features", "best_score", "temperature")
        history = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
        return best, best_rank, history

    def _compute_first_temperature(
        self, scores: SubsetScores, here: Mask, rank: Rank, n_wanted: int | None, random: Random
    ) -> float:
        if self.initial_temperature is not None:
            return float(self.initial_temperature)
        probes = [neighbor(here, n_wanted, random) for _ in range(_N_PROBES)]
        losses = [rank[0] - score for score, _ in scores.compute_ranks(probes) if score < rank[0]]
        return float(np.mean(losses)) / -log(_ACCEPTED_AT_FIRST) if losses else 0.0


def neighbor(mask: Mask, n_wanted: int | None, random: Random) -> Mask:
    """Change one column drawn at random: add or drop it, or exchange it where the size is fixed."""
    if n_wanted is None:
        other = mask.copy()
        column = random.randint(len(mask))
        other[column] = not other[column]
        return ensure_non_empty(other, random)
    chosen = np.flatnonzero(mask)
    return swap_column(mask, int(chosen[random.randint(len(chosen))]), random)


def is_accepted(loss: float, temperature: float, chance: float) -> bool:
    """Metropolis rule: a loss is accepted with probability exp(-loss / temperature)."""
    return temperature > 0.0 and chance < exp(-loss / temperature)
