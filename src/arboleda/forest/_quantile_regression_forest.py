"""Quantile regression forests: Meinshausen (2006)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from arboleda._base.mixins import FixedParameters
from arboleda._base.tree_learner import CategoricalFeatures, Floats, MaxFeatures
from arboleda._engine.row_predictor import RowPredictor
from arboleda.forest._forest_estimators import RegressionCriterion
from arboleda.forest._random_forest import RandomForestRegressor

__all__ = ["QuantileRegressionForest"]


class QuantileRegressionForest(FixedParameters, RandomForestRegressor):
    """Quantile regression forest: a random forest that predicts quantiles of the target.

    It is the forest of `RandomForestRegressor` with ``keep_rows=True``: each leaf stores its
    training rows, not only their mean. `predict` returns the median, or the quantiles given by
    ``quantiles``; a pair of them is a prediction interval.

    Parameters
    ----------
    n_estimators : int or "auto", default=100
        Number of trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf
        See `RandomForestRegressor`. Larger leaves give smoother quantiles.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        Columns drawn at each node.
    max_leaf_nodes, min_impurity_decrease, bootstrap, n_jobs, random_state, verbose, warm_start
        See `RandomForestRegressor`.
    ccp_alpha, max_samples, monotonic_cst, max_bins, categorical_features
        See `RandomForestRegressor`.

    Attributes
    ----------
    estimators_, estimators_samples_, n_estimators_, feature_importances_, n_features_in_, \
            feature_names_in_, schema_, max_features_, missing_columns_, n_outputs_
        See `RandomForestRegressor`.

    See Also
    --------
    RandomForestRegressor : Predicts the mean; with ``keep_rows=True`` it has `predict_quantiles`.
    HistGradientBoostingRegressor : Boosting of quantiles, ``loss="quantile"``.
    arboleda.explain.prediction_interval : Intervals with a guaranteed coverage.

    Notes
    -----
    With the training targets y_i and the weights w_i(x) that row i has in the forest's mean at x
    (`neighbor_weights`), the distribution of the target at x is estimated by ::

        F(y | x) = sum_i w_i(x) I(y_i <= y)

    and the quantile of level q is the smallest y_i with F(y_i | x) >= q. Quantiles never cross.

    ``score`` is R2 of the medians. `oob_curve` and `oob_permutation_importance` evaluate the mean
    over the trees, not the median. Single-row predictors, exports to C and ONNX, and Shapley
    values, which also refer to the mean, are available for `RandomForestRegressor` only.

    References
    ----------
    N. Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7,
    section 3.

    Examples
    --------
    >>> from arboleda import QuantileRegressionForest
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = QuantileRegressionForest(min_samples_leaf=5, random_state=0).fit(X[:300], y[:300])
    >>> low, median, high = forest.predict(X[300:], quantiles=[0.05, 0.5, 0.95]).T
    >>> bool(0.8 < ((low <= y[300:]) & (y[300:] <= high)).mean() < 1)
    True
    """

    _predicts_mean: ClassVar[bool] = False

    def __init__(
        self,
        n_estimators: int | Literal["auto"] = 100,
        *,
        criterion: RegressionCriterion = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: MaxFeatures = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        max_bins: int | None = None,
        categorical_features: CategoricalFeatures = "from_dtype",
    ) -> None:
        super().__init__(
            n_estimators,
            keep_rows=True,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            max_leaf_nodes=max_leaf_nodes,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            warm_start=warm_start,
            ccp_alpha=ccp_alpha,
            max_samples=max_samples,
            monotonic_cst=monotonic_cst,
            max_bins=max_bins,
            categorical_features=categorical_features,
        )

    def predict(self, X: Any, quantiles: Any = 0.5) -> Floats:
        """Predict quantiles of the target, by default the median.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        quantiles : float, or array-like of shape (n_quantiles,), default=0.5
            Levels from 0 to 1.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_quantiles)
            For several targets (n_samples, n_outputs) or (n_samples, n_outputs, n_quantiles).
            Without the last axis if ``quantiles`` is a number.

        Raises
        ------
        ValueError
            If a level is not between 0 and 1.
        """
        return self.predict_quantiles(X, quantiles)

    @property
    def staged_predict(self) -> Any:
        """Not available: stages are defined for the mean of trees, which is not predicted."""
        raise AttributeError("QuantileRegressionForest does not predict means, so it has no stages")

    @property
    def staged_score(self) -> Any:
        """Not available: see `staged_predict`."""
        raise AttributeError("QuantileRegressionForest does not predict means, so it has no stages")

    def _row_predictor(self) -> RowPredictor:
        raise ValueError(
            "QuantileRegressionForest has no single-row predictor, which predicts means of "
            "trees: call predict, or use RandomForestRegressor"
        )
