"""Regression by gradient boosting with exact trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from arboleda._base.tree_learner import CategoricalFeatures, MaxFeatures
from arboleda._utils.number_types import is_real
from arboleda.boosting._base_estimators import BaseBoostingRegressor, RegressionLoss
from arboleda.boosting._boosting import Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._gradient_boosting import GradientBoosting
from arboleda.boosting._losses import CustomLoss, read_quantile_levels
from arboleda.boosting._round_monitor import Callback
from arboleda.persist import Field


class GradientBoostingRegressor(BaseBoostingRegressor, GradientBoosting):
    """Regression by gradient boosting with exact trees: Friedman's own algorithm.

    As `GradientBoostingClassifier`, for a numeric target. With several quantiles a round grows one
    tree per quantile. With many rows `HistGradientBoostingRegressor` is faster.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"} \
            or callable, default="squared_error"
        Loss to minimize; the guide describes the predictions and the valid targets of each. A
        callable takes y and raw scores, both of shape (n,), and returns the gradient and the
        hessian; scores start from 0.
    learning_rate, n_estimators, subsample, criterion, min_samples_split, min_samples_leaf
        See `GradientBoostingClassifier`.
    min_weight_fraction_leaf, max_depth, min_impurity_decrease, random_state, max_features, verbose
        See `GradientBoostingClassifier`.
    init : estimator, "zero" or None, default=None
        Initial scores: the best constant (None), 0, or the predictions of an estimator that is
        fitted to the same rows.
    alpha : float or list of float, default=0.9
        For ``loss="huber"``: errors above this quantile of the absolute errors count linearly.
        For ``loss="quantile"``: one or several levels. With several levels `predict` returns one
        column per level, sorted within each row so that quantiles do not cross (Chernozhukov,
        Fernandez-Val and Galichon 2010).
    max_leaf_nodes, warm_start, validation_fraction, n_iter_no_change, tol, ccp_alpha
        See `GradientBoostingClassifier`.
    power : float, default=1.5
        For ``loss="tweedie"``: the variance is proportional to this power of the mean, between 1
        (Poisson) and 2 (gamma).
    scoring : "loss", str, callable or None, default="loss"
        Score for early stopping: the loss, the name of a scikit-learn scorer, a callable
        ``scorer(estimator, X, y)``, or R2 (None).
    sampling, top_rate, other_rate, drop_rate, skip_drop, max_drop
        See `HistGradientBoostingClassifier`.
    max_bins, categorical_features, callbacks, n_jobs
        See `GradientBoostingClassifier`.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        See `HistGradientBoostingClassifier`; the statistic of a category is the mean target.

    Attributes
    ----------
    n_estimators_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        1, or the number of quantiles.
    train_score_ : ndarray of shape ``(n_estimators_,)``
        Training loss after each round (with ``loss="squared_error"`` the mean squared error), on
        the rows drawn for the round if ``subsample < 1``.
    estimators_, init_, oob_improvement_, oob_scores_, oob_score_, history_, feature_importances_
        See `GradientBoostingClassifier`.
    ensemble_, loss_, max_features_, n_features_in_, feature_names_in_, schema_, missing_columns_
        See `GradientBoostingClassifier`.
    statistics_ : TargetStatistics
        See `HistGradientBoostingClassifier`.
    seed_ : int
        Seed drawn from ``random_state``, which ``warm_start`` reuses.

    Notes
    -----
    The step of a leaf is the optimal constant for the errors of its rows: their mean, median or
    quantile. The Huber loss takes one step from the median (Friedman 2001, algorithms 2 to 4), and
    the Poisson, gamma and Tweedie losses take a Newton step. Otherwise as in
    `GradientBoostingClassifier`.

    References
    ----------
    J. Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29(5).

    V. Chernozhukov, I. Fernandez-Val, A. Galichon (2010), "Quantile and probability curves without
    crossing", Econometrica 78(3).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import GradientBoostingRegressor
    >>> X = np.linspace(0, 10, 200).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> GradientBoostingRegressor().fit(X, y).score(X, y) > 0.99
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostingRegressor._parameter_constraints,
        **GradientBoosting._parameter_constraints,
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "init": [StrOptions({"zero"}), None, HasMethods(["fit", "predict"])],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseBoostingRegressor._fitted_attributes,
        **GradientBoosting._fitted_attributes,
    }

    def __init__(
        self,
        *,
        loss: RegressionLoss | CustomLoss = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: Literal["deprecated", "friedman_mse", "squared_error"] = "deprecated",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: int | np.random.RandomState | None = None,
        max_features: MaxFeatures = None,
        alpha: float | Sequence[float] = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float | int = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        power: float = 1.5,
        scoring: str | Callable[..., float] | None = "loss",
        sampling: Sampling = "uniform",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        drop_rate: float = 0.0,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
        category_encoding: CategoryEncoding = "auto",
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators: int | Literal["auto"] = n_estimators
        self.subsample = subsample
        self.criterion: Literal["deprecated", "friedman_mse", "squared_error"] = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features: MaxFeatures = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.power = power
        self.scoring = scoring
        self.sampling: Sampling = sampling
        self.top_rate = top_rate
        self.other_rate = other_rate
        self.drop_rate = drop_rate
        self.skip_drop = skip_drop
        self.max_drop = max_drop
        self.max_bins = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
        self.category_encoding: CategoryEncoding = category_encoding
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    def _read_quantile_levels(self) -> tuple[float, ...]:
        return read_quantile_levels(self.alpha, "alpha") if self.loss == "quantile" else ()

    def _huber_alpha(self) -> float:
        if is_real(self.alpha):
            return float(self.alpha)
        if self.loss == "huber":
            raise ValueError(
                f"alpha={self.alpha!r} must be a single number, since loss='huber' takes one level"
            )
        return 0.9
