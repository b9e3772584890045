"""Base class of forests of regression trees."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import StrOptions

from arboleda._engine.fit_forest import ForestOptions, fit_regression_forest
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.target import check_sums
from arboleda.forest._base_forest import BaseForest, Progress
from arboleda.forest._neighborhood import QuantileMixin
from arboleda.forest._oob_predictions import OobPredictions
from arboleda.tree._decision_tree_regressor import DecisionTreeRegressor
from arboleda.tree._number_target import NumberTarget
from arboleda.tree._tree_learner import Array, Floats, Training

Criterion = Literal["squared_error", "friedman_mse", "absolute_error", "poisson"]


class ForestRegressor(NumberTarget, QuantileMixin, BaseForest):
    """Base class of forests for numeric targets."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseForest._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
    }

    criterion: Criterion
    oob_score_: float
    oob_prediction_: Floats

    @property
    def _voting(self) -> Voting:
        return "soft"

    @property
    def estimator_(self) -> DecisionTreeRegressor:
        """An unfitted tree with the parameters of the forest's trees."""
        return DecisionTreeRegressor(
            criterion=self.criterion,
            splitter="random" if self._random_splits else "best",
            max_depth=self.max_depth,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_fraction_leaf=self.min_weight_fraction_leaf,
            max_features=self.max_features,
            max_leaf_nodes=self.max_leaf_nodes,
            min_impurity_decrease=self.min_impurity_decrease,
            ccp_alpha=self.ccp_alpha,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            n_jobs=self.n_jobs,
            monotonic_cst=self.monotonic_cst,
        )

    def _check_size(self, training: Training, n_trees: int, n_leaves: int) -> None:
        # Leaves hold one number per output, which always fits.
        used = None if training.weight is None else training.weight > 0.0
        check_sums(training.target, n_trees, used)

    def _grow(self, training: Training, options: ForestOptions, progress: Progress | None) -> Trees:
        return fit_regression_forest(
            training.table,
            training.target,
            training.weight,
            "squared_error" if self.criterion == "friedman_mse" else self.criterion,
            options,
            progress=progress,
            n_threads=training.n_threads,
            seed=self.seed_,
        )

    def _has_same_target(self, other: Any) -> bool:
        return bool(self.n_outputs_ == other.n_outputs_)

    def _keep_out_of_bag(self, oob: OobPredictions, target: Array) -> None:
        means = oob.mean_votes()
        has_votes = ~np.isnan(means[:, 0])
        if self.n_outputs_ == 1:
            means = means[:, 0]
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(target[has_votes], means[has_votes])
        else:
            enough = np.count_nonzero(has_votes) > 1
            self.oob_score_ = (
                float(r2_score(target[has_votes], means[has_votes])) if enough else float("nan")
            )
        self.oob_prediction_ = means

    def predict(self, X: Any) -> Floats:
        """Predict the mean prediction of the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._decode_predictions(self._mean_votes(X))

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))
