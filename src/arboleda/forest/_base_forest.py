"""Random forests: Breiman (2001), "Random forests", Machine Learning 45.

Validation and fitting code shared by all forests.
"""

from __future__ import annotations

import copy
import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.tree_learner import Array, Training, get_growth_parameters
from arboleda._engine.fit import ForestOptions
from arboleda._engine.forest import Forest as Trees
from arboleda._utils.number_types import is_integer
from arboleda.forest._forest_model import ForestModel
from arboleda.forest._out_of_bag import BLOCK_SIZE, MAX_TREES, Convergence, OobPredictions
from arboleda.forest._training_rows import BagKind, Bags, KeptRows

Progress = Callable[[int], bool]

# Out-of-bag attributes, which `fit` sets on request.
_OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_", "_oob_curve")


class BaseForest(ForestModel):
    """Base class of forests of classification and regression trees."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ForestModel._parameter_constraints,
        "n_estimators": [Interval(Integral, 1, 2**31 - 1, closed="both"), StrOptions({"auto"})],
        "bootstrap": ["boolean"],
        "oob_score": ["boolean", callable],
        "max_samples": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
            None,
        ],
        "keep_rows": ["boolean"],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
    }
    _random_splits: ClassVar[bool]
    _needs_rows: ClassVar[bool] = False  # while fitting, whether they are kept or not

    n_estimators: int | Literal["auto"]
    bootstrap: bool | Literal["balanced"]
    keep_rows: bool
    oob_score: bool | Callable[..., float]
    max_samples: int | float | None
    verbose: int
    warm_start: bool
    missing_columns_: npt.NDArray[np.int64]

    # Defined by subclasses

    @abstractmethod
    def _grow(
        self,
        training: Training,
        options: ForestOptions,
        progress: Progress | None,
    ) -> Trees:
        """Grow trees in the engine."""

    @abstractmethod
    def _check_size(self, training: Training, n_trees: int, n_leaves: int) -> None:
        """Raise an error if the forest cannot fit in memory or its sums overflow float64."""

    @abstractmethod
    def _keep_out_of_bag(self, oob: OobPredictions, target: Array) -> None:
        """Set scikit-learn's out-of-bag attributes."""

    def _get_tree_parameters(self) -> dict[str, Any]:
        """Return the parameters of the trees that do not depend on the kind of target."""
        return {
            **get_growth_parameters(self),
            "splitter": "random" if self._random_splits else "best",
            "categorical_features": self.categorical_features,
            "monotonic_cst": self.monotonic_cst,
        }

    # Fitting

    @name_other_arguments
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees from a table and its target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table in any container: NumPy, pandas, polars, Arrow, lists, sparse matrices. It is
            not copied if its types allow. See the guide's page "What goes in".
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target or targets, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights. In a tree, a row counts the number of times it was drawn,
            times its weight; rows of weight 0 are never drawn. None: every row has weight 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range or incompatible with another, X has infinite values or
            text in a numeric column, the lengths differ, y has missing or infinite values, or the
            weights are negative or all zero. The estimator is then unchanged.
        """
        with restore_on_failure(self):
            previous = copy.copy(self) if self.warm_start and hasattr(self, "forest_") else None
            self._validate_params()
            self._check_parameters()
            training = self._training(X, y, sample_weight, reset=previous is None)
            for name in _OUT_OF_BAG:
                if hasattr(self, name):
                    delattr(self, name)
            if previous is None:
                self.seed_: int = training.seed
            else:
                self._check_continues(previous)
                self.missing_columns_ = np.union1d(previous.missing_columns_, self.missing_columns_)
            bags = self._make_bags(training)
            self._bags = bags if previous is None else self._merge_bags(bags, previous)
            self.kept_: KeptRows | None = self._merge_kept_rows(training, previous)
            needs_oob = bool(self.oob_score) or self.n_estimators == "auto"
            if needs_oob:
                self._check_oob_target(training.target)
            self.forest_: Trees = self._fit_trees(
                training, bags, None if previous is None else previous.forest_
            )
            if needs_oob:
                self._estimate_out_of_bag(training)
        return self

    def _estimate_out_of_bag(self, training: Training) -> None:
        oob = self._make_oob_predictions(self.forest_, training.X, training.target)
        self._oob_curve = oob.compute_curve()
        if self.oob_score:
            self._keep_out_of_bag(oob, training.target)

    def _check_parameters(self) -> None:
        """Check combinations of parameters."""
        draws = bool(self.bootstrap)
        if self.max_samples is not None and self.bootstrap is not True:
            raise ValueError(
                f"max_samples={self.max_samples} requires bootstrap=True, but bootstrap="
                f"{self.bootstrap!r}: set bootstrap=True or max_samples=None"
            )
        if self.oob_score and not draws:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True: without it every tree "
                "uses all rows. Set bootstrap=True or oob_score=False"
            )
        if self.n_estimators == "auto" and not draws:
            raise ValueError(
                "n_estimators='auto' uses the out-of-bag error, which requires bootstrap samples: "
                "set bootstrap=True, or set n_estimators to an integer"
            )
        if self.n_estimators == "auto" and self.warm_start:
            raise ValueError(
                "n_estimators='auto' cannot be combined with warm_start=True: set n_estimators to "
                "an integer"
            )

    def _check_continues(self, previous: Self) -> None:
        if not self._has_same_target(previous):
            raise ValueError(
                "warm_start=True adds trees to those of an earlier fit, whose target had different "
                "classes or a different number of outputs: fit a clone"
            )
        n_trees = previous.forest_.n_trees
        if int(self.n_estimators) < n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger than or equal to the {n_trees} "
                "trees of the forest when warm_start==True: increase it, or fit a clone"
            )
        kept = previous.forest_.keeps_rows
        if bool(self.keep_rows) is not kept:
            raise ValueError(
                f"warm_start=True adds trees to those of a fit with keep_rows={kept}, and "
                f"keep_rows must be the same for all trees: set keep_rows={kept}, or fit a clone"
            )

    def _make_bags(self, training: Training) -> Bags:
        kind: BagKind = "bootstrap" if self.bootstrap else "all"
        if self.bootstrap == "balanced":
            if self.n_outputs_ > 1:
                raise ValueError(
                    "bootstrap='balanced' draws equally many rows of each class, but y has "
                    f"{self.n_outputs_} targets: fit one forest per target, or set bootstrap=True"
                )
            kind = "balanced_bootstrap"
        n_rows, weight = training.table.n_rows, training.weight
        unused = np.flatnonzero(weight == 0.0) if weight is not None else np.empty(0, np.int64)
        return Bags(
            kind,
            _n_drawn(self.max_samples, n_rows - unused.size),
            n_rows,
            self.seed_,
            unused.astype(np.int64),
            training.target.astype(np.int64) if kind == "balanced_bootstrap" else None,
        )

    def _merge_bags(self, bags: Bags, previous: Self) -> Bags | None:
        """Return the bags of previous and new trees; None if they are drawn differently."""
        if previous._bags is not None and bags.is_same_as(previous._bags):
            return bags
        if self.oob_score:
            raise ValueError(
                "oob_score requires all trees to be drawn from the same rows in the same way, but "
                "warm_start=True continues a forest with other rows, zero weights or bags: fit a "
                "clone, or set oob_score=False"
            )
        return None

    def _merge_kept_rows(self, training: Training, previous: Self | None) -> KeptRows | None:
        """Return the kept training rows; None if the previous trees were fitted on others."""
        if not self.keep_rows or self._bags is None:
            return None
        balances = bool(self._extra_options().get("balance_classes", False))
        kept = KeptRows.from_target(training.target, training.weight, balances)
        return kept if previous is None or kept.is_same_as(previous.kept_) else None

    def _fit_trees(self, training: Training, bags: Bags, previous: Trees | None) -> Trees:
        """Return the previous trees followed by the new ones."""
        if self.n_estimators == "auto":
            return self._fit_until_converged(training, bags)
        first = 0 if previous is None else previous.n_trees
        if previous is not None and self.n_estimators == first:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=5,
            )
            return previous
        more = self._fit_block(training, bags, first, self.n_estimators - first)
        return more if previous is None else previous.extended(more)

    def _fit_block(self, training: Training, bags: Bags, first: int, n_trees: int) -> Trees:
        n_rows = bags.n_rows
        n_leaves = min(self.max_leaf_nodes or n_rows, n_rows)
        self._check_size(training, first + n_trees, n_leaves)
        options = ForestOptions(
            n_trees=n_trees,
            first_tree=first,
            random_splits=self._random_splits,
            **self._growth_limits(n_rows),
            keep_rows=self.keep_rows or self._needs_rows,
            **bags.options,
            **self._extra_options(),
        )
        grown = self._grow(training, options, _make_progress(self.verbose, first, n_trees))
        return grown.pruned(self.ccp_alpha) if self.ccp_alpha > 0.0 else grown

    def _extra_options(self) -> dict[str, Any]:
        """Return options of the engine that only some classes have."""
        return {}

    def _fit_until_converged(self, training: Training, bags: Bags) -> Trees:
        """Add blocks of trees until more of them would change little."""
        convergence = Convergence(training.target, self._value_widths())
        trees: Trees | None = None
        for first in range(0, MAX_TREES, BLOCK_SIZE):
            block = self._fit_block(training, bags, first, BLOCK_SIZE)
            trees = block if trees is None else trees.extended(block)
            oob = self._make_oob_predictions(block, training.X, training.target, first_tree=first)
            convergence.add(*oob.sum_votes())
            if convergence.has_converged():
                break
        assert trees is not None
        return trees


def _n_drawn(max_samples: int | float | None, n_rows: int) -> int:
    """Return the number of rows drawn per tree; -1 for all."""
    if max_samples is None:
        return -1
    if not is_integer(max_samples):
        return max(round(n_rows * max_samples), 1)
    if max_samples > n_rows:
        raise ValueError(
            f"max_samples={max_samples} is larger than the number of rows of positive weight, "
            f"{n_rows}: decrease it, or set None to draw as many rows"
        )
    return int(max_samples)


def _make_progress(verbose: int, n_before: int, n_trees: int) -> Progress | None:
    """Return a callback that prints progress: verbose=1 about ten times, 2 after every tree."""
    if not verbose:
        return None
    step = 1 if verbose > 1 else max(1, n_trees // 10)
    n_reported = 0

    def report(n_done: int) -> bool:
        nonlocal n_reported
        if n_done >= n_reported + step or n_done == n_trees:
            n_reported = n_done
            sys.stdout.write(f"tree {n_before + n_done} of {n_before + n_trees}\n")
            sys.stdout.flush()
        return False

    return report
