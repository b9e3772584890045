"""Histogram-based gradient boosting for times to an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from arboleda._base.mixins import FixedParameters, restore_on_failure
from arboleda._base.parameter_names import name_other_arguments
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda.boosting import (
    Boosting,
    Callback,
    CategoryEncoding,
    EvalSet,
    FeatureWeights,
    ForcedSplits,
    Growth,
    HistGradientBoosting,
    InteractionCst,
    MonotonicCst,
    Sampling,
    Scorings,
)
from arboleda.survival._curve_predictions import read_levels
from arboleda.survival._score_curves import compute_accelerated_quantiles
from arboleda.survival._survival_boosting import SurvivalBoosting

Floats = npt.NDArray[np.float64]
SurvivalLoss = Literal["cox", "aft", "discrete_time"]


class HistGradientBoostingSurvival(FixedParameters, SurvivalBoosting):
    """Histogram-based gradient boosting for times to an event, of which rows may be censored.

    Learns a risk, larger for earlier events, and from it the probability of no event up to any
    time. Trees are grown as in `HistGradientBoostingRegressor`. The same data and parameters give
    the same model, byte for byte, for any number of threads.

    Parameters
    ----------
    loss : {"cox", "aft", "discrete_time"}, default="cox"
        "cox": the partial likelihood of proportional hazards (Cox 1972; Ridgeway 1999); the hazard
        without columns, which the curves need, is Breslow's estimate. "aft": accelerated failure
        times, the likelihood of a distribution of the logarithm of the time; it also learns from
        intervals (Barnwal, Cho and Hocking 2022). "discrete_time": log-odds of the event in each of
        some periods, so that hazards need not be proportional; the trees of a round have the same
        splits (Singer and Willett 1993).
    ties : {"efron", "breslow"}, default="efron"
        For "cox": how events at the same time count.
    distribution : {"normal", "logistic", "extreme"}, default="normal"
        For "aft": distribution of the logarithm of the time. The time itself is log-normal,
        log-logistic, or Weibull.
    scale : float, default=None
        For "aft": scale of the distribution, which decides how steep the curves are. None: that
        with the largest likelihood without columns. Columns that explain much make it smaller; it
        can be chosen by cross-validation.
    periods : int or array-like, default=10
        For "discrete_time": number of periods, which end at quantiles of the event times; or the
        times at which they end, ascending.
    learning_rate : float, default=0.05
        See `HistGradientBoostingClassifier`.
    max_iter : int, default=100
        Maximum number of rounds.
    max_leaf_nodes : int or None, default=3
        Maximum number of leaves of a tree. The defaults of this parameter and of ``learning_rate``
        have the best concordance and likelihood in cross-validation on tables of 100 to 1,500 rows.
        With many rows, ``learning_rate=0.1, max_leaf_nodes=31`` learns more in as many rounds.
    max_depth, l2_regularization, max_features, max_bins, categorical_features
        See `HistGradientBoostingClassifier`.
    min_samples_leaf : int, default=20
        Minimum number of rows of a leaf.
    monotonic_cst : array-like of int, dict of str to int, or None, default=None
        Constraint of each column, or of the named columns. 1: the risk does not decrease as the
        column increases; -1: it does not increase; 0: unconstrained.
    interaction_cst, warm_start
        See `HistGradientBoostingClassifier`.
    early_stopping : "auto" or bool, default="auto"
        Hold out rows, stop when their likelihood stops improving, and keep the rounds up to the
        best one. "auto": if there are more than 10,000 rows or validation rows are passed to `fit`.
    validation_fraction : float, int or None, default=0.1
        Share or number of the rows held out, with the same share of events. None: the training rows
        are scored.
    n_iter_no_change, tol, verbose, random_state, growth, l1_regularization, min_split_gain
        See `HistGradientBoostingClassifier`.
    min_child_weight, max_delta_step, top_rate, other_rate, colsample_bytree, colsample_bylevel
        See `HistGradientBoostingClassifier`.
    feature_weights, forced_splits, extra_trees, drop_rate, skip_drop, max_drop, cat_smooth, cat_l2
        See `HistGradientBoostingClassifier`.
    linear_leaves, linear_l2
        See `HistGradientBoostingClassifier`.
    subsample, sampling
        As in `HistGradientBoostingClassifier`: rows are drawn for the trees, while all rows are at
        risk in the derivatives of the loss.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        See `HistGradientBoostingClassifier`; the statistic of a category is the mean martingale
        residual: events less those to expect without columns.
    callbacks, n_jobs
        See `HistGradientBoostingClassifier`.

    Attributes
    ----------
    unique_times_ : ndarray of shape (n_times,)
        Times of the events, ascending: where curves have their steps. For "discrete_time", the ends
        of the periods; for "aft", also the ends of intervals.
    time_range_ : ndarray of shape (2,)
        First and last time of the training rows.
    scale_ : float
        For "aft": scale of the logarithm of the time.
    baseline_hazard_ : ndarray of shape (n_times,)
        For "cox": cumulative hazard of a risk of 0 at each time; else empty.
    n_iter_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        1; for "discrete_time", the number of periods.
    do_early_stopping_ : bool
    train_score_, validation_score_ : ndarray
        Mean log-likelihood, partial for "cox", after 0, 1, .. rounds; empty without early stopping.
        For "cox", the training score uses at most 10,000 random rows.
    history_, evals_result_, ensemble_, loss_, feature_importances_
        See `HistGradientBoostingClassifier`.
    is_categorical_, n_features_in_, feature_names_in_, schema_, missing_columns_, seed_
        See `HistGradientBoostingClassifier`.
    statistics_ : TargetStatistics
        See `HistGradientBoostingClassifier`.

    Notes
    -----
    For "aft", the risk is minus the location of the logarithm of the time, so that
    ``exp(-predict(X))`` is the median of a log-normal or log-logistic time; `predict_quantile`
    returns times for each distribution. The Hessian of "cox" is diagonal, as in XGBoost.

    References
    ----------
    D. Cox (1972), "Regression models and life-tables", JRSS B 34(2).

    G. Ridgeway (1999), "The state of boosting", Computing Science and Statistics 31.

    A. Barnwal, H. Cho, T. Hocking (2022), "Survival regression with accelerated failure time model
    in XGBoost", Journal of Computational and Graphical Statistics 31(4).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import HistGradientBoostingSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.empty(300, dtype=[("event", "?"), ("time", "f8")])
    >>> y["time"], y["event"] = rng.exponential(np.exp(-X[:, 0])), rng.random(300) < 0.7
    >>> model = HistGradientBoostingSurvival(max_iter=30).fit(X, y)
    >>> model.score(X, y) > 0.7
    True
    >>> model.predict_survival_function(X[:2], times=[0.1, 1.0]).shape
    (2, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Boosting._parameter_constraints,
        **HistGradientBoosting._parameter_constraints,
        "loss": [StrOptions({"cox", "aft", "discrete_time"})],
        "ties": [StrOptions({"efron", "breslow"})],
        "distribution": [StrOptions({"normal", "logistic", "extreme"})],
        "scale": [Interval(Real, 0.0, None, closed="neither"), None],
        "periods": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        loss: SurvivalLoss = "cox",
        *,
        ties: Literal["efron", "breslow"] = "efron",
        distribution: Literal["normal", "logistic", "extreme"] = "normal",
        scale: float | None = None,
        periods: int | npt.ArrayLike = 10,
        learning_rate: float = 0.05,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 3,
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
        validation_fraction: float | int | None = 0.1,
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
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.ties = ties
        self.distribution = distribution
        self.scale = scale
        self.periods = periods
        self.learning_rate = learning_rate
        self.max_iter: int = max_iter
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
        self.validation_fraction = validation_fraction
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
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    @name_other_arguments
    def fit(  # type: ignore[override]  # has no initial scores
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        eval_set: EvalSet | None = None,
        eval_metric: Scorings = None,
    ) -> Self:
        """Boost trees on a table and the times of its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table: NumPy, pandas, polars, Arrow, lists, or sparse. See the guide's page "What
            goes in".
        y : structured ndarray or data frame of n_samples rows
            Two fields or columns: whether the event was observed (bool, 0 and 1, or words such as
            "dead" and "alive"), and the time of the event or of censoring. With ``loss="aft"`` also
            intervals: fields "lower" and "upper", or an array of shape (n_samples, 2); equal for
            an exact time, infinity as upper end for a censored row.
        sample_weight : array-like of shape (n_samples,), default=None
            Finite, non-negative weights; rows of weight 0 are ignored. None: all weights are 1.
        X_val, y_val : array-like, default=None
            Validation rows for early stopping, instead of a fraction of X.
        sample_weight_val : array-like, default=None
            Weights of the validation rows.
        eval_set, eval_metric : default=None
            Sets whose scores after each round are recorded in ``evals_result_``; see
            `HistGradientBoostingClassifier.fit`. The default metric is the concordance index.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, no row of positive weight has the event, it is not clear
            which field or value is the event, a time is missing, negative or infinite, an interval
            has its lower end above the upper one, or for the reasons of
            `HistGradientBoostingRegressor`. The estimator is left unchanged.

        Warns
        -----
        UserWarning
            If early stopping keeps no tree.
        """
        with restore_on_failure(self):
            validation_data = (X_val, y_val, sample_weight_val)
            evaluation = self._read_evaluation(eval_set, eval_metric)
            self._boost(X, y, sample_weight, validation_data, self.callbacks or ())
            if evaluation is not None:
                self.evals_result_ = evaluation.score_rounds(self)
        return self

    def predict(self, X: Any) -> Floats:
        """Predict the risk of each row; larger means earlier events.

        For ``loss="cox"``, the logarithm of the hazard ratio; for "aft", minus the location of the
        logarithm of the time; for "discrete_time", the sum of the cumulative hazard over the ends
        of the periods.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        risk : ndarray of shape (n_samples,)
        """
        return self._decode_predictions(self._raw_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        risk : ndarray of shape (n_samples,)
        """
        return map(self._decode_predictions, self._staged_raw_scores(X))

    def predict_quantile(self, X: Any, q: Any = 0.5) -> Floats:
        """Predict the time by which the event took place with a given probability.

        For ``loss="aft"`` it is the quantile of the predicted distribution; else the first of
        ``unique_times_`` at which the predicted survival is at most 1 - q. The median by default.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        q : float, or array-like of shape (n_quantiles,), default=0.5
            Probabilities between 0 and 1.

        Returns
        -------
        time : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
            Infinity where the survival does not fall that far within the times of the training
            rows, unless ``loss="aft"``.

        Raises
        ------
        ValueError
            If a probability is not between 0 and 1.
        """
        check_is_fitted(self)
        if not self.loss_.name.startswith("aft_"):
            return super().predict_quantile(X, q)
        levels = read_levels(q)
        times = compute_accelerated_quantiles(
            self._raw_scores(X)[:, 0], self.loss_, levels.reshape(-1)
        )
        return times if levels.ndim else times[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute Harrell's concordance index of `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : structured ndarray or data frame of n_samples rows
            As in `fit`. Of intervals, pairs are comparable if one ends before the other begins.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair of rows counts the product of their weights.

        Returns
        -------
        score : float
            Share of the comparable pairs that the risk orders like the times; 0.5 for ties.
        """
        return self._compute_score(y, self.predict(X), sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
