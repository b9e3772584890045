"""Wrapper selection of columns by a genetic algorithm: Siedlecki, Sklansky (1989)."""

from __future__ import annotations

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

__all__ = ["GeneticSelector"]

Random = np.random.RandomState


class GeneticSelector(WrapperSelector):
    """Select the columns with the best cross-validated score by a genetic algorithm.

    A subset of the columns is a bit string, and its fitness is the cross-validated score of the
    estimator with these columns. In each generation, parents are chosen by tournaments, exchange
    bits (uniform crossover) and mutate; the best subset so far always survives. The search can find
    columns that are only useful together, which stepwise selection such as scikit-learn's
    ``SequentialFeatureSelector`` misses. It takes hundreds of fits.

    Parameters
    ----------
    estimator : estimator
        Estimator to select columns for, cloned for every fit. If it is randomized, set its
        ``random_state``; otherwise scores of subsets also differ by chance.
    n_features_to_select : int, float or None, default=None
        Number of columns, or a fraction of all, rounded up. None: any number; the first generation
        then contains the set of all columns, so the result never scores lower than they do. Of
        subsets with equal scores, the smaller one is better.
    population_size : int, default=30
        Number of subsets in a generation.
    n_generations : int, default=20
        Number of generations after the first, random one.
    crossover_rate : float, default=0.9
        Probability that a child has two parents; otherwise it is a copy of one.
    mutation_rate : float or None, default=None
        Probability that a column of a child is added or dropped, or exchanged for another one if
        the number of columns is fixed. None: 1 / n_features.
    tournament_size : int, default=3
        Number of subsets drawn for each parent, of which the best is chosen.
    scoring : str, callable or None, default=None
        Name of a scikit-learn scorer, or a scorer; None: the ``score`` of the estimator.
    cv : int, splitter or iterable, default=5
        Cross-validation, with the same folds for all subsets.
    random_state : int, RandomState or None, default=None
        Seed of the search.
    verbose : int, default=0
        1: print every generation.
    n_jobs : int, default=None
        Number of subsets scored in parallel, by joblib. The result does not depend on it.

    Attributes
    ----------
    support_ : ndarray of shape (n_features,)
        Mask of the selected columns.
    score_ : float
        Mean cross-validated score with these columns. It is the best of many and therefore
        optimistic: evaluate the selection on rows that the search has not seen.
    n_features_ : int
        Number of selected columns.
    n_evaluations_ : int
        Number of different subsets that were scored.
    history_ : dict of ndarray of shape (n_generations + 1,)
        ``best_score``, ``mean_score`` (of the generation), ``n_features`` (of the best) and
        ``n_evaluations`` so far; see it with ``pandas.DataFrame(selector.history_)``.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.
    schema_ : Schema
        Names, types and categories of the columns.

    See Also
    --------
    AnnealingSelector : The same search by simulated annealing.
    MRMRSelector, JMISelector : Selection by mutual information, without fits.

    References
    ----------
    W. Siedlecki, J. Sklansky (1989), "A note on genetic algorithms for large-scale feature
    selection", Pattern Recognition Letters 10.

    Examples
    --------
    >>> from arboleda import DecisionTreeClassifier, GeneticSelector
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> search = GeneticSelector(tree, population_size=10, n_generations=4, cv=3, random_state=0)
    >>> bool(search.fit(X, y).score_ >= search.history_["best_score"][0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **WrapperSelector._parameter_constraints,
        "population_size": [Interval(Integral, 2, None, closed="left")],
        "n_generations": [Interval(Integral, 0, None, closed="left")],
        "crossover_rate": [Interval(Real, 0.0, 1.0, closed="both")],
        "mutation_rate": [None, Interval(Real, 0.0, 1.0, closed="both")],
        "tournament_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: int | float | None = None,
        population_size: int = 30,
        n_generations: int = 20,
        crossover_rate: float = 0.9,
        mutation_rate: float | None = None,
        tournament_size: int = 3,
        scoring: Any = None,
        cv: Any = 5,
        random_state: int | Random | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.population_size = population_size
        self.n_generations = n_generations
        self.crossover_rate = crossover_rate
        self.mutation_rate = mutation_rate
        self.tournament_size = tournament_size
        self.scoring = scoring
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _search(
        self, scores: SubsetScores, n_columns: int, n_selected: int | None, random: Random
    ) -> tuple[Mask, Rank, History]:
        population = [
            draw_subset(n_columns, n_selected, random) for _ in range(self.population_size)
        ]
        if n_selected is None:
            population[0] = np.ones(n_columns, dtype=bool)
        rows = []
        for generation in range(self.n_generations + 1):
            ranks = scores.compute_ranks(population)
            first = max(range(len(population)), key=ranks.__getitem__)
            best, rank = population[first], ranks[first]
            children = [
                self._make_child(population, ranks, n_selected, random)
                for _ in range(self.population_size - 1)
            ]
            population = [best, *children]
            rows.append((rank[0], np.mean([s for s, _ in ranks]), -rank[1], scores.n_evaluated))
            self._report(
                f"generation {generation} of {self.n_generations}: score {rank[0]:.4g} with "
                f"{-rank[1]} of {n_columns} columns"
            )
        best_score, mean_score, n_features, n_evaluations = map(np.array, zip(*rows, strict=True))
        history = {
            "best_score": best_score,
            "mean_score": mean_score,
            "n_features": n_features,
            "n_evaluations": n_evaluations,
        }
        return best, rank, history

    def _make_child(
        self, population: list[Mask], ranks: list[Rank], n_selected: int | None, random: Random
    ) -> Mask:
        child = population[self._select_parent(ranks, random)].copy()
        if random.random_sample() < self.crossover_rate:
            child = cross(child, population[self._select_parent(ranks, random)], n_selected, random)
        rate = 1.0 / len(child) if self.mutation_rate is None else self.mutation_rate
        changed = random.random_sample(len(child)) < rate
        if n_selected is None:
            return ensure_non_empty(child ^ changed, random)
        for column in np.flatnonzero(changed & child):
            child = swap_column(child, int(column), random)
        return child

    def _select_parent(self, ranks: list[Rank], random: Random) -> int:
        """Return the index of the best of ``tournament_size`` random subsets."""
        drawn = random.randint(len(ranks), size=self.tournament_size)
        return max((int(number) for number in drawn), key=ranks.__getitem__)


def cross(one: Mask, other: Mask, n_selected: int | None, random: Random) -> Mask:
    """Apply uniform crossover: each bit of the child comes from a random parent.

    If the number of columns is fixed, the child has all common columns of its parents, and random
    columns of only one parent.
    """
    if n_selected is None:
        return np.asarray(np.where(random.random_sample(len(one)) < 0.5, one, other))
    child = one & other
    differing = np.flatnonzero(one ^ other)
    child[random.permutation(differing)[: n_selected - int(child.sum())]] = True
    return child
