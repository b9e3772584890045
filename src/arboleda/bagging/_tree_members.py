"""Members that are arboleda trees: grown by the engine from one binned table, kept as a forest."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arboleda._base.held_out import OobCurve
from arboleda._base.mixins import LazySequence
from arboleda._base.tree_learner import Training, resolve_max_features
from arboleda._engine.adaboost import WeightedForest
from arboleda._engine.columns import Schema
from arboleda._engine.fit import (
    FittedRows,
    ForestOptions,
    check_class_shares_fit,
    draw_bag,
    draw_columns,
    fit_classification_forest,
    fit_regression_forest,
    out_of_bag_curve,
    out_of_bag_votes,
)
from arboleda._engine.forest import Forest
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import check_table
from arboleda.bagging._sampling import RowsToDraw, SamplingPlan, find_learned_rows
from arboleda.bagging._votes import (
    Floats,
    Indices,
    MemberOutput,
    OutOfBag,
    PredictOptions,
    aggregate_out_of_bag,
    compute_running_totals,
)
from arboleda.tree import DecisionTree

# Parameters of a tree that the engine supports in a forest; the others must be at their defaults.
_KNOWN = {
    "categorical_features", "class_weight", "criterion", "max_bins", "max_depth", "max_features",
    "max_leaf_nodes", "min_impurity_decrease", "min_samples_leaf", "min_samples_split",
    "min_weight_fraction_leaf", "n_jobs", "random_state", "splitter",
}  # fmt: skip
_SAME_CRITERION = {"log_loss": "entropy", "friedman_mse": "squared_error"}


class TreeBatch(NamedTuple):
    """Plan, rows and numbers of the trees of one call of `fit`, which reproduce their samples."""

    plan: SamplingPlan
    rows: RowsToDraw
    first: int
    n_trees: int


def engine_can(template: Any, tree: DecisionTree) -> bool:
    """Return whether the engine can grow clones of an estimator of the type of ``tree``."""
    if type(template) is not type(tree):
        return False
    params, defaults = template.get_params(), tree.get_params()
    return all(name in _KNOWN or params[name] == defaults[name] for name in params)


def grow_trees(
    example: DecisionTree,
    training: Training,
    plan: SamplingPlan,
    rows: RowsToDraw,
    n_trees: int,
    seed: int,
    n_jobs: int | None,
) -> TreeMembers:
    """Grow the initial trees of an ensemble."""
    batch = TreeBatch(plan, rows, 0, n_trees)
    forest = _grow(example, training, batch, seed, resolve_n_jobs(n_jobs))
    return TreeMembers(forest, example, seed, (batch,))


def _grow(
    example: DecisionTree, training: Training, batch: TreeBatch, seed: int, n_threads: int
) -> Forest:
    limits = example._growth_limits(training.table.n_rows)
    plan = batch.plan
    # Relative to the columns of a tree, as if it were fitted on only these.
    limits["max_features"] = (
        -1
        if example.max_features is None
        else resolve_max_features(example.max_features, plan.n_columns)
    )
    options = ForestOptions(
        n_trees=batch.n_trees,
        first_tree=batch.first,
        random_splits=example.splitter == "random",
        **limits,
        **_draw_options(plan),
    )
    criterion: Any = example.criterion
    criterion = _SAME_CRITERION.get(criterion, criterion)
    if training.target.dtype.kind == "u":
        n_leaves = training.table.n_rows
        if example.max_leaf_nodes is not None:
            n_leaves = min(n_leaves, example.max_leaf_nodes)
        check_class_shares_fit(2 * n_leaves - 1, example._value_width(), batch.n_trees)
        return fit_classification_forest(
            training.table,
            training.target,
            example._value_widths(),
            training.weight,
            criterion,
            options,
            n_threads=n_threads,
            seed=seed,
        )
    return fit_regression_forest(
        training.table,
        training.target,
        training.weight,
        criterion,
        options,
        n_threads=n_threads,
        seed=seed,
    )


def _draw_options(plan: SamplingPlan) -> dict[str, Any]:
    return {
        "bag": plan.bag,
        "n_drawn": -1 if plan.bag == "all" else plan.n_drawn,
        "n_columns": -1 if plan.all_columns else plan.n_columns,
        "columns_with_replacement": plan.columns_with_replacement,
        "random_n_columns": plan.random_n_columns,
        "switch_share": plan.switch_share,
        "switch_uniformly": plan.switch_uniformly,
    }


@dataclass(frozen=True, eq=False)
class TreeMembers:
    """Trees, the batches that reproduce their samples, and weights that sum to 1.

    ``example`` is a tree with the shared properties: parameters, columns and classes. ``weights``
    is None if all trees have the same weight.
    """

    forest: Forest
    example: DecisionTree
    seed: int
    batches: tuple[TreeBatch, ...]
    weights: Floats | None = None

    def __len__(self) -> int:
        """Return the number of trees."""
        return self.forest.n_trees

    def extended(
        self,
        example: DecisionTree,
        training: Training,
        plan: SamplingPlan,
        rows: RowsToDraw,
        n_more: int,
        n_jobs: int | None,
    ) -> TreeMembers:
        """Return these trees and ``n_more`` new ones, all without weights."""
        batch = TreeBatch(plan, rows, len(self), n_more)
        more = _grow(example, training, batch, self.seed, resolve_n_jobs(n_jobs))
        forest = self.forest.extended(more)
        return TreeMembers(forest, example, self.seed, (*self.batches, batch))

    def with_weights(self, weights: Floats | None) -> TreeMembers:
        """Return the same trees with these weights."""
        return replace(self, weights=weights)

    def weighted_forest(self, options: PredictOptions) -> WeightedForest | None:
        """Return the forest whose scores are the weighted mean votes; None without weights."""
        if self.weights is None:
            return None
        vote = "largest" if options.voting_of_trees == "hard" else "scores"
        return WeightedForest(self.forest, vote, self.weights)

    def checked(self, ensemble: Any, X: Any, *, as_array: bool) -> Any:
        """Validate a table for the engine."""
        return check_table(ensemble, X, reset=False)

    @property
    def estimators(self) -> LazySequence[DecisionTree]:
        """The trees, each on its own columns, created on access."""
        return LazySequence(self._estimator, len(self))

    @property
    def columns(self) -> LazySequence[Indices]:
        """Column indices of each tree, ascending and unique."""
        return LazySequence(self._columns, len(self))

    @property
    def samples(self) -> LazySequence[Indices]:
        """Row indices of each tree, ascending, with repeats."""
        return LazySequence(self._samples, len(self))

    def average_outputs(self, X: Any, options: PredictOptions) -> Floats:
        """Average the votes or values of the trees."""
        n_threads = resolve_threads(X, options.n_jobs)
        weighted = self.weighted_forest(options)
        if weighted is not None:
            return _squeeze_output(weighted.scores(X, n_threads), options)
        votes = self.forest.votes(X, options.voting_of_trees, n_threads)
        return _squeeze_output(votes, options)

    def iter_output_stages(self, X: Any, options: PredictOptions) -> Iterator[Floats]:
        """Yield `average_outputs` of the first tree, the first two, ..., all trees."""
        n_threads = resolve_threads(X, options.n_jobs)
        weighted = self.weighted_forest(options)
        plain = self.forest.iter_votes(X, options.voting_of_trees, n_threads)
        if weighted is None:
            for votes in plain:
                yield _squeeze_output(votes, options)
            return
        totals = compute_running_totals(weighted.weights)
        n_zero_weights = totals.count(0.0)  # initial trees of weight 0
        for votes in islice(plain, n_zero_weights):
            yield _squeeze_output(votes, options)
        stages = zip(totals, weighted.staged_scores(X, n_threads), strict=True)
        for total, scores in islice(stages, n_zero_weights, None):
            yield _squeeze_output(scores / total, options)

    def row_predictor(self, options: PredictOptions) -> RowPredictor:
        """Return a predictor of the averages for single rows."""
        weighted = self.weighted_forest(options)
        if weighted is not None:
            return weighted.row_predictor()
        return self.forest.row_predictor(options.voting_of_trees)

    def average_decisions(self, X: Any, options: PredictOptions) -> Floats:
        """Raise, because trees have no decision function."""
        raise AttributeError("Trees have no decision_function: use predict_proba.")

    def iter_decision_stages(self, X: Any, options: PredictOptions) -> Iterator[Floats]:
        """Raise, because trees have no decision function."""
        raise AttributeError("Trees have no decision_function: use predict_proba.")

    def have_drawn_from(self, n_rows: int) -> bool:
        """Return whether all trees have the same plan and tables with ``n_rows`` rows."""
        last = self.batches[-1]
        return last.rows.n_rows == n_rows and all(
            batch.plan == last.plan and _have_same_rows(batch.rows, last.rows)
            for batch in self.batches
        )

    def aggregate_out_of_bag(
        self, X: Any, target: npt.NDArray[Any], options: PredictOptions
    ) -> OutOfBag:
        """Aggregate the predictions of every tree for the rows that it left out."""
        last = self.batches[-1]
        if self.weights is not None:
            outputs = self.iter_outputs_on_rows(X, self.iter_left_out_rows(), options)
            is_scored, n_classes = last.rows.is_able, options.n_classes
            return aggregate_out_of_bag(
                outputs, len(self), target, is_scored, n_classes, self.weights
            )
        rows = FittedRows(
            ForestOptions(n_trees=len(self), **_draw_options(last.plan)),
            target,
            (options.n_classes,) if options.n_classes else (),
            _compute_draw_weights(last.rows),
            self.seed,
        )
        n_threads = resolve_n_jobs(options.n_jobs)
        voting = options.voting_of_trees
        votes = out_of_bag_votes(self.forest, X, rows, voting=voting, n_threads=n_threads)
        curve = out_of_bag_curve(self.forest, X, rows, voting=voting, n_threads=n_threads)
        n_scored = curve.n_rows.astype(np.int64)
        numbers = np.arange(1, len(self) + 1)
        return OutOfBag(
            votes.sums, votes.n_trees.astype(np.int64), OobCurve(numbers, curve.error, n_scored)
        )

    def iter_outputs_on_rows(
        self, X: Any, rows_of_members: Iterable[Indices], options: PredictOptions
    ) -> Iterator[MemberOutput]:
        """Yield for each tree its rows of ``rows_of_members`` and its outputs for these."""
        n_threads = resolve_n_jobs(options.n_jobs)
        voting = options.voting_of_trees
        for number, rows in zip(range(len(self)), rows_of_members, strict=True):
            yield rows, self.forest.votes_of_tree(X, number, voting, n_threads)[rows]

    def find_learned_rows(self, n_rows: int) -> npt.NDArray[np.bool_]:
        """Find the rows of a table with ``n_rows`` rows that trees may have been trained on.

        Raises
        ------
        ValueError
            If trees were trained on tables of other sizes.
        """
        return find_learned_rows([batch.rows for batch in self.batches], n_rows)

    def iter_left_out_rows(self) -> Iterator[Indices]:
        """Yield for each tree the rows that it could have drawn but did not."""
        for batch in self.batches:
            is_able = batch.rows.is_able
            for number in range(batch.first, batch.first + batch.n_trees):
                yield np.flatnonzero((self._counts(batch, number) == 0) & is_able)

    def _batch_of(self, number: int) -> TreeBatch:
        return next(b for b in self.batches if number < b.first + b.n_trees)

    def _samples(self, number: int) -> Indices:
        batch = self._batch_of(number)
        return np.repeat(np.arange(batch.rows.n_rows), self._counts(batch, number))

    def _counts(self, batch: TreeBatch, number: int) -> npt.NDArray[np.uint32]:
        """Count how often each row is in the bag of a tree."""
        rows = batch.rows
        options = ForestOptions(n_trees=1, **_draw_options(batch.plan))
        weight = _compute_draw_weights(rows)
        return draw_bag(options, rows.n_rows, number, sample_weight=weight, seed=self.seed)

    def _columns(self, number: int) -> Indices:
        plan = self._batch_of(number).plan
        options = ForestOptions(n_trees=1, **_draw_options(plan))
        columns = draw_columns(options, plan.n_features, number, seed=self.seed)
        return columns.astype(np.intp)

    def _estimator(self, number: int) -> DecisionTree:
        tree: DecisionTree = copy.copy(self.example)
        tree.tree_ = self.forest.tree(number)
        if self._batch_of(number).plan.all_columns:
            return tree
        columns = self._columns(number)
        tree.tree_ = tree.tree_.on_columns(columns)
        tree.n_features_in_ = len(columns)
        whole = self.example.schema_
        names = None if whole.names is None else tuple(whole.names[j] for j in columns)
        tree.schema_ = Schema(names, tuple(whole.levels[j] for j in columns))
        if hasattr(tree, "feature_names_in_"):
            tree.feature_names_in_ = tree.feature_names_in_[columns]
        missing = np.isin(columns, self.example.missing_columns_)
        tree.missing_columns_ = np.flatnonzero(missing).astype(np.int64)
        tree.max_features_ = resolve_max_features(tree.max_features, len(columns))
        return tree


def _squeeze_output(votes: Floats, options: PredictOptions) -> Floats:
    """Reduce the outputs of a single regression target to one dimension."""
    return votes[:, 0] if options.n_classes == 0 and votes.shape[1] == 1 else votes


def _compute_draw_weights(rows: RowsToDraw) -> Floats | None:
    """Return 1 for rows that can be drawn, else 0; None if all can be."""
    return None if rows.able is None else rows.is_able.astype(np.float64)


def _have_same_rows(first: RowsToDraw, second: RowsToDraw) -> bool:
    return np.array_equal(first.is_able, second.is_able)
