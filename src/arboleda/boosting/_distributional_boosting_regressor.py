"""Natural gradient boosting of the parameters of a distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures
from arboleda._utils.coverage import check_coverage
from arboleda._utils.distribution_families import FAMILIES
from arboleda._utils.predicted_distribution import PredictedDistribution
from arboleda.boosting._base_estimators import BaseBoostingRegressor
from arboleda.boosting._boosting import Floats, Sampling
from arboleda.boosting._category_encoding import CategoryEncoding
from arboleda.boosting._hist_gradient_boosting import (
    FeatureWeights,
    ForcedSplits,
    HistGradientBoosting,
    InteractionCst,
)
from arboleda.boosting._losses import Loss, distribution_loss, distribution_parameters
from arboleda.boosting._round_monitor import Callback
from arboleda.persist import Field

Distribution = Literal[
    "normal",
    "lognormal",
    "laplace",
    "student_t",
    "gamma",
    "poisson",
    "negative_binomial",
    "zero_inflated_poisson",
]


class DistributionalBoostingRegressor(FixedParameters, BaseBoostingRegressor, HistGradientBoosting):
    """Natural gradient boosting of a distribution's parameters: a distribution for each row.

    All parameters of the distribution depend on the columns, as in NGBoost (Duan et al. 2020). Each
    round grows one tree that serves all parameters: its leaves hold a step for each. Trees are
    grown as in `HistGradientBoostingRegressor`. The same data and parameters give the same model,
    byte for byte, for any number of threads.

    Parameters
    ----------
    distribution : {"normal", "lognormal", "laplace", "student_t", "gamma", "poisson", \
            "negative_binomial", "zero_inflated_poisson"}, default="normal"
        Distribution of the target given the columns. "lognormal" and "gamma" need a positive
        target, the last three counts.
    scoring_rule : {"nll", "crps"}, default="nll"
        Proper scoring rule to minimize: the negative log-likelihood, or, for "normal", "lognormal"
        and "laplace", the continuous ranked probability score, which is less sensitive to outliers.
        With "lognormal" it is the CRPS of log y.
    learning_rate : float, default=0.05
        See `HistGradientBoostingClassifier`. This default, and those of ``max_leaf_nodes``,
        ``min_samples_leaf`` and ``subsample``, have the best CRPS and likelihood in
        cross-validation on seven small tables.
    max_iter : int, default=100
        Maximum number of rounds. Too many rounds make the predicted spread too small: use early
        stopping.
    max_leaf_nodes : int or None, default=15
        Maximum number of leaves of a tree.
    min_samples_leaf : int, default=10
        Minimum number of rows of a leaf.
    max_depth, l2_regularization, max_features, max_bins
        See `HistGradientBoostingClassifier`.
    categorical_features, interaction_cst, warm_start
        See `HistGradientBoostingClassifier`.
    early_stopping, validation_fraction, validation_folds, n_iter_no_change, tol
        See `HistGradientBoostingClassifier`. The score of held-out rows is the one that is
        minimized on the others.
    scoring : "loss", str, callable or None, default="loss"
        Score for early stopping: the scoring rule, the name of a scikit-learn scorer of the means,
        a callable ``scorer(estimator, X, y)``, or R2 (None).
    verbose, random_state
        See `HistGradientBoostingClassifier`.
    growth : {"leaf_wise", "level_wise"}, default="leaf_wise"
        See `HistGradientBoostingClassifier`.
    subsample : float, default=0.7
        Share of the rows that a tree is grown on.
    l1_regularization, min_split_gain, min_child_weight, max_delta_step
        See `HistGradientBoostingClassifier`. Steps are on the scale of the parameters below; the
        location of a distribution is in units of about the standard deviation of y.
    sampling, top_rate, other_rate, colsample_bytree, colsample_bylevel, extra_trees, drop_rate
        See `HistGradientBoostingClassifier`.
    feature_weights, forced_splits, skip_drop, max_drop, cat_smooth, cat_l2, callbacks, n_jobs
        See `HistGradientBoostingClassifier`.
    category_encoding : {"auto", "native", "ordered"}, default="auto"
        See `HistGradientBoostingClassifier`; the statistic of a category is the mean target.

    Attributes
    ----------
    n_iter_, best_iteration_ : int
        Number of rounds of the fitted model.
    n_trees_per_iteration_ : int
        Number of parameters of the distribution; these trees have the same splits.
    do_early_stopping_ : bool
    train_score_, validation_score_ : ndarray
        Minus the mean of the scoring rule after 0, 1, .. rounds; empty without early stopping.
    history_, evals_result_, ensemble_, loss_, feature_importances_
        See `HistGradientBoostingClassifier`.
    is_categorical_, n_features_in_, feature_names_in_, schema_, missing_columns_, seed_
        See `HistGradientBoostingClassifier`.
    statistics_ : TargetStatistics
        See `HistGradientBoostingClassifier`.

    Notes
    -----
    Raw scores are the location itself, and the logarithm of a scale, mean, shape, size or number of
    degrees of freedom; of a share the log-odds. A leaf takes the mean of the natural gradients of
    its rows, each weighted by the row's Fisher information on the parameter, which is a step of
    Fisher's scoring; NGBoost weights rows equally, and its trees serve one parameter each. Steps of
    logarithms are bounded, scales are at least a millionth of the spread of y, and degrees of
    freedom lie above 1, so that the mean exists.

    See Also
    --------
    arboleda.metrics.distribution_table : CRPS, log score, coverage and calibration.
    arboleda.explain.prediction_interval : Conformal correction, with ``method="quantile"``.

    References
    ----------
    T. Duan et al. (2020), "NGBoost: natural gradient boosting for probabilistic prediction", ICML.

    T. Gneiting, F. Balabdaoui, A. Raftery (2007), "Probabilistic forecasts, calibration and
    sharpness", JRSS B 69(2).

    Examples
    --------
    >>> import numpy as np
    >>> from arboleda import DistributionalBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(2000, 1))
    >>> y = X[:, 0] + rng.normal(scale=0.1 + 0.2 * X[:, 0])  # the noise grows
    >>> model = DistributionalBoostingRegressor(random_state=0).fit(X, y)
    >>> dist = model.predict_dist([[1.0], [9.0]])
    >>> bool(dist.std()[0] < 0.8 < 1.4 < dist.std()[1])
    True
    >>> model.predict_interval([[1.0], [9.0]], coverage=0.9).shape
    (2, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseBoostingRegressor._parameter_constraints,
        **HistGradientBoosting._parameter_constraints,
        "distribution": [StrOptions(set(FAMILIES))],
        "scoring_rule": [StrOptions({"nll", "crps"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "growth": [StrOptions({"leaf_wise", "level_wise"})],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseBoostingRegressor._fitted_attributes,
        **HistGradientBoosting._fitted_attributes,
    }

    # Parameters of the other estimators that have no meaning here, or do not support shared trees.
    linear_l2 = 1.0
    linear_leaves = False
    loss = "squared_error"
    monotonic_cst = None
    multi_strategy = "multi_output_tree"
    output_sketch = None
    power = 1.5
    sketch_dim = 5

    def __init__(
        self,
        distribution: Distribution = "normal",
        *,
        scoring_rule: Literal["nll", "crps"] = "nll",
        learning_rate: float = 0.05,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 15,
        max_depth: int | None = None,
        min_samples_leaf: int = 10,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
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
        growth: Literal["leaf_wise", "level_wise"] = "leaf_wise",
        l1_regularization: float = 0.0,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        max_delta_step: float = 0.0,
        subsample: float = 0.7,
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
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.distribution: Distribution = distribution
        self.scoring_rule: Literal["nll", "crps"] = scoring_rule
        self.learning_rate = learning_rate
        self.max_iter: int = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins: int | None = max_bins
        self.categorical_features: CategoricalFeatures = categorical_features
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
        self.growth: Literal["leaf_wise", "level_wise"] = growth
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
        self.callbacks = callbacks
        self.n_jobs = n_jobs

    def _read_quantile_levels(self) -> tuple[float, ...]:
        return ()

    def _huber_alpha(self) -> float:
        return 0.9

    def _make_loss(self, n_targets: int = 1) -> Loss:
        return distribution_loss(self.distribution, self.scoring_rule)

    # Predictions

    def predict_dist(self, X: Any, init_score: Any = None) -> PredictedDistribution:
        """Predict the distribution of the target of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init_score : array-like of shape (n_samples, n_parameters), default=None
            Scores to add to those of the trees, as in `fit`; see the notes for their scale.

        Returns
        -------
        dist : PredictedDistribution
            With the methods of scipy.stats: ``mean()``, ``std()``, ``cdf(y)``, ``ppf(q)``,
            ``interval(confidence)``, ``rvs()`` and others, and ``parameters``.
        """
        raw = self._offset_scores(X, init_score)
        name = self.loss_.name
        names = [parameter.name for parameter in FAMILIES[name].parameters]
        values = distribution_parameters(name, raw)
        return PredictedDistribution(name, **dict(zip(names, values, strict=True)))

    def predict_quantiles(self, X: Any, quantiles: npt.ArrayLike = (0.1, 0.5, 0.9)) -> Floats:
        """Predict quantiles of each row's distribution.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : float, or array-like of shape (n_quantiles,), default=(0.1, 0.5, 0.9)
            Levels strictly between 0 and 1.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
            Without the last axis if a single level is given as a number.

        Raises
        ------
        ValueError
            If a level is not between 0 and 1.
        """
        levels = np.asarray(quantiles, dtype=np.float64)
        wrong = levels[~((levels > 0.0) & (levels < 1.0))]
        if wrong.size:
            raise ValueError(f"quantiles must lie strictly between 0 and 1, got {wrong.flat[0]:g}")
        values = self.predict_dist(X).ppf(levels.reshape(-1, 1)).T
        return values[:, 0] if levels.ndim == 0 else values

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Predict the central interval that holds the target with a given probability.

        It extends between the quantiles of levels (1 - coverage) / 2 and (1 + coverage) / 2. The
        coverage is that of the predicted distribution; `arboleda.explain.prediction_interval` with
        ``method="quantile"`` corrects it by held-out rows, with a guarantee.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
            Strictly between 0 and 1.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)

        Raises
        ------
        ValueError
            If ``coverage`` is not between 0 and 1.
        """
        check_coverage(coverage)
        return np.column_stack(self.predict_dist(X).interval(float(coverage)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R2 of the means.

        It says nothing about the spread: `arboleda.metrics.distribution_table` has CRPS, the log
        score, coverage and calibration of `predict_dist`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            The best value is 1.
        """
        return super().score(X, y, sample_weight)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = FAMILIES[self.distribution].support != "real"
        return tags
