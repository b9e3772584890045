"""Members of boosted regressors: trees of the engine, or clones of any regressor."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from arboleda._base.members import checked_table, resolve_row_count, rows_of, takes_weight
from arboleda._base.mixins import LazySequence
from arboleda._base.tree_learner import Training
from arboleda._engine.adaboost import RunningMedians
from arboleda._engine.columns import DenseTable, SparseTable
from arboleda._engine.fit import ForestOptions, fit_regression_forest
from arboleda._engine.forest import Forest
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import check_table
from arboleda.adaboost._regressor_rounds import DensityRounds, Floats, Indices
from arboleda.bagging import engine_can, set_random_states
from arboleda.tree import DecisionTreeRegressor

_SAME_CRITERION = {"friedman_mse": "squared_error"}


def engine_can_boost(template: Any, algorithm: str) -> bool:
    """Return whether the engine can grow the members.

    Limits on the number of rows count a row drawn twice once if it is weighted, but twice if it is
    copied, as scikit-learn does. The density is defined for squared errors.
    """
    if not engine_can(template, DecisionTreeRegressor()):
        return False
    if algorithm == "R":
        return template.criterion in {"squared_error", "friedman_mse"}
    return bool(template.min_samples_leaf == 1 and template.min_samples_split == 2)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Regression trees and their weights.

    ``example`` is a tree with the shared properties: parameters and columns; ``seeds`` are the
    ``random_state`` of the trees.
    """

    forest: Forest
    example: DecisionTreeRegressor
    seeds: tuple[int, ...]
    weights: Floats

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.forest.n_trees

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Validate a table for the engine."""
        return check_table(ensemble, X, reset=False)

    @property
    def estimators(self) -> Sequence[DecisionTreeRegressor]:
        """The trees, created on access."""
        return LazySequence(self._estimator, len(self))

    def _estimator(self, number: int) -> DecisionTreeRegressor:
        tree = copy.copy(self.example)
        tree.random_state = self.seeds[number]
        tree.tree_ = self.forest.tree(number)
        return tree

    def iter_predictions(self, table: DenseTable | SparseTable, n_threads: int) -> Iterator[Floats]:
        """Yield the predictions of each tree."""
        for number in range(len(self)):
            yield np.ascontiguousarray(self.forest.tree(number).predict(table, n_threads)[:, 0])

    def medians(self, table: DenseTable | SparseTable, n_threads: int) -> Floats:
        """Compute the weighted median of the predictions."""
        return self.forest.medians(table, self.weights, n_threads)

    def row_predictor(self) -> RowPredictor:
        """Return a predictor of the medians of single rows."""
        return self.forest.row_medians(self.weights)

    def importances(self) -> Floats:
        """Compute the feature importances of each tree."""
        return np.array(
            [self.forest.tree(i).compute_feature_importances() for i in range(len(self))]
        )


class TreeFitter:
    """Fitter of trees from one binned table.

    Parameters
    ----------
    example : DecisionTreeRegressor
        The tree that validated and binned the table.
    training : Training
    n_threads : int
    """

    def __init__(self, example: DecisionTreeRegressor, training: Training, n_threads: int) -> None:
        self._example = example
        self._training = training
        self._limits = example._growth_limits(training.table.n_rows)
        self._n_threads = n_threads
        self._trees: list[Forest] = []
        self._seeds: list[int] = []

    def start_member(self, random: np.random.RandomState) -> None:
        """Draw the random seed of a tree."""
        tree = clone(self._example)
        set_random_states(tree, random)
        self._seeds.append(int(tree.random_state))

    def fit_on_drawn_rows(self, drawn: Indices) -> Floats:
        """Grow a tree on rows weighted by their counts; return the predictions for all rows."""
        counts = np.bincount(drawn, minlength=self._training.table.n_rows)
        self._trees.append(self._grow(counts.astype(np.float64)))
        return self._predict_training()

    def fit_to_density(self, rounds: DensityRounds) -> Floats:
        """Grow a tree by weighted least squares, with leaf values that minimize the error.

        Splits need a criterion that is a sum over rows, such as squared errors; leaf values do not.
        """
        tree = self._grow(rounds.row_weights())
        nodes = tree.apply(self._training.X, self._n_threads)[:, 0]
        leaves, leaf = np.unique(nodes, return_inverse=True)
        self._trees.append(tree.with_leaf_values(rounds.compute_leaf_values(leaf, len(leaves))))
        return self._predict_training()

    def collect_members(self, weights: Floats) -> BoostedTrees:
        """Return the first trees, one for each weight."""
        n_trees = len(weights)
        forest = _join_forests(self._trees[:n_trees])
        return BoostedTrees(forest, self._example, tuple(self._seeds[:n_trees]), weights)

    def _grow(self, weight: Floats) -> Forest:
        example = self._example
        seed = check_random_state(self._seeds[-1]).randint(np.iinfo(np.int32).max)
        criterion: Any = example.criterion
        return fit_regression_forest(
            self._training.table,
            self._training.target,
            weight,
            _SAME_CRITERION.get(criterion, criterion),
            ForestOptions(
                n_trees=1, bag="all", random_splits=example.splitter == "random", **self._limits
            ),
            n_threads=self._n_threads,
            seed=int(seed),
        )

    def _predict_training(self) -> Floats:
        votes = self._trees[-1].votes(self._training.X, n_threads=self._n_threads)
        return np.ascontiguousarray(votes[:, 0])


def _join_forests(trees: list[Forest]) -> Forest:
    """Join trees to one forest, pair by pair, so that each tree is copied only a few times."""
    while len(trees) > 1:
        pairs = [trees[i].extended(trees[i + 1]) for i in range(0, len(trees) - 1, 2)]
        trees = pairs + trees[len(pairs) * 2 :]
    return trees[0]


@dataclass(frozen=True, eq=False)
class EstimatorRegressors:
    """Fitted regressors and their weights."""

    members: Sequence[Any]
    weights: Floats

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.members)

    def checked(self, ensemble: Any, X: Any) -> Any:
        """Validate a table for the members."""
        return checked_table(ensemble, X, reset=False)

    @property
    def estimators(self) -> Sequence[Any]:
        """The members."""
        return self.members

    def iter_predictions(self, X: Any, n_threads: int) -> Iterator[Floats]:
        """Yield the predictions of each member."""
        for member in self.members:
            yield predict_finite(member, X)

    def medians(self, X: Any, n_threads: int) -> Floats:
        """Compute the weighted median of the predictions."""
        running = RunningMedians(resolve_row_count(X))
        for predictions, weight in zip(
            self.iter_predictions(X, n_threads), self.weights, strict=True
        ):
            running.add(predictions, weight, n_threads)
        return running.medians(n_threads)

    def importances(self) -> Floats:
        """Compute the feature importances of each member."""
        return np.array([member.feature_importances_ for member in self.members])


def predict_finite(member: Any, X: Any) -> Floats:
    """Predict with one member, which must return one finite number per row."""
    predictions = np.asarray(member.predict(X), dtype=np.float64)
    if predictions.ndim == 2 and predictions.shape[1] == 1:
        predictions = predictions[:, 0]
    if predictions.shape != (resolve_row_count(X),) or not np.isfinite(predictions).all():
        raise ValueError(
            f"{type(member).__name__} predicted an array of shape {predictions.shape} with "
            f"{np.count_nonzero(~np.isfinite(predictions))} infinite or missing values: members "
            "must predict one finite number per row."
        )
    return np.ascontiguousarray(predictions)


class EstimatorFitter:
    """Fitter of clones of a regressor.

    Parameters
    ----------
    template : estimator
    X : array, frame or sparse matrix
    target : ndarray of shape (n_samples,)
    """

    def __init__(self, template: Any, X: Any, target: Floats) -> None:
        self._template = template
        self._X = X
        self._target = target
        self._members: list[Any] = []
        self._random = np.random.RandomState(0)

    def start_member(self, random: np.random.RandomState) -> None:
        """Create a clone with its own random seeds."""
        member = clone(self._template)
        set_random_states(member, random)
        self._members.append(member)
        self._random = random

    def fit_on_drawn_rows(self, drawn: Indices) -> Floats:
        """Fit the member on drawn rows, with repeats, and return its predictions for all rows."""
        member = self._members[-1]
        member.fit(rows_of(self._X, drawn), self._target[drawn])
        return predict_finite(member, self._X)

    def fit_to_density(self, rounds: DensityRounds) -> Floats:
        """Fit the member by weighted least squares, or on drawn rows if it takes no weights."""
        weight = rounds.row_weights()
        if not takes_weight(self._template):
            n_rows = len(weight)
            return self.fit_on_drawn_rows(
                self._random.choice(n_rows, size=n_rows, p=weight / weight.sum())
            )
        X, target = self._X, self._target
        if not weight.all():
            able = np.flatnonzero(weight)
            X, target, weight = rows_of(X, able), target[able], weight[able]
        member = self._members[-1]
        member.fit(X, target, sample_weight=weight)
        return predict_finite(member, self._X)

    def collect_members(self, weights: Floats) -> EstimatorRegressors:
        """Return the first members, one for each weight."""
        return EstimatorRegressors(self._members[: len(weights)], weights)
