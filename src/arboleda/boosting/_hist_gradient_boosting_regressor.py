"""Histogram-based gradient boosting for regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._base.tree_learner import CategoricalFeatures
from arboleda.boosting._base_estimators import BaseBoostingRegressor, HistRegressionLoss
from arboleda.boosting._boosting import Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._hist_gradient_boosting import (
    FeatureWeights,
    ForcedSplits,
    Growth,
    HistGradientBoosting,
    InteractionCst,
    MonotonicCst,
    MultiStrategy,
    OutputSketch,
)
from arboleda.boosting._losses import HIST_REGRESSION, CustomLoss, Loss, read_quantile_levels
from arboleda.boosting._round_monitor import Callback
from arboleda.persist import Field


class HistGradientBoostingRegressor(BaseBoostingRegressor, HistGradientBoosting):
    """Histogram-based gradient boosting for regression, fast with many rows.

    As `HistGradientBoostingClassifier`, for a numeric target, or several: y of shape
    (n_samples, n_targets). With several quantiles or targets a round grows one tree for each; the
    trees of all targets can have the same splits (``multi_strategy``).

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "pseudo_huber", "quantile", "expectile", \
            "mape", "poisson", "gamma", "tweedie"} or callable, default="squared_error"
        Loss to minimize; the guide describes the predictions and the valid targets of each. A
        callable takes y and raw scores, both of the shape of y, and returns the gradient and the
        hessian; scores start from 0.
    quantile : float or list of float, default=None
        Levels for ``loss="quantile"``. With several levels `predict` returns one column per level,
        sorted within each row so that quantiles do not cross (Chernozhukov, Fernandez-Val and
        Galichon 2010).
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization
        See `HistGradientBoostingClassifier`.
    max_features, max_bins, categorical_features, interaction_cst, warm_start
        See `HistGradientBoostingClassifier`.
    monotonic_cst : array-like of int, dict of str to int, or None, default=None
        Constraint of each column, or of the named columns. 1: the prediction does not decrease as
        the column increases; -1: it does not increase; 0: unconstrained.
    early_stopping, validation_fraction, validation_folds, n_iter_no_change, tol
        See `HistGradientBoostingClassifier`.
    verbose, random_state
        See `HistGradientBoostingClassifier`.
    scoring : "loss", str, callable or None, default="loss"
        Score for early stopping: the loss, the name of a scikit-learn scorer, a callable
        ``scorer(estimator, X, y)``, or R2 (None).
    growth, l1_regularization, min_split_gain, min_child_weight, max_delta_step, subsample
        See `HistGradientBoostingClassifier`.
    sampling, top_rate, other_rate, colsample_bytree, colsample_bylevel, extra_trees, drop_rate
        See `HistGradientBoostingClassifier`.
    feature_weights, forced_splits, skip_drop, max_drop, cat_smooth, cat_l2, linear_l2, callbacks
        See `HistGradientBoostingClassifier`.
    n_jobs
        See `HistGradientBoostingClassifier`.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        See `HistGradientBoostingClassifier`; the statistic of a category is the mean target.
    linear_leaves : bool, default=False
        See `HistGradientBoostingClassifier`; not supported with the losses "absolute_error",
        "huber", "mape" and "quantile".
    multi_strategy : {"one_output_per_tree", "multi_output_tree"}, default="one_output_per_tree"
        See `HistGradientBoostingClassifier`, for several targets. The gain of a split is the sum
        over targets: bring them to similar scales. Not supported with the losses "absolute_error",
        "huber", "mape" and "quantile".
    output_sketch, sketch_dim
        See `HistGradientBoostingClassifier`.
    expectile : float, default=None
        Level for ``loss="expectile"``, between 0 and 1: the prediction m balances the errors,
        ``expectile * E(y - m)+ = (1 - expectile) * E(m - y)+``. 0.5 is the mean. Newey and Powell
        (1987).
    huber_slope : float, default=1.0
        For ``loss="pseudo_huber"``: errors above this size, in units of y, count linearly.
        XGBoost's name.
    alpha : float, default=0.9
        For ``loss="huber"``: errors above this quantile of the absolute errors count linearly.
        Friedman (2001), section 4.4.
    power : float, default=1.5
        For ``loss="tweedie"``: the variance is proportional to this power of the mean, between 1
        (Poisson) and 2 (gamma).

    Attributes
    ----------
    n_iter_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        1, or the number of quantiles or targets.
    do_early_stopping_ : bool
    train_score_, validation_score_, history_, evals_result_, ensemble_, loss_
        See `HistGradientBoostingClassifier`.
    feature_importances_
        See `HistGradientBoostingClassifier`.
    is_categorical_, n_features_in_, feature_names_in_, schema_, missing_columns_, seed_
        See `HistGradientBoostingClassifier`.
    statistics_ : TargetStatistics
        See `HistGradientBoostingClassifier`.

    Notes
    -----
    As in `HistGradientBoostingClassifier`. With losses that are not smooth (absolute error,
    quantile, Huber, mape) the value of a leaf is the median, quantile or Huber step of the errors
    of its rows.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    W. Newey, J. Powell (1987), "Asymmetric least squares estimation and testing", Econometrica
    55(4).

    V. Chernozhukov, I. Fernandez-Val, A. Galichon (2010), "Quantile and probability curves without
    crossing", Econometrica 78(3).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import HistGradientBoostingRegressor
    >>> X = np.linspace(0, 10, 400).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = HistGradientBoostingRegressor().fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> waves = np.column_stack([y, np.cos(X[:, 0])])
    >>> model = HistGradientBoostingRegressor(multi_strategy="multi_output_tree").fit(X, waves)
    >>> model.predict(X).shape
    (400, 2)
    >>> both = HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9]).fit(X, y)
    >>> both.predict(X).shape
    (400, 2)
    """

    _supports_multi_output: ClassVar[bool] = True
    _fits_shards: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostingRegressor._parameter_constraints,
        **HistGradientBoosting._parameter_constraints,
        "quantile": ["array-like", Interval(Real, 0.0, 1.0, closed="neither"), None],
        "loss": [StrOptions(set(HIST_REGRESSION)), callable],
        "expectile": [Interval(Real, 0.0, 1.0, closed="neither"), None],
        "huber_slope": [Interval(Real, 0.0, None, closed="neither")],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseBoostingRegressor._fitted_attributes,
        **HistGradientBoosting._fitted_attributes,
    }

    def __init__(
        self,
        loss: HistRegressionLoss | CustomLoss = "squared_error",
        *,
        quantile: float | Sequence[float] | None = None,
        learning_rate: float = 0.1,
        max_iter: int | Literal["auto"] = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        monotonic_cst: MonotonicCst = None,
        interaction_cst: InteractionCst = None,
        warm_start: bool = False,
        early_stopping: Literal["auto"] | bool = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | int | None = 0.1,
        validation_folds: int | None = None,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
        growth: Growth = "leaf_wise",
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling: Sampling = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        feature_weights: FeatureWeights = None,
        forced_splits: ForcedSplits = None,
        extra_trees: bool = False,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        category_encoding: CategoryEncoding = "auto",
        cat_smooth: float = 10.0,
        cat_l2: float = 3.0,
        linear_leaves: bool = False,
        linear_l2: float = 1.0,
        multi_strategy: MultiStrategy = "one_output_per_tree",
        output_sketch: OutputSketch = None,
        sketch_dim: int = 5,
        alpha: float = 0.9,
        power: float = 1.5,
        expectile: float | None = None,
        huber_slope: float = 1.0,
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter: int | Literal["auto"] = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins: int | None = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst: InteractionCst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping: Literal["auto"] | bool = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.validation_folds = validation_folds
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.growth: Growth = growth
        self.l1_regularization = l1_regularization
        self.min_split_gain = min_split_gain
        self.min_child_weight = min_child_weight
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling: Sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.feature_weights: FeatureWeights = feature_weights
        self.forced_splits: ForcedSplits = forced_splits
        self.extra_trees = extra_trees
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.max_drop = max_drop
        self.category_encoding: CategoryEncoding = category_encoding
        self.cat_smooth = cat_smooth
        self.cat_l2 = cat_l2
        self.linear_leaves = linear_leaves
        self.linear_l2 = linear_l2
        self.multi_strategy: MultiStrategy = multi_strategy
        self.output_sketch: OutputSketch = output_sketch
        self.sketch_dim = sketch_dim
        self.alpha = alpha
        self.power = power
        self.expectile = expectile
        self.huber_slope = huber_slope
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    def _make_loss(self, n_targets: int = 1) -> Loss:
        if self.loss == "expectile" and self.expectile is None:
            raise ValueError(
                "loss='expectile' requires expectile: a level between 0 and 1, such as 0.9; got "
                "None"
            )
        level = 0.5 if self.expectile is None else float(self.expectile)
        loss = super()._make_loss(n_targets)
        return replace(loss, expectile=level, huber_slope=float(self.huber_slope))

    def _read_quantile_levels(self) -> tuple[float, ...]:
        return read_quantile_levels(self.quantile, "quantile") if self.loss == "quantile" else ()

    def _huber_alpha(self) -> float:
        return self.alpha
