"""Wrapper selection of columns by simulated annealing: Kirkpatrick, Gelatt, Vecchi (1983)."""

from __future__ import annotations

from math import exp, log
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from arboleda.features._base_selectors import (
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
# Number of random moves whose mean loss sets the initial temperature, and the probability of
# accepting this loss there.
_N_PROBES = 10
_INITIAL_ACCEPTANCE = 0.5


class AnnealingSelector(WrapperSelector):
    """Select the columns with the best cross-validated score by simulated annealing.

    In each step, a random column is added or dropped, or exchanged for another one if the number of
    columns is fixed. A change that raises the cross-validated score is accepted; one that lowers it
    by d is accepted with probability exp(-d / T). The search explores at first and converges as the
    temperature T decreases. In this way it can leave local optima, unlike stepwise selection.

    Parameters
    ----------
    estimator : estimator
        Estimator to select columns for, cloned for every fit. If it is randomized, set its
        ``random_state``; otherwise scores of subsets also differ by chance.
    n_features_to_select : int, float or None, default=None
        Number of columns, or a fraction of all, rounded up. None: any number; the search then
        starts with all columns, so the result never scores lower than they do. Of subsets with
        equal scores, the smaller one is better.
    n_iter : int, default=200
        Number of steps.
    initial_temperature : float or None, default=None
        Initial temperature in units of the score. None: the mean loss of ten random changes of the
        first subset is accepted with probability 1/2.
    cooling : float, default=0.97
        Factor of the temperature after each step.
    scoring : str, callable or None, default=None
        Name of a scikit-learn scorer, or a scorer; None: the ``score`` of the estimator.
    cv : int, splitter or iterable, default=5
        Cross-validation, with the same folds for all subsets.
    random_state : int, RandomState or None, default=None
        Seed of the search.
    verbose : int, default=0
        1: print every step.
    n_jobs : int, default=None
        Number of folds fitted in parallel, by joblib. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns: the best subset, not the last one.
    score_ : float
        Mean cross-validated score with these columns. It is the best of many and therefore
        optimistic: evaluate the selection on rows that the search has not seen.
    n_features_ : int
        Number of selected columns.
    n_evaluations_ : int
        Number of different subsets that were scored.
    history_ : dict of ndarray of shape (n_iter + 1,)
        ``score`` and ``n_features`` of the current subset, ``best_score`` so far and
        ``temperature``, after each step; see it with ``pandas.DataFrame(selector.history_)``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.
    schema_ : Schema
        Names, types and categories of the columns.

    See Also
    --------
    GeneticSelector : The same search by a genetic algorithm.

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
        self, scores: SubsetScores, n_columns: int, n_selected: int | None, random: Random
    ) -> tuple[Mask, Rank, History]:
        here = (
            np.ones(n_columns, dtype=bool)
            if n_selected is None
            else draw_subset(n_columns, n_selected, random)
        )
        (rank,) = scores.compute_ranks([here])
        best, best_rank = here, rank
        temperature = self._compute_first_temperature(scores, here, rank, n_selected, random)
        rows = [(rank[0], -rank[1], rank[0], temperature)]
        for step in range(self.n_iter):
            other = neighbor(here, n_selected, random)
            (other_rank,) = scores.compute_ranks([other])
            chance = (
                random.random_sample()
            )  # drawn in every step, to keep the random stream aligned
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
        self, scores: SubsetScores, here: Mask, rank: Rank, n_selected: int | None, random: Random
    ) -> float:
        if self.initial_temperature is not None:
            return float(self.initial_temperature)
        probes = [neighbor(here, n_selected, random) for _ in range(_N_PROBES)]
        losses = [rank[0] - score for score, _ in scores.compute_ranks(probes) if score < rank[0]]
        return float(np.mean(losses)) / -log(_INITIAL_ACCEPTANCE) if losses else 0.0


def neighbor(mask: Mask, n_selected: int | None, random: Random) -> Mask:
    """Change one random column: add or drop it, or exchange it if the size is fixed."""
    if n_selected is None:
        other = mask.copy()
        column = random.randint(len(mask))
        other[column] = not other[column]
        return ensure_non_empty(other, random)
    chosen = np.flatnonzero(mask)
    return swap_column(mask, int(chosen[random.randint(len(chosen))]), random)


def is_accepted(loss: float, temperature: float, chance: float) -> bool:
    """Apply the Metropolis rule: accept a loss with probability exp(-loss / temperature)."""
    return temperature > 0.0 and chance < exp(-loss / temperature)
