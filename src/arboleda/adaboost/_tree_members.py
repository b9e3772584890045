"""Members that are arboleda trees: boosted by the engine, and stored in model files."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arboleda._base.mixins import LazySequence
from arboleda._base.tree_learner import Training
from arboleda._engine.adaboost import AdaBoostOptions, WeightedForest, fit_adaboost
from arboleda._engine.fit import check_class_shares_fit
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import DenseTable, SparseTable, check_table
from arboleda._engine.tree import Tree
from arboleda._utils.errors import ModelFormatError
from arboleda.adaboost._algorithms import Algorithm, Floats, Indices, compute_share_votes
from arboleda.adaboost._regressor_members import BoostedTrees
from arboleda.adaboost._rounds import RoundRecords
from arboleda.bagging import decode_tree, encode_tree, engine_can, set_columns
from arboleda.persist import ForestPart, SavedArray
from arboleda.persist.fields import Sections
from arboleda.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor

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

    def sums(self, table: DenseTable | SparseTable, n_threads: int) -> Floats:
        """Compute the sums of the weighted votes."""
        return self.weighted.scores(table, n_threads)

    def row_predictor(self) -> RowPredictor:
        """Return a predictor of the sums of single rows."""
        return self.weighted.row_predictor()

    def staged_sums(self, table: DenseTable | SparseTable, n_threads: int) -> Iterator[Floats]:
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


_ROUNDS = ("weight", "error", "normalizer", "reset")
_VOTE_KEYS = {"trees", "vote", "trees_a_round", "rounds", "tree", "tree_parameters"}


class SavedVotes:
    """Field of boosted trees: forest and rounds as sections, the rest in the header."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Store the arrays as sections and return the entry of the header."""
        if not isinstance(value, BoostedTreeMembers):
            raise TypeError(
                "the members were not boosted by the engine, which only supports arboleda trees; "
                "they cannot be stored in a model file: use pickle, joblib or skops"
            )
        array = SavedArray(np.float64)
        return {
            "trees": ForestPart().encode(f"{name}.trees", value.weighted.forest, sections),
            "vote": value.weighted.vote,
            "trees_a_round": value.weighted.trees_a_member,
            "rounds": {
                part: array.encode(f"{name}.{part}", getattr(value.rounds, part), sections)
                for part in _ROUNDS
            },
            **encode_tree(value.example),
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> BoostedTreeMembers:
        """Load the members; `complete` sets the columns of their trees."""
        if not isinstance(stored, dict) or stored.keys() != _VOTE_KEYS:
            raise ModelFormatError(f"{name} does not describe the members")
        forest = ForestPart().decode(f"{name}.trees", stored["trees"], sections)
        rounds = _decode_rounds(name, stored["rounds"], sections)
        vote, trees_per_round = stored["vote"], stored["trees_a_round"]
        if not isinstance(vote, str) or vote not in VOTES.values():
            raise ModelFormatError(f"{name} has no valid vote type")
        if type(trees_per_round) is not int or not 0 < trees_per_round <= forest.n_trees:
            raise ModelFormatError(f"{name} has no valid number of trees per round")
        tree = decode_tree(name, stored["tree"], stored["tree_parameters"])
        try:
            weighted = WeightedForest(forest, vote, rounds.weight, trees_per_round)
        except ValueError as error:
            raise ModelFormatError(f"{name}: {error}") from error
        return BoostedTreeMembers(weighted, tree, rounds)


def complete_votes(members: BoostedTreeMembers, model: Any) -> str | None:
    """Set the columns of the loaded trees, or return why they do not fit the model."""
    tree: Any = members.example
    n_classes = len(model.classes_)
    name = "SAMME" if n_classes == 1 else model.algorithm
    if members.weighted.vote != VOTES.get(name):
        return "the votes of the members do not match the algorithm"
    tree.n_outputs_ = 1
    if isinstance(tree, DecisionTreeClassifier):
        if members.weighted.n_outputs != n_classes:
            return "the number of classes of the members differs from the header"
        tree.n_classes_, tree.classes_ = n_classes, model.classes_
        return set_columns(model, tree, members.weighted.forest, (n_classes,))
    if members.weighted.n_outputs != (1 if n_classes == 2 else n_classes):
        return "the number of classes of the members differs from the header"
    return set_columns(model, tree, members.weighted.forest, (1,))


def are_valid_weights(weights: npt.NDArray[np.float64]) -> bool:
    """Return whether weights are non-negative and sums of weighted votes stay finite."""
    return bool((weights >= 0.0).all() and weights.max(initial=0.0) < 1e300 / len(weights))


def _decode_rounds(name: str, stored: Any, sections: Sections) -> RoundRecords:
    if not isinstance(stored, dict) or stored.keys() != set(_ROUNDS):
        raise ModelFormatError(f"{name} does not describe its rounds")
    array = SavedArray(np.float64)
    parts = {part: array.decode(f"{name}.{part}", stored[part], sections) for part in _ROUNDS}
    if len({len(part) for part in parts.values()}) != 1 or not len(parts["weight"]):
        raise ModelFormatError(f"{name} needs one number of each kind per round")
    if not (are_valid_weights(parts["weight"]) and parts["weight"].all()):
        raise ModelFormatError(f"{name} has weights that are not positive and finite")
    return RoundRecords(**parts)


_TREE_KEYS = {"trees", "weights", "seeds", "tree", "tree_parameters"}


class SavedTrees:
    """Field of boosted trees: the forest, the weights and the seeds as sections."""

    def encode(self, name: str, value: Any, sections: Sections) -> dict[str, Any]:
        """Store the arrays as sections and return the entry of the header."""
        if not isinstance(value, BoostedTrees):
            raise TypeError(
                f"the members, of type {type(value.estimators[0]).__name__}, were not grown by the "
                "engine, so they cannot be stored in a model file; use pickle, joblib or skops"
            )
        seeds = np.array(value.seeds, dtype=np.int64)
        return {
            "trees": ForestPart().encode(f"{name}.trees", value.forest, sections),
            "weights": SavedArray(np.float64).encode(f"{name}.weights", value.weights, sections),
            "seeds": SavedArray(np.int64).encode(f"{name}.seeds", seeds, sections),
            **encode_tree(value.example),
        }

    def decode(self, name: str, stored: Any, sections: Sections) -> BoostedTrees:
        """Load the members; `complete` sets the columns of their trees."""
        if not isinstance(stored, dict) or stored.keys() != _TREE_KEYS:
            raise ModelFormatError(f"{name} does not describe the members")
        forest = ForestPart().decode(f"{name}.trees", stored["trees"], sections)
        weights = SavedArray(np.float64).decode(f"{name}.weights", stored["weights"], sections)
        seeds = SavedArray(np.int64).decode(f"{name}.seeds", stored["seeds"], sections)
        if not len(weights) == len(seeds) == forest.n_trees > 0:
            raise ModelFormatError(f"{name} has more or fewer weights or seeds than trees")
        if not are_valid_weights(weights):
            raise ModelFormatError(f"{name} has negative, infinite or missing weights")
        if not ((seeds >= 0) & (seeds < 2**32)).all():
            raise ModelFormatError(f"{name} has seeds outside [0, 2**32)")
        tree = decode_tree(name, stored["tree"], stored["tree_parameters"])
        if not isinstance(tree, DecisionTreeRegressor):
            raise ModelFormatError(f"{name} has no regression trees")
        return BoostedTrees(forest, tree, tuple(seeds.tolist()), weights)


def complete_trees(members: BoostedTrees, model: Any) -> str | None:
    """Set the columns of the loaded trees, or return why they do not fit the model."""
    members.example.n_outputs_ = 1
    return set_columns(model, members.example, members.forest, (1,))
