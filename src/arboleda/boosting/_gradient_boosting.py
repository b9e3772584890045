"""Gradient boosting with exact trees: what its classifier and its regressor share.

Friedman (2001), "Greedy function approximation: a gradient boosting machine"; Friedman (2002),
"Stochastic gradient boosting".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._engine.boosting import BoostingOptions
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import SparseTable, Table
from arboleda._engine.threads import resolve_n_jobs, resolve_threads
from arboleda._engine.tree import Tree
from arboleda.boosting._auto import EXACT_VALUES
from arboleda.boosting._boosting import Boosting, Floats
from arboleda.boosting._initial_model import InitField, fitted_init, initial_scores
from arboleda.boosting._rows import Problem, Rows
from arboleda.boosting._watch import Stopping, last_not_better
from arboleda.persist import Field, Integer
from arboleda.tree._decision_tree_regressor import DecisionTreeRegressor
from arboleda.tree._restore_on_failure import restore_on_failure
from arboleda.tree._tree_learner import (
    MaxFeatures,
    TreeLearner,
    resolve_max_features,
    resolve_row_count,
)

_FROM_TREES = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
    "max_features", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "max_bins",
)  # fmt: skip


class GradientBoosting(Boosting):
    """What classifier and regressor share: growth by CART, early stopping, out-of-bag losses."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: TreeLearner._parameter_constraints[name] for name in _FROM_TREES},
        "learning_rate": [Interval(Real, 0.0, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "criterion": [StrOptions({"deprecated", "friedman_mse", "squared_error"})],
        "validation_fraction": [
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "init_": InitField(),
        "max_features_": Integer(1),
    }
    _rounds_parameter: ClassVar[str] = "n_estimators"
    _automatic_values: ClassVar[Mapping[str, Any]] = EXACT_VALUES

    ccp_alpha: float
    criterion: Literal["deprecated", "friedman_mse", "squared_error"]
    init: Any
    init_: Any  # None, "zero", or a fitted estimator
    learning_rate: float
    max_depth: int | None
    max_features: MaxFeatures
    max_features_: int
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    min_samples_leaf: int | float
    min_samples_split: int | float
    min_weight_fraction_leaf: float
    n_estimators: int | Literal["auto"]
    n_iter_no_change: int | None
    tol: float
    validation_fraction: float | int

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        monitor: Callable[[int, Any, dict[str, Any]], Any] | None = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Boost trees on a table and its target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A table of any container: NumPy, pandas, polars, Arrow, lists, sparse. See the guide's
            page "What goes in".
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite weights, not negative; rows of weight 0 take no part. None: every row counts 1.
        monitor : callable, default=None
            Called after each round with its number from 0, the estimator, and what a callback is
            told as a dict; True stops. ``callbacks`` are told the same.
        X_val, y_val : array-like, default=None
            Rows whose loss is kept in ``history_`` and which, with ``n_iter_no_change``, say when
            to stop, in the place of a fraction of X.
        sample_weight_val : array-like, default=None
            Their weights.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X holds an infinite value, or text in a numeric column,
            the lengths differ, y has missing or infinite values or such as the loss does not allow,
            or the weights are negative or all zero. The estimator stays as it was.

        Warns
        -----
        UserWarning
            If early stopping keeps no tree, as no round was better on the validation rows than the
            prediction that boosting starts from.
        """
        with restore_on_failure(self):
            callbacks = list(self.callbacks or ())
            if monitor is not None:
                callbacks.append(lambda told: monitor(told.iteration - 1, self, vars(told)))
            given = (X_val, y_val, sample_weight_val)
            self._boost(X, y, sample_weight, given, callbacks)
        return self

    def _check_automatic(self) -> None:
        super()._check_automatic()
        if self.init is not None and not isinstance(self.init, str):
            raise ValueError(
                "n_estimators='auto' judges models by rows that init, fitted on all of them, has "
                "seen: leave init out, or set n_estimators to a number"
            )

    def _stopping(self, n_rows: int, validation_given: bool) -> Stopping | None:
        if self.n_iter_no_change is None:
            return None
        if self.drop_rate > 0.0:
            raise ValueError(
                f"n_iter_no_change={self.n_iter_no_change} cannot go back to the best round with "
                f"drop_rate={self.drop_rate}: later rounds change the trees of earlier ones. Set "
                "one of them to its default"
            )
        if callable(self.loss) and self.scoring == "loss":
            raise ValueError(
                "early stopping needs a score of the rounds, and a custom loss tells derivatives "
                "alone: set scoring, or n_iter_no_change=None"
            )
        return Stopping(last_not_better, self.n_iter_no_change, self.tol)

    def _options(self, n_rows: int, *, watched: bool) -> BoostingOptions:
        self.max_features_ = resolve_max_features(self.max_features, self.n_features_in_)
        min_samples_leaf = resolve_row_count(self.min_samples_leaf, n_rows)
        min_samples_split = max(2, resolve_row_count(self.min_samples_split, n_rows))
        return BoostingOptions(
            n_rounds=self._n_rounds,
            learning_rate=self.learning_rate,
            exact=True,
            max_depth=-1 if self.max_depth is None else min(self.max_depth, 2**31 - 1),
            max_leaf_nodes=-1 if self.max_leaf_nodes is None else min(self.max_leaf_nodes, n_rows),
            min_samples_split=max(min_samples_split, 2 * min_samples_leaf),
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            min_impurity_decrease=self.min_impurity_decrease,
            max_features=self.max_features_,
            ccp_alpha=self.ccp_alpha,
            **self._sampling_options(),
        )

    # The initial model

    def _with_offset(self, rows: Rows, *, learn: bool) -> Rows:
        if learn:
            self.init_ = self.init
            if self.init is not None and not isinstance(self.init, str):
                self.init_ = fitted_init(self.init, rows, classify=is_classifier(self))
        if self.init_ is None:
            return rows
        scores = initial_scores(self.init_, rows.X, rows.table.n_rows, self.loss_)
        return replace(rows, offset=scores)

    def _raw_scores(self, X: Any) -> Floats:
        table = self._check_input(X)
        n_threads = resolve_threads(table, self.n_jobs)
        return self.ensemble_.scores(table, n_threads, self._offset(X, table))

    def _staged_raw_scores(self, X: Any) -> Iterator[Floats]:
        table = self._check_input(X)
        offset = self._offset(X, table)
        return self.ensemble_.staged_scores(table, resolve_n_jobs(self.n_jobs), offset)

    def _row_predictor(self) -> RowPredictor:
        if not (self.init_ is None or isinstance(self.init_, str)):
            raise ValueError(
                f"this {type(self).__name__} begins from a {type(self.init_).__name__}, which the "
                "engine does not have: call predict, or fit with init=None"
            )
        return super()._row_predictor()

    def _offset(self, X: Any, table: Table | SparseTable) -> Floats | None:
        if self.init_ is None or isinstance(self.init_, str):
            return None
        return initial_scores(self.init_, X, table.n_rows, self.loss_)

    # What is kept of the rounds

    @property
    def _scale(self) -> float:
        """scikit-learn counts these two losses twice: the squared error and the deviance."""
        twice = self.loss_.name == "squared_error" or self.loss_.link == "logit"
        return 2.0 if twice and self.loss_.name != "custom" else 1.0

    def _kept(self, name: str) -> Floats:
        """Losses of rounds 0, 1, .. of the fitted model."""
        losses = self.history_.get(name)
        if losses is None:
            return np.full(self.ensemble_.n_rounds + 1, np.nan)
        return self._scale * losses[: self.ensemble_.n_rounds + 1]

    @property
    def n_estimators_(self) -> int:
        """Rounds of the fitted model; early stopping goes back to the best one."""
        return self.best_iteration_

    @property
    def train_score_(self) -> Floats:
        """Loss of the training rows after each round, of the rows drawn where some are.

        The squared error and the deviance of two classes count in full, not half, as in
        scikit-learn.
        """
        check_is_fitted(self)
        return self._kept("in_bag_loss" if "in_bag_loss" in self.history_ else "train_loss")[1:]

    @property
    def oob_scores_(self) -> Floats:
        """Loss after each round of the rows that it did not draw; only with ``subsample < 1``."""
        self._check_bags()
        return self._kept("out_of_bag_loss")[1:]

    @property
    def oob_score_(self) -> float:
        """The last of ``oob_scores_``."""
        return float(self.oob_scores_[-1])

    @property
    def oob_improvement_(self) -> Floats:
        """By how much each round lowered the out-of-bag loss; only with ``subsample < 1``."""
        self._check_bags()
        return -np.diff(self._kept("out_of_bag_loss"))

    def _check_bags(self) -> None:
        check_is_fitted(self)
        if "out_of_bag_loss" not in self.history_:
            raise AttributeError(
                f"this {type(self).__name__} was fitted on all rows in every round: out-of-bag "
                "losses need subsample < 1"
            )

    def _keep_scores(self, problem: Problem | None) -> None:
        """The history tells everything; without rounds there is no initial model either."""
        self.max_features_ = resolve_max_features(self.max_features, self.n_features_in_)
        if problem is None:
            self.init_ = None

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the decrease of impurity; all 0 where no tree has a split.

        Friedman (2001), section 8.1.
        """
        check_is_fitted(self)
        if not self.ensemble_.n_rounds:
            return np.zeros(self.n_features_in_)
        return self.statistics_.by_owner(self.ensemble_.compute_feature_importances())

    @property
    def estimators_(self) -> npt.NDArray[np.object_]:
        """The trees as regressors, of shape ``(n_estimators_, n_trees_per_iteration_)``.

        They can be drawn, printed and read as rules. A leaf holds what the tree adds to the raw
        score, the learning rate included.
        """
        check_is_fitted(self)
        if self.statistics_.columns:
            names = ", ".join(map(self.schema_.describe, self.statistics_.columns))
            raise AttributeError(
                f"the trees ask about target statistics of {names}, not about the columns: for "
                "trees that can be read, fit with category_encoding='native'"
            )
        trees = np.empty(self.ensemble_.n_trees, dtype=object)
        for number, tree in enumerate(self.ensemble_.trees):
            trees[number] = self._as_regressor(tree)
        return trees.reshape(-1, self.ensemble_.n_outputs)

    def __len__(self) -> int:
        """Return the number of rounds."""
        return len(self.estimators_)

    def __getitem__(self, number: int) -> Any:
        """Return the trees of a round."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rounds' trees."""
        return iter(self.estimators_)

    def _as_regressor(self, tree: Tree) -> DecisionTreeRegressor:
        regressor = DecisionTreeRegressor(
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_features=self.max_features,
            max_leaf_nodes=self.max_leaf_nodes,
            min_impurity_decrease=self.min_impurity_decrease,
            ccp_alpha=self.ccp_alpha,
            max_bins=self.max_bins,
            n_jobs=self.n_jobs,
        )
        learned = ("schema_", "n_features_in_", "feature_names_in_", "missing_columns_")
        for name in learned:
            if hasattr(self, name):
                setattr(regressor, name, getattr(self, name))
        regressor.max_features_ = self.max_features_
        regressor.n_outputs_ = 1
        regressor.tree_ = tree
        return regressor
