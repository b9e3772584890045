"""Base class of gradient boosting with exact trees.

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

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.tree_learner import (
    MaxFeatures,
    TreeLearner,
    get_growth_parameters,
    resolve_max_features,
    resolve_row_count,
)
from arboleda._engine.boosting import BoostingOptions
from arboleda._engine.parallel import resolve_n_jobs, resolve_threads
from arboleda._engine.row_predictor import RowPredictor
from arboleda._engine.table import DenseTable, SparseTable
from arboleda._engine.tree import Tree
from arboleda.boosting._auto import EXACT_VALUES
from arboleda.boosting._boosting import Boosting, Floats
from arboleda.boosting._options import (
    InitField,
    compute_initial_scores,
    fit_init,
    make_sampling_options,
)
from arboleda.boosting._round_monitor import Stopping, is_last_not_better
from arboleda.boosting._rows import FitProblem, TrainingRows
from arboleda.persist import Field, Integer
from arboleda.tree import DecisionTreeRegressor

_FROM_TREES = (
    "max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf",
    "max_features", "max_leaf_nodes", "min_impurity_decrease", "ccp_alpha", "max_bins",
)  # fmt: skip


class GradientBoosting(Boosting):
    """Base class of the classifier and the regressor, whose trees are grown by CART."""

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

    @name_other_arguments
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
            The table: NumPy, pandas, polars, Arrow, lists, or sparse. See the guide's page "What
            goes in".
        y : array-like of shape (n_samples,)
            The target, without missing values.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. None: all weights are 1.
        monitor : callable, default=None
            Called after each round with its number from 0, the estimator, and the attributes of
            `BoostingRound` as a dict; returning True stops the fit.
        X_val, y_val : array-like, default=None
            Validation rows. Their loss is recorded in ``history_``; with ``n_iter_no_change`` they
            are used for early stopping instead of a fraction of X.
        sample_weight_val : array-like, default=None
            Weights of the validation rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, X has infinite values or text in a numeric column, the
            lengths differ, y has missing or infinite values or values outside the domain of the
            loss, or weights are negative or all zero. The estimator is left unchanged.

        Warns
        -----
        UserWarning
            If early stopping keeps no tree, since no round improved on the initial prediction for
            the validation rows.
        """
        with restore_on_failure(self):
            callbacks = list(self.callbacks or ())
            if monitor is not None:
                callbacks.append(
                    lambda progress: monitor(progress.iteration - 1, self, vars(progress))
                )
            validation_data = (X_val, y_val, sample_weight_val)
            self._boost(X, y, sample_weight, validation_data, callbacks)
        return self

    def _check_automatic(self) -> None:
        super()._check_automatic()
        if self.init is not None and not isinstance(self.init, str):
            raise ValueError(
                "n_estimators='auto' does not support an estimator as init, which is fitted to "
                "the validation rows too: set init=None, or set n_estimators to a number"
            )

    def _make_stopping(self, n_rows: int, validation_given: bool) -> Stopping | None:
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
                "early stopping needs a score of the rounds, and a custom loss returns derivatives "
                "only: set scoring, or n_iter_no_change=None"
            )
        return Stopping(is_last_not_better, self.n_iter_no_change, self.tol)

    def _make_options(self, n_rows: int, *, record_losses: bool) -> BoostingOptions:
        self.max_features_ = resolve_max_features(self.max_features, self.n_features_in_)
        min_samples_leaf = resolve_row_count(self.min_samples_leaf, n_rows)
        min_samples_split = max(2, resolve_row_count(self.min_samples_split, n_rows))
        return BoostingOptions(
            n_rounds=self._get_n_rounds(),
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
            **make_sampling_options(self),
        )

    # The initial model

    def _add_offset(self, rows: TrainingRows, *, learn: bool) -> TrainingRows:
        if learn:
            self.init_ = self.init
            if self.init is not None and not isinstance(self.init, str):
                self.init_ = fit_init(self.init, rows, classify=is_classifier(self))
        if self.init_ is None:
            return rows
        scores = compute_initial_scores(self.init_, rows.X, rows.table.n_rows, self.loss_)
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
                "row predictor does not support: call predict, or fit with init=None"
            )
        return super()._row_predictor()

    def _offset(self, X: Any, table: DenseTable | SparseTable) -> Floats | None:
        if self.init_ is None or isinstance(self.init_, str):
            return None
        return compute_initial_scores(self.init_, X, table.n_rows, self.loss_)

    # Losses of the rounds

    @property
    def _loss_scale(self) -> float:
        """Factor to scikit-learn's losses: 2 for the squared error and the binomial deviance."""
        is_doubled = self.loss_.name == "squared_error" or self.loss_.link == "logit"
        return 2.0 if is_doubled and self.loss_.name != "custom" else 1.0

    def _get_losses(self, name: str) -> Floats:
        """Return the losses of the fitted model after 0, 1, .. rounds."""
        losses = self.history_.get(name)
        if losses is None:
            return np.full(self.ensemble_.n_rounds + 1, np.nan)
        return self._loss_scale * losses[: self.ensemble_.n_rounds + 1]

    @property
    def n_estimators_(self) -> int:
        """Number of rounds of the fitted model; early stopping keeps those up to the best one."""
        return self.best_iteration_

    @property
    def train_score_(self) -> Floats:
        """Training loss after each round, on the rows drawn for it if ``subsample < 1``.

        The squared error and the deviance of two classes are not halved, as in scikit-learn.
        """
        check_is_fitted(self)
        return self._get_losses("in_bag_loss" if "in_bag_loss" in self.history_ else "train_loss")[
            1:
        ]

    @property
    def oob_scores_(self) -> Floats:
        """Out-of-bag loss after each round; only with ``subsample < 1``."""
        self._check_out_of_bag()
        return self._get_losses("out_of_bag_loss")[1:]

    @property
    def oob_score_(self) -> float:
        """Last value of ``oob_scores_``."""
        return float(self.oob_scores_[-1])

    @property
    def oob_improvement_(self) -> Floats:
        """Decrease of the out-of-bag loss by each round; only with ``subsample < 1``."""
        self._check_out_of_bag()
        return -np.diff(self._get_losses("out_of_bag_loss"))

    def _check_out_of_bag(self) -> None:
        check_is_fitted(self)
        if "out_of_bag_loss" not in self.history_:
            raise AttributeError(
                f"this {type(self).__name__} was fitted on all rows in every round: out-of-bag "
                "losses need subsample < 1"
            )

    def _set_scores(self, problem: FitProblem | None) -> None:
        """Set ``max_features_``; without rounds there is no initial model."""
        self.max_features_ = resolve_max_features(self.max_features, self.n_features_in_)
        if problem is None:
            self.init_ = None

    @property
    def feature_importances_(self) -> Floats:
        """Normalized decrease of impurity by each column; all 0 if no tree has a split.

        Friedman (2001), section 8.1.
        """
        check_is_fitted(self)
        if not self.ensemble_.n_rounds:
            return np.zeros(self.n_features_in_)
        return self.statistics_.by_owner(self.ensemble_.compute_feature_importances())

    @property
    def estimators_(self) -> npt.NDArray[np.object_]:
        """Trees as regressors, of shape ``(n_estimators_, n_trees_per_iteration_)``.

        They can be plotted, printed and exported as rules. The value of a leaf is its contribution
        to the raw score, including the learning rate.
        """
        check_is_fitted(self)
        if self.statistics_.columns:
            names = ", ".join(map(self.schema_.describe, self.statistics_.columns))
            raise AttributeError(
                f"the trees split on target statistics of {names}, not on the columns: fit with "
                "category_encoding='native' for trees that split on categories"
            )
        trees = np.empty(self.ensemble_.n_trees, dtype=object)
        for number, tree in enumerate(self.ensemble_.trees):
            trees[number] = self._make_tree_regressor(tree)
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

    def _make_tree_regressor(self, tree: Tree) -> DecisionTreeRegressor:
        regressor = DecisionTreeRegressor(**get_growth_parameters(self))
        learned = ("schema_", "n_features_in_", "feature_names_in_", "missing_columns_")
        for name in learned:
            if hasattr(self, name):
                setattr(regressor, name, getattr(self, name))
        regressor.max_features_ = self.max_features_
        regressor.n_outputs_ = 1
        regressor.tree_ = tree
        return regressor
