"""Base classes of forests of classification and regression trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from arboleda._base.targets import ClassTarget, NumberTarget
from arboleda._base.tree_learner import Array, Floats, Training
from arboleda._engine.fit import (
    ForestOptions,
    check_class_shares_fit,
    fit_classification_forest,
    fit_regression_forest,
)
from arboleda._engine.forest import Forest as Trees
from arboleda._engine.forest import Voting
from arboleda._engine.target import as_columns, check_sums
from arboleda.forest._base_forest import BaseForest, Progress
from arboleda.forest._neighborhood import ClassNeighborhoodMixin, QuantileMixin
from arboleda.forest._out_of_bag import OobPredictions
from arboleda.persist import Field
from arboleda.tree import DecisionTreeClassifier, DecisionTreeRegressor

ClassWeight = (
    dict[Any, float] | list[dict[Any, float]] | Literal["balanced", "balanced_subsample"] | None
)
ClassificationCriterion = Literal["gini", "entropy", "log_loss", "misclassification"]


class ForestClassifier(ClassTarget, ClassNeighborhoodMixin, BaseForest):
    """Base class of forests for classification targets."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseForest._parameter_constraints,
        "criterion": [StrOptions({"gini", "entropy", "log_loss", "misclassification"})],
        "bootstrap": ["boolean", StrOptions({"balanced"})],
        "class_weight": [dict, list, StrOptions({"balanced", "balanced_subsample"}), None],
        "voting": [StrOptions({"soft", "hard", "laplace"})],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **BaseForest._fitted_attributes,
        **ClassTarget._target_attributes,
    }

    criterion: ClassificationCriterion
    voting: Voting
    oob_score_: float
    oob_decision_function_: Floats

    @property
    def _voting(self) -> Voting:
        return self.voting

    @property
    def estimator_(self) -> DecisionTreeClassifier:
        """An unfitted tree with the parameters of the forest's trees."""
        balanced = self.class_weight == "balanced_subsample"
        return DecisionTreeClassifier(
            criterion=self.criterion,
            class_weight="balanced" if balanced else self.class_weight,
            **self._get_tree_parameters(),
        )

    def _target_weight(self, y: Array, sample_weight: Floats | None) -> Floats | None:
        if self.class_weight == "balanced_subsample":  # computed for each bag
            return sample_weight
        return super()._target_weight(y, sample_weight)

    def _extra_options(self) -> dict[str, Any]:
        return {"balance_classes": self.class_weight == "balanced_subsample"}

    def _check_size(self, training: Training, n_trees: int, n_leaves: int) -> None:
        check_class_shares_fit(2 * n_leaves - 1, self._value_width(), n_trees)

    def _grow(self, training: Training, options: ForestOptions, progress: Progress | None) -> Trees:
        return fit_classification_forest(
            training.table,
            training.target,
            self._value_widths(),
            training.weight,
            "entropy" if self.criterion == "log_loss" else self.criterion,
            options,
            progress=progress,
            n_threads=training.n_threads,
            seed=self.seed_,
        )

    def _has_same_target(self, other: Any) -> bool:
        if self.n_outputs_ != other.n_outputs_:
            return False
        one = self.n_outputs_ == 1
        pairs = (
            [(self.classes_, other.classes_)]
            if one
            else zip(self.classes_, other.classes_, strict=True)
        )
        return all(np.array_equal(mine, others) for mine, others in pairs)

    def _keep_out_of_bag(self, oob: OobPredictions, target: Array) -> None:
        shares = oob.mean_votes()
        has_votes = ~np.isnan(shares[:, 0])
        predicted = self._labels_of(shares[has_votes])
        true = self._labels(target[has_votes])
        if callable(self.oob_score):
            self.oob_score_ = self.oob_score(true, predicted)
        elif self.n_outputs_ == 1:
            self.oob_score_ = (
                float(accuracy_score(true, predicted)) if has_votes.any() else float("nan")
            )
        else:
            self.oob_score_ = float(np.mean(true == predicted)) if has_votes.any() else float("nan")
        self.oob_decision_function_ = shares if self.n_outputs_ == 1 else self._stacked(shares)

    def _labels(self, target: Array) -> Array:
        """Return the class labels of class codes."""
        if self.n_outputs_ == 1:
            labels: Array = self.classes_[target]
            return labels
        pairs = zip(self.classes_, target.T, strict=True)
        return as_columns([classes[codes] for classes, codes in pairs])

    def _stacked(self, shares: Floats) -> Floats:
        """Return the shares as (rows, classes, outputs), padded with 0."""
        stacked = np.zeros((len(shares), max(self._value_widths()), self.n_outputs_))
        for k, part in enumerate(self._parts(shares)):
            stacked[:, : part.shape[1], k] = part
        return stacked

    def predict(self, X: Any) -> Array:
        """Predict the class with the largest mean vote of the trees; ties go to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return self._decode_predictions(self._mean_votes(X))

    def predict_proba(self, X: Any) -> Floats | list[Floats]:
        """Predict class probabilities as the mean vote of the trees; see the parameter ``voting``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes), or list of n_outputs such arrays
            Columns in the order of ``classes_``; rows sum to 1.
        """
        return self._decode_probabilities(self._mean_votes(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats | list[Floats]]:
        """Yield the class probabilities of the first tree, the first two, ..., all trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        p : ndarray of shape (n_samples, n_classes), or list of n_outputs such arrays
        """
        return map(self._decode_probabilities, self._staged_votes(X))

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def predict_log_proba(self, X: Any) -> Floats | list[Floats]:
        """Compute the logarithm of `predict_proba`; minus infinity for a vote of 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), or list of n_outputs such arrays
        """
        return self._compute_log_probabilities(self.predict_proba(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.bootstrap == "balanced":
            tags.target_tags.multi_output = tags.classifier_tags.multi_label = False
        return tags


RegressionCriterion = Literal["squared_error", "friedman_mse", "absolute_error", "poisson"]


class ForestRegressor(NumberTarget, QuantileMixin, BaseForest):
    """Base class of forests for numeric targets."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseForest._parameter_constraints,
        "criterion": [StrOptions({"squared_error", "friedman_mse", "absolute_error", "poisson"})],
    }

    criterion: RegressionCriterion
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
            **self._get_tree_parameters(),
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
