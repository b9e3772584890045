"""Base class of histogram-based gradient boosting.

Second-order gains and leaf values: Chen and Guestrin (2016), "XGBoost: a scalable tree boosting
system"; histograms and leaf-wise growth: Ke et al. (2017), "LightGBM: a highly efficient gradient
boosting decision tree".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._engine.boosting import BoostingOptions
from arboleda._engine.column_options import read_interaction_cst, read_monotonic_cst
from arboleda.boosting._auto import (
    HISTOGRAM_VALUES,
    SHARED_COLUMNS,
    SHARED_VALUES,
    SKETCHED_FROM,
    SKETCHED_VALUES,
)
from arboleda.boosting._boosting import Boosting, Floats
from arboleda.boosting._category_encoding import map_interaction_cst, map_monotonic_cst
from arboleda.boosting._cross_columns import share_crosses
from arboleda.boosting._evals_result import EvalScores, EvalSet, Evaluation, Scorings
from arboleda.boosting._options import (
    check_dense,
    check_options,
    check_shared_trees,
    make_feature_weights,
    make_forced_splits,
    make_sampling_options,
)
from arboleda.boosting._round_monitor import Stopping, has_no_recent_improvement
from arboleda.boosting._rows import FitProblem, TrainingRows, draw_rows
from arboleda.persist import Field, SavedArray

MonotonicCst = Sequence[int] | npt.NDArray[Any] | Mapping[str, int] | None
InteractionCst = (
    Sequence[Sequence[int | str] | set[int | str]] | Literal["pairwise", "no_interactions"] | None
)
FeatureWeights = Sequence[float] | npt.NDArray[Any] | Mapping[str, float] | None
ForcedSplits = Mapping[str, Any] | None
Growth = Literal["leaf_wise", "level_wise", "symmetric"]
MultiStrategy = Literal["one_output_per_tree", "multi_output_tree"]
OutputSketch = Literal["top", "sampling", "projection"] | None

# early_stopping="auto" stops early with more rows; training scores use at most this many rows.
_MANY_ROWS = 10_000


class HistGradientBoosting(Boosting):
    """Base class of the classifier and the regressor, whose trees are grown by histograms."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0.0, None, closed="left")],
        "max_features": [Interval(RealNotInt, 0.0, 1.0, closed="right")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
        "monotonic_cst": ["array-like", dict, None],
        "interaction_cst": [
            list,
            tuple,
            StrOptions({"pairwise", "no_interactions"}),
            None,
        ],
        "early_stopping": [StrOptions({"auto"}), "boolean"],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "validation_fraction": [
            Interval(RealNotInt, 0.0, 1.0, closed="neither"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "validation_folds": [Interval(Integral, 2, None, closed="left"), None],
        "growth": [StrOptions({"leaf_wise", "level_wise", "symmetric"})],
        "l1_regularization": [Interval(Real, 0.0, None, closed="left")],
        "min_split_gain": [Interval(Real, 0.0, None, closed="left")],
        "min_child_weight": [Interval(Real, 0.0, None, closed="left")],
        "max_delta_step": [Interval(Real, 0.0, None, closed="left")],
        "colsample_bytree": [Interval(Real, 0.0, 1.0, closed="right")],
        "colsample_bylevel": [Interval(Real, 0.0, 1.0, closed="right")],
        "feature_weights": ["array-like", dict, None],
        "forced_splits": [dict, None],
        "extra_trees": ["boolean"],
        "sampling": [StrOptions({"uniform", "goss", "gradient", "auto"})],
        "cat_smooth": [Interval(Real, 0.0, None, closed="left")],
        "cat_l2": [Interval(Real, 0.0, None, closed="left")],
        "linear_leaves": ["boolean"],
        "linear_l2": [Interval(Real, 0.0, None, closed="left")],
        "multi_strategy": [StrOptions({"one_output_per_tree", "multi_output_tree"})],
        "output_sketch": [StrOptions({"top", "sampling", "projection"}), None],
        "sketch_dim": [Interval(Integral, 1, None, closed="left")],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        "train_score_": SavedArray(np.float64),
        "validation_score_": SavedArray(np.float64),
    }
    _rounds_parameter: ClassVar[str] = "max_iter"
    _automatic_values: ClassVar[Mapping[str, Any]] = HISTOGRAM_VALUES

    cat_l2: float
    cat_smooth: float
    colsample_bylevel: float
    colsample_bytree: float
    early_stopping: Literal["auto"] | bool
    evals_result_: EvalScores
    extra_trees: bool
    feature_weights: FeatureWeights
    forced_splits: ForcedSplits
    growth: Growth
    interaction_cst: InteractionCst
    l1_regularization: float
    l2_regularization: float
    learning_rate: float
    linear_l2: float
    linear_leaves: bool
    max_delta_step: float
    max_depth: int | None
    max_features: float
    max_iter: int | Literal["auto"]
    max_leaf_nodes: int | None
    min_child_weight: float
    min_samples_leaf: int
    min_split_gain: float
    monotonic_cst: MonotonicCst
    multi_strategy: MultiStrategy
    n_iter_no_change: int
    output_sketch: OutputSketch
    sketch_dim: int
    tol: float
    train_score_: Floats
    validation_folds: int | None
    validation_score_: Floats

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
        init_score: Any = None,
        init_score_val: Any = None,
        eval_set: EvalSet | None = None,
        eval_metric: Scorings = None,
    ) -> Self:
        """Boost trees on a table and its target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, Arrow, lists, or sparse. See the guide's page "What
            goes in".
        y : array-like of shape (n_samples,), (n_samples, n_targets) or (n_samples, n_labels)
            The target, without missing values. A regressor also takes several targets, except with
            the quantile loss; a classifier several labels of the same two numbers, such as 0 and 1.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. None: all weights are 1.
        X_val, y_val : array-like, default=None
            Validation rows for early stopping, instead of a fraction or folds of X.
        sample_weight_val : array-like, default=None
            Weights of the validation rows.
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores that the rows start from, such as log-odds of another model or logarithms of
            exposures, instead of the best constant; the trees are added to them. They are not part
            of the model: predictions for rows with initial scores need theirs.
        init_score_val : array-like, default=None
            Initial scores of the validation rows.
        eval_set : mapping of str to (X, y) or (X, y, sample_weight), or sequence of such tuples, \
                default=None
            Sets whose scores after each round are recorded in ``evals_result_``; see
            `evals_result`. They do not take part in the fit: early stopping uses ``X_val`` and
            ``y_val``.
        eval_metric : str, callable, None, or list of them, default=None
            Metrics of ``eval_set``: scorers of scikit-learn, greater is better; None is the method
            `score`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range or names a column that X lacks, X has infinite values or
            text in a numeric column, the lengths differ, y has missing or infinite values or
            values outside the domain of the loss, or weights are negative or all zero. The
            estimator is left unchanged.

        Warns
        -----
        UserWarning
            If early stopping keeps no tree, since no round improved on the initial prediction for
            the validation rows.
        """
        with restore_on_failure(self):
            validation_data = (X_val, y_val, sample_weight_val)
            evaluation = self._read_evaluation(eval_set, eval_metric)
            self._boost(
                X,
                y,
                sample_weight,
                validation_data,
                self.callbacks or (),
                init_scores=(init_score, init_score_val),
            )
            if evaluation is not None:
                self.evals_result_ = evaluation.score_rounds(self)
        return self

    def _read_evaluation(
        self, eval_set: EvalSet | None, eval_metric: Scorings
    ) -> Evaluation | None:
        """Check the sets to score at the end of `fit`, and delete the scores of an earlier fit."""
        if hasattr(self, "evals_result_"):
            del self.evals_result_
        if eval_set is not None:
            return Evaluation.read(self, eval_set, eval_metric)
        if eval_metric is not None:
            raise ValueError(
                "eval_metric needs eval_set: give both; for early stopping, set scoring"
            )
        return None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._is_automatic and self.early_stopping is False:
            raise ValueError(
                "max_iter='auto' chooses the number of rounds by early stopping and does not "
                "support early_stopping=False: set early_stopping='auto', or set max_iter to a "
                "number"
            )
        if self.early_stopping is True and self.drop_rate > 0.0:
            raise ValueError(
                f"early_stopping=True cannot go back to the best round with drop_rate="
                f"{self.drop_rate}: later rounds change the trees of earlier ones. Set "
                "early_stopping=False and choose max_iter"
            )
        if self.warm_start and self.validation_folds is not None:
            raise ValueError(
                "warm_start=True cannot be combined with validation_folds="
                f"{self.validation_folds}, which chooses the number of rounds in each fit: set one "
                "of them to its default"
            )

    def _choose_automatic_values(self) -> Mapping[str, Any]:
        values = dict(self._automatic_values)
        has_classes = self.loss_.link == "softmax" and self.loss_.function is None
        has_many_classes = self.loss_.n_outputs >= SKETCHED_FROM
        is_shared = has_classes and (has_many_classes or self.schema_.n_columns <= SHARED_COLUMNS)
        if is_shared and self.growth != "symmetric" and not self.linear_leaves:
            values |= SHARED_VALUES
            if has_many_classes:
                values |= SKETCHED_VALUES
        return values

    @property
    def _n_validation_folds(self) -> int | None:
        return self.validation_folds

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> TrainingRows:
        rows = super()._read_rows(X, y, sample_weight, reset=reset)
        if self.linear_leaves:
            check_dense(rows.table)
        return rows

    def _make_stopping(self, n_rows: int, validation_given: bool) -> Stopping | None:
        is_enabled = self.early_stopping
        if is_enabled == "auto":
            is_enabled = (n_rows > _MANY_ROWS or validation_given) and self.drop_rate == 0.0
        elif not is_enabled and validation_given:
            raise ValueError(
                "X_val and y_val are passed to fit while at the same time early_stopping is False: "
                "set it to 'auto' or True, or leave the validation rows out"
            )
        if not is_enabled:
            return None
        if callable(self.loss) and self.scoring == "loss":
            raise ValueError(
                "early stopping needs a score of the rounds, and a custom loss returns derivatives "
                "only: set scoring, or early_stopping=False"
            )
        return Stopping(has_no_recent_improvement, self.n_iter_no_change, self.tol)

    def _make_options(self, n_rows: int, *, record_losses: bool) -> BoostingOptions:
        directions = read_monotonic_cst(self.monotonic_cst, self.schema_, type(self).__name__)
        if directions and self.loss_.link == "softmax":
            raise ValueError(
                "monotonic constraints are not supported for multiclass classification: set "
                "monotonic_cst=None, or fit one class against the others"
            )
        if self.linear_leaves:
            check_options(self, self.loss_, monotonic=any(directions))
        shares_trees = self.multi_strategy == "multi_output_tree" and self.loss_.n_outputs > 1
        if shares_trees:
            check_shared_trees(self, self.loss_, monotonic=any(directions))
        return BoostingOptions(
            n_rounds=self._get_n_rounds(),
            learning_rate=self.learning_rate,
            exact=False,
            growth=self.growth,
            max_leaf_nodes=-1 if self.max_leaf_nodes is None else self.max_leaf_nodes,
            max_depth=-1 if self.max_depth is None else min(self.max_depth, 2**31 - 1),
            min_samples_leaf=min(self.min_samples_leaf, n_rows + 1),
            min_child_weight=self.min_child_weight,
            l1=self.l1_regularization,
            l2=self.l2_regularization,
            min_gain=self.min_split_gain,
            max_delta_step=self.max_delta_step,
            column_share_tree=self.colsample_bytree,
            column_share_level=self.colsample_bylevel,
            column_share_node=self.max_features,
            random_thresholds=bool(self.extra_trees),
            category_smoothing=self.cat_smooth,
            category_l2=self.cat_l2,
            monotonic=map_monotonic_cst(self.statistics_, directions),
            interactions=map_interaction_cst(
                self.statistics_,
                read_interaction_cst(self.interaction_cst, self.schema_),
                self.schema_.n_columns,
            ),
            feature_weights=make_feature_weights(self),
            forced_splits=make_forced_splits(self),
            shares_trees=shares_trees,
            sketch=self.output_sketch or "none",
            sketch_dim=self.sketch_dim,
            linear_leaves=bool(self.linear_leaves),
            linear_l2=self.linear_l2,
            record_train_loss=record_losses,
            **make_sampling_options(self),
        )

    def _set_scores(self, problem: FitProblem | None) -> None:
        """Set the scores after 0, 1, .. rounds; empty without early stopping."""
        self.train_score_ = self.validation_score_ = np.empty(0)
        if problem is None or problem.stopping is None:
            return
        kept = slice(0, self.ensemble_.n_rounds + 1)
        if self.scoring == "loss":
            self.train_score_ = -self.history_["train_loss"][kept]
            if problem.validation is not None:
                self.validation_score_ = -self.history_["validation_loss"][kept]
        elif problem.validation is None:
            self.train_score_ = self.history_["validation_score"][kept]
        else:
            self.train_score_ = self._compute_train_scores(problem)
            self.validation_score_ = self.history_["validation_score"][kept]

    def _compute_train_scores(self, problem: FitProblem) -> Floats:
        """Return the score of at most 10,000 training rows after 0, 1, .. rounds."""
        rows = draw_rows(problem.rows, _MANY_ROWS, self.seed_)
        score = self._make_row_scorer(rows)
        numbers = rows.numbers
        table = rows.table.take(numbers.astype(np.intp))
        start = np.tile(self.ensemble_.start, (numbers.size, 1))
        offset = 0.0 if rows.offset is None else rows.offset[numbers]
        stages = (start, *self.ensemble_.staged_scores(table))
        return np.array([score(raw + offset) for raw in stages])

    @property
    def n_iter_(self) -> int:
        """Number of rounds of the fitted model; early stopping keeps those up to the best one."""
        return self.best_iteration_

    @property
    def do_early_stopping_(self) -> bool:
        """Whether early stopping was used."""
        check_is_fitted(self)
        return self.train_score_.size > 0

    @property
    def is_categorical_(self) -> npt.NDArray[np.bool_] | None:
        """Mask of the categorical columns; None if there are none."""
        check_is_fitted(self)
        mask = np.array(self.schema_.kinds) == "categorical"
        return mask if mask.any() else None

    @property
    def feature_importances_(self) -> Floats:
        """Normalized total gain of the splits on each column; all 0 if no tree has a split.

        The gain of a split is its decrease of the second-order regularized loss: Chen and Guestrin
        (2016), equation (7).
        """
        check_is_fitted(self)
        if not self.ensemble_.n_rounds:
            return np.zeros(self.n_features_in_)
        shares = share_crosses(self.ensemble_.gain_importances(), self._crossed_columns)
        return self.statistics_.by_owner(shares)
