"""Pruning by cross-validation or on a validation set.

Breiman, Friedman, Olshen, Stone (1984), sections 3.4 and 11.5; Quinlan (1987), section 2.2;
Zhou (2021), section 4.3.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length

from arboleda._base.folds import Split, fold_splits, hold_out, standard_error
from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.tree_learner import Array, Floats, Training
from arboleda._engine.parallel import run_in_parallel
from arboleda._engine.table import check_table
from arboleda._engine.target import BEYOND_SQUARES, read_target, read_weight
from arboleda._engine.tree import Loss, Tree
from arboleda._engine.tree_nodes import PruningPath, ValidationRows
from arboleda.tree._decision_tree import DecisionTree
from arboleda.tree._pruning_curve import PruningCurve

# Relative and absolute tolerances (of alpha and of the root's impurity) for equal alphas.
_SAME_ALPHA = 1e-12
_NO_ALPHA = 1e-14

Pruning = Literal["cost_complexity", "reduced_error", "validation"]


_PRUNING_CONSTRAINTS: dict[str, list[Any]] = {
    "pruning": [StrOptions({"cost_complexity", "reduced_error", "validation"})],
    "rule": [StrOptions({"min", "1se"})],
    "cv": [
        Interval(Integral, 2, None, closed="left"),
        HasMethods(["split", "get_n_splits"]),
        HasMethods("__iter__"),
    ],
    "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
}


def make_pruning_constraints(tree: type[DecisionTree]) -> dict[str, list[Any]]:
    """Make the constraints of a pruned tree from those of the tree that is pruned."""
    constraints = {**tree._parameter_constraints, **_PRUNING_CONSTRAINTS}
    del constraints["ccp_alpha"]  # selected by the pruning
    return constraints


class PrunedTree(DecisionTree):
    """Base class of pruned classification and regression trees."""

    _supports_multi_output = False
    _fits_shards = False

    pruning: Pruning
    rule: Literal["min", "1se"]
    cv: Any
    validation_fraction: float
    pruning_curve_: PruningCurve | None

    _stratify: ClassVar[bool]  # whether the target holds classes

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss that pruning minimises."""

    @abstractmethod
    def _encode_validation(self, y: Any) -> Array:
        """Check a validation target and return it in the engine's encoding."""

    @name_other_arguments
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Grow a large tree and prune it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            See `DecisionTreeClassifier.fit`.
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows for growing and for the error; rows of weight 0 are ignored.
        X_val, y_val : array-like, default=None
            Validation rows for ``pruning="reduced_error"`` and ``pruning="validation"``; the tree
            is then grown from all of X.
        sample_weight_val : array-like, default=None
            Their weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `DecisionTreeClassifier.fit`, and if there are fewer rows than folds, or validation
            rows are passed that would not be used.
        """
        validation = (X_val, y_val, sample_weight_val)
        with restore_on_failure(self):
            training = self._training(X, y, sample_weight)
            self._check_validation_arguments(*validation)
            if self.pruning == "cost_complexity":
                self.tree_: Tree = self._prune_by_cost_complexity(training)
            else:
                self.pruning_curve_ = None
                self.tree_ = self._prune_by_validation(training, *validation)
        return self

    def _check_validation_arguments(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> None:
        given = [X_val is not None, y_val is not None]
        if self.pruning == "cost_complexity" and any((*given, sample_weight_val is not None)):
            raise ValueError(
                "X_val, y_val and sample_weight_val are for pruning='reduced_error' and "
                "pruning='validation'; pruning='cost_complexity' cross-validates on X"
            )
        if any(given) and not all(given):
            raise ValueError("X_val and y_val must be passed together: pass both or neither")
        if sample_weight_val is not None and not all(given):
            raise ValueError("sample_weight_val requires X_val and y_val")

    @property
    def best_index_(self) -> int:
        """Index of the selected entry of the pruning curve."""
        return self._fitted_curve().best_index

    @property
    def ccp_alpha_(self) -> float:
        """Selected complexity parameter (cost per leaf)."""
        curve = self._fitted_curve()
        return float(curve.alpha[curve.best_index])

    def _defect(self) -> str | None:
        if (self.pruning_curve_ is None) == (self.pruning == "cost_complexity"):
            return "pruning_curve_ must be present if and only if pruning='cost_complexity'"
        return super()._defect()

    def _fitted_curve(self) -> PruningCurve:
        curve: PruningCurve | None = getattr(self, "pruning_curve_", None)
        if curve is None:
            raise AttributeError(
                f"{type(self).__name__} has no pruning curve: it is not fitted, or was pruned on "
                "validation rows"
            )
        return curve

    # Cost-complexity pruning

    def _prune_by_cost_complexity(self, training: Training) -> Tree:
        tree = self._grow_tree(training)
        path = tree.pruning_path()
        _check_scale(path)
        steps = _distinct_steps(path)
        alphas = path.alpha[steps]
        mean, error = self._cross_validate(training, _geometric_means(alphas))
        weight = training.full_weight
        everything = ValidationRows(training.X, training.target, weight, training.n_threads)
        train = tree.pruning_errors(everything, self._loss(), alphas) / weight.sum()
        least = int(np.flatnonzero(mean == mean.min())[-1])
        best = least
        if self.rule == "1se":
            if np.isnan(error[least]):
                raise ValueError(
                    "rule='1se' requires at least two folds: use rule='min' or another cv"
                )
            best = int(np.flatnonzero(mean <= mean[least] + error[least])[-1])
        self.pruning_curve_ = PruningCurve(
            alphas, path.n_leaves[steps].astype(np.int64), mean, error, train, best, least
        )
        return tree.pruned(self.ccp_alpha_)

    def _cross_validate(self, training: Training, alphas: Floats) -> tuple[Floats, Floats]:
        """Return the mean held-out error of every alpha, and its standard error over the folds."""
        weight = training.full_weight
        splits = fold_splits(
            self.cv,
            training.target,
            np.flatnonzero(weight),
            stratify=self._stratify,
            seed=training.seed,
        )
        # Folds whose held-out rows have no weight are skipped.
        weighted_folds = [(k, split) for k, split in enumerate(splits) if weight[split[1]].any()]
        if not weighted_folds:
            raise ValueError("cv has no fold with a held-out row of positive weight")
        for k, (train, _) in weighted_folds:
            if not weight[train].any():
                raise ValueError(f"cv has no training row of positive weight in fold {k}")
            if self._loss() == "poisson_deviance" and not training.target[train].any():
                raise ValueError(
                    f"y is 0 in all training rows of fold {k}, so the Poisson deviance is "
                    "undefined: use fewer folds or another criterion"
                )
        tasks = [partial(self._fold_errors, training, split, alphas) for _, split in weighted_folds]
        sums = np.array(run_in_parallel(tasks, training.n_threads))
        fold_weight = np.array([weight[test].sum() for _, (_, test) in weighted_folds])
        mean = sums.sum(axis=0) / fold_weight.sum()
        if not np.isfinite(mean).all():
            raise ValueError(BEYOND_SQUARES)
        return mean, standard_error(sums, fold_weight, mean)

    def _fold_errors(
        self, training: Training, split: Split, alphas: Floats, n_threads: int
    ) -> Floats:
        """Return the sum of the losses on a fold's held-out rows for every alpha."""
        train, held_out = split
        tree = self._grow_tree(_restrict_to_rows(training, train, n_threads))
        rows = _make_validation_rows(training, held_out, n_threads)
        return tree.pruning_errors(rows, self._loss(), alphas)

    # Pruning on validation rows

    def _prune_by_validation(
        self, training: Training, X_val: Any, y_val: Any, sample_weight_val: Any
    ) -> Tree:
        if X_val is not None:
            validation = self._validation_rows(X_val, y_val, sample_weight_val, training.n_threads)
            return self._prune_by_rows(self._grow_tree(training), validation)
        train, held_out = hold_out(
            self.validation_fraction,
            training.target,
            np.flatnonzero(training.full_weight),
            stratify=self._stratify,
            seed=training.seed,
        )
        tree = self._grow_tree(_restrict_to_rows(training, train, training.n_threads))
        validation = _make_validation_rows(training, held_out, training.n_threads)
        return self._prune_by_rows(tree, validation)

    def _prune_by_rows(self, tree: Tree, validation: ValidationRows) -> Tree:
        if self.pruning == "validation":
            return tree.validation_pruned(validation, self._loss())
        return tree.reduced_error_pruned(validation, self._loss())

    def _validation_rows(
        self, X: Any, y: Any, sample_weight: Any, n_threads: int
    ) -> ValidationRows:
        try:
            table = check_table(self, X, reset=False)
            target = self._encode_validation(read_target(y, numeric=is_regressor(self)))
            check_consistent_length(table, target)
            weight = self._target_weight(target, read_weight(sample_weight, table))
        except ValueError as error:
            raise ValueError(f"in the validation rows: {error}") from error
        return ValidationRows(table, target, weight, n_threads)


