"""Members that are arboleda trees: boosted by the engine and stored as a weighted forest."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arboleda._engine.adaboost import AdaBoostOptions, WeightedForest, fit_adaboost
from arboleda._engine.fit import check_class_shares_fit
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import SparseTable, Table, check_table
from arboleda._engine.tree import Tree
from arboleda.adaboost._algorithms import Algorithm, Floats, Indices
from arboleda.adaboost._algorithms._real import compute_share_votes
from arboleda.adaboost._rounds import RoundRecords
from arboleda.bagging._tree_members import engine_can
from arboleda.forest._lazy_sequence import LazySequence
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor
from arboleda.tree._decision_tree import DecisionTree
from arboleda.tree._tree_learner import Training

# Votes of the leaves for each algorithm.
VOTES = {
    "discrete": "largest",
    "M1": "largest",
    "M2": "scores",
    "MH": "scores",
    "MR": "scores",
    "SAMME": "largest",
    "real": "log_odds",
    "gentle": "of_class",
    "logit": "of_class",
}
_SAME_CRITERION = {"log_loss": "entropy"}


def engine_can_boost(template: Any, algorithm: str) -> bool:
    """Return whether the engine can boost clones of an estimator.

    It cannot with ``class_weight``, which would be recomputed from the weights of each round. Trees
    on pairs of a row and a class are split by the loss of the pairs, not by another criterion.
    """
    if VOTES[algorithm] == "of_class":
        squares = {"squared_error", "friedman_mse"}
        return engine_can(template, DecisionTreeRegressor()) and template.criterion in squares
    if not engine_can(template, DecisionTreeClassifier()) or template.class_weight is not None:
        return False
    return VOTES[algorithm] != "scores" or template.criterion == "gini"


@dataclass(frozen=True)
class BoostingLimits:
    """Parameters of the ensemble that the engine uses."""

    n_rounds: int
    weight_trimming: float
    resets: bool
    n_threads: int
    seed: int


@dataclass(frozen=True, eq=False)
class BoostedTreeMembers:
    """Boosted trees with vote weights.

    ``example`` is a tree with the shared properties: parameters, columns and classes.
    """

    weighted: WeightedForest
    example: DecisionTree
    rounds: RoundRecords

    def __len__(self) -> int:
        """Return the number of rounds."""
        return len(self.rounds)

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Validate a table for the engine."""
        return check_table(ensemble, X, reset=False)

    def estimators(self, algorithm: Algorithm) -> Any:
        """Return the trees, created on access, as an array if rounds have several trees."""
        trees = LazySequence(
            lambda number: self._estimator(number, algorithm), self.weighted.forest.n_trees
        )
        trees_per_round = self.weighted.trees_a_member
        if trees_per_round == 1:
            return trees
        return np.array(list(trees), dtype=object).reshape(-1, trees_per_round)

    def sums(self, table: Table | SparseTable, n_threads: int) -> Floats:
        """Compute the sums of the weighted votes."""
        return self.weighted.scores(table, n_threads)

    def row_predictor(self) -> RowPredictor:
        """Return a predictor of the sums of single rows."""
        return self.weighted.row_predictor()

    def staged_sums(self, table: Table | SparseTable, n_threads: int) -> Iterator[Floats]:
        """Yield the sums of the weighted votes after each round."""
        return self.weighted.staged_scores(table, n_threads)

    @property
    def max_votes(self) -> Floats:
        """Largest vote of each round, multiplied by its weight."""
        vote, weight = self.weighted.vote, self.rounds.weight
        if vote == "largest":
            return weight
        forest = self.weighted.forest
        largest = [_find_largest_vote(forest.tree(i), vote) for i in range(forest.n_trees)]
        scaled: Floats = weight * np.reshape(largest, (len(self), -1)).max(axis=1)
        return scaled

    def first(self, n_rounds: int) -> BoostedTreeMembers:
        """Return the members of the first rounds."""
        kept = self.weighted.truncated(n_rounds)
        return replace(self, weighted=kept, rounds=self.rounds.first(n_rounds))

    @property
    def importances(self) -> Floats:
        """Mean feature importances of the trees, weighted as their votes."""
        forest, trees_per_round = self.weighted.forest, self.weighted.trees_a_member
        shares = np.array(
            [forest.tree(i).compute_feature_importances() for i in range(forest.n_trees)]
        )
        weight = np.repeat(self.rounds.weight, trees_per_round)
        importances: Floats = weight @ shares / weight.sum()
        return importances

    def _estimator(self, number: int, algorithm: Algorithm) -> DecisionTree:
        """Return a tree of the class of the example, with leaf values of that class.

        Class scores are converted to the probabilities of an ensemble of only this round, with the
        weight of its votes but without shrinkage.
        """
        tree: DecisionTree = copy.copy(self.example)
        tree.tree_ = self.weighted.forest.tree(number)
        if self.weighted.vote == "scores":
            weight = self.rounds.weight[number] / algorithm.learning_rate
            scores = weight * tree.tree_.value_rows
            tree.tree_ = tree.tree_.with_values(algorithm.compute_probabilities(scores, weight))
        return tree


