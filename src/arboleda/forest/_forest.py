"""Random forests: Breiman (2001), "Random forests", Machine Learning 45.

What the four estimators share on the way from the arguments of `fit` to the engine.
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
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from arboleda._engine.fit_forest import ForestOptions
from arboleda._engine.forest import Forest as Trees
from arboleda.forest._bags import BagKind, Bags
from arboleda.forest._enough_trees import BLOCK, MOST, Convergence
from arboleda.forest._forest_model import ForestModel
from arboleda.forest._kept_rows import KeptRows
from arboleda.forest._left_out import LeftOut
from arboleda.tree._restore_on_failure import restore_on_failure
from arboleda.tree._tree_learner import Array, Training

Progress = Callable[[int], bool]

# What `fit` leaves of the rows left out, where it is asked to.
_OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_", "_oob_curve")


class Forest(ForestModel):
    """What forests of classification and of regression trees share."""

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

    n_estimators: int | Literal["auto"]
    bootstrap: bool | Literal["balanced"]
    keep_rows: bool
    oob_score: bool | Callable[..., float]
    max_samples: int | float | None
    verbose: int
    warm_start: bool

    # What the classes fill in

    @abstractmethod
    def _grow(
        self,
        training: Training,
        options: ForestOptions,
        progress: Progress | None,
    ) -> Trees:
        """Grow trees."""

    @abstractmethod
    def _check_size(self, training: Training, n_trees: int, n_leaves: int) -> None:
        """Refuse a forest that no memory could hold, or answers that float64 cannot add up."""

    @abstractmethod
    def _keep_out_of_bag(self, found: LeftOut, target: Array) -> None:
        """Set what scikit-learn's forests tell of the rows left out."""

    # Fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees from a table and its target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table of any container: NumPy, pandas, polars, Arrow, lists, sparse matrices. Not
            copied where its types allow. See the guide's page "What goes in".
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The target or targets, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite weights, not negative. A row counts in a tree as often as it was drawn, times its
            weight; rows of weight 0 are never drawn. None: every row counts 1.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range or does not go with another, X holds an infinite value,
            or text in a numeric column, the lengths differ, y has missing or infinite values, or
            the weights are negative or all zero. The estimator stays as it was.
        """
        with restore_on_failure(self):
            so_far = copy.copy(self) if self.warm_start and hasattr(self, "forest_") else None
            self._validate_params()
            self._check_parameters()
            training = self._training(X, y, sample_weight, reset=so_far is None)
            for name in _OUT_OF_BAG:
                if hasattr(self, name):
                    delattr(self, name)
            if so_far is None:
                self.seed_ = training.seed
            else:
                self._check_continues(so_far)
                self.missing_columns_ = np.union1d(so_far.missing_columns_, self.missing_columns_)
            bags = self._bags_of(training)
            self._bags = bags if so_far is None else self._bags_with(bags, so_far)
            self.kept_ = self._kept_with(training, so_far)
            judges = bool(self.oob_score) or self.n_estimators == "auto"
            if judges:
                self._check_judged(training.target)
            self.forest_ = self._grown(training, bags, None if so_far is None else so_far.forest_)
            if judges:
                found = self._left_out(self.forest_, training.X, training.target)
                self._oob_curve = found.curve()
                if self.oob_score:
                    self._keep_out_of_bag(found, training.target)
        return self

    def _check_parameters(self) -> None:
        """Refuse parameters that do not go together."""
        draws = bool(self.bootstrap)
        if self.max_samples is not None and self.bootstrap is not True:
            raise ValueError(
                f"max_samples={self.max_samples} is the size of bootstrap samples, but bootstrap="
                f"{self.bootstrap!r}: set bootstrap=True, or leave max_samples out"
            )
        if self.oob_score and not draws:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True: without it no tree leaves "
                "a row out. Set bootstrap=True, or oob_score=False"
            )
        if self.n_estimators == "auto" and not draws:
            raise ValueError(
                "n_estimators='auto' looks at the rows that trees leave out, but without bootstrap "
                "there are none: set bootstrap=True, or n_estimators to a number"
            )
        if self.n_estimators == "auto" and self.warm_start:
            raise ValueError(
                "n_estimators='auto' finds the number of trees by itself: with warm_start=True set "
                "it to a number"
            )

    def _check_continues(self, so_far: Self) -> None:
        if not self._has_the_target_of(so_far):
            raise ValueError(
                "warm_start=True adds trees to those of an earlier fit, whose target had other "
                "classes or another number of outputs: fit a clone"
            )
        n_trees = so_far.forest_.n_trees
        if int(self.n_estimators) < n_trees:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger than or equal to the {n_trees} "
                "trees that the forest has when warm_start==True: raise it, or fit a clone"
            )
        kept = so_far.forest_.keeps_rows
        if bool(self.keep_rows) is not kept:
            raise ValueError(
                f"warm_start=True adds trees to those of a fit with keep_rows={kept}, and all "
                "trees of a forest keep their rows or none does: set it back, or fit a clone"
            )

    def _bags_of(self, training: Training) -> Bags:
        kind: BagKind = "bootstrap" if self.bootstrap else "all"
        if self.bootstrap == "balanced":
            if self.n_outputs_ > 1:
                raise ValueError(
                    "bootstrap='balanced' draws as many rows of each class, but y has "
                    f"{self.n_outputs_} targets: fit one forest for each, or set bootstrap=True"
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

    def _bags_with(self, bags: Bags, so_far: Self) -> Bags | None:
        """The bags of trees so far and of those to come; None if they are drawn differently."""
        if so_far._bags is not None and bags.are_those_of(so_far._bags):
            return bags
        if self.oob_score:
            raise ValueError(
                "oob_score needs all trees to have drawn from the same rows in the same way, but "
                "warm_start=True continues a forest of other rows, weights of 0 or bags: fit a "
                "clone, or set oob_score=False"
            )
        return None

    def _kept_with(self, training: Training, so_far: Self | None) -> KeptRows | None:
        """What is kept of the rows; None if the trees so far learned from others."""
        if not self.keep_rows or self._bags is None:
            return None
        balances = bool(self._more_options().get("balance_classes", False))
        kept = KeptRows.of(training.target, training.weight, balances)
        return kept if so_far is None or kept.are_those_of(so_far.kept_) else None

    def _grown(self, training: Training, bags: Bags, so_far: Trees | None) -> Trees:
        """All trees: those so far and as many more as are missing."""
        if self.n_estimators == "auto":
            return self._grown_until_flat(training, bags)
        first = 0 if so_far is None else so_far.n_trees
        if so_far is not None and self.n_estimators == first:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                stacklevel=4,
            )
            return so_far
        more = self._grown_part(training, bags, first, self.n_estimators - first)
        return more if so_far is None else so_far.extended(more)

    def _grown_part(self, training: Training, bags: Bags, first: int, n_trees: int) -> Trees:
        n_rows = bags.n_rows
        n_leaves = min(self.max_leaf_nodes or n_rows, n_rows)
        self._check_size(training, first + n_trees, n_leaves)
        options = ForestOptions(
            n_trees=n_trees,
            first_tree=first,
            random_splits=self._random_splits,
            **self._growth_limits(n_rows),
            keep_rows=self.keep_rows,
            **bags.options,
            **self._more_options(),
        )
        grown = self._grow(training, options, _told(self.verbose, first, n_trees))
        return grown.pruned(self.ccp_alpha) if self.ccp_alpha > 0.0 else grown

    def _more_options(self) -> dict[str, Any]:
        """Options of the engine that only some classes have."""
        return {}

    def _grown_until_flat(self, training: Training, bags: Bags) -> Trees:
        """Add blocks of trees until more of them would change little."""
        convergence = Convergence(training.target, self._value_widths())
        trees: Trees | None = None
        for first in range(0, MOST, BLOCK):
            block = self._grown_part(training, bags, first, BLOCK)
            trees = block if trees is None else trees.extended(block)
            found = self._left_out(block, training.X, training.target, first_tree=first)
            convergence.add(*found.votes())
            if convergence.is_enough():
                break
        assert trees is not None
        return trees


def _n_drawn(max_samples: int | float | None, n_rows: int) -> int:
    """Rows drawn for a tree; -1: as many as there are."""
    if max_samples is None:
        return -1
    if not isinstance(max_samples, Integral):
        return max(round(n_rows * max_samples), 1)
    if max_samples > n_rows:
        raise ValueError(
            f"max_samples={max_samples} is more than the {n_rows} rows of positive weight: give at "
            "most as many, or None for all"
        )
    return int(max_samples)


def _told(verbose: int, n_before: int, n_trees: int) -> Progress | None:
    """Tell how far growing is: 1 about ten times, 2 after every tree; None: silent."""
    if not verbose:
        return None
    step = 1 if verbose > 1 else max(1, n_trees // 10)
    told = 0

    def tell(n_done: int) -> bool:
        nonlocal told
        if n_done >= told + step or n_done == n_trees:
            told = n_done
            sys.stdout.write(f"tree {n_before + n_done} of {n_before + n_trees}\n")
            sys.stdout.flush()
        return False

    return tell