def _check_scale(path: PruningPath) -> None:
    """Raise an error if squares of the target overflow or underflow float64."""
    root = float(path.impurity[-1])
    if not np.isfinite(root) or (root == 0.0 and path.alpha.size > 1):
        raise ValueError(BEYOND_SQUARES)


def _restrict_to_rows(training: Training, rows: npt.NDArray[np.intp], n_threads: int) -> Training:
    """Give all other rows the weight 0, keeping the bins."""
    weight = training.full_weight * np.bincount(rows, minlength=training.table.n_rows)
    return replace(training, weight=weight, n_rows=rows.size, n_threads=n_threads)


def _make_validation_rows(
    training: Training, rows: npt.NDArray[np.intp], n_threads: int
) -> ValidationRows:
    return ValidationRows(
        training.X.take(rows), training.target[rows], training.full_weight[rows], n_threads
    )


def _distinct_steps(path: PruningPath) -> npt.NDArray[np.intp]:
    """Return the last step of every run of equal alphas, which has the smallest tree."""
    before, after = path.alpha[:-1], path.alpha[1:]
    rises = after > before * (1.0 + _SAME_ALPHA) + _NO_ALPHA * path.impurity[-1]
    return np.append(np.flatnonzero(rises), path.alpha.size - 1)


def _geometric_means(alphas: Floats) -> Floats:
    """Return the geometric mean of every interval of alphas; the last one is unbounded."""
    roots = np.sqrt(alphas)
    return np.append(roots[:-1] * roots[1:], np.inf)
