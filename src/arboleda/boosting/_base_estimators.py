"""Bases of the gradient boosting classifiers and regressors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, d2_pinball_score, r2_score
from sklearn.utils import Tags, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_y

from arboleda._base.mixins import StagedScores
from arboleda._base.targets import compute_weights_of_classes, number_classes
from arboleda._engine.all_shards import AllShards
from arboleda._engine.target import check_class_weights, unite_labels
from arboleda.boosting._boosting import Array, Boosting, Floats
from arboleda.boosting._evals_result import EvalsResult
from arboleda.boosting._losses import (
    CLASSIFICATION,
    REGRESSION,
    CustomLoss,
    Loss,
    classification_loss,
    regression_loss,
)
from arboleda.boosting._multilabel import (
    are_label_classes,
    decode_labels,
    encode_labels,
    has_several_columns,
    predict_labels,
    read_labels,
    split_probabilities,
    unite_label_classes,
)
from arboleda.persist import Field, Labels, OneOrMore

ClassWeight = dict[Any, float] | Literal["balanced"] | None


class BaseBoostingClassifier(EvalsResult, StagedScores, ClassifierMixin, Boosting):  # type: ignore[misc]
    """Encoding of classes, class weights, and predictions of labels and probabilities."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Boosting._parameter_constraints,
        "loss": [StrOptions(set(CLASSIFICATION)), callable],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    _fitted_attributes: ClassVar[dict[str, Field]] = {
        **Boosting._fitted_attributes,
        "classes_": OneOrMore(Labels()),
    }
    _supports_multilabel: ClassVar[bool] = False

    class_weight: ClassWeight
    classes_: Any  # an array, or a list of arrays for a multilabel target
    loss: str | CustomLoss

    @property
    def n_classes_(self) -> Any:
        """Number of classes; for a multilabel target, a list with one number for each label."""
        return list(map(len, self.classes_)) if self._is_multilabel else len(self.classes_)

    @property
    def n_outputs_(self) -> int:
        """Number of labels of a row."""
        return len(self.classes_) if self._is_multilabel else 1

    @property
    def _is_multilabel(self) -> bool:
        return isinstance(self.classes_, list)

    @property
    def _n_target_classes(self) -> int:
        # The mean of a label, which is 0 or 1, is the share of its second class.
        return 0 if self._is_multilabel else len(self.classes_)

    def _encode_target(self, y: Array) -> Floats:
        if self._supports_multilabel and has_several_columns(y):
            self.classes_, target = read_labels(y, self)
            return target
        self.classes_, codes = number_classes(y, self)
        return codes.astype(np.float64)

    def _encode_new_target(self, y: Array) -> Floats:
        if self._is_multilabel:
            return encode_labels(y, self.classes_, self)
        y = column_or_1d(_check_y(y, estimator=self), warn=True)
        unknown = np.flatnonzero(~np.isin(y, self.classes_))
        if unknown.size:
            row = int(unknown[0])
            raise ValueError(
                f"y has the class {y[row]!r} in row {row}, which was not in the training data; "
                f"the classes are {', '.join(map(repr, self.classes_[:20].tolist()))}"
            )
        return np.searchsorted(self.classes_, y).astype(np.float64)

    def _unite_target(self, target: Floats, shards: AllShards) -> Floats:
        has_rows = len(target) > 0
        parts = [
            known
            for known in shards.gather(self.classes_ if has_rows else None)
            if known is not None
        ]
        if isinstance(parts[0], list):
            labels = self._decode_target(target) if has_rows else None
            self.classes_ = unite_label_classes(parts)
            return target if labels is None else encode_labels(labels, self.classes_, self)
        own = self.classes_ if has_rows else parts[0]
        self.classes_ = unite_labels(parts)
        if np.array_equal(own, self.classes_):
            return target
        codes: Floats = np.searchsorted(self.classes_, own)[target.astype(np.intp)]
        return codes.astype(np.float64)

    def _decode_target(self, target: Floats) -> Array:
        if self._is_multilabel:
            return decode_labels(target, self.classes_)
        labels: Array = self.classes_[target.astype(np.intp)]
        return labels

    def _compute_row_weight(
        self, target: Floats, weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        if self.class_weight is None:
            return weight
        if self._is_multilabel:
            raise ValueError(
                f"class_weight={self.class_weight!r} is not supported for several labels, which "
                "share the weight of a row: set class_weight=None and give sample_weight, or fit "
                "one classifier for each label"
            )
        check_class_weights(self.class_weight)
        codes = target.astype(np.intp)
        counts = shards.add(np.bincount(codes, minlength=len(self.classes_)))
        by_class = compute_weights_of_classes(self.class_weight, self.classes_, counts)[codes]
        if weight is not None:
            with np.errstate(over="ignore"):  # the check of their sum raises the error
                by_class = by_class * weight
        if not shards.is_any(np.array([by_class.any()])).all():
            raise ValueError(
                f"class_weight={self.class_weight!r} and sample_weight leave no row with a "
                "positive weight"
            )
        return by_class

    def _make_loss(self, n_targets: int = 1) -> Loss:
        return classification_loss(
            self.loss, 2 if self._is_multilabel else len(self.classes_), n_targets
        )

    # Predictions

    def _as_decision(self, raw: Floats) -> Floats:
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def _as_probabilities(self, raw: Floats) -> Any:
        probabilities = self.loss_.predictions(raw)
        if self._is_multilabel:
            return split_probabilities(probabilities, self.classes_)
        return probabilities

    def _as_labels(self, raw: Floats) -> Array:
        if self._is_multilabel:
            return predict_labels(raw, self.classes_)
        best = raw.argmax(axis=1) if raw.shape[1] > 1 else (raw[:, 0] > 0.0).astype(np.intp)
        labels: Array = self.classes_[best]
        return labels

    def _decode_predictions(self, raw: Floats) -> Array:
        return self._as_labels(raw)

    def _decode_probabilities(self, raw: Floats) -> Any:
        return self._as_probabilities(raw)

    def decision_function(self, X: Any, init_score: Any = None) -> Floats:
        """Return the raw scores: the sum of the initial score and the trees.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to which those of the model are added; see `fit`.

        Returns
        -------
        score : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_labels)
            With two classes the log-odds of the second one (half of it with
            ``loss="exponential"``), of several labels those of each; else one score per class,
            whose softmax gives the probabilities.
        """
        return self._as_decision(self._offset_scores(X, init_score))

    def predict(self, X: Any, init_score: Any = None) -> Array:
        """Predict the class with the largest probability; a tie goes to the first class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to which those of the model are added; see `fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        """
        return self._as_labels(self._offset_scores(X, init_score))

    def predict_proba(self, X: Any, init_score: Any = None) -> Any:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to which those of the model are added; see `fit`.

        Returns
        -------
        p : ndarray of shape (n_samples, n_classes), or list of n_labels such arrays
            Columns in the order of ``classes_``; rows sum to 1.
        """
        return self._as_probabilities(self._offset_scores(X, init_score))

    def predict_log_proba(self, X: Any, init_score: Any = None) -> Any:
        """Return the logarithm of `predict_proba`; minus infinity where a probability rounds to 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to which those of the model are added; see `fit`.

        Returns
        -------
        log_p : ndarray of shape (n_samples, n_classes), or list of n_labels such arrays
        """
        p = self.predict_proba(X, init_score)
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in p] if isinstance(p, list) else np.log(p)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        score : ndarray
        """
        return map(self._as_decision, self._staged_raw_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_labels)
        """
        return map(self._as_labels, self._staged_raw_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """Yield `predict_proba` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        p : ndarray of shape (n_samples, n_classes), or list of n_labels such arrays
        """
        return map(self._as_probabilities, self._staged_raw_scores(X))

    def _compute_score(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _defect(self) -> str | None:
        if self._is_multilabel:
            is_consistent = (
                self.loss_.is_multilabel
                and len(self.classes_) == self.loss_.n_outputs
                and are_label_classes(self.classes_)
            )
        else:
            is_consistent = (
                len(self.classes_) > 0
                and not self.loss_.is_multilabel
                and classification_loss("log_loss", len(self.classes_)).n_outputs
                == self.loss_.n_outputs
            )
        if not is_consistent:
            return "the number of classes in the header does not match the scores of the trees"
        return super()._defect()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._supports_multilabel
        return tags


RegressionLoss = Literal[
    "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"
]

HistRegressionLoss = RegressionLoss | Literal["expectile", "pseudo_huber", "mape"]


class BaseBoostingRegressor(EvalsResult, StagedScores, RegressorMixin, Boosting):  # type: ignore[misc]
    """Encoding of numeric targets, and predictions of means, medians or quantiles."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Boosting._parameter_constraints,
        "loss": [StrOptions(set(REGRESSION)), callable],
        "power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    _supports_multi_output: ClassVar[bool] = False

    loss: str | CustomLoss
    power: float

    @abstractmethod
    def _read_quantile_levels(self) -> tuple[float, ...]:
        """Return the levels of the quantile loss; empty for other losses."""

    @abstractmethod
    def _huber_alpha(self) -> float:
        """Return the quantile of the absolute errors above which the Huber loss is linear."""

    def _encode_target(self, y: Array) -> Floats:
        shape: tuple[int, ...] = getattr(y, "shape", ())
        several = self._supports_multi_output and len(shape) == 2 and shape[1] > 1
        y = _check_y(y, multi_output=several, y_numeric=True, estimator=self)
        if y.dtype.kind in "Mm":
            raise ValueError(
                f"y has values of type {y.dtype}: convert dates and durations to numbers first"
            )
        if not several:
            y = column_or_1d(y, warn=True)
        return np.ascontiguousarray(y, dtype=np.float64)

    def _encode_new_target(self, y: Array) -> Floats:
        return self._encode_target(y)

    def _decode_target(self, target: Floats) -> Array:
        return target

    def _compute_row_weight(
        self, target: Floats, weight: Floats | None, shards: AllShards
    ) -> Floats | None:
        return weight

    def _make_loss(self, n_targets: int = 1) -> Loss:
        return regression_loss(
            self.loss,
            self._read_quantile_levels(),
            self._huber_alpha(),
            self.power,
            n_targets,
        )

    # Predictions

    def _as_predictions(self, raw: Floats) -> Floats:
        predictions = self.loss_.predictions(raw)
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions

    def _decode_predictions(self, raw: Floats) -> Floats:
        return self._as_predictions(raw)

    def predict(self, X: Any, init_score: Any = None) -> Floats:
        """Predict the mean, median or quantiles, depending on the loss.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init_score : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Raw scores to which those of the model are added; see `fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            One column per quantile or target if there are several, in the order given; quantiles
            do not cross.
        """
        return self._as_predictions(self._offset_scores(X, init_score))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        """
        return map(self._as_predictions, self._staged_raw_scores(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination, R2; of several targets their mean.

        For several quantiles, the score is the mean of their D2 pinball scores: the relative
        reduction of the pinball loss compared to the constant quantile of y (Koenker and Machado
        1999).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        score : float
            The best value is 1.
        """
        return self._compute_score(y, self.predict(X), sample_weight)

    def _compute_score(self, y: Any, predictions: Floats, sample_weight: Any) -> float:
        if not len(self.loss_.levels) > 1:
            return float(r2_score(y, predictions, sample_weight=sample_weight))
        scores = [
            d2_pinball_score(y, column, sample_weight=sample_weight, alpha=level)
            for level, column in zip(self.loss_.levels, predictions.T, strict=True)
        ]
        return float(np.mean(scores))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._supports_multi_output
        tags.target_tags.positive_only = self.loss in {"poisson", "gamma", "tweedie"}
        return tags