def _find_largest_vote(tree: Tree, vote: str) -> float:
    values = tree.value_rows[tree.children_left < 0]
    if vote == "log_odds":
        values = compute_share_votes(values)
    return float(np.abs(values).max())


def boost_trees(
    algorithm: Algorithm,
    example: DecisionTree,
    training: Training,
    target: Indices,
    limits: BoostingLimits,
    validation_rows: Indices | None,
    watch: Callable[[int, float, Floats | None], bool] | None,
) -> tuple[BoostedTreeMembers, float | None]:
    """Boost trees with the engine.

    Parameters
    ----------
    algorithm : Algorithm
    example : DecisionTree
        The tree that validated and binned the table.
    training : Training
    target : ndarray of int
        Class indices of the rows.
    limits : BoostingLimits
    validation_rows : ndarray of int, or None
        Indices of held-out rows, ascending.
    watch : callable or None
        Called after each round with the number of rounds, the error of the last one, and the sums
        of the votes for the validation rows; True stops boosting.

    Returns
    -------
    members : BoostedTreeMembers
    useless : float or None
        Error of the useless member that ended boosting, if any.
    """
    name = "SAMME" if algorithm.n_classes == 1 else algorithm.name
    n_leaves = training.table.n_rows
    if example.max_depth is not None:
        n_leaves = min(n_leaves, 2 ** min(example.max_depth, 31))
    check_class_shares_fit(2 * n_leaves - 1, example._value_width(), limits.n_rounds)
    criterion: Any = example.criterion if isinstance(example, DecisionTreeClassifier) else "gini"
    options = AdaBoostOptions(
        algorithm=name,
        n_rounds=limits.n_rounds,
        learning_rate=algorithm.learning_rate,
        criterion=_SAME_CRITERION.get(criterion, criterion),
        random_splits=example.splitter == "random",
        weight_trimming=limits.weight_trimming,
        resets=limits.resets,
        **example._growth_limits(training.table.n_rows),
    )
    fitted = fit_adaboost(
        training.table,
        target,
        algorithm.n_classes,
        training.weight,
        options,
        validation_rows=validation_rows,
        callback=None
        if watch is None
        else lambda n_done, error, weight, sums: watch(n_done, error, sums),
        n_threads=limits.n_threads,
        seed=limits.seed,
    )
    normalizer = algorithm.compute_normalizers(fitted.rounds.error, fitted.rounds.normalizer)
    reset = fitted.rounds.reset_before.astype(np.float64)
    rounds = RoundRecords(fitted.rounds.weight, fitted.rounds.error, normalizer, reset)
    useless = fitted.weak_error if fitted.end == "too_weak" else None
    return BoostedTreeMembers(fitted.members, example, rounds), useless
